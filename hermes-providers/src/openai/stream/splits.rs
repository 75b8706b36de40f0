//! Streams in the manner of several servers, cut at every byte: the events must not change.
//!
//! Each is written after the documentation that it names, with text of several bytes a character
//! where that is plausible.

use hermes_core::message::{Message, StopReason};

use super::ChatReader;
use crate::wire::testing::{calls, check_stream};

#[track_caller]
fn check(stream: &str) -> Message {
    check_stream::<ChatReader>(stream)
}

/// After the API reference of OpenAI, "Chat completion chunk object".
#[test]
fn openai_text_with_usage() {
    let message = check(concat!(
        r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","system_fingerprint":"fp","service_tier":"default","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"Grüße aus 東京 🚀"},"finish_reason":null}],"usage":null,"obfuscation":"x8Q"}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}"#,
        "\n\ndata: [DONE]\n\n",
    ));

    assert_eq!(message.text(), "Grüße aus 東京 🚀");
    assert_eq!(message.usage.unwrap().cache_read, 4);
}

/// After the guide of OpenAI on function calling, "Streaming".
#[test]
fn openai_parallel_calls() {
    let message = check(concat!(
        r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"get_weather","arguments":""}}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"city\":\"Zü"}}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"rich\"}"}}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"get_time","arguments":"{}"}}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#,
        "\n\ndata: [DONE]\n\n",
    ));

    assert_eq!(
        calls(&message),
        [("call_a", "get_weather", "{\"city\":\"Zürich\"}"), ("call_b", "get_time", "{}")]
    );
}

/// After the API documentation of DeepSeek, "Reasoning model".
#[test]
fn deepseek_reasoning() {
    let message = check(concat!(
        r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"嗯，"},"finish_reason":null}]}"#,
        "\n\n: keep-alive\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":null,"reasoning_content":"9.8"},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":"9.8 更大","reasoning_content":null},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":"","reasoning_content":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":9,"prompt_cache_hit_tokens":2,"prompt_cache_miss_tokens":3,"completion_tokens_details":{"reasoning_tokens":6}}}"#,
        "\n\ndata: [DONE]\n\n",
    ));

    let usage = message.usage.unwrap();
    assert_eq!(message.text(), "9.8 更大");
    assert_eq!((usage.cache_read, usage.reasoning), (2, 6));
}

/// After the documentation of OpenRouter, "Streaming": comments, line ends of the other kind, and
/// reasoning in two forms.
#[test]
fn openrouter_with_comments() {
    let message = check(concat!(
        ": OPENROUTER PROCESSING\r\n\r\n: OPENROUTER PROCESSING\r\n\r\n",
        r#"data: {"id":"gen-1","provider":"Anthropic","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","format":"anthropic-claude-v1","index":0}]},"finish_reason":null,"native_finish_reason":null}]}"#,
        "\r\n\r\n",
        r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_details":[{"type":"reasoning.text","signature":"sig","format":"anthropic-claude-v1","index":0}]},"finish_reason":null}]}"#,
        "\r\n\r\n",
        r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"role":"assistant","content":"ça va"},"finish_reason":"stop","native_finish_reason":"end_turn"}]}"#,
        "\r\n\r\n",
        r#"data: {"id":"gen-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":{"prompt_tokens":7,"completion_tokens":3,"cost":0.0001,"is_byok":false,"prompt_tokens_details":{"cached_tokens":1}}}"#,
        "\r\n\r\ndata: [DONE]\r\n\r\n",
    ));

    assert_eq!(message.text(), "ça va");
    assert_eq!(message.usage.unwrap().input, 7);
}

/// After the documentation of Ollama, "OpenAI compatibility": every call whole, at index 0, and an
/// ordinary stop.
#[test]
fn ollama_calls() {
    let message = check(concat!(
        r#"data: {"id":"chatcmpl-9","object":"chat.completion.chunk","model":"qwen3","system_fingerprint":"fp_ollama","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","index":0,"type":"function","function":{"name":"note","arguments":"{\"text\":\"naïve\"}"}}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-9","choices":[{"index":0,"delta":{"role":"assistant","content":"","tool_calls":[{"id":"call_2","index":0,"type":"function","function":{"name":"note","arguments":"{\"text\":\"é\"}"}}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"id":"chatcmpl-9","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":"stop"}]}"#,
        "\n\ndata: [DONE]\n\n",
    ));

    assert_eq!(
        calls(&message),
        [("call_1", "note", "{\"text\":\"naïve\"}"), ("call_2", "note", "{\"text\":\"é\"}")]
    );
    assert_eq!(message.stop, Some(StopReason::ToolCalls));
}

/// After the README of the llama.cpp server: timings at the end, and a stop by length.
#[test]
fn llama_cpp_cut_by_length() {
    let message = check(concat!(
        r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"role":"assistant","content":null}}],"created":1,"id":"x","model":"m","system_fingerprint":"b5000","object":"chat.completion.chunk"}"#,
        "\n\n",
        r#"data: {"choices":[{"finish_reason":null,"index":0,"delta":{"content":"Ω"}}],"created":1,"id":"x"}"#,
        "\n\n",
        r#"data: {"choices":[{"finish_reason":"length","index":0,"delta":{}}],"created":1,"id":"x"}"#,
        "\n\n",
        r#"data: {"choices":[],"usage":{"completion_tokens":1,"prompt_tokens":8,"total_tokens":9},"timings":{"prompt_n":8,"prompt_ms":12.5}}"#,
        "\n\ndata: [DONE]\n\n",
    ));

    assert_eq!(message.text(), "Ω");
    assert_eq!(message.stop, Some(StopReason::Length));
}

/// After the documentation of the Gemini API, "OpenAI compatibility": no `[DONE]`, no index, a
/// signature beside the call.
#[test]
fn gemini_call_with_signature() {
    let message = check(concat!(
        r#"data: {"choices":[{"delta":{"role":"assistant","tool_calls":[{"extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"arguments":"{\"q\":\"ñ\"}","name":"search"},"id":"function-call-1","type":"function"}]},"index":0}],"created":1,"model":"gemini-3-pro","object":"chat.completion.chunk"}"#,
        "\n\n",
        r#"data: {"choices":[{"delta":{"role":"assistant"},"finish_reason":"stop","index":0}],"usage":{"completion_tokens":4,"prompt_tokens":6,"total_tokens":20}}"#,
        "\n\n",
    ));

    assert_eq!(calls(&message), [("function-call-1", "search", "{\"q\":\"ñ\"}")]);
    assert!(format!("{:?}", message.parts).contains("c2ln"));
}

/// After the documentation of Mistral, "Reasoning": content as a list of parts.
#[test]
fn mistral_content_in_parts() {
    let message = check(concat!(
        r#"data: {"choices":[{"index":0,"delta":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"voilà"}]}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"déjà vu"}]},"finish_reason":null}]}"#,
        "\n\n",
        r#"data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"total_tokens":3,"completion_tokens":2}}"#,
        "\n\ndata: [DONE]\n\n",
    ));

    assert_eq!(message.text(), "déjà vu");
}
