//! The next step of a deployment, from what is known and what was done.

use serde_json::{Value, json};

use super::{
    Move,
    knowledge::Knowledge,
    reading::{Exchange, Reading},
    recipe::{Action, NAIVE},
    text::word_after,
};

/// After so many calls nobody believes any more that it will work.
const PATIENCE: usize = 40;

/// Nor after the same call has failed so often.
const PERSISTENCE: usize = 4;

/// Returns what to do next for the task.
pub(super) fn next(reading: &Reading<'_>) -> Move {
    if let Some(skill) = unread_skill(reading) {
        return Move::call("skill_view", json!({"name": skill}));
    }
    if is_stuck(&reading.work) {
        return give_up(reading);
    }
    let knowledge = Knowledge::of(reading);
    if let Some(lookup) = lookup(reading, &knowledge) {
        return lookup;
    }
    match Situation::of(reading, &knowledge) {
        Some(situation) => situation.next(),
        None => give_up(reading),
    }
}

/// Returns the skill of the index that is about deploying, unless it was viewed already.
fn unread_skill<'a>(reading: &Reading<'a>) -> Option<&'a str> {
    let was_viewed = reading.work.iter().any(|exchange| exchange.name == "skill_view");
    (reading.offers("skill_view") && !was_viewed).then(|| listed_skill(reading)).flatten()
}

/// Returns the skill of the index that is about deploying.
pub(super) fn listed_skill<'a>(reading: &Reading<'a>) -> Option<&'a str> {
    let (_, index) = reading.request.system.split_once("<available_skills>")?;
    let (index, _) = index.split_once("</available_skills>").unwrap_or((index, ""));
    let entries = index.lines().filter_map(|line| line.trim().strip_prefix("- "));
    let (name, _) = entries
        .filter_map(|entry| entry.split_once(": "))
        .find(|(name, about)| name.contains("deploy") || about.to_lowercase().contains("deploy"))?;
    Some(name)
}

/// Returns how to find out what is not known, if anything is not and was not asked for yet.
fn lookup(reading: &Reading<'_>, knowledge: &Knowledge) -> Option<Move> {
    let lookup = if knowledge.folder.is_none() {
        Move::call("list_files", json!({"path": "."}))
    } else if knowledge.namespace.is_none() {
        Move::call("kubectl", json!({"command": "get namespaces"}))
    } else if knowledge.registry.is_some() {
        return None;
    } else if let Some(file) = &knowledge.registry_file
        && !reading.work.iter().any(|it| it.name == "read_file" && it.argument("path") == file)
    {
        Move::call("read_file", json!({"path": file}))
    } else {
        Move::call("search_files", json!({"pattern": "registry"}))
    };
    Some(if lookup.was_tried(&reading.work) { give_up(reading) } else { lookup })
}

/// Returns whether the same call keeps failing, or there were too many.
fn is_stuck(work: &[Exchange<'_>]) -> bool {
    let Some(last) = work.last().filter(|it| !it.is_done) else {
        return PATIENCE <= work.len();
    };
    let same = |it: &&Exchange<'_>| it.name == last.name && it.arguments == last.arguments;
    PERSISTENCE <= work.iter().filter(|it| !it.is_done).filter(same).count()
}

fn give_up(reading: &Reading<'_>) -> Move {
    let service = &reading.task.service;
    let last = reading.work.last().map_or("", |exchange| exchange.content);
    Move::Say(format!("I could not get {service} to run. The last thing I saw was: {last}"))
}

/// Where a deployment stands.
struct Situation<'a> {
    reading: &'a Reading<'a>,
    order: Vec<Action>,
    image: String,
    folder: String,
    namespace: String,
    manifest: String,
}

impl<'a> Situation<'a> {
    fn of(reading: &'a Reading<'a>, knowledge: &Knowledge) -> Option<Self> {
        let service = &reading.task.service;
        let image = format!("{}/{service}:v1", knowledge.registry.as_ref()?);
        Some(Self {
            reading,
            order: order(knowledge),
            manifest: manifest(reading, knowledge, &image)?.to_string(),
            image,
            folder: knowledge.folder.clone()?,
            namespace: knowledge.namespace.clone()?,
        })
    }

    fn next(&self) -> Move {
        if self.is_unexplained() {
            return self.kubectl("logs");
        }
        if let Some(cure) = self.cure() {
            return self.perform(cure);
        }
        match self.order.iter().find(|action| !self.is_done(**action)) {
            Some(action) => self.perform(*action),
            None => Move::Say(self.answer()),
        }
    }

