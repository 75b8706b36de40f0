use std::time::UNIX_EPOCH;

use super::*;
use crate::{
    message::{Call, CallId, CallResult, CallStatus, Part, Role},
    testing::ScriptedProvider,
};

/// A task of a user's message and `rounds` of one call with a long result.
fn worker(model: &ScriptedProvider, rounds: u64) -> CompressTask {
    let mut messages = vec![Message::user("work item 7")];
    for round in 0..rounds {
        let id = CallId::new(format!("w{round}"));
        let call = Part::Call(Call::new(id.clone(), "terminal", "{}"));
        messages.push(Message::new(Role::Assistant, vec![call]));
        let result = CallResult::new(id, CallStatus::Done, "o ".repeat(300));
        messages.push(Message::results([result]));
    }
    let numbered = messages.into_iter().zip(1..).map(|(it, id)| it.with_id(MessageId(id)));
    let request = Request::new("m", numbered.collect::<Vec<_>>());
    CompressTask::new(Arc::new(model.clone()), request, UNIX_EPOCH)
}

fn eager() -> Summariser {
    Summariser::new(1).head_messages(0).tail_messages(4).tail_tokens(0)
}

#[tokio::test]
async fn pruning_alone_is_enough_where_it_is() {
    let model = ScriptedProvider::new();
    let compressor = Summariser::new(3_000).tail_tokens(0);

    let task = worker(&model, 40);
    let done = compressor.compress(&task, &mut CompressState::default()).await.unwrap();

    assert!(done.after < 3_000);
    assert_eq!(done.messages.len(), task.request.messages.len());
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn the_users_last_message_stays_after_two_passes() {
    let model = ScriptedProvider::new().say("FIRST").say("SECOND");
    let mut state = CompressState::default();

    let mut task = worker(&model, 30);
    let first = eager().compress(&task, &mut state).await.unwrap();
    let mut messages = first.messages;
    messages.extend(worker(&model, 30).request.messages.iter().skip(1).cloned());
    task.request.messages = Arc::new(messages);
    let second = eager().compress(&task, &mut state).await.unwrap();

    assert_eq!(second.messages[0].text(), "work item 7");
    assert_eq!(second.messages.iter().filter(|it| it.is_summary).count(), 1);
    assert_eq!(second.messages[1].role, Role::Assistant);
    let asked = model.last_request().unwrap().messages[0].text();
    assert_eq!(asked.matches("FIRST").count(), 1);
}

#[tokio::test]
async fn a_failure_changes_nothing_and_pauses() {
    let err = ProviderError::new(ProviderErrorKind::RateLimited, "429");
    let model = ScriptedProvider::new().fail(err).say("NOTES");
    let mut state = CompressState::default();
    let mut task = worker(&model, 30);

    let failed = eager().compress(&task, &mut state).await;
    let paused = eager().compress(&task, &mut state).await;
    task.now = UNIX_EPOCH + Duration::from_secs(61);
    let done = eager().compress(&task, &mut state).await;

    assert!(matches!(failed, Err(CompressError::Provider(_))));
    assert!(matches!(paused, Err(CompressError::Paused)));
    assert!(done.is_ok());
}

#[tokio::test]
async fn two_passes_without_gain_are_the_last() {
    let model = ScriptedProvider::new().otherwise("NOTES");
    let mut state = CompressState::default();
    let task = worker(&model, 30);

    for _ in 0..2 {
        assert!(eager().compress(&task, &mut state).await.is_ok());
    }
    let third = eager().compress(&task, &mut state).await;

    assert!(matches!(third, Err(CompressError::Exhausted)));
    assert!(!eager().is_due(state.exhausted_at.unwrap(), task.now, &state));
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_summary_longer_than_what_it_replaces_is_refused() {
    let model = ScriptedProvider::new().say("n".repeat(90_000));

    let result = eager().compress(&worker(&model, 30), &mut CompressState::default()).await;

    assert!(matches!(result, Err(CompressError::TooLong)));
}

#[tokio::test]
async fn a_summary_goes_into_the_user_message_that_follows_it() {
    let model = ScriptedProvider::new().say("NOTES");
    let pair = |it: usize| [Message::user(format!("q{it}")), Message::assistant("a".repeat(400))];
    let messages: Vec<Message> = (0..9).flat_map(pair).collect();
    let request = Request::new("m", messages);
    let task = CompressTask::new(Arc::new(model), request, UNIX_EPOCH);

    let done = eager().head_messages(1).compress(&task, &mut CompressState::default()).await;

    let done = done.unwrap();
    let texts: Vec<String> = done.messages.iter().map(|it| it.text()).collect();
    assert_eq!((texts[0].as_str(), texts[2].as_str()), ("q0", "q7"));
    assert!(done.messages.windows(2).all(|it| it[0].role != it[1].role));
    assert!(done.messages[2].is_summary);
}

/// A task of a user's message and one round of `calls` with results of `chars` characters, which was
/// refused.
fn refused(model: &ScriptedProvider, calls: usize, chars: usize) -> CompressTask {
    let id = |at: usize| CallId::new(format!("w{at}"));
    let call = |at| Part::Call(Call::new(id(at), "read", "{}"));
    let text = |at: usize| format!("{at} {}", "o ".repeat(chars / 2));
    let result = |at| CallResult::new(id(at), CallStatus::Done, text(at));
    let messages = vec![
        Message::user("work item 7"),
        Message::new(Role::Assistant, (0..calls).map(call).collect()),
        Message::results((0..calls).map(result)),
    ];
    let mut task =
        CompressTask::new(Arc::new(model.clone()), Request::new("m", messages), UNIX_EPOCH);
    task.cause = CompressCause::Overflow;
    task
}

fn assert_whole(messages: &[Message]) {
    let calls: Vec<_> = messages.iter().flat_map(|it| it.calls()).map(|it| &it.id).collect();
    let answered = messages.iter().flat_map(|it| it.call_results()).map(|it| &it.call);
    assert_eq!(calls, answered.collect::<Vec<_>>());
}

#[tokio::test]
async fn after_an_overflow_the_latest_results_are_cut_too() {
    let model = ScriptedProvider::new();
    for (calls, chars) in [(2, 100_000), (1, 200_000), (20, 10_000), (300, 700), (4, 50_000)] {
        let mut task = refused(&model, calls, chars);
        for most in [8_000, 3_000] {
            let done = Summariser::new(24_000).compress(&task, &mut CompressState::default()).await;
            let done = done.unwrap();

            let tokens: u64 = done.messages.iter().map(message_tokens).sum();
            // Each call has its own name and frame, which stay.
            let frames = u64::try_from(calls).unwrap() * 14;
            assert!(tokens < most + frames, "{calls} of {chars}: {tokens}");
            assert_eq!(done.messages[0].text(), "work item 7");
            assert_whole(&done.messages);
            task.request.messages = Arc::new(done.messages);
        }
    }
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn the_newest_result_is_cut_last() {
    let task = refused(&ScriptedProvider::new(), 4, 20_000);

    let done =
        Summariser::new(24_000).compress(&task, &mut CompressState::default()).await.unwrap();

    let results: Vec<usize> =
        done.messages[2].call_results().map(|it| it.content.chars().count()).collect();
    assert!(results.is_sorted() && results[0] < 300 && 19_000 < results[3], "{results:?}");
    let first = done.messages[2].call_results().next().unwrap();
    assert!(first.content.starts_with("0 o o") && first.content.contains("characters left out"));
}

#[tokio::test]
async fn after_an_overflow_cut_results_stand_for_a_summary_that_failed() {
    let err = ProviderError::new(ProviderErrorKind::ContextOverflow, "too long");
    let model = ScriptedProvider::new().fail(err);
    let mut task = worker(&model, 30);
    task.cause = CompressCause::Overflow;

    let done = Summariser::new(3_000).compress(&task, &mut CompressState::default()).await.unwrap();

    assert_eq!(done.messages.len(), task.request.messages.len());
    assert!(done.after < done.before / 2);
    assert_whole(&done.messages);
}

#[tokio::test]
async fn a_request_for_a_summary_is_never_longer_than_the_threshold() {
    for cause in [CompressCause::Threshold, CompressCause::Overflow] {
        let model = ScriptedProvider::new().otherwise("NOTES");
        let mut messages = vec![Message::user("go")];
        let pair =
            |at: usize| [Message::assistant("語".repeat(3_000)), Message::user(at.to_string())];
        messages.extend((0..40).flat_map(pair));
        let mut task =
            CompressTask::new(Arc::new(model.clone()), Request::new("m", messages), UNIX_EPOCH);
        task.cause = cause;

        let compressor = Summariser::new(24_000).tail_tokens(100);
        compressor.compress(&task, &mut CompressState::default()).await.unwrap();

        let asked = model.last_request().unwrap();
        let tokens = request_tokens(&asked, MessageId::default());
        assert!((8_000..20_000).contains(&tokens), "{cause:?}: {tokens}");
    }
}

#[tokio::test]
async fn what_the_user_said_last_does_not_count_as_replaced() {
    let model = ScriptedProvider::new();
    let messages = vec![Message::user("go ".repeat(4_000)), Message::assistant("yes")];
    let mut task =
        CompressTask::new(Arc::new(model.clone()), Request::new("m", messages), UNIX_EPOCH);
    task.cause = CompressCause::Overflow;

    let result = eager().compress(&task, &mut CompressState::default()).await;

    assert!(matches!(result, Err(CompressError::NothingToGain)), "{result:?}");
}
