//! Request bodies: fields by name, then the messages, with cache markers on what will be sent again.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use hermes_core::{
    message::{Message, Role},
    provider::{Request, ToolChoice},
    tool::ToolSpec,
};
use serde_json::{Value, json};

use super::{
    Caching, MANNER,
    convert::{blocks, can_be_marked},
    limits,
    wire::{OutBlock, OutTool},
};
use crate::wire::{
    NOTHING_SAID, body, link::Link, names::Names, pairing::arrange, schema, target::Target,
};

/// What goes into a body beside the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a> {
    pub(super) link: &'a Link,
    pub(super) caching: Caching,
}

/// The messages on the wire, each with the blocks of one or several of ours.
#[derive(Debug, Default)]
struct Turns {
    turns: Vec<Turn>,
    /// The blocks of all turns, in their order.
    fragments: Vec<Arc<[u8]>>,
}

#[derive(Debug)]
struct Turn {
    role: &'static str,
    /// Where its fragments end, and those of the next one begin.
    end: usize,
    /// Whether the last block may carry a marker.
    can_be_marked: bool,
    /// Whether its first block is thinking.
    begins_with_thinking: bool,
    has_calls: bool,
}

/// Whether a model may be asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thinking {
    Allowed,
    /// The endpoint would refuse the request.
    Refused,
}

impl Body<'_> {
    /// How many messages are marked, the last ones. Together with the system prompt these are all the
    /// markers that the wire allows.
    const MARKED: usize = 3;

    /// Returns the body: the other fields in the order of their names, the messages at the end.
    pub(super) fn bytes(self, request: &Request) -> Bytes {
        let names = Names::of(&request.tools);
        self.bytes_for(request, Target::new(&self.link.name, request.model.as_str(), &names))
    }

    /// Returns the body without what the model thought before.
    pub(super) fn bytes_without_thinking(self, request: &Request) -> Bytes {
        let names = Names::of(&request.tools);
        let target = Target::new(&self.link.name, request.model.as_str(), &names);
        self.bytes_for(request, target.without_reasoning())
    }

    fn bytes_for(self, request: &Request, target: Target<'_>) -> Bytes {
        let turns = self.turns(request, target);
        let fields = self.fields(request, target.names, turns.thinking());
        let Turns { turns, fragments } = turns;
        let mut out = body::head(fields, &self.link.fields, MANNER.list);
        let length: usize = fragments.iter().map(|it| it.len() + 1).sum();
        out.reserve(length + turns.len() * Turn::AROUND + 256);
        let unmarked = turns.len().saturating_sub(Self::MARKED);
        let mut start = 0;
        for (nth, turn) in turns.iter().enumerate() {
            if 0 < nth {
                out.push(b',');
            }
            let marker = self.caching.marker().filter(|_| unmarked <= nth && turn.can_be_marked);
            turn.write(fragments.get(start..turn.end).unwrap_or_default(), marker, &mut out);
            start = turn.end;
        }
        body::close(out)
    }

    /// Returns turns that alternate, beginning and ending with the user.
    fn turns(self, request: &Request, target: Target<'_>) -> Turns {
        let mut turns = Turns::default();
        turns.turns.reserve(request.messages.len() + 2);
        turns.fragments.reserve(request.messages.len() + 2);
        let mut kept = self.link.fragments.lock();
        for outgoing in arrange(&request.messages) {
            let fragment = kept.of(&outgoing, target, |message| blocks(message, target));
            let message = outgoing.message();
            if fragment.is_empty() && role(message) == "assistant" {
                continue;
            }
            turns.push(message, fragment);
        }
        if turns.last_role() != Some("user") {
            turns.begin("user");
        }
        turns
    }

    fn fields<'a>(
        self,
        request: &Request,
        names: &Names,
        allowed: Thinking,
    ) -> BTreeMap<&'a str, Value> {
        let sampling = &request.sampling;
        let is_forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
        let may_think = !is_forced && allowed == Thinking::Allowed;
        let effort = sampling.reasoning_effort.as_deref().filter(|_| may_think);
        let thinking = effort.and_then(limits::thinking_budget);
        let limit = limits::max_tokens(request.model.as_str(), sampling.max_tokens, thinking);
        let mut fields = BTreeMap::from([
            ("model", Value::from(request.model.as_str())),
            ("stream", Value::Bool(true)),
            ("max_tokens", Value::from(limit)),
        ]);
        if !request.system.trim().is_empty() {
            fields.insert("system", json!([self.system(&request.system)]));
        }
        if !request.tools.is_empty() {
            fields.insert("tools", body::tools(&request.tools, |it| tool(it, names)));
            fields.insert("tool_choice", tool_choice(&request.tool_choice, names));
        }
        if let Some(budget) = thinking {
            fields.insert("thinking", json!({"type": "enabled", "budget_tokens": budget}));
        } else {
            // With thinking, the wire takes no other sampling than its own.
            fields.insert("temperature", body::number(sampling.temperature));
            fields.insert("top_p", body::number(sampling.top_p));
        }
        fields
    }

    fn system(self, text: &str) -> Value {
        let mut block = json!({"type": "text", "text": text});
        if let (Some(control), Some(block)) = (self.caching.control(), block.as_object_mut()) {
            block.insert("cache_control".to_owned(), control);
        }
        block
    }
}

