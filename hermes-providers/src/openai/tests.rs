use hermes_core::{
    message::{Call, CallResult, CallStatus, Image, Message, Part, Reasoning, Role},
    provider::{Assembly, Sampling, ToolChoice},
    tool::ToolSpec,
};
use serde_json::{Value, json};

use super::*;
use crate::{ApiKey, wire::target::thought_by};

fn provider() -> OpenAiChat {
    OpenAiChat::builder("http://127.0.0.1:1").build().unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&provider().build_body(request)).unwrap()
}

/// Returns the messages of the body that the imported `messages` make.
fn wire(messages: &[Value]) -> Vec<Value> {
    let imported = import(messages);
    let body = body(&Request::new("m", imported.messages).with_system(imported.system));
    body["messages"].as_array().unwrap().clone()
}

#[track_caller]
fn check_url(base: &str, expected: &str) {
    let provider = OpenAiChat::builder(base).build().unwrap();
    assert_eq!(provider.address(), expected);
}

#[test]
fn any_base_url_leads_to_chat_completions() {
    check_url("http://h:8080", "http://h:8080/v1/chat/completions");
    check_url("http://h:8080/", "http://h:8080/v1/chat/completions");
    check_url("http://h:8080/v1", "http://h:8080/v1/chat/completions");
    check_url(" http://h:8080/v1/ ", "http://h:8080/v1/chat/completions");
    check_url("https://h/api/v1/chat/completions/", "https://h/api/v1/chat/completions");
    check_url("https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions");
    check_url("https://u:p@h/v1?api-version=secret", "https://h/v1/chat/completions");
}

#[test]
fn mistakes_in_the_set_up_are_named() {
    for url in ["", "localhost:8080", "ftp://h/v1", "not a url"] {
        let err = OpenAiChat::builder(url).build().unwrap_err();
        assert!(matches!(err, BuildError::BaseUrl { .. }), "{url}: {err}");
    }
    for url in ["ftp://user:geheimnis@h/v1", "user:geheim@nis@h:80", "htp:/x?api_key=geheimnis"] {
        let err = OpenAiChat::builder(url).build().unwrap_err();
        assert!(!format!("{err} {err:?}").contains("geheim"), "{url}: {err}");
    }
    let err = OpenAiChat::builder("http://h").header("a b", "c").build().unwrap_err();
    assert!(matches!(err, BuildError::Header { .. }));
    let err = OpenAiChat::builder("http://h").field("messages", json!([])).build().unwrap_err();
    assert!(matches!(err, BuildError::Field { .. }));
}

#[test]
fn the_key_is_not_in_the_debug_output() {
    let builder = OpenAiChat::builder("http://user:geheimnis@h?key=geheimnis")
        .key(ApiKey::new("geheimnis").unwrap())
        .header("x-key", "geheimnis");

    assert!(!format!("{builder:?}").contains("geheimnis"));
    assert!(!format!("{:?}", builder.build().unwrap()).contains("geheimnis"));
}

#[test]
fn a_body_is_complete_and_ends_in_its_messages() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.7);
    sampling.max_tokens = Some(9);
    let tool = |name: &str| {
        ToolSpec::new(name, "does it")
            .with_parameters(json!({"type": "object", "properties": {"a": {"type": "string"}}}))
    };
    let request = Request::new("m", vec![Message::user("hi")])
        .with_system("be brief")
        .with_tools(vec![tool("z"), tool("a")])
        .with_tool_choice(ToolChoice::Tool("a".into()))
        .with_sampling(sampling);

    let bytes = provider().build_body(&request);

    insta::assert_snapshot!(String::from_utf8_lossy(&bytes), @r#"{"max_tokens":9,"model":"m","stream":true,"stream_options":{"include_usage":true},"temperature":0.7,"tool_choice":{"function":{"name":"a"},"type":"function"},"tools":[{"function":{"description":"does it","name":"a","parameters":{"properties":{"a":{"type":"string"}},"type":"object"}},"type":"function"},{"function":{"description":"does it","name":"z","parameters":{"properties":{"a":{"type":"string"}},"type":"object"}},"type":"function"}],"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}"#);
}

#[test]
fn later_bodies_begin_with_earlier_ones() {
    let provider = provider();
    let mut history = vec![Message::user("first")];
    let mut last = provider.build_body(&Request::new("m", history.clone()).with_system("s"));
    for round in 0..5 {
        let id = format!("c{round}");
        let call = Call::new(id.as_str(), "ping", "{ \"a\": 1 }");
        history.push(Message::new(Role::Assistant, vec![Part::Call(call)]));
        let result = CallResult::new(id.as_str().into(), CallStatus::Done, "pong 東京");
        history.push(Message::results([result]));

        let next = provider.build_body(&Request::new("m", history.clone()).with_system("s"));

        let shared = last.strip_suffix(b"]}").unwrap();
        assert!(next.starts_with(shared));
        last = next;
    }
    let fresh = self::provider().build_body(&Request::new("m", history).with_system("s"));
    assert_eq!(fresh, last);
}

