//! A script, taken apart: what the parser makes of a text.

use super::word::Word;

/// Commands one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) pipelines: Vec<Pipeline>,
}

/// Commands that feed one another.
#[derive(Clone, Debug, Default)]
pub(super) struct Pipeline {
    pub(super) stages: Vec<Stage>,
    pub(super) is_background: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Stage {
    Simple(Simple),
    Group(Script, Vec<Redirect>),
    Function(String, Script),
    /// A loop variable and what it goes through.
    For(String, Vec<Word>),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Simple {
    pub(super) assigns: Vec<Assign>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Clone, Debug)]
pub(super) struct Assign {
    pub(super) name: String,
    pub(super) appends: bool,
    pub(super) values: Vec<Word>,
}

#[derive(Clone, Debug)]
pub(super) enum Redirect {
    /// From a file.
    In(Word),
    /// To a file.
    Out(Word),
    /// Text that stands in the script.
    Text(Word),
    /// A here-document; the number of its body.
    Body(usize),
}

/// A script and the bodies of its here-documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Parsed {
    pub(super) script: Script,
    pub(super) bodies: Vec<Word>,
    /// Whether something was nested too deeply to be read.
    pub(super) is_cut: bool,
}
