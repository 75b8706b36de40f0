//! What the model writes down in a review: only what the transcript shows to have worked.

use serde_json::{Value, json};

use super::{
    Move,
    knowledge::{shown_namespace, shown_registry, skill_text, stated_namespace, stated_registry},
    lesson::Lesson,
    plan::listed_skill,
    reading::{Reading, ReviewOrder},
};

/// What the skill that it makes is called: a class of work, not today's case.
const SKILL: &str = "k8s-deploy";

/// Returns what to write next, or what to say when there is nothing more.
pub(super) fn next(reading: &Reading<'_>, order: &ReviewOrder<'_>) -> Move {
    let skill = wish_for_skill(reading, order);
    let wishes = skill.into_iter().chain(wishes_for_memory(reading, order));
    let mut open = wishes.filter(|wish| !wish.was_tried(&order.done));
    open.next().unwrap_or_else(|| Move::Say(closing(order)))
}

fn closing(order: &ReviewOrder<'_>) -> String {
    let writes = |tool: &str| tool == "skill_manage" || tool == "memory";
    let saved = order.done.iter().filter(|it| it.is_done && writes(it.name)).count();
    match saved {
        0 => "Nothing to save.".to_owned(),
        1 => "Saved one thing for next time.".to_owned(),
        _ => format!("Saved {saved} things for next time."),
    }
}

/// Returns the next call that brings the skill up to what the work has shown.
fn wish_for_skill(reading: &Reading<'_>, order: &ReviewOrder<'_>) -> Option<Move> {
    if !order.may_call("skill_manage") {
        return None;
    }
    let lesson = Lesson::of(reading)?;
    let Some(name) = listed_skill(reading) else {
        return Some(create(&lesson));
    };
    let used = reading.work.iter().rev().find_map(skill_text)?;
    lesson.amendments(&used).first()?;
    let view = Move::call("skill_view", json!({"name": name}));
    let Some(text) = order.done.iter().rev().find_map(skill_text) else {
        return Some(view);
    };
    let amendments = lesson.amendments(&text).into_iter();
    let mut patches = amendments.map(|(old, new)| patch(name, &old, &new));
    patches.find(|patch| !patch.was_tried(&order.done))
}

fn create(lesson: &Lesson) -> Move {
    let content = lesson.as_skill(SKILL);
    Move::call(
        "skill_manage",
        json!({"action": "create", "name": SKILL, "category": "devops", "content": content}),
    )
}

fn patch(name: &str, old: &str, new: &str) -> Move {
    Move::call(
        "skill_manage",
        json!({"action": "patch", "name": name, "old_string": old, "new_string": new}),
    )
}

/// Returns the calls that save what is lastingly true of the place, and of the user.
fn wishes_for_memory(reading: &Reading<'_>, order: &ReviewOrder<'_>) -> Vec<Move> {
    if !order.may_call("memory") {
        return Vec::new();
    }
    let lists = [("memory", facts_of_the_place(reading)), ("user", facts_of_the_user(reading))];
    let full = lists.into_iter().filter(|(_, operations)| !operations.is_empty());
    full.map(|(target, operations)| {
        Move::call("memory", json!({"target": target, "operations": operations}))
    })
    .collect()
}

/// What had to be looked up, and what the user had not said.
fn facts_of_the_place(reading: &Reading<'_>) -> Vec<Value> {
    let system = &reading.request.system;
    let work = reading.work.iter().rev();
    let registry = work
        .clone()
        .find_map(shown_registry)
        .map(|registry| fact("The image registry is ", &registry, stated_registry(system)));
    let namespace = work.clone().find_map(shown_namespace).map(|namespace| {
        fact("Services are deployed to the namespace ", &namespace, stated_namespace(system))
    });
    registry.into_iter().chain(namespace).collect()
}

/// What the user said of themselves.
fn facts_of_the_user(reading: &Reading<'_>) -> Vec<Value> {
    let (text, system) = (&reading.task.text, &*reading.request.system);
    let namespace = stated_namespace(text)
        .filter(|namespace| stated_namespace(system) != Some(*namespace))
        .map(|it| fact("Deploys to the namespace ", it, stated_namespace(system)));
    let wish = super::text::between(text, "I prefer ", '.')
        .map(|wish| format!("Prefers {wish}."))
        .filter(|wish| !system.contains(wish))
        .map(|wish| json!({"action": "add", "content": wish}));
    namespace.into_iter().chain(wish).collect()
}

/// Returns the edit that states `value`, in place of what was stated before.
fn fact(sentence: &str, value: &str, stated: Option<&str>) -> Value {
    let content = format!("{sentence}`{value}`.");
    match stated {
        Some(old) => json!({"action": "replace", "old_text": old, "content": content}),
        None => json!({"action": "add", "content": content}),
    }
}

impl ReviewOrder<'_> {
    fn may_call(&self, tool: &str) -> bool {
        self.tools.iter().any(|name| name == tool)
    }
}
