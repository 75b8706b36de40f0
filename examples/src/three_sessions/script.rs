//! What the user says.

use super::world::{Facts, Framework};

/// Returns the order in which the tasks come up in the world with this seed. Seed 0 has that of
/// [`Framework::ALL`]; the six orders follow each other.
pub fn order_of(seed: u64) -> [Framework; 3] {
    use Framework::{Django, FastApi, Flask};

    match seed % 6 {
        0 => [Flask, Django, FastApi],
        1 => [Flask, FastApi, Django],
        2 => [Django, Flask, FastApi],
        3 => [Django, FastApi, Flask],
        4 => [FastApi, Flask, Django],
        _ => [FastApi, Django, Flask],
    }
}

/// Returns what the user says in conversation number `place`, from 0, to get a service deployed.
///
/// Only in the second conversation, at 1, do they say something about themselves.
pub fn message(facts: &Facts, framework: Framework, place: usize) -> String {
    let (label, service) = (framework.label(), facts.service(framework));
    let task =
        format!("Deploy the {label} service `{service}` to the cluster and tell me its address.");
    if place != 1 {
        return task;
    }
    let namespace = &facts.namespace;
    format!("{task} I always deploy to the namespace `{namespace}`. I prefer short answers.")
}
