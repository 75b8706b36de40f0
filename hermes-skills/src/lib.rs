//! Skills on disk, and the engine that edits them.

pub mod frontmatter;
pub mod index;
pub mod patch;
