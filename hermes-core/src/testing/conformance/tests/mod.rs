//! That the suites can fail: implementations which break one promise each.

mod approver;
#[cfg(feature = "schema")]
mod handles;
mod memory;
mod provider;
mod review;
mod sessions;
mod skills;
mod tool;

use std::panic::AssertUnwindSafe;

use futures::FutureExt;

/// Asserts that `suite` panics because of `promise`.
async fn breaks(promise: &str, suite: impl Future<Output = ()>) {
    let panic = AssertUnwindSafe(suite).catch_unwind().await;
    let panic = panic.expect_err("the suite found nothing wrong");
    let message = panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()))
        .unwrap_or_default();
    assert!(message.contains(promise), "not {promise:?} but {message:?}");
}
