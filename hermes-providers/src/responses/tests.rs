use hermes_core::{
    message::{Call, CallResult, CallStatus, Image, Message, Part, Reasoning, Role},
    provider::{Assembly, Sampling, ToolChoice},
    tool::ToolSpec,
};
use serde_json::{Value, json};

use super::*;
use crate::wire::target::thought_by;

fn provider() -> OpenAiResponses {
    OpenAiResponses::builder("http://h").build().unwrap()
}

fn body(request: &Request) -> Value {
    serde_json::from_slice(&provider().build_body(request)).unwrap()
}

/// Returns the input that `messages` make.
fn input(messages: Vec<Message>) -> Vec<Value> {
    body(&Request::new("m", messages))["input"].as_array().unwrap().clone()
}

fn calling(ids: &[&str]) -> Message {
    let parts = ids.iter().map(|id| Part::Call(Call::new(*id, "ping", "{}"))).collect();
    Message::new(Role::Assistant, parts)
}

fn result(id: &str, content: &str) -> Message {
    Message::results([CallResult::new(id.into(), CallStatus::Done, content)])
}

/// Returns the message that an answer with the items in `output` makes.
fn answer(provider: &OpenAiResponses, output: &str) -> Message {
    let body = format!(r#"{{"object":"response","status":"completed","output":{output}}}"#);
    let mut assembly = Assembly::default();
    for event in provider.read_answer([body.as_bytes()]) {
        assembly.push(event.unwrap());
    }
    assembly.into_message()
}

#[track_caller]
fn check_url(base: &str, expected: &str) {
    assert_eq!(OpenAiResponses::builder(base).build().unwrap().address(), expected);
}

#[test]
fn any_base_url_leads_to_responses() {
    check_url("https://api.openai.com", "https://api.openai.com/v1/responses");
    check_url("https://h/v1/", "https://h/v1/responses");
    check_url("https://h/api/v1/responses", "https://h/api/v1/responses");
    check_url("https://u:p@h/openai/v1?api-version=x", "https://h/openai/v1/responses");
}

#[test]
fn the_input_is_not_the_hosts_to_set() {
    let err = OpenAiResponses::builder("http://h").field("input", "x").build().unwrap_err();

    assert!(matches!(err, BuildError::Field { .. }));
}

#[test]
fn a_body_is_complete_and_ends_in_its_input() {
    let mut sampling = Sampling::default();
    sampling.temperature = Some(0.7);
    sampling.max_tokens = Some(99);
    sampling.reasoning_effort = Some("low".to_owned());
    let tool = |name: &str| {
        ToolSpec::new(name, "does it")
            .with_parameters(json!({"type": "object", "properties": {"a": {"type": "string"}}}))
    };
    let request = Request::new("gpt-5", vec![Message::user("hi")])
        .with_system("be brief")
        .with_tools(vec![tool("z"), tool("a b")])
        .with_tool_choice(ToolChoice::Tool("a b".into()))
        .with_sampling(sampling);

    let bytes = provider().build_body(&request);

    insta::assert_snapshot!(String::from_utf8_lossy(&bytes), @r#"{"include":["reasoning.encrypted_content"],"instructions":"be brief","max_output_tokens":99,"model":"gpt-5","reasoning":{"effort":"low"},"store":false,"stream":true,"temperature":0.7,"tool_choice":{"name":"a_b","type":"function"},"tools":[{"description":"does it","name":"a_b","parameters":{"properties":{"a":{"type":"string"}},"type":"object"},"strict":false,"type":"function"},{"description":"does it","name":"z","parameters":{"properties":{"a":{"type":"string"}},"type":"object"},"strict":false,"type":"function"}],"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}"#);
}

#[test]
fn a_model_that_does_not_reason_is_not_asked_for_it() {
    for (model, is_asked) in [
        ("gpt-5-mini", true),
        ("o4-mini", true),
        ("local", true),
        ("gpt-4.1", false),
        ("openai/gpt-4o", false),
        ("ft:gpt-4o-mini:org", false),
    ] {
        let body = body(&Request::new(model, vec![Message::user("hi")]));

        assert_eq!(body.get("include").is_some(), is_asked, "{model}");
        assert_eq!(body["store"], false);
    }
}

#[test]
fn summaries_are_asked_for_where_the_host_wants_them() {
    let provider = OpenAiResponses::builder("http://h")
        .summaries(Summaries::Auto)
        .field("prompt_cache_key", "session-1")
        .build()
        .unwrap();

    let bytes = provider.build_body(&Request::new("gpt-5", vec![Message::user("hi")]));

    let body: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(body["reasoning"], json!({"summary": "auto"}));
    assert_eq!(body["prompt_cache_key"], "session-1");
}

#[test]
fn later_bodies_begin_with_earlier_ones() {
    let provider = provider();
    let thought = r#"[{"type":"reasoning","id":"rs","encrypted_content":"x","summary":[]},
        {"type":"function_call","id":"fc","call_id":"c","name":"ping","arguments":"{ \"a\": 1 }"}]"#;
    let mut history = vec![Message::user("first")];
    let mut last = provider.build_body(&Request::new("m", history.clone()));
    for round in 0..4 {
        let called = thought.replace("\"c\"", &format!("\"c{round}\""));
        history.push(answer(&provider, &called));
        history.push(result(&format!("c{round}"), "pong 東京"));

        let next = provider.build_body(&Request::new("m", history.clone()));

        assert!(next.starts_with(last.strip_suffix(b"]}").unwrap()));
        last = next;
    }
    assert_eq!(self::provider().build_body(&Request::new("m", history)), last);
}

#[test]
fn a_conversation_becomes_items() {
    let input = input(vec![
        Message::user("a"),
        Message::new(
            Role::Assistant,
            vec![Part::Text("let me".to_owned()), Part::Call(Call::new("q1", "mcp.ping", ""))],
        ),
        result("q1", ""),
        Message::assistant("done"),
    ]);

    let text = |text: &str| json!([{"type": "output_text", "text": text, "annotations": []}]);
    assert_eq!(
        input,
        [
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]}),
            json!({"type": "message", "role": "assistant", "content": text("let me")}),
            json!({"type": "function_call", "call_id": "q1", "name": "mcp_ping", "arguments": "{}"}),
            json!({"type": "function_call_output", "call_id": "q1", "output": "(no output)"}),
            json!({"type": "message", "role": "assistant", "content": text("done")}),
        ]
    );
}

