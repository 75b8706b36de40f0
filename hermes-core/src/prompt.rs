//! The system prompt: ordered, bounded sections, rendered once per conversation and then frozen.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::version::Version;

/// A piece of the system prompt that is read when a conversation starts: memory, the skills index.
///
/// What it returns is frozen into the conversation's prompt; later changes show in the next
/// conversation. Text from outside is scanned first ([`threat`](crate::threat)).
///
/// # Examples
///
/// What the host knows when a conversation starts:
///
/// ```
/// use hermes_core::{async_trait, prompt::{PromptSource, Section, Slot}};
///
/// #[derive(Debug)]
/// struct OpenTickets(fn() -> usize);
///
/// #[async_trait]
/// impl PromptSource for OpenTickets {
///     fn slot(&self) -> Slot {
///         Slot::Context
///     }
///
///     fn needs_tool(&self) -> Option<&str> {
///         None
///     }
///
///     async fn render(&self, _tools: &[&str]) -> Section {
///         Section::new(format!("{} tickets are open.", (self.0)()))
///     }
/// }
/// ```
#[async_trait]
pub trait PromptSource: fmt::Debug + Send + Sync {
    /// Returns where the section stands.
    fn slot(&self) -> Slot;

    /// Returns the tool without which the section would mislead; building an agent that has the
    /// section and not the tool fails.
    fn needs_tool(&self) -> Option<&str>;

    /// Reads the section as it is now. `tools` are the names of the conversation's tools.
    ///
    /// It cannot fail: what could not be read is a warning, and the section is what could.
    async fn render(&self, tools: &[&str]) -> Section;
}

#[async_trait]
#[deny(clippy::missing_trait_methods, reason = "a handle forwards everything")]
impl<S: PromptSource + ?Sized> PromptSource for Arc<S> {
    fn slot(&self) -> Slot {
        (**self).slot()
    }

    fn needs_tool(&self) -> Option<&str> {
        (**self).needs_tool()
    }

    async fn render(&self, tools: &[&str]) -> Section {
        (**self).render(tools).await
    }
}

/// Where a section stands in the prompt. What changes least comes first, so that prefixes cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Slot {
    /// Who the agent is.
    Identity,
    /// How it works with its tools.
    Guidance,
    /// The index of its skills.
    Skills,
    /// What it should know of the project.
    Context,
    /// What it remembers.
    Memory,
}

/// A section as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Section {
    /// The text; blank for none.
    pub text: String,
    /// What the host should know: files that could not be read, text that was blocked.
    pub warnings: Vec<String>,
    /// Names and versions of stored text that the section shows whole; the conversation has
    /// [seen](crate::tool::Seen) them.
    pub seen: Vec<(String, Version)>,
}

impl Section {
    /// Creates a section without warnings.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Returns the same section with one more warning.
    #[must_use]
    pub fn with_warning(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }

    /// Returns the same section, which shows the stored text called `name` as it is at `version`.
    #[must_use]
    pub fn showing(mut self, name: impl Into<String>, version: Version) -> Self {
        self.seen.push((name.into(), version));
        self
    }
}

/// A fixed section.
#[derive(Clone, Debug)]
pub struct FixedSection {
    slot: Slot,
    text: String,
}

impl FixedSection {
    /// Creates a section that always says `text`.
    pub fn new(slot: Slot, text: impl Into<String>) -> Self {
        Self { slot, text: text.into() }
    }
}

#[async_trait]
impl PromptSource for FixedSection {
    fn slot(&self) -> Slot {
        self.slot
    }

    fn needs_tool(&self) -> Option<&str> {
        None
    }

    async fn render(&self, _: &[&str]) -> Section {
        Section::new(self.text.clone())
    }
}

/// The most characters one section may have. A longer one is cut, with a warning.
///
/// hermes-agent bounds context files at 20,000 to 500,000 characters by the model's window; this is
/// a backstop above both memory limits and any sensible index.
pub const MAX_SECTION_CHARS: usize = 200_000;

/// Renders all `sources`, in the order of their slots and then as given, joined by blank lines.
pub(crate) async fn assemble(sources: &[Arc<dyn PromptSource>], tools: &[&str]) -> Section {
    let mut ordered: Vec<&Arc<dyn PromptSource>> = sources.iter().collect();
    ordered.sort_by_key(|source| source.slot());
    let mut prompt = Section::default();
    for source in ordered {
        let section = source.render(tools).await;
        prompt.warnings.extend(section.warnings);
        let (text, cut) = bounded(section.text.trim());
        if cut {
            let slot = source.slot();
            prompt
                .warnings
                .push(format!("the {slot:?} section was cut at {MAX_SECTION_CHARS} characters"));
        } else {
            prompt.seen.extend(section.seen);
        }
        if !text.is_empty() {
            if !prompt.text.is_empty() {
                prompt.text.push_str("\n\n");
            }
            prompt.text.push_str(text);
        }
    }
    prompt
}

fn bounded(text: &str) -> (&str, bool) {
    match text.char_indices().nth(MAX_SECTION_CHARS) {
        Some((end, _)) => (text.get(..end).unwrap_or(text), true),
        None => (text, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sections_stand_in_the_order_of_their_slots() {
        let sources: [Arc<dyn PromptSource>; 3] = [
            Arc::new(FixedSection::new(Slot::Memory, "facts\n")),
            Arc::new(FixedSection::new(Slot::Guidance, " ")),
            Arc::new(FixedSection::new(Slot::Identity, "You help.")),
        ];

        let prompt = assemble(&sources, &[]).await;

        assert_eq!(prompt, Section::new("You help.\n\nfacts"));
    }

    #[tokio::test]
    async fn a_section_that_is_too_long_is_cut_and_reported() {
        let long = "é".repeat(MAX_SECTION_CHARS + 1);
        let sources: [Arc<dyn PromptSource>; 1] =
            [Arc::new(FixedSection::new(Slot::Context, long))];

        let prompt = assemble(&sources, &[]).await;

        assert_eq!(prompt.text.chars().count(), MAX_SECTION_CHARS);
        assert_eq!(prompt.warnings.len(), 1);
    }

    /// A section that shows stored text, and more than there is room for.
    #[derive(Debug)]
    struct Long(usize);

    #[async_trait]
    impl PromptSource for Long {
        fn slot(&self) -> Slot {
            Slot::Memory
        }

        fn needs_tool(&self) -> Option<&str> {
            None
        }

        async fn render(&self, _: &[&str]) -> Section {
            Section::new("x".repeat(self.0)).showing("notes", Version::of("x"))
        }
    }

    #[tokio::test]
    async fn a_section_that_is_cut_has_shown_nothing() {
        for (chars, shown) in [(MAX_SECTION_CHARS, 1), (MAX_SECTION_CHARS + 1, 0)] {
            let sources: [Arc<dyn PromptSource>; 1] = [Arc::new(Long(chars))];

            assert_eq!(assemble(&sources, &[]).await.seen.len(), shown);
        }
    }
}