#[test]
fn messages_of_other_sessions_are_not_mixed_in() {
    let provider = provider();
    for text in ["one", "two", "three"] {
        let message = Message::user(text).with_id(hermes_core::message::MessageId(1));
        let bytes = provider.build_body(&Request::new("m", vec![message]));
        assert!(String::from_utf8_lossy(&bytes).contains(text));
    }
}

#[test]
fn pairs_are_mended_on_the_way_out_only() {
    let messages = [
        json!({"role": "user", "content": "a"}),
        json!({"role": "tool", "tool_call_id": "ghost", "content": "old result"}),
        json!({"role": "assistant", "content": "b", "tool_calls": [
            {"id": "q1", "type": "function", "function": {"name": "ping", "arguments": "{}"}},
            {"id": "q2", "type": "function", "function": {"name": "ping", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "q1", "content": "r1"}),
        json!({"role": "user", "content": "next"}),
    ];

    let wire = wire(&messages);

    let roles: Vec<_> = wire.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool", "user"]);
    assert_eq!(wire[2], json!({"role": "tool", "content": "r1", "tool_call_id": "q1"}));
    assert_eq!(wire[3]["tool_call_id"], "q2");
}

#[test]
fn nothing_empty_goes_out() {
    let wire = wire(&[
        json!({"role": "user", "content": "  "}),
        json!({"role": "assistant", "content": "", "tool_calls": [
            {"id": "b", "function": {"name": "", "arguments": ""}}]}),
        json!({"role": "tool", "tool_call_id": "b", "content": ""}),
        json!({"role": "assistant", "content": "x", "tool_calls": []}),
    ]);

    assert_eq!(wire[0]["content"], "(empty message)");
    assert_eq!(wire[1]["content"], Value::Null);
    let function = &wire[1]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({"name": "invalid_tool_call", "arguments": "{}"}));
    assert_eq!(wire[2]["content"], "(no output)");
    assert!(wire[3].get("tool_calls").is_none());
}

#[test]
fn arguments_go_out_as_json_objects() {
    for (raw, expected) in [
        (" {\"b\": 1, \"a\": 2} ", "{\"b\": 1, \"a\": 2}"),
        ("null", "{}"),
        ("[1]", "{\"invalid_arguments\":\"[1]\"}"),
        ("{\"path\":\"a", "{\"invalid_arguments\":\"{\\\"path\\\":\\\"a\"}"),
    ] {
        let wire = wire(&[json!({"role": "assistant", "tool_calls": [
            {"id": "a", "function": {"name": "x", "arguments": raw}}]})]);
        assert_eq!(wire[0]["tool_calls"][0]["function"]["arguments"], expected);
    }
}

#[test]
fn neighbours_of_one_role_are_one_message() {
    let wire = wire(&[
        json!({"role": "user", "content": "a"}),
        json!({"role": "user", "content": "b"}),
        json!({"role": "assistant", "content": "x"}),
        json!({"role": "assistant", "content": "y"}),
    ]);

    assert_eq!(
        wire,
        [
            json!({"role": "user", "content": "a\n\nb"}),
            json!({"role": "assistant", "content": "x\n\ny"}),
        ]
    );
}

#[test]
fn pictures_make_content_a_list() {
    let parts = vec![Part::Text("look".to_owned()), Part::Image(Image::new("https://h/a.png"))];

    let body = body(&Request::new("m", vec![Message::new(Role::User, parts)]));

    assert_eq!(
        body["messages"][0]["content"],
        json!([
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "https://h/a.png"}}
        ])
    );
}

#[test]
fn what_recall_adds_is_sent_after_the_text() {
    let parts = vec![Part::Text("hi".to_owned()), Part::Context("<recall>x</recall>".to_owned())];

    let body = body(&Request::new("m", vec![Message::new(Role::User, parts)]));

    assert_eq!(body["messages"][0]["content"], "hi\n\n<recall>x</recall>");
}

#[test]
fn a_message_that_only_calls_has_no_content_at_all() {
    let call = Part::Call(Call::new("a", "x", "{}"));
    let result = CallResult::new("a".into(), CallStatus::Done, "ok");
    let messages = vec![Message::new(Role::Assistant, vec![call]), Message::results([result])];

    let body = body(&Request::new("m", messages));

    assert_eq!(body["messages"][0]["role"], "assistant");
    assert_eq!(body["messages"][0].get("content"), None);
}

