//! What a provider of any wire is made of, beside the manner of its wire.

use std::{collections::BTreeMap, fmt, sync::Arc};

use bytes::Bytes;
use hermes_core::{
    provider::{EventStream, ModelEvent, ProviderError, Request},
    tool::ToolSpec,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    decoder::{Decoder, Read},
    fragments::Fragments,
    names::Names,
};
#[cfg(any(feature = "anthropic", feature = "responses"))]
use crate::http::status::refuses_reasoning;
use crate::{
    BuildError,
    http::{Endpoint, Manner, Setup},
};

/// An endpoint, and what is kept between two requests to it.
pub(crate) struct Link {
    endpoint: Arc<Endpoint>,
    /// Whose opaque reasoning goes back.
    pub(crate) name: Arc<str>,
    /// Fields of the host's for the body.
    pub(crate) fields: BTreeMap<String, Value>,
    pub(crate) fragments: Fragments,
}

impl Link {
    pub(crate) fn new(setup: Setup, manner: Manner) -> Result<Self, BuildError> {
        let (endpoint, name) = setup.endpoint(manner)?;
        let fields = setup.fields;
        Ok(Self { endpoint: Arc::new(endpoint), name, fields, fragments: Fragments::default() })
    }

    /// Returns the address that requests go to, without anything secret.
    pub(crate) fn address(&self) -> &str {
        &self.endpoint.place
    }

    /// Sends `body`, which was built of `request`, and returns the events of the answer.
    pub(crate) async fn ask<R: Read>(
        &self,
        body: Bytes,
        reader: R,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let decoder = self.decoder(reader, request.model.as_str(), &request.tools);
        self.endpoint.ask(body, decoder, token).await
    }

    /// Does as `ask`. If the endpoint refuses the reasoning in `body`, it is asked once more with what
    /// `without` makes.
    #[cfg(any(feature = "anthropic", feature = "responses"))]
    pub(crate) async fn ask_or_forget<R: Read + Default>(
        &self,
        body: Bytes,
        without: impl FnOnce() -> Bytes + Send,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        let err = match self.ask(body.clone(), R::default(), request, token).await {
            Err(err) if refuses_reasoning(&err) => err,
            outcome => return outcome,
        };
        let other = without();
        if other == body {
            return Err(err);
        }
        tracing::warn!("reasoning was refused, the request is sent again without it");
        self.ask(other, R::default(), request, token).await
    }

    /// Returns the events of an answer that is there already, in pieces.
    pub(crate) fn read<'a, R: Read>(
        &'a self,
        reader: R,
        pieces: impl IntoIterator<Item = &'a [u8]>,
    ) -> impl Iterator<Item = Result<ModelEvent, ProviderError>> {
        self.endpoint.read(self.decoder(reader, "", &[]), pieces)
    }

    fn decoder<R: Read>(&self, reader: R, model: &str, tools: &[ToolSpec]) -> Decoder<R> {
        Decoder::new(reader, Arc::clone(&self.name), model, Names::of(tools))
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("name", &self.name)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// Adds to a provider with a field `link` the methods that all have, with what makes a reader of its
/// wire.
macro_rules! common_methods {
    ($reader:expr) => {
        /// Reads an answer that was recorded, a stream or a whole one, in one piece or in several.
        ///
        /// It is what [`stream`](hermes_core::provider::Provider::stream) makes of the same bytes with
        /// status 200, for tests and for looking into what an endpoint does. Tools keep the names that
        /// they have there.
        pub fn read_answer<'a>(
            &'a self,
            pieces: impl IntoIterator<Item = &'a [u8]>,
        ) -> impl Iterator<
            Item = Result<hermes_core::provider::ModelEvent, hermes_core::provider::ProviderError>,
        > {
            self.link.read(($reader)(self), pieces)
        }

        /// Returns the address that requests go to, without anything secret.
        pub fn address(&self) -> &str {
            self.link.address()
        }
    };
}

pub(crate) use common_methods;
