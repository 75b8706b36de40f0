//! The area `nudge`: after which user turns a review starts.

use std::sync::Arc;

use futures::StreamExt;
use hermes_core::{
    Agent, Session,
    agent::{AgentEvent, FinishedTurn},
    message::{Message, Role},
    store::{SessionId, SharedCounts},
    testing::{InMemorySessions, ScriptedProvider},
};
use hermes_review::{BackgroundReview, Intervals, NudgePolicy};
use serde_json::{Value, json};

use crate::{
    check::Checks,
    home::Home,
    model::{agent_on, anything},
    read::Node,
};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let input = case.get("input")?;
    let home = Home::set_up(case.opt("setup").as_ref());
    let mut play = Play::new(&home, &input.get("config")?);
    for event in input.get("events")?.items() {
        if event.opt("new_session").is_some_and(|it| it.bool()) {
            play.new_session().await;
        } else {
            play.turn(&event).await?;
        }
    }
    let expect = case.get("expect")?;
    for (key, actual) in [
        ("memory_reviews_after", &play.memory_reviews),
        ("skill_reviews_after", &play.skill_reviews),
    ] {
        if let Some(expected) = expect.opt(key) {
            let expected: Vec<usize> = expected.items().iter().map(Node::usize).collect();
            checks.that(*actual == expected, format!("{key} is {actual:?}"));
        }
    }
    if let Some(expected) = expect.opt("history_user_texts") {
        let history = play.session.history();
        let users = history.iter().filter(|message| message.role == Role::User);
        let texts: Vec<String> = users.map(|message| message.text()).collect();
        checks.that(texts == expected.strings(), format!("user texts are {texts:?}"));
    }
    Ok(())
}

struct Play {
    build: Box<dyn Fn() -> Agent + Send + Sync>,
    agent: Agent,
    session: Session,
    model: ScriptedProvider,
    turns: usize,
    sessions: usize,
    memory_reviews: Vec<usize>,
    skill_reviews: Vec<usize>,
}

impl Play {
    fn new(home: &Home, config: &Node<'_>) -> Self {
        let interval = |key: &str| {
            let interval = config.opt(key).map_or(10, |it| it.usize());
            u32::try_from(interval).unwrap()
        };
        let intervals = Intervals::new(interval("memory_interval"), interval("skill_interval"));
        let shared = config.opt("counter_store").is_some_and(|it| it.str() == "shared");
        let enabled: Option<Vec<String>> = config
            .opt("tools_enabled")
            .map(|it| it.strings().into_iter().map(str::to_owned).collect());
        let (model, sessions) = (ScriptedProvider::new(), Arc::new(InMemorySessions::default()));
        let counts = Arc::new(SharedCounts::default());
        let (path, scripted) = (home.path().to_path_buf(), model.clone());
        let build = move || {
            let has = |name: &str| enabled.as_ref().is_none_or(|it| it.iter().any(|it| it == name));
            let review = BackgroundReview::new()
                .provider(ScriptedProvider::new().otherwise("Nothing to save."));
            let mut builder = Agent::builder(scripted.clone()).model("scripted");
            if has("memory") && has("skill_manage") {
                builder = agent_on(&path, &scripted);
            } else if has("memory") {
                builder = builder
                    .memory(hermes_memory::Memory::new(hermes_memory::FileMemory::new(&path)));
            } else if has("skill_manage") {
                builder =
                    builder.skills(hermes_skills::Skills::new(hermes_skills::FsSkills::new(&path)));
            }
            if has("terminal") {
                builder = builder.tool(anything("terminal"));
            }
            if shared {
                builder = builder.counters(Arc::clone(&counts));
            }
            builder
                .sessions(Arc::clone(&sessions))
                .review(NudgePolicy::new(intervals).by(review))
                .build()
                .unwrap()
        };
        let agent = build();
        let session = agent.session_as(SessionId::new("s0"));
        Self {
            build: Box::new(build),
            agent,
            session,
            model,
            turns: 0,
            sessions: 0,
            memory_reviews: Vec::new(),
            skill_reviews: Vec::new(),
        }
    }

    async fn new_session(&mut self) {
        self.session.close().await;
        self.sessions += 1;
        self.session = self.agent.session_as(SessionId::new(format!("s{}", self.sessions)));
    }

    /// Builds another agent and goes on from what is stored.
    async fn rebuild(&mut self) {
        let id = self.session.id().clone();
        self.session.close().await;
        self.agent = (self.build)();
        self.session = match self.agent.resume(&id).await.unwrap() {
            Some(session) => session,
            None => self.agent.session_as(id),
        };
    }

    async fn turn(&mut self, event: &Node<'_>) -> Result<(), String> {
        if event.get("turn")?.str() != "user" {
            return Err("a turn of somebody else".to_owned());
        }
        if event.opt("rebuild_from_history").is_some_and(|it| it.bool()) {
            self.rebuild().await;
        }
        self.turns += 1;
        let iterations = event.opt("iterations").map_or(0, |it| it.usize());
        let tools = event.opt("tools").map(|it| it.strings()).unwrap_or_default();
        for round in 0..iterations {
            let first = !tools.is_empty() && round == 0;
            let names = if first { tools.clone() } else { vec!["terminal"] };
            let calls = names.into_iter().map(|name| (name, self.arguments(name)));
            drop(self.model.clone().calls(calls.collect::<Vec<_>>()));
        }
        let text = event
            .opt("text")
            .map_or_else(|| format!("message {}", self.turns), |it| it.str().to_owned());
        let outcome = event.opt("outcome").map_or("completed", |it| it.str());
        let finished = self.send(&text, outcome).await?;
        let Some(review) = finished.review else { return Ok(()) };
        let scope = review.scope();
        if scope.has_memory() {
            self.memory_reviews.push(self.turns);
        }
        if scope.has_skills() {
            self.skill_reviews.push(self.turns);
        }
        review.await.ok_or("the review was lost")?;
        Ok(())
    }

    async fn send(&self, text: &str, outcome: &str) -> Result<FinishedTurn, String> {
        let ended = match outcome {
            "completed" => {
                drop(self.model.clone().say("Answered."));
                self.session.send(text).await
            }
            "empty_reply" => {
                let empty = || Message::new(Role::Assistant, Vec::new());
                drop(self.model.clone().reply(empty()).reply(empty()));
                self.session.send(text).await
            }
            "interrupted" => {
                drop(self.model.clone().say_then_hang("I was about to"));
                let mut reply = self.session.send(text);
                while !matches!(reply.next().await, Some(AgentEvent::Text(_))) {}
                self.session.cancel();
                reply.await
            }
            other => return Err(format!("unknown outcome {other}")),
        };
        ended.map_err(|err| err.describe())
    }

    /// Returns arguments with which the tool succeeds.
    fn arguments(&self, tool: &str) -> Value {
        match tool {
            "memory" => json!({"action": "add", "content": format!("fact {}", self.turns)}),
            "skill_manage" => {
                let name = format!("skill-{}", self.turns);
                let content = format!("---\nname: {name}\ndescription: does things\n---\nBody.\n");
                json!({"action": "create", "name": name, "content": content})
            }
            _ => json!({}),
        }
    }
}
