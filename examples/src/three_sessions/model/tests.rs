//! The model in a world, with what it knows put into its prompt by hand.

use std::sync::{Arc, Mutex};

use hermes_core::{
    Agent,
    message::{CallResult, CallStatus, Message},
    prompt::{FixedSection, Slot},
    review::ReviewScope,
    tool::{self, ToolSpec},
};
use hermes_review::review_prompt;
use serde_json::json;

use super::*;
use crate::three_sessions::{
    script,
    tools::WorldTools,
    world::{Facts, Framework, World},
};

const INDEX: &str = "<available_skills>\n  devops:\n    - k8s-deploy: Deploy.\n</available_skills>";

#[derive(Default)]
struct Context {
    memory: String,
    skill: Option<String>,
}

/// Lets the model deploy a service in the world of seed 0. Returns calls, errors, and its answer.
async fn deploy(framework: Framework, context: Context) -> (usize, usize, String) {
    let facts = Facts::new(0);
    let mut agent = Agent::builder(SmallModel)
        .model("small")
        .section(FixedSection::new(Slot::Memory, context.memory))
        .with(WorldTools::new(World::new(0)));
    if let Some(text) = context.skill {
        agent = agent.section(FixedSection::new(Slot::Skills, INDEX)).tool(tool::from_fn(
            "skill_view",
            "Shows a skill.",
            move |_: serde_json::Map<String, Value>, _| {
                let result = json!({"success": true, "content": text});
                async move { Ok(result) }
            },
        ));
    }
    let session = agent.build().unwrap().session();
    let turn = session.send(script::message(&facts, framework, 0)).await.unwrap();
    let history = session.history();
    let results: Vec<_> = history.iter().flat_map(|it| it.call_results()).collect();
    let errors = results.iter().filter(|it| it.status != CallStatus::Done).count();
    (results.len(), errors, turn.text)
}

fn memory() -> String {
    let Facts { registry, namespace, .. } = Facts::new(0);
    format!(
        "The image registry is `{registry}`.\n§\nDeploys to the namespace `{namespace}`.\n§\n\
         Prefers short answers."
    )
}

fn skill(push: &str, probe: &str) -> String {
    let folder = Facts::new(0).folder;
    format!(
        "# Deploying\n\n1. Build the image in `{folder}/<service>`.\n{push}\
         3. Apply a Deployment with a probe on `{probe}`.\n4. Wait.\n5. Open the page.\n"
    )
}

#[tokio::test]
async fn without_context_it_explores_and_fails_twice() {
    let (calls, errors, answer) = deploy(Framework::Flask, Context::default()).await;

    assert_eq!((calls, errors), (12, 2), "{answer}");
    assert!(answer.contains("You reach it at http://"), "{answer}");
}

#[tokio::test]
async fn django_costs_one_more_failure() {
    let (calls, errors, _) = deploy(Framework::Django, Context::default()).await;

    assert_eq!((calls, errors), (14, 3));
}

#[tokio::test]
async fn memory_saves_the_looking_up() {
    let context = Context { memory: memory(), skill: None };

    let (calls, errors, answer) = deploy(Framework::Flask, context).await;

    assert_eq!((calls, errors), (10, 2));
    assert!(answer.starts_with("http://"), "{answer}");
}

#[tokio::test]
async fn a_skill_saves_the_failures() {
    let skill = skill("2. Push it.\n", &Facts::new(0).probe_path);

    let (calls, errors, _) =
        deploy(Framework::FastApi, Context { memory: memory(), skill: Some(skill) }).await;

    assert_eq!((calls, errors), (6, 0));
}

#[tokio::test]
async fn a_wrong_step_is_followed_and_paid_for() {
    let wrong = [
        skill("2. Push it.\n", "/wrong"),
        skill("", &Facts::new(0).probe_path),
        skill("2. Push it.\n", &Facts::new(0).probe_path).replace("<service>", "nowhere"),
    ];

    for text in wrong {
        let context = Context { memory: memory(), skill: Some(text.clone()) };
        let (calls, errors, answer) = deploy(Framework::FastApi, context).await;

        assert!(6 < calls && 0 < errors, "{text}\n{calls} calls, {errors} errors");
        assert!(answer.starts_with("http://"), "{answer}");
    }
}

