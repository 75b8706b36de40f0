//! The headline: what is learnt in one conversation makes the next one better, and only that does.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests report by panicking"
)]

use std::{fs, path::PathBuf};

use hermes_core::{
    change::{ChangeAction, ChangeTarget},
    durable,
    memory::Target,
    review::{ReviewOutcome, ReviewReport, ReviewScope},
};
use hermes_examples::three_sessions::{
    home::{Cost, Home, Parts},
    report,
    run::{Keep, Outcome, Plan, run},
    script,
    world::{Facts, Framework, World},
};

use Framework::{Django, FastApi, Flask};

const ORDERS: [[Framework; 3]; 6] = [
    [Flask, Django, FastApi],
    [Flask, FastApi, Django],
    [Django, Flask, FastApi],
    [Django, FastApi, Flask],
    [FastApi, Flask, Django],
    [FastApi, Django, Flask],
];

/// What each conversation took: calls and errors.
fn costs(outcome: &Outcome) -> Vec<(usize, usize)> {
    outcome.conversations.iter().map(|it| pair(it.cost())).collect()
}

/// What each task took on an empty home.
fn cold(outcome: &Outcome) -> Vec<(usize, usize)> {
    outcome.conversations.iter().map(|it| pair(it.cold)).collect()
}

fn pair(cost: Cost) -> (usize, usize) {
    (cost.tool_calls, cost.errors)
}

fn review(outcome: &Outcome, place: usize) -> &ReviewReport {
    outcome.conversations[place].review.as_deref().unwrap()
}

fn changes(review: &ReviewReport) -> Vec<(ChangeTarget, ChangeAction)> {
    review.changes.iter().map(|it| (it.target.clone(), it.action)).collect()
}

fn skill() -> ChangeTarget {
    ChangeTarget::Skill { name: "k8s-deploy".to_owned(), file: "SKILL.md".to_owned() }
}

#[tokio::test]
async fn the_third_time_takes_half_the_calls_and_no_error() {
    let outcome = run(&Plan::new(0)).await.unwrap();

    let line = report::json(&outcome).unwrap();
    let sessions = concat!(
        r#"{"sessions":[{"task":"flask","tool_calls":12,"errors":2,"#,
        r#""cold":{"tool_calls":12,"errors":2}},"#,
        r#"{"task":"django","tool_calls":9,"errors":1,"#,
        r#""cold":{"tool_calls":13,"errors":3}},"#,
        r#"{"task":"fastapi","tool_calls":6,"errors":0,"#,
        r#""cold":{"tool_calls":12,"errors":2}}],"reviews":["#,
    );
    assert!(line.starts_with(sessions) && !line.contains('\n'), "{line}");
}

#[tokio::test]
async fn the_story_ends_in_a_table() {
    let story = run(&Plan::new(0)).await.unwrap().to_string();

    let table: Vec<_> = story.lines().rev().take(3).collect();
    assert_eq!(
        table,
        [
            "   3  FastAPI        6       0     12 calls, 2 errors",
            "   2  Django         9       1     13 calls, 3 errors",
            "   1  Flask         12       2     12 calls, 2 errors",
        ]
    );
    assert!(story.contains("Skill k8s-deploy: created SKILL.md"), "{story}");
}

#[tokio::test]
async fn reviews_save_a_skill_then_facts_and_a_patch_then_nothing() {
    let outcome = run(&Plan::new(0)).await.unwrap();
    let facts = Facts::new(0);

    let first = review(&outcome, 0);
    assert_eq!(first.scope, ReviewScope::Skills);
    assert_eq!(changes(first), [(skill(), ChangeAction::Create)]);
    assert!(first.changes[0].diff.contains(&format!("a probe on `{}`", facts.probe_path)));

    let second = review(&outcome, 1);
    assert_eq!(second.scope, ReviewScope::Both);
    let targets: Vec<_> = second.changes.iter().map(|it| it.target.clone()).collect();
    let memory = ChangeTarget::Memory(Target::Memory);
    assert_eq!(targets, [skill(), memory, ChangeTarget::Memory(Target::User)]);
    assert_eq!(second.changes[0].action, ChangeAction::Update);
    assert!(second.changes[0].diff.contains("+- Django: "), "{}", second.changes[0].diff);
    assert!(second.changes[1].diff.contains(&facts.registry));
    assert!(second.changes[2].diff.contains("Prefers short answers."));

    let third = review(&outcome, 2);
    assert_eq!((changes(third), &third.outcome), (Vec::new(), &ReviewOutcome::NothingToSave));
}

