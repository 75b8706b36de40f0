//! What all wires do alike when they read an answer. Pure.

use std::{borrow::Cow, collections::VecDeque, fmt, sync::Arc};

use hermes_core::{
    message::{Reasoning, StopReason, Usage},
    provider::ModelEvent,
};
use serde_json::Value;

use super::{
    arguments_text,
    calls::{Calls, Fragment},
    names::Names,
    surrogates,
    target::thought_by,
};
use crate::http::{
    Decode, WireError,
    loose::{self, Loose, Object, Record},
    status::{Detail, cut},
};

/// How one wire reads the events of an answer.
pub(crate) trait Read: fmt::Debug + Send + 'static {
    /// An event of a stream, or a whole answer.
    type Event<'a>: Record<'a>;

    /// What an event of the wire is called.
    const EVENT: &'static str;
    /// What is said of a whole answer that is none.
    const NO_ANSWER: &'static str;
    /// Whether an answer that the endpoint calls finished is whole only if it also says why the model
    /// stopped.
    const NEEDS_STOP: bool = true;

    /// Takes one event, whose text is `data`, or a whole answer.
    fn take(
        &mut self,
        event: &mut Self::Event<'_>,
        data: &str,
        answer: &mut Answer<'_>,
    ) -> Result<(), WireError>;

    /// Adds what can only be said at the end of an answer.
    fn close(&mut self, _answer: &mut Answer<'_>) {}
}

/// Decodes one answer in the manner of `R`.
#[derive(Debug)]
pub(crate) struct Decoder<R> {
    reader: R,
    state: State,
}

#[derive(Debug)]
struct State {
    provider: Arc<str>,
    /// Who answers, empty if that is not known.
    model: Arc<str>,
    names: Names,
    calls: Calls,
    stop: Option<StopReason>,
    /// What the endpoint says of an answer that broke.
    broke: Option<String>,
    usage: Usage,
    /// The bytes of text, reasoning and arguments.
    said: usize,
    has_refused: bool,
    progress: Progress,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Progress {
    /// Nothing of an answer has come.
    Waiting,
    Begun,
    /// The endpoint has said that this was all.
    Ended,
    /// The last event is out.
    Done,
}

/// The answer as far as it has come, and where its events go.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    state: &'a mut State,
    out: &'a mut VecDeque<ModelEvent>,
}

impl<R: Read> Decoder<R> {
    /// Returns a decoder of an answer whose reasoning belongs to a model of `provider`.
    pub(crate) fn new(reader: R, provider: Arc<str>, model: &str, names: Names) -> Self {
        let state = State {
            provider,
            model: model.into(),
            names,
            calls: Calls::default(),
            stop: None,
            broke: None,
            usage: Usage::default(),
            said: 0,
            has_refused: false,
            progress: Progress::Waiting,
        };
        Self { reader, state }
    }

    fn take(
        &mut self,
        event: Option<&mut R::Event<'_>>,
        data: &str,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), WireError> {
        let Some(event) = event else { return Ok(()) };
        self.reader.take(event, data, &mut Answer { state: &mut self.state, out })?;
        self.state.check_limits()?;
        if let Some(reason) = &self.state.broke {
            let what = format!("the endpoint gives {:?} as the reason", cut(reason));
            return Err(WireError::Cut(what));
        }
        if self.state.progress == Progress::Ended {
            self.complete(out);
        }
        Ok(())
    }

    /// Takes the word of the endpoint that this was all, and says whether it can be true.
    fn is_complete(&mut self, out: &mut VecDeque<ModelEvent>) -> bool {
        if self.state.stop.is_some() || (self.has_begun() && !R::NEEDS_STOP) {
            self.complete(out);
        }
        self.is_done()
    }

    fn has_begun(&self) -> bool {
        Progress::Begun <= self.state.progress
    }

    fn complete(&mut self, out: &mut VecDeque<ModelEvent>) {
        self.reader.close(&mut Answer { state: &mut self.state, out });
        let stop = self.state.final_stop();
        out.push_back(ModelEvent::Done { stop, usage: self.state.usage });
        self.state.progress = Progress::Done;
    }

