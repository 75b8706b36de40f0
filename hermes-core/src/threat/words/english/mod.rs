//! English: the words that shape sentences, and the lists of the rules.

mod phrases;
mod vocabulary;

pub(super) use self::{phrases::PHRASES, vocabulary::WORDS};

/// Words that are not counted in distances.
pub(in super::super) const FILLERS: &str = "the a an really just please simply very so even ever \
    actually also completely totally entirely fully still again immediately hereby kindly of \
    now absolutely strictly kindly der die das den dem des ein eine einen bitte le la les un une du el \
    los las una os um uma il lo gli";

/// Words that begin a clause of another subject.
pub(in super::super) const BREAKERS: &str = "when while if unless because since until whenever \
    following per via using during whose which wenn falls weil lorsque cuando quando dass";

/// Words after which an order can still begin.
pub(in super::super) const OPENERS: &str = "then and always must should next first finally ok \
    okay hey assistant agent model ai you will shall important remember step task silently \
    secretly quietly und et y e";

/// Words that are also looked for backwards and rotated by thirteen letters.
pub(in super::super) const DISGUISED: &[&str] = &[
    "ignore",
    "disregard",
    "forget",
    "previous",
    "instructions",
    "instruction",
    "override",
    "prompt",
    "system",
    "guidelines",
    "authorized_keys",
    "authorized",
    "password",
    "secret",
    "token",
    "https",
    "curl",
    "execute",
    "pretend",
    "restrictions",
    "user",
];
