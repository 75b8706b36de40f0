//! Memory for the hermes agent crates.
#![allow(missing_docs)]

mod edit;
mod file;

pub use self::file::FileMemory;