    /// Returns what is wrong with a stream that ends here.
    fn cut(&self) -> WireError {
        let what = match (self.has_begun(), self.state.calls.is_empty()) {
            (false, _) => "it held no answer",
            (true, false) => "a tool call is not whole",
            (true, true) => "the model had not stopped",
        };
        WireError::Cut(what.to_owned())
    }
}

impl State {
    /// The most bytes of text, reasoning and arguments of one reply, which is many times what any
    /// model can say.
    const SAID_LIMIT: usize = 64 * 1024 * 1024;

    /// Returns an error if the answer is longer than any that a model means to give.
    fn check_limits(&self) -> Result<(), WireError> {
        if self.calls.is_over_limit() {
            return Err(WireError::TooLong(format!("it makes more than {} calls", Calls::LIMIT)));
        }
        if Self::SAID_LIMIT < self.said {
            let limit = Self::SAID_LIMIT / (1024 * 1024);
            return Err(WireError::TooLong(format!("it says more than {limit} MiB")));
        }
        Ok(())
    }

    /// Returns why the model stopped, where that fits what it said; servers do not always agree with
    /// themselves.
    fn final_stop(&mut self) -> StopReason {
        match (self.stop.take(), self.calls.is_empty()) {
            (None | Some(StopReason::EndTurn | StopReason::ToolCalls), _) if self.has_refused => {
                StopReason::Refusal
            }
            (None | Some(StopReason::EndTurn), false) => StopReason::ToolCalls,
            (None | Some(StopReason::ToolCalls), true) => StopReason::EndTurn,
            (Some(stop), _) => stop,
        }
    }
}

impl<R: Read> Decode for Decoder<R> {
    fn event(&mut self, data: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        let data = trimmed(data);
        if data.is_empty() || self.is_done() {
            return Ok(());
        }
        if data == "[DONE]" {
            return if self.is_complete(out) { Ok(()) } else { Err(self.cut()) };
        }
        let mut event = Object::<R::Event<'_>>::default();
        match loose::read(data, &mut event) {
            Ok(()) => self.take(event.0.as_mut(), data, out),
            // Some servers leave out the empty line between events.
            Err(_) if data.contains('\n') => {
                data.split('\n').try_for_each(|line| self.event(line, out))
            }
            Err(err) => match surrogates::mended(data) {
                Some(mended) => self.event(&mended, out),
                None => Err(not_json(R::EVENT, &err, data)),
            },
        }
    }

    fn whole(&mut self, body: &str, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        let mut event = Object::<R::Event<'_>>::default();
        if let Err(err) = loose::read(body, &mut event) {
            return match surrogates::mended(body) {
                Some(mended) => self.whole(&mended, out),
                None => Err(not_json("it", &err, body)),
            };
        }
        self.take(event.0.as_mut(), body, out)?;
        if self.is_done() || (!R::NEEDS_STOP && self.is_complete(out)) {
            return Ok(());
        }
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        let has = |key: &&str| value.get(*key).is_some();
        if ["message", "detail", "error_message", "msg"].iter().any(has) {
            return Err(WireError::Refused(Detail::of_json(&value)));
        }
        Err(WireError::Malformed(R::NO_ANSWER.to_owned()))
    }

    fn finish(&mut self, out: &mut VecDeque<ModelEvent>) -> Result<(), WireError> {
        if self.state.stop.is_none() {
            return Err(self.cut());
        }
        self.complete(out);
        Ok(())
    }

    fn has_stopped(&self) -> bool {
        self.state.stop.is_some()
    }

    fn is_done(&self) -> bool {
        self.state.progress == Progress::Done
    }
}

