//! What goes wrong inside the store.

use std::path::{Path, PathBuf};

use hermes_core::store::StoreError;

/// An error on its way to a [`StoreError`].
#[derive(Debug)]
pub(super) enum Fault {
    Store(StoreError),
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// A database that cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be opened", path.display())]
struct Unopened {
    path: PathBuf,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Fault {
    /// Says which database could not be opened.
    pub(super) fn opening(self, path: &Path) -> Self {
        match self {
            Self::Store(err) => Self::Store(err),
            Self::Other(source) => Self::Other(Unopened { path: path.to_owned(), source }.into()),
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Store(err) => err,
            Fault::Other(source) => Self::Backend(source),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(err: StoreError) -> Self {
        Self::Store(err)
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(err: rusqlite::Error) -> Self {
        Self::Other(err.into())
    }
}

impl From<serde_json::Error> for Fault {
    fn from(err: serde_json::Error) -> Self {
        Self::Other(err.into())
    }
}

impl From<std::io::Error> for Fault {
    fn from(err: std::io::Error) -> Self {
        Self::Other(err.into())
    }
}