impl Turns {
    fn push(&mut self, message: &Message, fragment: Arc<[u8]>) {
        let role = role(message);
        if self.turns.is_empty() && role == "assistant" {
            self.begin("user");
        }
        if self.last_role() != Some(role) {
            self.begin(role);
        }
        let before = self.turns.iter().rev().nth(1).map_or(0, |turn| turn.end);
        let is_first = before == self.fragments.len();
        let Some(last) = self.turns.last_mut().filter(|_| !fragment.is_empty()) else { return };
        last.begins_with_thinking |= is_first && is_thinking(&fragment);
        last.has_calls |= message.calls().next().is_some();
        last.end += 1;
        last.can_be_marked = can_be_marked(message);
        self.fragments.push(fragment);
    }

    /// Begins a turn in which nothing is said yet.
    fn begin(&mut self, role: &'static str) {
        self.turns.push(Turn {
            role,
            end: self.fragments.len(),
            can_be_marked: true,
            begins_with_thinking: false,
            has_calls: false,
        });
    }

    /// Returns whether the model may think. A model that thinks goes on from its last turn, and if that
    /// called tools, the wire wants to see what it thought before it did. Where another provider or model
    /// made that turn, or a model that did not think, there is nothing to show.
    fn thinking(&self) -> Thinking {
        let last = self.turns.iter().rev().find(|turn| turn.role == "assistant");
        match last {
            Some(turn) if turn.has_calls && !turn.begins_with_thinking => Thinking::Refused,
            _ => Thinking::Allowed,
        }
    }

    fn last_role(&self) -> Option<&'static str> {
        self.turns.last().map(|it| it.role)
    }
}

impl Turn {
    /// More than the bytes of a turn around its blocks.
    const AROUND: usize = 64;

    fn write(&self, fragments: &[Arc<[u8]>], marker: Option<&str>, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"role\":\"");
        out.extend_from_slice(self.role.as_bytes());
        out.extend_from_slice(b"\",\"content\":[");
        if fragments.is_empty() {
            body::write(&OutBlock::Text { text: NOTHING_SAID }, out);
        }
        body::join(fragments, out);
        if let Some(marker) = marker {
            // A block ends in a brace, and the marker goes before it.
            out.pop();
            out.extend_from_slice(marker.as_bytes());
            out.push(b'}');
        }
        out.extend_from_slice(b"]}");
    }
}

/// Returns whether blocks begin with thinking. The kind is the first field of a block.
fn is_thinking(blocks: &[u8]) -> bool {
    [&b"{\"type\":\"thinking\""[..], b"{\"type\":\"redacted_thinking\""]
        .iter()
        .any(|start| blocks.starts_with(start))
}

fn role(message: &Message) -> &'static str {
    if message.role == Role::Assistant { "assistant" } else { "user" }
}

fn tool_choice(choice: &ToolChoice, names: &Names) -> Value {
    match choice {
        ToolChoice::Required => json!({"type": "any"}),
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Tool(name) => json!({"type": "tool", "name": names.wire(name)}),
        _ => json!({"type": "auto"}),
    }
}

fn tool<'a>(tool: &'a ToolSpec, names: &'a Names) -> OutTool<'a> {
    OutTool {
        name: names.wire(&tool.name),
        description: &tool.description,
        input_schema: schema::accepted(&tool.parameters),
    }
}
