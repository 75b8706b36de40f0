use hermes_core::{
    message::{Call, CallResult, CallStatus, Image, Message, Part, Reasoning, Role},
    provider::{Sampling, ToolChoice},
    tool::ToolSpec,
};

use super::*;
use crate::wire::target::thought_by;

const NAME: &str = "h";

fn provider(caching: Caching) -> Anthropic {
    Anthropic::builder("http://h").caching(caching).build().unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&provider(Caching::Off).build_body(request)).unwrap()
}

/// Returns the messages of the body that `messages` make.
fn wire(messages: Vec<Message>) -> Vec<Value> {
    body(&Request::new("m", messages))["messages"].as_array().unwrap().clone()
}

fn calling(ids: &[&str]) -> Message {
    let parts = ids.iter().map(|id| Part::Call(Call::new(*id, "ping", "{}"))).collect();
    Message::new(Role::Assistant, parts)
}

fn result(id: &str, content: &str) -> Message {
    Message::results([CallResult::new(id.into(), CallStatus::Done, content)])
}

#[track_caller]
fn check_url(base: &str, expected: &str) {
    assert_eq!(Anthropic::builder(base).build().unwrap().address(), expected);
}

#[test]
fn any_base_url_leads_to_messages() {
    check_url("https://api.anthropic.com", "https://api.anthropic.com/v1/messages");
    check_url("https://h/v1/", "https://h/v1/messages");
    check_url("https://h/v1/messages", "https://h/v1/messages");
    check_url("https://h/anthropic", "https://h/anthropic/v1/messages");
}

#[test]
fn a_body_is_complete_and_ends_in_its_messages() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.7);
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let request = Request::new("claude-sonnet-4-5", vec![Message::user("hi")])
        .with_system("be brief")
        .with_tools(vec![ToolSpec::new("a", "does it").with_parameters(schema)])
        .with_tool_choice(ToolChoice::Required)
        .with_sampling(sampling);

    let bytes = provider(Caching::FiveMinutes).build_body(&request);

    insta::assert_snapshot!(String::from_utf8_lossy(&bytes), @r#"{"max_tokens":16000,"model":"claude-sonnet-4-5","stream":true,"system":[{"cache_control":{"type":"ephemeral"},"text":"be brief","type":"text"}],"temperature":0.7,"tool_choice":{"type":"any"},"tools":[{"description":"does it","input_schema":{"properties":{"a":{"type":"string"}},"type":"object"},"name":"a"}],"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#);
}

#[test]
fn the_last_three_messages_are_marked() {
    let mut history = Vec::new();
    for _ in 0..4 {
        history.extend([Message::user("a"), Message::assistant("b")]);
    }
    history.push(Message::user("c"));

    let bytes = provider(Caching::OneHour).build_body(&Request::new("m", history));

    let body: Value = serde_json::from_slice(&bytes).unwrap();
    let is_marked: Vec<bool> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["content"][0]["cache_control"]["ttl"] == "1h")
        .collect();
    assert_eq!(is_marked, [false, false, false, false, false, false, true, true, true]);
}

#[test]
fn later_bodies_begin_with_earlier_ones_but_for_markers() {
    let provider = provider(Caching::Off);
    let mut history = vec![Message::user("first")];
    let mut last = provider.build_body(&Request::new("m", history.clone()));
    for round in 0..4 {
        let id = format!("c{round}");
        history.extend([calling(&[&id]), result(&id, "pong")]);

        let next = provider.build_body(&Request::new("m", history.clone()));

        assert!(next.starts_with(last.strip_suffix(b"]}").unwrap()));
        last = next;
    }
}

#[test]
fn results_come_first_in_the_very_next_message() {
    let wire = wire(vec![
        Message::user("a"),
        calling(&["q_1"]),
        Message::user("steer: hurry"),
        result("q_1", "r1"),
        Message::assistant("done"),
    ]);

    assert_eq!(wire[1]["content"][0]["id"], "q_1");
    assert_eq!(
        wire[2]["content"],
        json!([
            {"type": "tool_result", "tool_use_id": "q_1", "content": "r1"},
            {"type": "text", "text": "steer: hurry"}
        ])
    );
    let roles: Vec<_> = wire.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant", "user"]);
}