#[test]
fn opaque_reasoning_goes_back_to_its_provider_only() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    let opaque = json!({"reasoning_details": details, "extra_content": {"0": {"google": 1}}});
    let thought = |provider: &str| {
        let reasoning = Reasoning::new("hm").with_opaque(provider, opaque.clone());
        let call = Call::new("a", "x", "{}");
        Message::new(Role::Assistant, vec![Part::Reasoning(reasoning), Part::Call(call)])
    };

    let own = body(&Request::new("m", vec![thought("127.0.0.1")]));
    let other = body(&Request::new("m", vec![thought("elsewhere")]));

    assert_eq!(own["messages"][0]["reasoning_details"], details);
    assert_eq!(own["messages"][0]["tool_calls"][0]["extra_content"], json!({"google": 1}));
    assert!(!other.to_string().contains("reasoning_details"));
    assert!(!other.to_string().contains("extra_content"));
    assert!(!other.to_string().contains("hm"));
}

#[test]
fn a_dialect_changes_what_it_names() {
    let dialect = Dialect::default()
        .with_max_tokens_key(MaxTokensKey::MaxCompletionTokens)
        .with_system_role(SystemRole::Developer)
        .with_effort_key(EffortKey::Nested)
        .with_reasoning_echo(ReasoningEcho::Content);
    let provider = OpenAiChat::builder("http://h")
        .dialect(dialect)
        .field("stream_options", Value::Null)
        .field("zeta", 1)
        .build()
        .unwrap();
    let call = Part::Call(Call::new("a", "x", "{}"));
    let mut sampling = Sampling::default();
    sampling.max_tokens = Some(9);
    sampling.reasoning_effort = Some("low".to_owned());
    let request = Request::new("m", vec![Message::new(Role::Assistant, vec![call])])
        .with_system("s")
        .with_sampling(sampling);

    let body: Value = serde_json::from_slice(&provider.build_body(&request)).unwrap();

    assert_eq!(body["max_completion_tokens"], 9);
    assert_eq!(body["reasoning"], json!({"effort": "low"}));
    assert_eq!(body["zeta"], 1);
    assert!(body.get("stream_options").is_none());
    assert_eq!(body["messages"][0]["role"], "developer");
    assert_eq!(body["messages"][1]["reasoning_content"], " ");
}

/// Returns what the messages of the history say again of their reasoning.
fn echoed(provider: &OpenAiChat, model: &str, messages: &[Message]) -> Vec<Value> {
    let bytes = provider.build_body(&Request::new(model, messages.to_vec()));
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|it| it["reasoning_content"].clone()).collect()
}

#[test]
fn reasoning_goes_back_as_text_to_the_provider_that_thought_it() {
    let deepseek = Preset::named("deepseek").unwrap();
    let provider = deepseek.builder().build().unwrap();
    let other = deepseek.builder().name("other").build().unwrap();
    let thought = Part::Reasoning(Reasoning::new("secret of another"));
    let call = || Part::Call(Call::new("a", "x", "{}"));
    let foreign = Message::new(Role::Assistant, vec![thought, call()]);
    let result = Message::results([CallResult::new("a".into(), CallStatus::Done, "ok")]);
    for answer in [
        // Reasoning, text and a call; and reasoning with a call only.
        r#"{"reasoning_content":"hm","content":"well","tool_calls":[{"id":"b","function":{"name":"x","arguments":"{}"}}]}"#,
        r#"{"reasoning_content":"hm","tool_calls":[{"id":"b","function":{"name":"x","arguments":"{}"}}]}"#,
    ] {
        let body = format!(r#"{{"choices":[{{"message":{answer},"finish_reason":"stop"}}]}}"#);
        let mut assembly = Assembly::default();
        provider.read_answer([body.as_bytes()]).for_each(|it| assembly.push(it.unwrap()));
        let own = assembly.into_message();
        let own_result = Message::results([CallResult::new("b".into(), CallStatus::Done, "ok")]);
        let history = [Message::user("q"), foreign.clone(), result.clone(), own, own_result];

        assert_eq!(
            echoed(&provider, "m", &history),
            [json!(null), json!(" "), json!(null), json!("hm"), json!(null)]
        );
        assert_eq!(
            echoed(&other, "m", &history),
            [json!(null), json!(" "), json!(null), json!(" "), json!(null)]
        );
    }
}

#[test]
fn what_is_opaque_goes_back_to_the_model_that_thought_it() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x"}]);
    let reasoning =
        Reasoning::new("hm").with_opaque("127.0.0.1", json!({"reasoning_details": details}));
    let parts = vec![Part::Reasoning(thought_by("m", reasoning)), Part::Text("b".to_owned())];
    let messages = vec![Message::user("a"), Message::new(Role::Assistant, parts)];
    let provider = provider();

    let has_it = |model: &str| {
        let bytes = provider.build_body(&Request::new(model, messages.clone()));
        String::from_utf8_lossy(&bytes).contains("reasoning_details")
    };

    assert_eq!(["n", "m", "n", "m"].map(has_it), [false, true, false, true]);
}
