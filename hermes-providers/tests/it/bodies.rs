//! Bodies on all wires: the same bytes for the same conversation, whatever was built before.

use bytes::Bytes;
use hermes_core::{
    message::{Call, CallResult, CallStatus, Image, Message, Part, Reasoning, Role},
    provider::{Request, ToolChoice},
    tool::ToolSpec,
};
use hermes_providers::{Anthropic, OpenAiChat, OpenAiResponses, reqwest::Client};
use serde_json::Value;

const BASE: &str = "http://127.0.0.1:9";

type Build = Box<dyn Fn(&Request) -> Bytes>;

/// Returns what builds bodies with one provider of each wire, none of which has built any.
fn fresh(client: &Client) -> [(&'static str, Build); 3] {
    let chat = OpenAiChat::builder(BASE).client(client.clone()).build().unwrap();
    let messages = Anthropic::builder(BASE).client(client.clone()).build().unwrap();
    let responses = OpenAiResponses::builder(BASE).client(client.clone()).build().unwrap();
    [
        ("chat completions", Box::new(move |request| chat.build_body(request))),
        ("messages", Box::new(move |request| messages.build_body(request))),
        ("responses", Box::new(move |request| responses.build_body(request))),
    ]
}

/// Numbers that look like chance and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Makes a message that may be in order or out of it.
    fn message(&mut self) -> Message {
        let text = match self.roll(4) {
            0 => "",
            1 => " ",
            2 => "a",
            _ => "größer \"b\"\n",
        };
        let id = |dice: &mut Self| format!("c{}", dice.roll(3));
        match self.roll(7) {
            0 | 1 => Message::user(text),
            2 => Message::assistant(text),
            3 => Message::new(
                Role::Assistant,
                vec![Part::Reasoning(Reasoning::new("thought")), Part::Text(text.to_owned())],
            ),
            4 => {
                let calls = (0..=self.roll(2))
                    .map(|_| Part::Call(Call::new(id(self).as_str(), "ping", r#"{"a":1}"#)));
                let calls: Vec<Part> = calls.collect();
                Message::new(Role::Assistant, calls)
            }
            5 => Message::new(
                Role::User,
                vec![
                    Part::Image(Image::new("https://h.example/a.png")),
                    Part::Text(text.to_owned()),
                ],
            ),
            _ => {
                let id = id(self);
                Message::results([CallResult::new(id.as_str().into(), CallStatus::Done, text)])
            }
        }
    }
}

#[test]
fn a_body_does_not_depend_on_what_was_built_before() {
    let (client, mut dice) = (Client::new(), Dice(7));
    for _ in 0..60 {
        let used = fresh(&client);
        let mut messages: Vec<Message> = Vec::new();
        for _ in 0..20 {
            // Sometimes the conversation goes back, as that of a fork or after an undo.
            let kept = messages.len() - usize::try_from(dice.roll(3)).unwrap().min(messages.len());
            if dice.roll(4) == 0 {
                messages.truncate(kept);
            }
            messages.push(dice.message());
            let request = Request::new("m", messages.clone()).with_system("be good");
            for ((name, used), (_, new)) in used.iter().zip(fresh(&client)) {
                let body = used(&request);
                assert_eq!(body, new(&request), "{name}: {messages:?}");
                serde_json::from_slice::<Value>(&body).unwrap();
            }
        }
    }
}

#[test]
fn tools_that_would_have_one_name_on_the_wire_have_two() {
    let tools = ["fs.read", "fs_read"].map(|name| ToolSpec::new(name, "Reads."));
    let mut request = Request::new("m", vec![Message::user("a")]).with_tools(tools.to_vec());
    request.tool_choice = ToolChoice::Tool("fs.read".into());
    for (name, build) in fresh(&Client::new()) {
        let body: Value = serde_json::from_slice(&build(&request)).unwrap();

        let mut names: Vec<String> =
            body["tools"].as_array().unwrap().iter().map(name_of).collect();
        names.sort();
        assert_eq!(names, ["fs_read", "fs_read_2"], "{name}");
        assert_eq!(name_of(&body["tool_choice"]), "fs_read_2", "{name}");
    }
}

fn name_of(tool: &Value) -> String {
    let function = tool.get("function").unwrap_or(tool);
    function["name"].as_str().unwrap().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns the calls in the history of a body, as names and ids, and the ids of its results.
fn calls_and_results(body: &Value) -> (Vec<(String, String)>, Vec<String>) {
    let blocks = list(&body["messages"]).flat_map(|it| list(&it["content"]));
    let of_chat = list(&body["messages"]).flat_map(|it| list(&it["tool_calls"]));
    let things: Vec<&Value> =
        blocks.chain(of_chat).chain(list(&body["messages"])).chain(list(&body["input"])).collect();
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let id = |value: &Value| word(value.get("call_id").unwrap_or(&value["id"]));
    let is = |value: &Value, kinds: [&str; 3]| {
        value["type"].as_str().is_some_and(|it| kinds.contains(&it))
    };
    let calls = things.iter().filter(|it| is(it, ["function", "tool_use", "function_call"]));
    let results = things.iter().filter_map(|it| {
        let of_items = it.get("call_id").filter(|_| it["type"] == "function_call_output");
        it.get("tool_call_id").or_else(|| it.get("tool_use_id")).or(of_items)
    });
    (calls.map(|it| (name_of(it), id(it))).collect(), results.map(word).collect())
}

/// A conversation that has called tools, each under an id of its own.
fn called(calls: &[(&str, &str)]) -> Vec<Message> {
    let parts = calls.iter().map(|(id, name)| Part::Call(Call::new(*id, *name, "{}"))).collect();
    let results = calls.iter().map(|(id, _)| CallResult::new((*id).into(), CallStatus::Done, "r"));
    vec![Message::user("a"), Message::new(Role::Assistant, parts), Message::results(results)]
}

#[test]
fn a_call_in_the_history_has_the_name_of_its_tool() {
    let specs = |names: &[&str]| -> Vec<ToolSpec> {
        names.iter().map(|name| ToolSpec::new(*name, "Reads.")).collect()
    };
    let messages = called(&[("1", "fs.read"), ("2", "fs_read"), ("3", "gone")]);
    for (name, build) in fresh(&Client::new()) {
        for (tools, expected) in [
            // Without the other one, a name is as it was wanted, whatever was built before or after.
            (&["fs.read"][..], ["fs_read", "fs_read_2", "gone"]),
            (&["fs.read", "fs_read"], ["fs_read_2", "fs_read", "gone"]),
            (&["fs_read"], ["fs_read_2", "fs_read", "gone"]),
            (&["fs.read"], ["fs_read", "fs_read_2", "gone"]),
        ] {
            let request = Request::new("m", messages.clone()).with_tools(specs(tools));
            let body: Value = serde_json::from_slice(&build(&request)).unwrap();

            let (calls, _) = calls_and_results(&body);

            let found: Vec<&str> = calls.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(found, expected, "{name}: {tools:?}");
            let listed: Vec<String> = list(&body["tools"]).map(name_of).collect();
            assert!(listed.iter().all(|it| expected.contains(&it.as_str())), "{name}: {listed:?}");
        }
    }
}

#[test]
fn ids_that_look_alike_stay_apart_and_with_their_results() {
    let ids = ["a.b", "a_b", "a b", "functions.ping:0", "functions_ping_0"];
    let calls = ids.map(|id| (id, "ping"));
    for (name, build) in fresh(&Client::new()) {
        let body = build(&Request::new("m", called(&calls)));
        let (calls, results) = calls_and_results(&serde_json::from_slice(&body).unwrap());

        let made: Vec<&String> = calls.iter().map(|(_, id)| id).collect();
        let distinct: std::collections::BTreeSet<&String> = made.iter().copied().collect();
        assert_eq!(distinct.len(), ids.len(), "{name}: {made:?}");
        assert!(results.iter().eq(made.iter().copied()), "{name}: {made:?} {results:?}");
    }
}