    /// Returns what a failure asks for: what would mend it, and then the check that failed.
    fn cure(&self) -> Option<Action> {
        let page = self.reading.work.last().filter(|it| it.name == "http_get" && !it.is_done);
        let Some(rollout) = self.last("kubectl", "rollout status") else {
            return page.map(|_| Action::Wait);
        };
        if rollout.is_done {
            return None;
        }
        let lacks_image = rollout.content.contains("ImagePull");
        let mut steps: Vec<Action> = Vec::new();
        if lacks_image {
            steps.extend([Action::Build, Action::Push]);
        }
        steps.extend([Action::Apply, Action::Wait]);
        steps.into_iter().find(|action| !self.is_done(*action))
    }

    fn is_done(&self, action: Action) -> bool {
        let work = &self.reading.work;
        match action {
            Action::Build => {
                work.iter().any(|it| it.is_done && it.ran("docker", &self.build_command()))
            }
            Action::Push => {
                work.iter().any(|it| it.is_done && it.ran("docker", &self.push_command()))
            }
            Action::Apply => self
                .last("kubectl", "apply")
                .is_some_and(|it| it.is_done && it.argument("stdin") == self.manifest),
            Action::Wait => self.last("kubectl", "rollout status").is_some_and(|it| it.is_done),
            Action::Open => {
                work.iter().rev().find(|it| it.name == "http_get").is_some_and(|it| it.is_done)
            }
        }
    }

    fn perform(&self, action: Action) -> Move {
        match action {
            Action::Build => Move::call("docker", json!({"command": self.build_command()})),
            Action::Push => Move::call("docker", json!({"command": self.push_command()})),
            Action::Apply => {
                Move::call("kubectl", json!({"command": "apply -f -", "stdin": self.manifest}))
            }
            Action::Wait => self.kubectl("rollout status"),
            Action::Open => Move::call("http_get", json!({"url": self.address()})),
        }
    }

    fn kubectl(&self, verb: &str) -> Move {
        let (service, namespace) = (&self.reading.task.service, &self.namespace);
        let command = format!("{verb} deployment/{service} -n {namespace}");
        Move::call("kubectl", json!({"command": command}))
    }

    /// Returns whether the last thing that happened is that a probe failed.
    fn is_unexplained(&self) -> bool {
        self.reading
            .work
            .last()
            .is_some_and(|it| !it.is_done && it.content.contains("probe failed"))
    }

    fn build_command(&self) -> String {
        format!("build -t {} {}", self.image, self.folder)
    }

    fn push_command(&self) -> String {
        format!("push {}", self.image)
    }

    fn address(&self) -> String {
        let applied = self.last("kubectl", "apply").map_or("", |it| it.content);
        let host = word_after(applied, "host ").unwrap_or(&self.reading.task.service);
        format!("http://{host}/")
    }

    fn answer(&self) -> String {
        let Reading { task, request, .. } = self.reading;
        let address = self.address();
        if task.text.contains("short answers") || request.system.contains("short answers") {
            return address;
        }
        let (service, framework) = (&task.service, &task.framework);
        format!(
            "The {framework} service {service} is built, pushed, rolled out and answering. \
             You reach it at {address}."
        )
    }

    fn last(&self, tool: &str, start: &str) -> Option<&Exchange<'a>> {
        self.reading.work.iter().rev().find(|exchange| exchange.ran(tool, start))
    }
}

/// Returns the steps in the order of the skill, or else the naive one; what the task cannot do
/// without comes at the end where a skill leaves it out.
fn order(knowledge: &Knowledge) -> Vec<Action> {
    let mut order = knowledge.recipe.as_ref().map_or_else(Vec::new, |recipe| recipe.order.clone());
    let missing: Vec<Action> = NAIVE.into_iter().filter(|it| !order.contains(it)).collect();
    order.extend(missing);
    order
}

/// Returns the Deployment to apply. Its port is the one that the build showed.
fn manifest(reading: &Reading<'_>, knowledge: &Knowledge, image: &str) -> Option<Value> {
    let service = &reading.task.service;
    let built = reading.work.iter().rev().find(|it| it.is_done && it.ran("docker", "build"));
    let exposed = built.and_then(|it| word_after(it.content, "EXPOSE "));
    let port: u16 = exposed.and_then(|port| port.parse().ok()).unwrap_or(80);
    let need = knowledge.need.iter();
    let environment: Vec<Value> =
        need.map(|need| json!({"name": need.setting, "value": need.value})).collect();
    Some(json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": service, "namespace": knowledge.namespace.as_ref()?},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{
            "name": service,
            "image": image,
            "ports": [{"containerPort": port}],
            "livenessProbe": {"httpGet": {"path": knowledge.probe, "port": port}},
            "env": environment,
        }]}}},
    }))
}
