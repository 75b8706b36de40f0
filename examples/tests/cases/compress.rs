//! The area `compress`: shortening a conversation that nears its window.

use crate::{check::Checks, read::Node};

/// Runs one case.
#[expect(clippy::unused_async, reason = "an area like the others")]
pub(crate) async fn run(_: &Node<'_>, _: &mut Checks) -> Result<(), String> {
    Err("compression is not built yet".to_owned())
}
