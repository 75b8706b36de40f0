use crate::{
    approval::{self, AllowAll, Approval, ApprovalRequest, DenyAll, Within},
    testing::conformance,
};

#[tokio::test]
async fn the_ready_made_ones_keep_the_contract() {
    conformance::approver(&DenyAll).await;
    conformance::approver(&AllowAll).await;
    conformance::approver(&approval::from_fn(|_| async { Approval::Hold })).await;
    let silent = approval::from_fn(|_| std::future::pending());
    let impatient = Within::new(silent, std::time::Duration::from_millis(1));
    conformance::approver(&impatient).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "Total")]
async fn one_that_never_answers_is_found() {
    conformance::approver(&approval::from_fn(|_| std::future::pending())).await;
}

#[tokio::test]
#[should_panic(expected = "Total: a denial")]
async fn one_that_denies_without_a_reason_is_found() {
    let blank = |_: ApprovalRequest| async { Approval::Deny(" ".to_owned()) };
    conformance::approver(&approval::from_fn(blank)).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "Cancellable")]
async fn one_that_a_dropped_question_blocks_is_found() {
    let lock = std::sync::atomic::AtomicU32::new(0);
    let stuck = approval::from_fn(move |_: ApprovalRequest| {
        // The questions before the dropped one all have been answered.
        let number = lock.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move {
            if 20 < number {
                std::future::pending::<()>().await;
            }
            Approval::AllowOnce
        }
    });
    conformance::approver(&stuck).await;
}