#[tokio::test]
async fn a_profile_changes_how_the_user_is_answered() {
    let outcome = run(&Plan::new(0)).await.unwrap();

    let host = format!("{}.{}", Facts::new(0).service(FastApi), Facts::new(0).domain);
    assert_eq!(outcome.conversations[2].answer, format!("http://{host}/"));
    assert!(outcome.conversations[0].answer.len() > outcome.conversations[2].answer.len());
}

#[tokio::test]
async fn without_its_home_the_agent_begins_again_every_time() {
    let mut plan = Plan::new(0);
    plan.home = Keep::Nothing;

    let outcome = run(&plan).await.unwrap();

    assert_eq!(costs(&outcome), cold(&outcome));
    assert_eq!(costs(&outcome), [(12, 2), (13, 3), (12, 2)]);
}

#[tokio::test]
async fn each_way_of_learning_has_its_part() {
    let mut plan = Plan::new(0);

    plan.parts = Parts::WithoutMemory;
    assert_eq!(costs(&run(&plan).await.unwrap()), [(12, 2), (9, 1), (8, 0)]);

    plan.parts = Parts::WithoutSkills;
    assert_eq!(costs(&run(&plan).await.unwrap()), [(12, 2), (13, 3), (10, 2)]);
}

/// Returns what each conversation took less than the same task on an empty home.
async fn gains(plan: &Plan) -> Vec<(usize, usize)> {
    let outcome = run(plan).await.unwrap();
    let pairs = cold(&outcome).into_iter().zip(costs(&outcome));
    pairs.map(|(cold, warm)| (cold.0 - warm.0, cold.1 - warm.1)).collect()
}

/// The gain comes from the kind of knowledge and not from names, addresses or the order of tasks: a
/// skill saves four calls and two errors from the second conversation on, the facts save two more
/// calls in the third.
#[tokio::test]
async fn the_gain_is_the_same_in_every_world_and_order() {
    for seed in 0..20 {
        for order in ORDERS {
            let mut plan = Plan::new(seed);
            plan.tasks = order.to_vec();

            assert_eq!(gains(&plan).await, [(0, 0), (4, 2), (6, 2)], "seed {seed}, {order:?}");
        }
    }
}

#[tokio::test]
async fn half_of_the_knowledge_brings_its_half_of_the_gain() {
    for seed in 0..20 {
        let mut plan = Plan::new(seed);

        plan.parts = Parts::WithoutMemory;
        assert_eq!(gains(&plan).await, [(0, 0), (4, 2), (4, 2)], "seed {seed}");

        plan.parts = Parts::WithoutSkills;
        assert_eq!(gains(&plan).await, [(0, 0), (0, 0), (2, 0)], "seed {seed}");
    }
}

#[test]
fn six_seeds_have_six_orders() {
    assert_eq!([0, 1, 2, 3, 4, 5].map(script::order_of), ORDERS);
}

/// A home after the first conversation, and the world in which it was held.
struct Learnt {
    home: Home,
    world: World,
    facts: Facts,
}

impl Learnt {
    async fn new() -> Self {
        let (home, world, facts) = (Home::new().unwrap(), World::new(0), Facts::new(0));
        let learnt = Self { home, world, facts };
        learnt.deploy(Flask).await;
        learnt
    }