#[test]
fn pairs_are_mended_on_the_way_out_only() {
    let long = "x".repeat(90);
    let input = input(vec![
        result("ghost", "old"),
        calling(&[&long, "q2"]),
        Message::user("hurry"),
        result("q2", "r2"),
        Message::user("  "),
    ]);

    let kinds: Vec<_> = input.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
            "message"
        ]
    );
    assert_eq!(input[0]["call_id"].as_str().unwrap().len(), 64);
    assert_eq!(input[0]["call_id"], input[2]["call_id"]);
    assert_eq!(input[3]["output"], "r2");
    assert_eq!(input[4]["content"], json!([{"type": "input_text", "text": "hurry"}]));
}

#[test]
fn nothing_blank_goes_out() {
    let parts = vec![Part::Text(" ".to_owned()), Part::Call(Call::new("x", "", "[1"))];

    let input = input(vec![Message::user(" "), Message::new(Role::Assistant, parts)]);

    assert_eq!(input[0]["content"][0]["text"], "(empty message)");
    assert_eq!(input[1]["type"], "function_call");
    assert_eq!(input[1]["name"], "invalid_tool_call");
    assert_eq!(input[1]["arguments"], "{\"invalid_arguments\":\"[1\"}");
}

#[test]
fn pictures_go_out_beside_the_text() {
    let parts = vec![
        Part::Text("look".to_owned()),
        Part::Image(Image::new("data:image/png;base64,AAAA")),
        Part::Context("<recall>x</recall>".to_owned()),
    ];

    let input = input(vec![Message::new(Role::User, parts)]);

    assert_eq!(
        input[0]["content"],
        json!([
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "auto"},
            {"type": "input_text", "text": "<recall>x</recall>"}
        ])
    );
}

/// With what a tree of values would not keep: the order of the keys, escapes, white space.
const THOUGHT: &str =
    r#"{"type":"reasoning", "summary":[],"id":"rs_1","encrypted_content":"g\u00e9\/=","z":1.50}"#;
const CALLED: &str =
    r#"{"type":"function_call","id":"fc_1","call_id":"a","name":"ping","arguments":"{}"}"#;
const SAID: &str = r#"{"type":"message","id":"msg_1","phase":"commentary","content":[{"type":"output_text","text":"hm"}]}"#;

fn sent(provider: &OpenAiResponses, turn: &Message) -> String {
    let messages = vec![Message::user("a"), turn.clone(), result("a", "1")];
    String::from_utf8(provider.build_body(&Request::new("m", messages)).to_vec()).unwrap()
}

#[test]
fn reasoning_goes_back_byte_for_byte_and_with_what_came_with_it() {
    let provider = provider();
    let second = THOUGHT.replace("rs_1", "rs_2");

    let turn = answer(&provider, &format!("[{THOUGHT},{CALLED},{second},{SAID}]"));

    let body = sent(&provider, &turn);
    let (call, text) = (
        r#"{"type":"function_call","id":"fc_1","#,
        r#"{"type":"message","id":"msg_1","status":"completed","phase":"commentary","#,
    );
    let places = [THOUGHT, call, &second, text].map(|it| body.find(it));
    assert!(places.iter().all(Option::is_some), "{places:?} {body}");
    assert!(places.is_sorted(), "{places:?} {body}");
}

