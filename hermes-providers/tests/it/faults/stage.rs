//! How faults are played.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use hermes_core::provider::Provider;
use hermes_providers::reqwest::{
    Client,
    dns::{Addrs, Name, Resolve, Resolving},
};
use tokio::net::TcpSocket;

use crate::{
    server::{Reply, Server, http},
    wires::Wire,
};

/// What goes wrong the first time; the second time nothing does.
pub(crate) enum Play {
    /// The endpoint answers so.
    Answer(Reply),
    /// The endpoint answers so to a client of the host's that decodes gzip.
    AnswerToDecoder(Reply),
    /// Nobody listens.
    ClosedPort,
    /// The name of the endpoint leads nowhere.
    UnknownName,
    /// The endpoint sends the client to another host.
    Redirect,
    /// The endpoint shows a certificate that it signed itself.
    #[cfg(feature = "rustls")]
    UntrustedCertificate,
}

/// A provider whose first request meets a fault.
pub(crate) struct Stage {
    pub(crate) provider: Arc<dyn Provider>,
    /// What has to happen before the second request.
    heal: Box<dyn FnOnce()>,
    /// Another host, which must hear nothing.
    pub(crate) bystander: Option<Server>,
}

impl Stage {
    fn new(provider: Box<dyn Provider>) -> Self {
        Self { provider: provider.into(), heal: Box::new(|| {}), bystander: None }
    }

    pub(crate) fn heal(&mut self) {
        std::mem::replace(&mut self.heal, Box::new(|| {}))();
    }
}

impl Play {
    pub(crate) fn stage(self, wire: Wire) -> Stage {
        match self {
            Self::Answer(reply) => {
                let server = Server::start(vec![reply, wire.good()]);
                Stage::new(wire.provider(&server.url()))
            }
            Self::AnswerToDecoder(reply) => {
                let server = Server::start(vec![reply, wire.good()]);
                let client = Client::builder().no_proxy().gzip(true).build().unwrap();
                Stage::new(wire.provider_with(&server.url(), client))
            }
            Self::ClosedPort => closed_port(wire),
            Self::UnknownName => unknown_name(wire),
            Self::Redirect => {
                let other = Server::start(vec![wire.good()]);
                let location = format!("location: {}{}\r\n", other.url(), wire.path);
                let reply = http("307 Temporary Redirect", &location, "");
                let stage = Self::Answer(reply).stage(wire);
                Stage { bystander: Some(other), ..stage }
            }
            #[cfg(feature = "rustls")]
            Self::UntrustedCertificate => {
                let (untrusted, trusted) =
                    (crate::tls::Certificate::new(), crate::tls::Certificate::new());
                let client = trusted.trusting_client();
                let answer = crate::server::sse(&wire.answer());
                let address = crate::tls::start(&[untrusted, trusted], answer);
                Stage::new(wire.provider_with(&format!("https://{address}"), client))
            }
        }
    }
}

/// A socket that has an address and does not listen refuses connections, and nobody else can take its
/// port meanwhile.
fn closed_port(wire: Wire) -> Stage {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = socket.local_addr().unwrap();
    let listen = move || {
        let listener = socket.listen(16).unwrap().into_std().unwrap();
        listener.set_nonblocking(false).unwrap();
        Server::start_at(listener, vec![wire.good()]);
    };
    let provider = wire.provider(&format!("http://{address}"));
    Stage { heal: Box::new(listen), ..Stage::new(provider) }
}

fn unknown_name(wire: Wire) -> Stage {
    let server = Server::start(vec![wire.good()]);
    let address = server.address();
    let names = Arc::new(Names { address, is_known: AtomicBool::new(false) });
    let client = Client::builder().no_proxy().dns_resolver(Arc::clone(&names)).build().unwrap();
    let url = format!("http://model.example:{}", address.port());
    let provider = wire.provider_with(&url, client);
    let heal = move || names.is_known.store(true, Ordering::Relaxed);
    Stage { heal: Box::new(heal), ..Stage::new(provider) }
}

/// Knows no name at first.
#[derive(Debug)]
struct Names {
    address: SocketAddr,
    is_known: AtomicBool,
}

impl Resolve for Names {
    fn resolve(&self, _name: Name) -> Resolving {
        let found: Result<Addrs, _> = if self.is_known.load(Ordering::Relaxed) {
            Ok(Box::new(std::iter::once(self.address)))
        } else {
            Err("no such host".into())
        };
        Box::pin(std::future::ready(found))
    }
}
