//! A server that speaks TLS, with certificates of its own making.

use std::{net::SocketAddr, sync::Arc};

use hermes_providers::reqwest;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, crypto::aws_lc_rs, pki_types::PrivateKeyDer},
};

/// A certificate for the loopback address that only its maker trusts.
pub(crate) struct Certificate(CertifiedKey<KeyPair>);

impl Certificate {
    pub(crate) fn new() -> Self {
        Self(generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap())
    }

    /// Returns a client that trusts this certificate and no other.
    pub(crate) fn trusting_client(&self) -> reqwest::Client {
        let root = reqwest::Certificate::from_der(self.0.cert.der()).unwrap();
        reqwest::Client::builder().no_proxy().tls_certs_only([root]).build().unwrap()
    }

    fn acceptor(&self) -> TlsAcceptor {
        let key = PrivateKeyDer::Pkcs8(self.0.signing_key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![self.0.cert.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Starts a server that shows the certificates one after the other, one a connection, the last one
/// again and again, and answers whoever trusts it with `answer`.
pub(crate) fn start(certificates: &[Certificate], answer: Vec<u8>) -> SocketAddr {
    let acceptors: Vec<TlsAcceptor> = certificates.iter().map(Certificate::acceptor).collect();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // It ends with the process; tests have nothing to wait for.
    std::thread::spawn(move || {
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap();
            for nth in 0.. {
                let Ok((stream, _)) = listener.accept().await else { return };
                let acceptor = acceptors.get(nth).or(acceptors.last()).unwrap();
                // Whoever does not trust it hangs up.
                let _ = serve(stream, acceptor, &answer).await;
            }
        });
    });
    address
}

async fn serve(stream: TcpStream, acceptor: &TlsAcceptor, answer: &[u8]) -> std::io::Result<()> {
    let mut stream = acceptor.accept(stream).await?;
    let mut request = Vec::new();
    // Requests of tests are short, and their bodies end in a brace.
    while !(request.ends_with(b"}") && request.windows(4).any(|it| it == b"\r\n\r\n")) {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    stream.write_all(answer).await?;
    stream.shutdown().await
}
