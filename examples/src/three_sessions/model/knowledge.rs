//! What the model knows of the place: what it just saw, else what its context says.
//!
//! What was just seen counts more than what was written down, and what has just failed counts no
//! more: a remembered address that cannot be reached is looked up again.

use serde_json::Value;

use super::{
    reading::{Exchange, Reading},
    recipe::{Need, Recipe},
    text::{applied_to, between, word_after},
};

/// Where a service is asked for its health by somebody who knows only the custom.
const CUSTOMARY_PROBE: &str = "/healthz";

/// What is known of the place. `None` is what has to be found out.
#[derive(Debug)]
pub(super) struct Knowledge {
    pub(super) registry: Option<String>,
    pub(super) registry_file: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) folder: Option<String>,
    pub(super) probe: String,
    pub(super) need: Option<Need>,
    /// The skill that was read, if one was.
    pub(super) recipe: Option<Recipe>,
}

impl Knowledge {
    pub(super) fn of(reading: &Reading<'_>) -> Self {
        let work = &reading.work;
        let recipe = work.iter().rev().find_map(skill_text).map(|text| Recipe::parse(&text));
        let written = recipe.clone().unwrap_or_default();
        let service = &reading.task.service;
        let folder = written.folder.map(|it| applied_to(&it, service));
        let probe = work.iter().rev().find_map(probe_in_logs).or(written.probe);
        Self {
            registry: registry(reading),
            registry_file: written.registry_file.filter(|it| !has_failed(work, it)),
            namespace: namespace(reading),
            folder: listed_folder(work, service).or(folder.filter(|it| !has_failed(work, it))),
            probe: probe.unwrap_or_else(|| CUSTOMARY_PROBE.to_owned()),
            need: need(reading, &written.needs),
            recipe,
        }
    }
}

/// Returns the text of a skill that was viewed.
pub(super) fn skill_text(exchange: &Exchange<'_>) -> Option<String> {
    if exchange.name != "skill_view" || !exchange.is_done {
        return None;
    }
    let result: Value = serde_json::from_str(exchange.content).ok()?;
    result.get("content")?.as_str().map(str::to_owned)
}

/// Reads a registry's address where a text states it as a fact.
pub(super) fn stated_registry(text: &str) -> Option<&str> {
    between(text, "registry is `", '`')
}

/// Reads a namespace where a text names one.
pub(super) fn stated_namespace(text: &str) -> Option<&str> {
    between(text, "namespace `", '`')
}

/// Reads a registry's address in what a search or a file showed.
pub(super) fn shown_registry(exchange: &Exchange<'_>) -> Option<String> {
    let looked = matches!(exchange.name, "search_files" | "read_file") && exchange.is_done;
    looked.then(|| exchange.content.lines().find_map(registry_in_line)).flatten()
}

/// Reads the namespace for applications in a list of namespaces.
pub(super) fn shown_namespace(exchange: &Exchange<'_>) -> Option<String> {
    if !exchange.ran("kubectl", "get namespaces") || !exchange.is_done {
        return None;
    }
    let line = exchange.content.lines().find(|line| line.contains("apps"))?;
    line.split_whitespace().next().map(str::to_owned)
}

fn registry(reading: &Reading<'_>) -> Option<String> {
    let work = &reading.work;
    let remembered = || stated_registry(&reading.request.system).map(str::to_owned);
    let shown = work.iter().rev().find_map(shown_registry);
    shown.or_else(|| remembered().filter(|it| !has_failed_with(work, it, "no such host")))
}

fn namespace(reading: &Reading<'_>) -> Option<String> {
    let work = &reading.work;
    let told = || stated_namespace(&reading.task.text);
    let remembered = || stated_namespace(&reading.request.system);
    let known = || told().or_else(remembered).map(str::to_owned);
    let shown = work.iter().rev().find_map(shown_namespace);
    shown.or_else(|| known().filter(|it| !has_failed_with(work, it, "orbidden")))
}

fn listed_folder(work: &[Exchange<'_>], service: &str) -> Option<String> {
    let end = format!("{service}/Dockerfile");
    let lists = work.iter().rev().filter(|it| it.name == "list_files" && it.is_done);
    let path = lists.flat_map(|it| it.content.lines()).find(|path| path.ends_with(&end))?;
    path.strip_suffix("/Dockerfile").map(str::to_owned)
}

/// Reads the path that a service names in its log, apart from the lines of requests.
fn probe_in_logs(exchange: &Exchange<'_>) -> Option<String> {
    if !exchange.ran("kubectl", "logs") || !exchange.is_done {
        return None;
    }
    let lines = exchange.content.lines().filter(|line| !line.contains("HTTP/"));
    let mut words = lines.flat_map(str::split_whitespace);
    words.find(|word| word.starts_with('/')).map(str::to_owned)
}

/// Returns the setting that the service itself asked for, or that a skill names for its framework.
fn need(reading: &Reading<'_>, written: &[Need]) -> Option<Need> {
    let task = &reading.task;
    let asked =
        reading.work.iter().rev().find_map(|exchange| asked_need(exchange, &task.framework));
    let known = written.iter().find(|need| need.framework.eq_ignore_ascii_case(&task.framework));
    asked.or_else(|| {
        known.map(|need| Need { value: applied_to(&need.value, &task.service), ..need.clone() })
    })
}

fn asked_need(exchange: &Exchange<'_>, framework: &str) -> Option<Need> {
    if exchange.name != "http_get" || exchange.is_done {
        return None;
    }
    let value = between(exchange.content, "add '", '\'')?;
    let setting = word_after(exchange.content, &format!("add '{value}' to "))?;
    Some(Need {
        framework: framework.to_owned(),
        setting: setting.to_owned(),
        value: value.to_owned(),
    })
}

/// Reads `registry: VALUE` or `REGISTRY = "VALUE"`.
fn registry_in_line(line: &str) -> Option<String> {
    let folded = line.to_ascii_lowercase();
    let (before, _) = folded.split_once("registry")?;
    let rest = line.get(before.len() + "registry".len()..)?.trim_start();
    let value = rest.strip_prefix([':', '='])?.trim().trim_matches('"');
    (!value.is_empty() && !value.contains(' ')).then(|| value.to_owned())
}

fn has_failed(work: &[Exchange<'_>], value: &str) -> bool {
    work.iter().any(|exchange| exchange.failed_with(value))
}

fn has_failed_with(work: &[Exchange<'_>], value: &str, sign: &str) -> bool {
    work.iter().any(|exchange| exchange.failed_with(value) && exchange.content.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_read_in_several_spellings() {
        assert_eq!(registry_in_line("a.yml:2: registry: r.test:1"), Some("r.test:1".to_owned()));
        assert_eq!(registry_in_line("REGISTRY=r.test"), Some("r.test".to_owned()));
        assert_eq!(registry_in_line("registry = \"r.test\""), Some("r.test".to_owned()));
        assert_eq!(registry_in_line("our own registry, which is new"), None);
    }
}