    async fn deploy(&self, framework: Framework) -> (usize, usize) {
        let message = script::message(&self.facts, framework, 2);
        let talk = self.home.converse(&self.world, &message, Parts::Both).await.unwrap();
        assert!(talk.answer.contains("http://"), "{}", talk.answer);
        pair(talk.cost())
    }

    fn skill(&self) -> PathBuf {
        self.home.path().join("skills/devops/k8s-deploy/SKILL.md")
    }

    fn spoil(&self, old: &str, new: &str) {
        let text = fs::read_to_string(self.skill()).unwrap();
        assert!(text.contains(old), "{text}");
        durable::replace(&self.skill(), text.replace(old, new).as_bytes()).unwrap();
    }
}

#[tokio::test]
async fn a_wrong_step_in_the_skill_makes_a_run_worse() {
    let good = Learnt::new().await.deploy(FastApi).await;
    let facts = Facts::new(0);
    let wrong = [
        (format!("a probe on `{}`", facts.probe_path), "a probe on `/wrong`"),
        ("2. Push the image".to_owned(), "2. Forget about the image"),
        (format!("`{}/<service>`", facts.folder), "`elsewhere/<service>`"),
        (format!("`{}`", facts.registry_file), "`elsewhere.txt`"),
    ];

    for (old, new) in wrong {
        let learnt = Learnt::new().await;
        learnt.spoil(&old, new);

        let bad = learnt.deploy(FastApi).await;

        assert!(good.0 < bad.0 && good.1 < bad.1, "{new}: {bad:?} instead of {good:?}");
    }
}

#[tokio::test]
async fn a_review_mends_the_step_that_did_not_work() {
    let learnt = Learnt::new().await;
    let right = fs::read_to_string(learnt.skill()).unwrap();
    learnt.spoil(&format!("a probe on `{}`", learnt.facts.probe_path), "a probe on `/wrong`");

    learnt.deploy(FastApi).await;

    assert_eq!(fs::read_to_string(learnt.skill()).unwrap(), right);
}

#[tokio::test]
async fn a_review_adds_the_step_that_was_missing() {
    let learnt = Learnt::new().await;
    learnt.spoil("2. Push", "2. Forget");

    let (before, after) = (learnt.deploy(FastApi).await, learnt.deploy(Flask).await);

    assert_eq!((before.1, after.1), (1, 0));
}

#[tokio::test]
async fn what_one_framework_needs_is_known_the_next_time() {
    let mut plan = Plan::new(0);
    plan.tasks = vec![Flask, Django, FastApi, Django];

    let outcome = run(&plan).await.unwrap();

    assert_eq!(costs(&outcome), [(12, 2), (9, 1), (6, 0), (6, 0)]);
}

#[tokio::test]
async fn a_registry_that_has_moved_is_remembered_anew() {
    let (home, facts) = (Home::new().unwrap(), Facts::new(0));
    for (place, framework) in [(0, Flask), (1, Django)] {
        let message = script::message(&facts, framework, place);
        home.converse(&World::new(0), &message, Parts::Both).await.unwrap();
    }
    let memory = home.path().join("memories/MEMORY.md");
    let right = fs::read_to_string(&memory).unwrap();
    assert!(right.contains(&facts.registry), "{right}");
    let wrong = right.replace(&facts.registry, "gone.test");
    durable::replace(&memory, wrong.as_bytes()).unwrap();

    for framework in [FastApi, Flask] {
        let message = script::message(&facts, framework, 2);
        home.converse(&World::new(0), &message, Parts::Both).await.unwrap();
    }

    assert_eq!(fs::read_to_string(&memory).unwrap(), right);
}

#[test]
fn the_model_holds_none_of_the_answers() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/three_sessions/model");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(5 < files.len(), "{files:?}");

    for file in files.iter().filter(|it| !it.ends_with("tests.rs")) {
        let source = fs::read_to_string(file).unwrap();
        for seed in 0..500 {
            for answer in Facts::new(seed).answers() {
                assert!(!source.contains(answer), "{} knows {answer}", file.display());
            }
        }
    }
}
