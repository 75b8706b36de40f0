//! That a handle on an implementation is as good as the implementation.

use std::sync::Arc;

use serde_json::json;

use crate::{
    memory::MemoryBackend,
    message::Message,
    provider::{Provider, Request},
    skill::SkillStore,
    store::SessionStore,
    testing::{InMemory, InMemorySessions, InMemorySkills, ScriptedProvider, conformance},
    tool::{self, Tool},
};

#[tokio::test]
async fn handles_on_stores_keep_the_contracts() {
    let memory: Arc<dyn MemoryBackend> = Arc::new(InMemory::default());
    conformance::memory_backend(&memory).await;
    let skills: Arc<dyn SkillStore> = Arc::new(InMemorySkills::default());
    conformance::skill_store(&skills).await;
    let sessions: Arc<dyn SessionStore> = Arc::new(InMemorySessions::default());
    conformance::session_store(&sessions).await;
}

#[tokio::test]
async fn a_handle_on_a_provider_keeps_the_contract() {
    let model: Arc<dyn Provider> = Arc::new(ScriptedProvider::new().otherwise("a longer answer"));

    conformance::provider(&model, &Request::new("m", vec![Message::user("hi")])).await;
}

#[tokio::test]
async fn a_handle_on_a_tool_keeps_the_contract() {
    let ping = tool::from_fn("ping", "Answers.", |(), _| async move { Ok("pong") });
    let ping: Arc<dyn Tool> = Arc::new(ping);

    conformance::tool(&ping, &json!({})).await;
}