impl Answer<'_> {
    /// Returns the name under which reasoning belongs to this provider.
    pub(crate) fn provider(&self) -> Arc<str> {
        Arc::clone(&self.state.provider)
    }

    /// Takes note that the endpoint has begun to answer.
    #[inline]
    pub(crate) fn begin(&mut self) {
        self.state.progress = self.state.progress.max(Progress::Begun);
    }

    #[inline]
    pub(crate) fn text<'t>(&mut self, text: impl Into<Cow<'t, str>>) {
        let text = text.into();
        if !text.is_empty() {
            self.begin();
            self.state.said = self.state.said.saturating_add(text.len());
            self.out.push_back(ModelEvent::Text(text.into_owned()));
        }
    }

    /// Takes words that refuse, which are text for whoever reads them.
    #[inline]
    pub(crate) fn refusal<'t>(&mut self, text: impl Into<Cow<'t, str>>) {
        let text = text.into();
        self.state.has_refused |= !text.is_empty();
        self.text(text);
    }

    #[inline]
    pub(crate) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.begin();
            self.state.said = self.state.said.saturating_add(text.len());
            self.out.push_back(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    /// Takes a finished piece of reasoning, whose text replaces what came since the last one.
    pub(crate) fn reasoning_done(&mut self, reasoning: Reasoning) {
        self.begin();
        let reasoning = thought_by(&self.state.model, reasoning);
        self.out.push_back(ModelEvent::ReasoningDone(reasoning));
    }

    /// Takes a piece of a call. Returns the number of the call.
    #[inline]
    pub(crate) fn call(
        &mut self,
        index: u64,
        id: Option<Cow<'_, str>>,
        name: Option<&str>,
        arguments: &Loose<'_>,
    ) -> u32 {
        self.begin();
        let name = name.map(|name| self.state.names.original(name));
        let fragment = Fragment { index, id, name, arguments: arguments_text(arguments) };
        self.state.said = self.state.said.saturating_add(fragment.arguments.len());
        self.state.calls.push(&fragment, self.out)
    }

    /// Takes the reason why the model stopped. One that says that the answer broke is an error, as if
    /// the stream ended here.
    pub(crate) fn stop(&mut self, stop: StopReason) {
        match stop {
            StopReason::Other(reason) if says_broken(&reason) => match error_of(&reason) {
                Some(stop) => self.state.stop = Some(stop),
                None => self.state.broke = Some(reason),
            },
            stop => self.state.stop = Some(stop),
        }
    }

    /// Takes counts, which replace those before them.
    pub(crate) fn usage(&mut self, usage: Usage) {
        self.state.usage = usage;
    }

    /// Takes the word of the endpoint that this was all.
    pub(crate) fn end(&mut self) {
        self.state.progress = Progress::Ended;
    }
}

/// Returns whether a reason to stop, which no wire names among its own, says that the answer broke:
/// `insufficient_system_resource` at `DeepSeek`, `abort` at vLLM and `SGLang`, `network_error` at GLM,
/// `MALFORMED_FUNCTION_CALL` at Gemini, and their like.
fn says_broken(reason: &str) -> bool {
    const WORDS: [&str; 15] = [
        "abort",
        "broken",
        "cancel",
        "disconnect",
        "error",
        "exception",
        "fail",
        "insufficient",
        "interrupt",
        "malformed",
        "overload",
        "preempt",
        "timed",
        "timeout",
        "unavailable",
    ];
    let reason = reason.to_lowercase();
    WORDS.iter().any(|word| reason.contains(word))
}

/// Returns why the model stopped if a reason that calls itself an error says no more than that, as
/// `ERROR_TOXIC` and `ERROR_LIMIT` do at Cohere.
fn error_of(reason: &str) -> Option<StopReason> {
    const REFUSALS: [&str; 3] = ["toxic", "safety", "moderation"];
    let reason = reason.to_lowercase();
    if reason == "error_limit" {
        return Some(StopReason::Length);
    }
    REFUSALS.iter().any(|word| reason.contains(word)).then_some(StopReason::Refusal)
}

/// Returns the data of an event without the white space around it, of which there is none as a rule.
#[inline]
fn trimmed(data: &str) -> &str {
    if data.starts_with('{') && data.ends_with('}') { data } else { data.trim() }
}

/// Makes the error of what should have been JSON, with as much of it as a person is shown.
fn not_json(what: &str, err: &impl fmt::Display, text: &str) -> WireError {
    let shown = cut(text);
    WireError::Malformed(format!("{what} is not JSON ({err}), but {shown:?}"))
}

/// Makes the error of an event that is one.
pub(crate) fn refused(data: &str) -> WireError {
    let value: Value = serde_json::from_str(data).unwrap_or_default();
    WireError::Refused(Detail::of_json(&value))
}
