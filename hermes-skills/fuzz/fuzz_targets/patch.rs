//! Three texts of any kind: the engine neither panics nor touches what it did not report.
//!
//! The input is `text NUL old NUL new`; a leading `*` asks for every match.

#![no_main]

use hermes_skills::patch::{self, PatchOptions};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let (every, input) = input.strip_prefix('*').map_or((false, input), |rest| (true, rest));
    let mut parts = input.splitn(3, '\0');
    let (Some(text), Some(old), Some(new)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    match patch::replace(text, old, new, &PatchOptions::default().replace_all(every)) {
        Ok(patched) => {
            let (Some(first), Some(last)) = (patched.edits.first(), patched.edits.last()) else {
                assert_eq!(patched.text, text, "no edit, but another text");
                return;
            };
            assert!(patched.text.starts_with(&text[..first.span.start]), "the head has changed");
            assert!(patched.text.ends_with(&text[last.span.end..]), "the tail has changed");
            assert!(every || patched.edits.len() == 1, "more than one edit");
        }
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
});