#[test]
fn reasoning_goes_back_after_it_was_stored() {
    let provider = provider();
    let turn = answer(&provider, &format!("[{THOUGHT},{CALLED}]"));

    let stored = serde_json::to_string(&turn).unwrap();
    let turn: Message = serde_json::from_str(&stored).unwrap();

    assert!(sent(&provider, &turn).contains(THOUGHT));
}

#[test]
fn another_provider_gets_neither_reasoning_nor_ids() {
    let turn = answer(&provider(), &format!("[{THOUGHT},{CALLED}]"));
    let other = OpenAiResponses::builder("http://elsewhere").build().unwrap();

    let body = sent(&other, &turn);

    assert!(!body.contains("rs_1") && !body.contains("fc_1"), "{body}");
    assert!(body.contains(r#""call_id":"a""#));
}

#[test]
fn another_model_gets_neither_reasoning_nor_ids_whatever_was_sent_before() {
    let provider = provider();
    let turn = answer(&provider, &format!("[{THOUGHT},{CALLED}]"));
    let parts = turn.parts.iter().cloned().map(|part| match part {
        Part::Reasoning(reasoning) => Part::Reasoning(thought_by("m", reasoning)),
        other => other,
    });
    let turn = Message::new(Role::Assistant, parts.collect());
    let messages = vec![Message::user("a"), turn, result("a", "1")];
    let body = |model: &str| {
        let bytes = provider.build_body(&Request::new(model, messages.clone()));
        String::from_utf8(bytes.to_vec()).unwrap()
    };

    for model in ["n", "m", "n", "m"] {
        let body = body(model);
        let has = ["rs_1", "fc_1"].map(|id| body.contains(id));
        assert_eq!(has, [model == "m"; 2], "{body}");
    }
}

#[test]
fn reasoning_stays_here_when_what_came_with_it_has_changed() {
    let provider = provider();
    let turn = answer(&provider, &format!("[{THOUGHT},{CALLED},{SAID}]"));
    let is_call = |part: &Part| matches!(part, Part::Call(_));
    let without_text = turn.parts.iter().filter(|part| part.as_text().is_none()).cloned().collect();
    let mut with_more = turn.parts.clone();
    with_more.insert(0, Part::Reasoning(Reasoning::new("mine")));
    let partial: Vec<Part> =
        turn.parts.iter().filter(|part| !is_call(part)).take(2).cloned().collect();
    assert!(sent(&provider, &turn).contains("rs_1"));

    for parts in [without_text, with_more, partial] {
        let body = sent(&provider, &Message::new(Role::Assistant, parts));

        assert!(!body.contains("rs_1") && !body.contains("fc_1"), "{body}");
    }
}

#[test]
fn an_item_that_says_nothing_does_not_keep_reasoning_here() {
    let provider = provider();
    let silent = SAID.replace("hm", "");

    let turn = answer(&provider, &format!("[{THOUGHT},{silent},{CALLED}]"));

    let body = sent(&provider, &turn);
    assert!(body.contains("rs_1") && body.contains("fc_1") && !body.contains("msg_1"), "{body}");
}

#[test]
fn reasoning_that_nothing_follows_stays_here() {
    let provider = provider();
    let last = THOUGHT.replace("rs_1", "rs_2");

    let turn = answer(&provider, &format!("[{THOUGHT},{CALLED},{last}]"));

    let body = sent(&provider, &turn);
    assert!(body.contains("rs_1") && !body.contains("rs_2"), "{body}");
}

#[test]
fn reasoning_beside_an_unknown_item_stays_here() {
    let provider = provider();

    let turn = answer(&provider, &format!(r#"[{THOUGHT},{{"type":"web_search_call"}},{CALLED}]"#));

    let body = sent(&provider, &turn);
    assert!(!body.contains("rs_1") && !body.contains("fc_1"), "{body}");
    assert!(body.contains(r#""call_id":"a""#));
}

#[test]
fn reasoning_that_was_tampered_with_stays_here() {
    let provider = provider();
    let turn = answer(&provider, &format!("[{THOUGHT},{CALLED}]"));
    let stored = serde_json::to_string(&turn).unwrap().replace(r#"{\"type\":\"reasoning\""#, "{");
    let turn: Message = serde_json::from_str(&stored).unwrap();

    let body = sent(&provider, &turn);

    serde_json::from_str::<Value>(&body).unwrap();
    assert!(!body.contains("rs_1"), "{body}");
}
