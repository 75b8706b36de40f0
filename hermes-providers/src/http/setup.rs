//! What every provider over HTTP is set up with.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use hermes_core::clock::{Clock, SystemClock};
use reqwest::{
    Client, Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::Value;

use super::{
    ApiKey, Endpoint, Posts, Scrubber, Timeouts,
    connect::{shown, shown_text},
    default_client, parse_url,
};
use crate::BuildError;

/// The settings that builders collect.
pub(crate) struct Setup {
    pub(crate) base_url: String,
    pub(crate) key: Option<ApiKey>,
    pub(crate) client: Option<Client>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) timeouts: Timeouts,
    pub(crate) name: Option<String>,
    /// Fields of the host's for the body.
    pub(crate) fields: BTreeMap<String, Value>,
    pub(crate) clock: Arc<dyn Clock>,
}

/// How one wire uses HTTP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Returns where requests go under a base URL.
    pub(crate) address: fn(Url) -> Url,
    /// The header of the key, and what stands before the key in it.
    pub(crate) key: (&'static str, &'static str),
    /// Headers that every request has.
    pub(crate) fixed: &'static [(&'static str, &'static str)],
    /// The field of the body that grows from round to round, which is not the host's to set.
    pub(crate) list: &'static str,
}

/// Without anything secret: an address may hold a password, and a header a key.
impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Setup")
            .field("base_url", &shown_text(&self.base_url))
            .field("key", &self.key)
            .field("headers", &headers)
            .field("timeouts", &self.timeouts)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Setup {
    pub(crate) fn new(base_url: String) -> Self {
        Self {
            base_url,
            key: None,
            client: None,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            name: None,
            fields: BTreeMap::new(),
            clock: Arc::new(SystemClock),
        }
    }

    /// Makes the endpoint, and the name it goes by.
    pub(crate) fn endpoint(&self, manner: Manner) -> Result<(Endpoint, Arc<str>), BuildError> {
        if self.fields.contains_key(manner.list) {
            return Err(BuildError::Field { name: manner.list.to_owned() });
        }
        let url = (manner.address)(parse_url(&self.base_url)?);
        let (client, posts) = match &self.client {
            Some(client) => (client.clone(), Posts::Once),
            None => (default_client(self.timeouts)?, Posts::Again),
        };
        let (headers, mut scrubber) = self.headers(manner)?;
        scrubber.add_address(&url);
        let host = url.host_str().unwrap_or_default();
        let name = self.name.as_deref().unwrap_or(host).into();
        let endpoint = Endpoint {
            client,
            posts,
            place: shown(&url),
            url,
            headers,
            timeouts: self.timeouts,
            scrubber,
            clock: Arc::clone(&self.clock),
            has_answered: AtomicBool::new(false),
        };
        Ok((endpoint, name))
    }

    fn headers(&self, manner: Manner) -> Result<(HeaderMap, Scrubber), BuildError> {
        let mut scrubber = Scrubber::default();
        let mut headers = HeaderMap::new();
        for (name, value) in manner.fixed {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = &self.key {
            scrubber.add(key.expose());
            headers.insert(manner.key.0, key.header(manner.key.1)?);
        }
        for (name, value) in &self.headers {
            scrubber.add(value);
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
        }
        Ok((headers, scrubber))
    }
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), BuildError> {
    let parsed = (name.parse::<HeaderName>(), HeaderValue::from_str(value));
    let (Ok(parsed_name), Ok(mut parsed_value)) = parsed else {
        return Err(BuildError::Header { name: name.to_owned() });
    };
    parsed_value.set_sensitive(true);
    Ok((parsed_name, parsed_value))
}

/// Adds to a builder with a field `setup` the setters that all providers have.
macro_rules! common_setters {
    ($key_header:literal) => {
        #[doc = concat!("Sets the key, sent as `", $key_header, "`. Without it no such header is sent.")]
        #[must_use]
        pub fn key(mut self, key: crate::ApiKey) -> Self {
            self.setup.key = Some(key);
            self
        }

        /// Sets the HTTP client, and with it proxy, roots, connection pool and redirects.
        ///
        /// Start from [`client_builder`](crate::client_builder), which has the settings of the default
        /// client: no proxy, no compression, and no redirect to another origin.
        ///
        /// A client that follows redirects anywhere, as those of `reqwest` do by themselves, cannot
        /// repeat a request (307, 308) at another origin, because its body is given to it only once; at
        /// the same origin the provider repeats it. Where such a client turns a request into a `GET`
        /// (301, 302, 303) it goes without the body and without `Authorization`, but with every other
        /// header, a key in `x-api-key` or in a [`header`](Self::header) of the host's included.
        #[must_use]
        pub fn client(mut self, client: reqwest::Client) -> Self {
            self.setup.client = Some(client);
            self
        }

        /// Adds a header to every request. Its value is kept out of logs and errors. One of the same
        /// name as the key's takes its place.
        #[must_use]
        pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.setup.headers.push((name.into(), value.into()));
            self
        }

        /// Sets how long the endpoint may be silent. See [`Timeouts`](crate::Timeouts) for the
        /// defaults.
        #[must_use]
        pub fn timeouts(mut self, timeouts: crate::Timeouts) -> Self {
            self.setup.timeouts = timeouts;
            self
        }

        /// Sets the name under which opaque reasoning belongs to this provider. The host of the base
        /// URL by default.
        #[must_use]
        pub fn name(mut self, name: impl Into<String>) -> Self {
            self.setup.name = Some(name.into());
            self
        }

        /// Adds a field to every body, or replaces one; `null` takes it out.
        #[must_use]
        pub fn field(
            mut self,
            name: impl Into<String>,
            value: impl Into<serde_json::Value>,
        ) -> Self {
            self.setup.fields.insert(name.into(), value.into());
            self
        }

        /// Sets the clock that dates in `Retry-After` are compared with. The machine's by default.
        #[must_use]
        pub fn clock(mut self, clock: impl hermes_core::clock::Clock + 'static) -> Self {
            self.setup.clock = std::sync::Arc::new(clock);
            self
        }
    };
}

pub(crate) use common_setters;
