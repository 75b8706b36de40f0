//! Any text as a `SKILL.md`: reading it never fails, checking it never panics, and what passes the
//! check reads as it was checked.

#![no_main]

use hermes_skills::frontmatter::{NewSkill, SkillDoc};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|raw: &str| {
    let doc = SkillDoc::parse(raw);
    let text = raw.strip_prefix('\u{feff}').unwrap_or(raw);
    assert!(text.ends_with(&doc.body), "the body is not the end of the text");
    assert!(doc.warnings.iter().all(|warning| !warning.to_string().is_empty()));
    match SkillDoc::validate(raw, "demo") {
        Ok(checked) => assert_eq!(checked, doc, "reading and checking differ"),
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
    renders(raw);
});

/// Takes the first line for a description and the rest for a body: a skill that is written with
/// them reads as it was meant.
fn renders(raw: &str) {
    let (description, body) = raw.split_once('\n').unwrap_or((raw, ""));
    let rendered = NewSkill::new("demo", description).tags([description]).render(body);
    let doc = SkillDoc::parse(&rendered);
    assert_eq!(doc.name.as_deref(), Some("demo"));
    assert_eq!(doc.description, description.trim());
}
