//! What a piece of work teaches: where it failed, and what made it work in the end.

use serde_json::Value;

use super::{
    knowledge::shown_registry,
    reading::{Exchange, Reading},
    recipe::{Action, Need, Recipe, step},
    text::generalised,
};

/// What a successful deployment teaches.
#[derive(Debug)]
pub(super) struct Lesson {
    /// How it worked.
    recipe: Recipe,
    /// Whether an image was missing because nothing had pushed it.
    had_no_image: bool,
    /// The path of a probe that did not work, if one did not.
    bad_probe: Option<String>,
}

impl Lesson {
    /// Reads the lesson of `reading`. Work that did not succeed teaches nothing.
    pub(super) fn of(reading: &Reading<'_>) -> Option<Self> {
        let work = &reading.work;
        work.iter().rev().find(|it| it.name == "http_get").filter(|it| it.is_done)?;
        let service = &reading.task.service;
        let applied = || work.iter().filter(|it| it.is_done && it.ran("kubectl", "apply"));
        let probe = applied().next_back().and_then(probe)?;
        let first = applied().next().and_then(self::probe).filter(|it| *it != probe);
        let needs = applied().next_back().and_then(|it| need(it, reading));
        let failed = |sign: &str| work.iter().any(|it| !it.is_done && it.content.contains(sign));
        Some(Self {
            recipe: Recipe {
                order: vec![Action::Build, Action::Push, Action::Apply, Action::Wait, Action::Open],
                folder: folder(work).map(|it| generalised(&it, service)),
                registry_file: registry_file(work),
                probe: Some(probe),
                needs: needs.into_iter().collect(),
            },
            had_no_image: failed("ImagePull"),
            bad_probe: first.filter(|_| failed("probe failed")),
        })
    }

    /// Writes it as a new skill.
    pub(super) fn as_skill(&self, name: &str) -> String {
        let mut pitfalls = Vec::new();
        if self.had_no_image {
            pitfalls.push(
                "- ImagePullBackOff: the image was built and not pushed; the cluster only sees the \
                 registry."
                    .to_owned(),
            );
        }
        if let Some(path) = &self.bad_probe {
            pitfalls.push(format!(
                "- A probe on a path that answers 404, such as {path}, restarts the pod; its log \
                 says which path it answers on."
            ));
        }
        pitfalls.extend(self.recipe.needs.iter().map(Need::line));
        let (steps, pitfalls) = (self.recipe.steps(), pitfalls.join("\n"));
        format!(
            "---\nname: {name}\ndescription: Deploy a service of the workspace to the cluster.\n\
             ---\n# Deploying a service to Kubernetes\n\n## When to use\n\nA service of the \
             workspace is to run on the cluster.\n\n## Steps\n\n{steps}\n## Pitfalls\n\n{pitfalls}\n"
        )
    }

    /// Returns the passages of the skill `text` that the work has shown to be wrong or missing, each
    /// with what should stand there.
    pub(super) fn amendments(&self, text: &str) -> Vec<(String, String)> {
        let written = Recipe::parse(text);
        let corrections = text.lines().filter_map(|line| self.corrected(line, &written));
        corrections.chain(self.addition(text, &written)).collect()
    }

    /// Returns `line` and what it should say, if it did not work as written.
    fn corrected(&self, line: &str, written: &Recipe) -> Option<(String, String)> {
        if let Some(need) = Need::parse(line) {
            let right = self.recipe.needs.iter().find(|it| it.framework == need.framework)?;
            return (*right != need).then(|| (line.to_owned(), right.line()));
        }
        self.corrected_step(line, written)
    }

    fn corrected_step(&self, line: &str, written: &Recipe) -> Option<(String, String)> {
        let step = step(line.trim())?;
        let mut right = written.clone();
        match step.action {
            Action::Build => right.folder.clone_from(&self.recipe.folder),
            Action::Push if self.recipe.registry_file.is_some() => {
                right.registry_file.clone_from(&self.recipe.registry_file);
            }
            Action::Apply => right.probe.clone_from(&self.recipe.probe),
            _ => return None,
        }
        let sentence =
            if right == *written { step.sentence.to_owned() } else { right.sentence(step.action) };
        let lacks_push = self.had_no_image && !written.order.contains(&Action::Push);
        let (number, next) = (step.number, step.number + 1);
        let new = if step.action == Action::Apply && lacks_push {
            let push = self.recipe.sentence(Action::Push);
            format!("{number}. {push}\n{next}. {sentence}")
        } else {
            format!("{number}. {sentence}")
        };
        (new != line.trim()).then(|| (line.to_owned(), new))
    }

    /// Returns the last line that says something and the same with what a framework needs below it,
    /// if the skill does not have that yet.
    fn addition(&self, text: &str, written: &Recipe) -> Option<(String, String)> {
        let has = |need: &Need| written.needs.iter().any(|it| it.framework == need.framework);
        let need = self.recipe.needs.iter().find(|need| !has(need))?;
        let last = text.lines().rfind(|line| !line.trim().is_empty())?;
        Some((last.to_owned(), format!("{last}\n{}", need.line())))
    }
}

fn folder(work: &[Exchange<'_>]) -> Option<String> {
    let build = work.iter().rev().find(|it| it.is_done && it.ran("docker", "build"))?;
    build.argument("command").split_whitespace().next_back().map(str::to_owned)
}

/// Returns the file in which the registry's address was found.
fn registry_file(work: &[Exchange<'_>]) -> Option<String> {
    let lookup = work.iter().rev().find(|it| shown_registry(it).is_some())?;
    if lookup.name == "read_file" {
        return Some(lookup.argument("path").to_owned());
    }
    let address = shown_registry(lookup)?;
    let line = lookup.content.lines().find(|line| line.contains(&address))?;
    line.split(':').next().map(str::to_owned)
}

fn probe(apply: &Exchange<'_>) -> Option<String> {
    let container = container(apply)?;
    let path = container.pointer("/livenessProbe/httpGet/path")?;
    path.as_str().map(str::to_owned)
}

/// Returns the setting that was applied in the end, said of all services of the framework.
fn need(apply: &Exchange<'_>, reading: &Reading<'_>) -> Option<Need> {
    let container = container(apply)?;
    let variable = container.pointer("/env/0")?;
    let field = |name: &str| variable.get(name).and_then(Value::as_str);
    Some(Need {
        framework: reading.task.framework.clone(),
        setting: field("name")?.to_owned(),
        value: generalised(field("value")?, &reading.task.service),
    })
}

fn container(apply: &Exchange<'_>) -> Option<Value> {
    let manifest: Value = serde_json::from_str(apply.argument("stdin")).ok()?;
    manifest.pointer("/spec/template/spec/containers/0").cloned()
}
