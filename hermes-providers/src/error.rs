//! What can be wrong with how a provider is set up.

/// A provider that could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The key is empty, or has characters that no header can carry.
    #[error("the key is empty or has characters that do not fit into a header")]
    Key,
    /// The base URL is no address of a web server.
    #[error("the base URL {url:?} is no http or https address")]
    BaseUrl {
        /// What was given, without secrets.
        url: String,
    },
    /// The name or the value of an extra header is not valid.
    #[error("the header {name:?} has a name or a value that is not valid")]
    Header {
        /// The name that was given.
        name: String,
    },
    /// A field of the body was given that the provider writes itself.
    #[error("the body's field {name:?} is written by the provider")]
    Field {
        /// The name that was given.
        name: String,
    },
    /// The HTTP client could not be made.
    #[error("the HTTP client could not be made")]
    Client {
        /// The cause.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
