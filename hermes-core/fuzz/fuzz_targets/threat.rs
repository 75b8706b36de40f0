//! A text of any kind: the scan neither panics nor reports a range that is not of the text, and
//! scopes are nested.

#![no_main]

use hermes_core::threat::{self, Scope};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let strict = threat::scan(text, Scope::Strict);
    for finding in &strict {
        assert!(text.get(finding.range.clone()).is_some(), "{finding:?}");
    }
    for finding in threat::scan(text, Scope::All) {
        assert!(strict.iter().any(|it| it.id == finding.id), "{finding:?} is not found at strict");
    }
});
