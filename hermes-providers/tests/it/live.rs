//! Against a real server, by hand; see `docs/guides/local-model.md`.
//!
//! ```text
//! HERMES_LIVE_URL=http://127.0.0.1:8123/v1 HERMES_LIVE_PRESET=llama-cpp-python \
//!   cargo test -p hermes-providers --test it live -- --nocapture --test-threads 1
//! ```
//!
//! What a server does is shown, and checked only as far as every server must agree. Without the
//! variable nothing is asked.

use std::time::Duration;

use futures::StreamExt;
use hermes_core::{
    message::{Message, StopReason},
    provider::{ModelEvent, Provider, ProviderError, ProviderExt, Request, Sampling, ToolChoice},
    tool::ToolSpec,
};
use hermes_providers::{ApiKey, OpenAiChat, openai::Preset};
use serde_json::json;
use tokio_util::sync::CancellationToken;

fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "a test by hand is told where its server is")]
    std::env::var(name).ok()
}

/// Returns the server to ask, if there is one.
fn provider() -> Option<OpenAiChat> {
    let Some(url) = variable("HERMES_LIVE_URL") else {
        println!("HERMES_LIVE_URL is not set, so there is no server to ask");
        return None;
    };
    let preset = variable("HERMES_LIVE_PRESET").and_then(|name| Preset::named(&name));
    let mut builder = OpenAiChat::builder(url);
    if let Some(preset) = preset {
        builder = builder.name(preset.name).dialect(preset.dialect).timeouts(preset.timeouts);
    }
    if let Some(key) = variable("HERMES_LIVE_KEY") {
        builder = builder.key(ApiKey::new(key).unwrap());
    }
    Some(builder.build().unwrap())
}

fn request(text: impl Into<String>) -> Request {
    let model = variable("HERMES_LIVE_MODEL").unwrap_or_else(|| "local".to_owned());
    let mut sampling = Sampling::default();
    sampling.max_tokens = Some(64);
    sampling.temperature = Some(0.0);
    Request::new(model, vec![Message::user(text.into())]).with_sampling(sampling)
}

async fn ask(provider: &impl Provider, request: &Request) -> Result<Message, ProviderError> {
    let answer = provider.complete(request, &CancellationToken::new()).await;
    match &answer {
        Ok(message) => {
            println!("stop {:?}, usage {:?}: {:?}", message.stop, message.usage, message.parts);
        }
        Err(err) => println!("{:?} ({:?}): {err}", err.kind(), err.recovery()),
    }
    answer
}

#[tokio::test]
async fn live_an_answer_streams() {
    let Some(provider) = provider() else { return };

    let events = provider.stream(&request("Say hello."), &CancellationToken::new()).await.unwrap();
    let events: Vec<ModelEvent> = events.map(Result::unwrap).collect().await;

    println!("{} events: {events:?}", events.len());
    assert!(matches!(events.last(), Some(ModelEvent::Done { .. })));
    assert!(2 < events.len(), "an answer in one piece is no stream");
}

#[tokio::test]
async fn live_a_tool_is_called_where_it_must_be() {
    let Some(provider) = provider() else { return };
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"]
    });
    let tool = ToolSpec::new("weather", "Tells the weather in a city.").with_parameters(schema);
    let mut request = request("How is the weather in Oslo?").with_tools(vec![tool]);
    request.tool_choice = ToolChoice::Tool("weather".into());

    let answer = ask(&provider, &request).await.unwrap();

    let calls: Vec<_> = answer.calls().collect();
    assert_eq!(calls.len(), 1);
    assert_eq!(&*calls[0].name, "weather");
    assert!(calls[0].arguments.parse().unwrap().get("city").is_some());
    assert_eq!(answer.stop, Some(StopReason::ToolCalls));
}

#[tokio::test]
async fn live_a_stop_by_length_is_one() {
    let Some(provider) = provider() else { return };
    let mut request = request("Count from one to one hundred.");
    request.sampling.max_tokens = Some(5);

    let answer = ask(&provider, &request).await.unwrap();

    assert_eq!(answer.stop, Some(StopReason::Length));
}

#[tokio::test]
async fn live_an_unknown_model_is_answered_or_refused() {
    let Some(provider) = provider() else { return };
    let mut request = request("Say hello.");
    request.model = "no-such-model-anywhere".into();

    // A server with one model may not look at the name.
    let _ = ask(&provider, &request).await;
}

#[tokio::test]
async fn live_a_prompt_over_the_window_is_a_typed_error() {
    let Some(provider) = provider() else { return };
    let words: usize = variable("HERMES_LIVE_WORDS").map_or(9_000, |it| it.parse().unwrap());

    ask(&provider, &request("word ".repeat(words))).await.unwrap_err();

    // A server that broke the stream off may have closed the connection as well.
    ask(&provider, &request("Say hello.")).await.unwrap();
}

#[tokio::test]
async fn live_two_requests_at_once_are_both_answered() {
    let Some(provider) = provider() else { return };
    let (one, two) = (request("Say hello."), request("Name a colour."));

    let (one, two) = tokio::join!(ask(&provider, &one), ask(&provider, &two));

    assert!(!one.unwrap().text().is_empty());
    assert!(!two.unwrap().text().is_empty());
}

/// Kill the server while it speaks: within half a minute of "kill it now".
#[tokio::test]
async fn live_a_server_that_dies_leaves_a_typed_error() {
    let (Some(provider), Some(_)) = (provider(), variable("HERMES_LIVE_KILL")) else { return };
    let mut request = request("Write a long story about a river.");
    request.sampling.max_tokens = Some(4_000);
    let mut events = provider.stream(&request, &CancellationToken::new()).await.unwrap();

    println!("{:?}; kill it now", events.next().await);
    let read = async {
        let mut count = 0;
        loop {
            match events.next().await {
                Some(Ok(_)) => count += 1,
                other => return (count, other),
            }
        }
    };
    let (count, end) = tokio::time::timeout(Duration::from_secs(120), read).await.unwrap();

    println!("after {count} more events: {end:?}");
    assert!(end.unwrap().is_err());
}
