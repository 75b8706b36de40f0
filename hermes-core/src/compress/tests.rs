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