#[test]
fn nothing_blank_goes_out() {
    let wire = wire(vec![
        Message::assistant("I begin"),
        Message::user("a"),
        Message::new(
            Role::Assistant,
            vec![Part::Text(" ".to_owned()), Part::Call(Call::new("x", "", "null"))],
        ),
        result("x", ""),
        Message::user(" "),
    ]);

    assert_eq!(
        wire,
        [
            json!({"role": "user", "content": [{"type": "text", "text": "(empty message)"}]}),
            json!({"role": "assistant", "content": [{"type": "text", "text": "I begin"}]}),
            json!({"role": "user", "content": [{"type": "text", "text": "a"}]}),
            json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "x", "name": "invalid_tool_call", "input": {}}]}),
            json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "x", "content": "(no output)"}]}),
        ]
    );
}

#[test]
fn what_failed_is_marked_as_an_error() {
    let failed = Message::results([CallResult::new("q".into(), CallStatus::Failed, "broke")]);

    let wire = wire(vec![Message::user("a"), calling(&["q"]), failed]);

    assert_eq!(wire[2]["content"][0]["is_error"], true);
}

#[test]
fn thinking_goes_back_as_it_came_or_not_at_all() {
    let thought = |reasoning: Reasoning| {
        let parts = vec![Part::Reasoning(reasoning), Part::Call(Call::new("q", "ping", "{}"))];
        wire(vec![Message::user("a"), Message::new(Role::Assistant, parts)])[1]["content"].clone()
    };
    let mut shortened = thinking::signed(NAME, "long thought", "sig-old");
    shortened.text = "thought".to_owned();

    let kept = thought(thinking::signed(NAME, "long thought", "sig-old"));
    let redacted = thought(thinking::redacted(NAME, "data"));

    let block = json!({"type": "thinking", "thinking": "long thought", "signature": "sig-old"});
    assert_eq!(kept[0], block);
    assert_eq!(redacted[0], json!({"type": "redacted_thinking", "data": "data"}));
    for foreign in [
        shortened,
        thinking::signed("another", "long thought", "sig-old"),
        Reasoning::new("unsigned"),
    ] {
        let blocks = thought(foreign);
        assert_eq!(blocks.as_array().unwrap().len(), 1, "{blocks}");
    }
}

#[test]
fn a_turn_that_was_read_goes_back_as_it_was() {
    let blocks = [
        json!({"type": "thinking", "thinking": "first", "signature": "s1"}),
        json!({"type": "text", "text": "let me"}),
        json!({"type": "tool_use", "id": "a", "name": "ping", "input": {"n": 1}}),
        json!({"type": "redacted_thinking", "data": "x"}),
        json!({"type": "tool_use", "id": "b", "name": "ping", "input": {}}),
    ];
    let turn = provider(Caching::Off).import_turn(&blocks);

    let wire = wire(vec![Message::user("a"), turn, result("a", "1"), result("b", "2")]);

    assert_eq!(wire[1]["content"].as_array().unwrap(), &blocks);
    assert_eq!(wire.len(), 3);
}

#[test]
fn thinking_without_a_signature_stays_here() {
    let turn = provider(Caching::Off).import_turn(&[
        json!({"type": "thinking", "thinking": "hm"}),
        json!({"type": "text", "text": "ja"}),
    ]);

    let wire = wire(vec![Message::user("a"), turn]);

    assert_eq!(wire[1]["content"], json!([{"type": "text", "text": "ja"}]));
}

/// Returns whether a request whose history is `messages` asks for thinking, and the body.
fn thinks(messages: Vec<Message>) -> (bool, Value) {
    let mut sampling = Sampling::default();
    sampling.reasoning_effort = Some("low".to_owned());
    let body = body(&Request::new("m", messages).with_sampling(sampling));
    (body.get("thinking").is_some(), body)
}

