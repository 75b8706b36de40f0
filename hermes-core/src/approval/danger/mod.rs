//! Which shell commands are dangerous: read as a shell reads them, and judged by tables.
//!
//! Nothing is run and nothing is looked up. The text is taken apart into commands ([`parse`]), words
//! are put together as a shell would ([`expand`]), commands that run other commands are followed
//! ([`follow`]), and what is left is compared with the rules of [`table`].

mod class;
mod table;

mod place;
mod rule;

mod follow;
mod interpret;
mod walk;

mod expand;
mod output;

mod parse;
mod redirect;
mod tree;
mod word;

mod code;
mod fold;
mod sql;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::class::{DangerClass, Severity};
use self::{fold::fold, walk::Walk};

/// Something dangerous in a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Danger {
    /// What makes it dangerous.
    pub class: DangerClass,
    /// Where it is: the bytes of the command from the first to the last that took part in it.
    pub range: Range<usize>,
}

impl Danger {
    /// Returns the stable name of its class.
    pub fn id(&self) -> &'static str {
        self.class.id()
    }

    /// Returns how much is at stake.
    pub fn severity(&self) -> Severity {
        self.class.severity()
    }

    /// Returns why it is dangerous: one sentence for a person.
    pub fn reason(&self) -> &'static str {
        self.class.reason()
    }
}

/// The longest command that is read, in bytes.
const MAX_LEN: usize = 128_000;

/// Returns what is dangerous in a shell command, in the order of the text, each class once for a
/// place; empty if nothing is.
///
/// The command is read as a POSIX shell reads it, with what is usual in `bash`, and the basics of
/// `cmd` and PowerShell. Quotes, escapes, `$IFS`, variables that the command sets itself, braces,
/// look-alike letters and invisible characters hide nothing; commands inside of `sudo`, `env`, `xargs`,
/// `sh -c`, `$(…)`, here-documents and the like are judged as if they stood there alone. Text that is
/// only an argument (`echo "rm -rf /"`, a commit message, a comment) is no danger.
///
/// What it cannot see is what files and other programs contain: `./build.sh` and `make` pass. It is a
/// reason to ask a person, not a sandbox. Commands over 128,000 bytes are not read and are reported as
/// [`DangerClass::Unreadable`]. Time and memory are in proportion to the length.
///
/// # Examples
///
/// ```
/// use hermes_core::approval::{DangerClass, dangerous};
///
/// let found = dangerous("cd build && sudo env X=1 r''m -fr /");
/// assert_eq!(found[0].class, DangerClass::SystemDelete);
/// assert_eq!(found[0].range, 25..35);
///
/// assert!(dangerous(r#"grep -rn "rm -rf /" docs"#).is_empty());
/// ```
pub fn dangerous(command: &str) -> Vec<Danger> {
    if MAX_LEN < command.len() {
        return vec![Danger { class: DangerClass::Unreadable, range: 0..command.len() }];
    }
    let mut found = Walk::over(&fold(command), command.len());
    found.sort_by_key(|danger| (danger.range.start, danger.class, danger.range.end));
    found.dedup_by(|next, kept| next.class == kept.class && next.range.start == kept.range.start);
    found
}

#[cfg(test)]
mod tests;