#[tokio::test]
async fn a_memory_that_is_out_of_date_is_looked_up_again() {
    let old = [
        memory().replace(&Facts::new(0).registry, "gone.test"),
        memory().replace(&Facts::new(0).namespace, "gone"),
    ];

    for memory in old {
        let (calls, _, answer) =
            deploy(Framework::Flask, Context { memory: memory.clone(), skill: None }).await;

        assert!(10 < calls, "{memory}");
        assert!(answer.starts_with("http://"), "{answer}");
    }
}

const REVIEW_TOOLS: [&str; 3] = ["memory", "skill_manage", "skill_view"];

/// A conversation in which one command was run, and the review after it.
fn reviewed(status: CallStatus, scope: ReviewScope) -> Request {
    let call = Call::new("call_1", "http_get", json!({"url": "http://shop.test/"}));
    let result = CallResult::new("call_1".into(), status, "HTTP/1.1 404");
    let tools = REVIEW_TOOLS.map(|name| ToolSpec::new(name, ""));
    let allowed = match scope {
        ReviewScope::Skills => &REVIEW_TOOLS[1..],
        _ => &REVIEW_TOOLS[..],
    };
    let messages = vec![
        Message::user("Deploy the Flask service `shop`. I prefer tea."),
        Message::new(Role::Assistant, vec![Part::Call(call)]),
        Message::results([result]),
        Message::assistant("That is how far I got."),
        Message::user(review_prompt(scope, allowed)),
    ];
    Request::new("small", messages).with_tools(tools)
}

#[test]
fn an_attempt_that_never_succeeded_teaches_nothing() {
    let request = reviewed(CallStatus::Rejected, ReviewScope::Skills);

    let message = reply(&request);

    assert_eq!(message.text(), "Nothing to save.");
}

#[test]
fn a_review_of_procedures_saves_no_facts() {
    let facts = reply(&reviewed(CallStatus::Rejected, ReviewScope::Both));
    let procedures = reply(&reviewed(CallStatus::Rejected, ReviewScope::Skills));

    let called = |message: &Message| message.calls().map(|it| it.name.clone()).next();
    assert_eq!(called(&facts).as_deref(), Some("memory"));
    assert_eq!(called(&procedures), None);
}

/// The model, with a record of what it was asked.
#[derive(Clone, Debug, Default)]
struct Recorded(Arc<Mutex<Vec<Request>>>);

#[async_trait]
impl Provider for Recorded {
    async fn stream(
        &self,
        request: &Request,
        token: &CancellationToken,
    ) -> Result<EventStream, ProviderError> {
        self.0.lock().unwrap().push(request.clone());
        SmallModel.stream(request, token).await
    }
}

#[tokio::test]
async fn asked_again_out_of_order_it_says_the_same() {
    let record = Recorded::default();
    let world = WorldTools::new(World::new(0));
    let agent = Agent::builder(record.clone()).model("small").with(world).build().unwrap();
    let session = agent.session();
    let message = script::message(&Facts::new(0), Framework::Django, 0);
    session.send(message).await.unwrap();

    let requests = record.0.lock().unwrap().clone();
    let said: Vec<_> =
        session.history().iter().filter(|it| it.role == Role::Assistant).cloned().collect();
    assert_eq!(requests.len(), said.len());
    for (request, said) in requests.iter().zip(&said).rev() {
        assert_eq!(reply(request).parts, said.parts);
    }
}

#[test]
fn it_asks_when_there_is_no_task() {
    let request = Request::new("small", vec![Message::user("Good morning.")]);

    assert_eq!(reply(&request).calls().count(), 0);
}