/// A turn that thought with a model and called a tool.
fn thought_and_called(provider: &str, model: &str, id: &str) -> Message {
    let thought = thought_by(model, thinking::signed(provider, "hm", "sig"));
    let parts = vec![Part::Reasoning(thought), Part::Call(Call::new(id, "ping", "{}"))];
    Message::new(Role::Assistant, parts)
}

#[test]
fn a_turn_that_calls_tools_and_shows_no_thinking_goes_on_without() {
    let hi = || Message::user("a");
    let own = || thought_and_called(NAME, "m", "q");
    for (name, messages, expected) in [
        ("no turn yet", vec![hi()], true),
        ("its own", vec![hi(), own(), result("q", "r")], true),
        ("no calls", vec![hi(), Message::assistant("b"), hi()], true),
        (
            "not the last",
            vec![hi(), calling(&["p"]), result("p", "r"), own(), result("q", "r")],
            true,
        ),
        (
            "answered since",
            vec![hi(), calling(&["p"]), result("p", "r"), Message::assistant("b"), hi()],
            true,
        ),
        ("none", vec![hi(), calling(&["q"]), result("q", "r")], false),
        ("none, and more said", vec![hi(), calling(&["q"]), result("q", "r"), hi()], false),
        (
            "only earlier",
            vec![hi(), own(), result("q", "r"), calling(&["p"]), result("p", "r")],
            false,
        ),
        ("another's", vec![hi(), thought_and_called("other", "m", "q"), result("q", "r")], false),
        (
            "another model's",
            vec![hi(), thought_and_called(NAME, "n", "q"), result("q", "r")],
            false,
        ),
    ] {
        let (found, body) = thinks(messages);
        assert_eq!(found, expected, "{name}: {body}");
    }
}

#[test]
fn a_turn_that_thinks_only_in_its_middle_goes_on_without() {
    let thought = Part::Reasoning(thinking::signed(NAME, "hm", "sig"));
    let call = Part::Call(Call::new("a", "ping", "{}"));
    let thinking = Message::new(Role::Assistant, vec![thought, call]);
    let history = |before: Vec<Message>| {
        let after = [thinking.clone(), result("a", "pong")];
        [Message::user("go")].into_iter().chain(before).chain(after).collect::<Vec<_>>()
    };

    assert!(thinks(history(Vec::new())).0);
    assert!(!thinks(history(vec![Message::assistant("One moment.")])).0);
}

#[test]
fn thinking_goes_back_to_the_model_that_thought_whatever_was_sent_before() {
    let provider = provider(Caching::Off);
    let history = vec![Message::user("a"), thought_and_called(NAME, "m", "q"), result("q", "r")];
    let has_it = |model: &str| {
        let bytes = provider.build_body(&Request::new(model, history.clone()));
        String::from_utf8_lossy(&bytes).contains("sig")
    };

    assert_eq!(["n", "m", "n", "m"].map(has_it), [false, true, false, true]);
}

#[test]
fn pictures_are_told_apart_by_their_address() {
    let image = |url: &str| Part::Image(Image::new(url));
    let parts = vec![image("https://h/a.png"), image("data:image/png;base64,AAAA")];

    let wire = wire(vec![Message::new(Role::User, parts)]);

    assert_eq!(
        wire[0]["content"],
        json!([
            {"type": "image", "source": {"type": "url", "url": "https://h/a.png"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
        ])
    );
}

#[test]
fn an_effort_becomes_a_budget() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.5);
    sampling.reasoning_effort = Some("medium".to_owned());
    let request =
        Request::new("claude-sonnet-4-5", vec![Message::user("a")]).with_sampling(sampling);

    let thinking = body(&request);
    let forced = body(&request.with_tool_choice(ToolChoice::Required));

    assert_eq!(thinking["thinking"], json!({"type": "enabled", "budget_tokens": 8000}));
    assert_eq!(thinking["max_tokens"], 24_000);
    assert!(thinking.get("temperature").is_none());
    assert!(forced.get("thinking").is_none());
}
