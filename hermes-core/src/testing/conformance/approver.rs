//! The suite of [`Approver`].

use futures::{FutureExt, future::join_all};

use super::{PATIENCE, broken};
use crate::{
    approval::{Approval, ApprovalRequest, Approver},
    message::Call,
    store::SessionId,
};

/// Checks the [contract](Approver#contract) of an approver that answers without a person.
///
/// It asks about calls of a tool named `anything` with odd arguments, one after the other and at the
/// same time, and drops some of its questions before they are answered. Nothing is run.
///
/// # Panics
///
/// Panics at the first promise that `approver` does not keep.
pub async fn approver(approver: &dyn Approver) {
    answers_whatever_comes(approver).await;
    answers_at_the_same_time(approver).await;
    can_be_dropped(approver).await;
}

const ODD: [&str; 5] = ["{}", "", r#"{"command":"rm -rf /"}"#, r#"{"command":null}"#, "[1"];

fn request(number: usize, arguments: &str) -> ApprovalRequest {
    let call = Call::new(format!("call_{number}").as_str(), "anything", arguments);
    ApprovalRequest::new(call, SessionId::new("conformance"))
}

async fn ask(promise: &str, approver: &dyn Approver, request: &ApprovalRequest) {
    match tokio::time::timeout(PATIENCE, approver.approve(request)).await {
        Err(_) => broken(promise, format_args!("no answer about {:?}", request.call)),
        Ok(Approval::Deny(reason)) if reason.trim().is_empty() => {
            broken(promise, format_args!("a denial of {:?} without a reason", request.call))
        }
        Ok(_) => {}
    }
}

async fn answers_whatever_comes(approver: &dyn Approver) {
    for (number, arguments) in ODD.into_iter().enumerate() {
        ask("Total", approver, &request(number, arguments)).await;
    }
}

async fn answers_at_the_same_time(approver: &dyn Approver) {
    let requests: Vec<_> = (0..16).map(|number| request(number, "{}")).collect();
    join_all(requests.iter().map(|request| ask("Told apart", approver, request))).await;
}

async fn can_be_dropped(approver: &dyn Approver) {
    let first = request(0, "{}");
    // Polled once, and dropped whether or not it was ready.
    let _ = approver.approve(&first).now_or_never();
    ask("Cancellable", approver, &request(1, "{}")).await;
}
