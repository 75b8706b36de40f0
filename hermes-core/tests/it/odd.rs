//! Replies that are not as they should be: each ends in a typed outcome and a usable conversation.

use std::collections::BTreeMap;

use hermes_core::{
    agent::Finish,
    message::{Call, CallStatus, Message, Part, Reasoning, Role, StopReason},
    schemars::{self, JsonSchema},
    store::SessionStore,
    testing::{InMemorySessions, ScriptedProvider},
    tool,
};
use serde::Deserialize;
use serde_json::json;

use crate::support::{agent, assert_paired, results};

fn reply(parts: Vec<Part>) -> Message {
    Message::new(Role::Assistant, parts)
}

#[tokio::test]
async fn a_refusal_is_an_ending_of_its_own() {
    let refusal = Message::assistant("I will not.").with_stop(StopReason::Refusal);
    let model = ScriptedProvider::new().reply(refusal).say("Gladly.");
    let session = agent(&model).build().unwrap().session();

    let refused = session.send("Do harm.").await.unwrap();
    let next = session.send("Do good.").await.unwrap();

    assert_eq!((refused.finish.clone(), refused.text.as_str()), (Finish::Refused, "I will not."));
    assert!(!refused.is_completed());
    assert_eq!(next.text, "Gladly.");
}

#[tokio::test]
async fn a_reply_of_reasoning_alone_is_asked_for_again_and_then_empty() {
    let thought = || reply(vec![Part::Reasoning(Reasoning::new("hm"))]);
    let model = ScriptedProvider::new().reply(thought()).reply(thought()).say("Here I am.");
    let session = agent(&model).build().unwrap().session();

    let empty = session.send("Are you there?").await.unwrap();
    let next = session.send("Hello?").await.unwrap();

    assert_eq!((empty.finish.clone(), empty.requests), (Finish::Empty, 2));
    assert!(!empty.is_completed());
    assert_eq!(next.text, "Here I am.");
    let roles: Vec<_> = session.history().iter().map(|it| it.role).collect();
    assert!(!roles.windows(2).any(|it| it == [Role::Assistant, Role::Assistant]), "{roles:?}");
}

#[tokio::test]
async fn arguments_that_are_no_text_are_refused_and_stay_as_they_were() {
    let odd = [
        r#"{"text":"\ud800"}"#,
        "{\"text\":\"a\u{0}b\"}",
        "{\"text\":\"a\tb\"}",
        r#"{"text":"x"}{"text":"y"}"#,
        r#"{"text":"x"} and more"#,
    ];
    for arguments in odd {
        let call = Part::Call(Call::new("a", "echo", arguments));
        let model = ScriptedProvider::new().reply(reply(vec![call])).say("done");
        let session = agent(&model).build().unwrap().session();

        let turn = session.send("Go.").await.unwrap();

        assert_eq!(turn.finish, Finish::Answered, "{arguments:?}");
        let results = results(&session.history());
        assert_eq!(results[0].status, CallStatus::Rejected, "{arguments:?}");
        assert!(results[0].content.contains("not valid JSON"), "{}", results[0].content);
        let kept = session.history()[1].calls().next().unwrap().arguments.clone();
        assert_eq!(kept.as_str(), arguments);
    }
}

#[tokio::test]
async fn control_characters_go_through_unharmed() {
    let odd = "bell \u{7} nul \u{0} escape \u{1b}[31m del \u{7f} tag \u{e0041} \u{202e}";
    let store = std::sync::Arc::new(InMemorySessions::default());
    let model = ScriptedProvider::new().call("echo", json!({"text": odd})).say(odd);
    let agent = agent(&model).sessions(store.clone()).build().unwrap();
    let session = agent.session();

    let turn = session.send(odd).await.unwrap();

    assert_eq!(turn.text, odd);
    assert_eq!(results(&session.history())[0].content, odd);
    let stored = store.load(session.id()).await.unwrap().unwrap();
    assert_eq!(stored.messages, *session.history());
    let text = serde_json::to_string(&stored.messages).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Message>>(&text).unwrap(), stored.messages);
}

#[tokio::test]
async fn calls_with_one_id_or_none_each_get_a_result() {
    let call = |id: &str, text: &str| Part::Call(Call::new(id, "echo", json!({"text": text})));
    let calls = vec![call("x", "one"), call("x", "two"), call(" ", "three")];
    let model = ScriptedProvider::new().reply(reply(calls)).say("done");
    let session = agent(&model).build().unwrap().session();

    session.send("Go.").await.unwrap();

    assert_paired(&session.history());
    let contents: Vec<_> = results(&session.history()).into_iter().map(|it| it.content).collect();
    assert_eq!(contents, ["one", "two", "three"]);
}

/// Arguments with numbers for keys, whose schema is one of patterns.
#[derive(Debug, Deserialize, JsonSchema)]
struct Lines {
    lines: BTreeMap<u32, String>,
}

#[tokio::test]
async fn a_tool_that_takes_numbers_for_keys_can_be_called() {
    let edit = tool::from_fn("edit", "Sets lines.", |args: Lines, _| async move {
        Ok(format!("{:?}", args.lines))
    });
    let model = ScriptedProvider::new()
        .call("edit", json!({"lines": {"3": "a", "17": "b"}}))
        .call("edit", json!({"lines": {"3": 3}}));
    let session = agent(&model).tool(edit).build().unwrap().session();

    session.send("Go.").await.unwrap();

    let results = results(&session.history());
    assert_eq!(
        (results[0].status, &*results[0].content),
        (CallStatus::Done, r#"{3: "a", 17: "b"}"#)
    );
    assert_eq!(results[1].status, CallStatus::Rejected);
    assert!(results[1].content.contains("lines.3"), "{}", results[1].content);
}
