//! The three wires, as far as tests tell them apart.

use std::time::Duration;

use hermes_core::provider::Provider;
use hermes_providers::{
    Anthropic, ApiKey, BuildError, OpenAiChat, OpenAiResponses, Timeouts, reqwest::Client,
};

use serde_json::{Value, json};

use crate::server::{Reply, sse};

/// The key that all tests use, to look for where it must not be.
pub(crate) const KEY: &str = "geheimnis";

/// What the tests have to know of a wire.
#[derive(Clone, Copy)]
pub(crate) struct Wire {
    pub(crate) name: &'static str,
    /// Builds a provider for a base URL, with the client if one is given.
    build: Build,
    /// The path that requests go to.
    pub(crate) path: &'static str,
    /// An event that says hello.
    pub(crate) hello: &'static str,
    /// Events that end the answer.
    pub(crate) stop: &'static str,
    /// Events that end the answer for another reason, which is called `odd`.
    pub(crate) odd_stop: &'static str,
    /// An event that is an error.
    pub(crate) error: &'static str,
    /// Makes events that call a tool.
    call: fn(&Called<'_>) -> String,
}

/// A call, as an endpoint makes it.
pub(crate) struct Called<'a> {
    /// Its place in the answer, as the endpoint counts.
    pub(crate) index: u64,
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
}

type Build = fn(&str, Option<Client>, Timeouts) -> Result<Box<dyn Provider>, BuildError>;

/// Builds a provider with the key.
macro_rules! build {
    ($provider:ident) => {
        |url, client, timeouts| {
            let builder = $provider::builder(url).key(ApiKey::new(KEY)?).timeouts(timeouts);
            let builder = match client {
                Some(client) => builder.client(client),
                None => builder,
            };
            Ok(Box::new(builder.build()?))
        }
    };
}

pub(crate) const CHAT: Wire = Wire {
    name: "chat completions",
    build: build!(OpenAiChat),
    path: "/v1/chat/completions",
    hello: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"}}]}\n\n",
    stop: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    odd_stop: "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"odd\"}]}\n\ndata: [DONE]\n\n",
    error: "data: {\"error\":{\"message\":\"overloaded\"}}\n\n",
    call: |Called { index, id, name, arguments }| {
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"index": index, "id": id, "type": "function", "function": function});
        events(&[json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})])
    },
};

pub(crate) const RESPONSES: Wire = Wire {
    name: "responses",
    build: build!(OpenAiResponses),
    path: "/v1/responses",
    hello: "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\
            \"output_index\":0,\"delta\":\"hello\"}\n\n",
    stop: "event: response.completed\ndata: {\"type\":\"response.completed\",\
           \"response\":{\"status\":\"completed\"}}\n\n",
    odd_stop: "data: {\"type\":\"response.incomplete\",\"response\":{\"status\":\"incomplete\",\
               \"incomplete_details\":{\"reason\":\"odd\"}}}\n\n",
    error: "event: response.failed\ndata: {\"type\":\"response.failed\",\"response\":\
            {\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"overloaded\"}}}\n\n",
    call: |Called { index, id, name, arguments }| {
        let item = |arguments: &str| {
            let own_id = format!("fc_{id}");
            json!({"type": "function_call", "id": own_id, "call_id": id, "name": name, "arguments": arguments})
        };
        events(&[
            json!({"type": "response.output_item.added", "output_index": index, "item": item("")}),
            json!({"type": "response.function_call_arguments.delta", "output_index": index, "delta": arguments}),
            json!({"type": "response.output_item.done", "output_index": index, "item": item(arguments)}),
        ])
    },
};

pub(crate) const MESSAGES: Wire = Wire {
    name: "messages",
    build: build!(Anthropic),
    path: "/v1/messages",
    hello: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
            \"delta\":{\"type\":\"text_delta\",\"text\":\"hello\"}}\n\n",
    stop: "event: message_delta\ndata: {\"type\":\"message_delta\",\
           \"delta\":{\"stop_reason\":\"end_turn\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
    odd_stop: "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"odd\"}}\n\n\
               data: {\"type\":\"message_stop\"}\n\n",
    error: "event: error\ndata: {\"type\":\"error\",\
            \"error\":{\"type\":\"overloaded_error\",\"message\":\"overloaded\"}}\n\n",
    call: |Called { index, id, name, arguments }| {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        let delta = json!({"type": "input_json_delta", "partial_json": arguments});
        events(&[
            json!({"type": "content_block_start", "index": index, "content_block": block}),
            json!({"type": "content_block_delta", "index": index, "delta": delta}),
            json!({"type": "content_block_stop", "index": index}),
        ])
    },
};

pub(crate) const WIRES: [Wire; 3] = [CHAT, RESPONSES, MESSAGES];

fn events(data: &[Value]) -> String {
    let events: Vec<String> = data.iter().map(|it| format!("data: {it}\n\n")).collect();
    events.concat()
}

fn short() -> Timeouts {
    let limit = Duration::from_millis(300);
    Timeouts::default().with_first_byte(limit).with_idle(limit)
}

impl Wire {
    /// Returns a provider with short timeouts and the default client.
    pub(crate) fn provider(self, url: &str) -> Box<dyn Provider> {
        (self.build)(url, None, short()).unwrap()
    }

    /// Returns a provider with other timeouts and the default client.
    pub(crate) fn provider_that_waits(self, url: &str, timeouts: Timeouts) -> Box<dyn Provider> {
        (self.build)(url, None, timeouts).unwrap()
    }

    /// Returns a provider with short timeouts and a client of the host's.
    pub(crate) fn provider_with(self, url: &str, client: Client) -> Box<dyn Provider> {
        (self.build)(url, Some(client), short()).unwrap()
    }

    /// Returns an answer that says hello in one event.
    pub(crate) fn good(self) -> Reply {
        Reply::Bytes(sse(&self.answer()))
    }

    /// Returns an answer that makes calls.
    pub(crate) fn calling(self, calls: &[Called<'_>]) -> Reply {
        let calls: String = calls.iter().map(self.call).collect();
        Reply::Bytes(sse(&format!("{calls}{}", self.stop)))
    }

    /// Returns the events of that answer.
    pub(crate) fn answer(self) -> String {
        format!("{}{}", self.hello, self.stop)
    }
}
