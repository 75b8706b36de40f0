//! The area `skills-frontmatter`: what is read from a `SKILL.md`.

use hermes_core::skill::{SkillFile, SkillStore, SkillSummary};
use hermes_skills::{FsSkills, frontmatter::SkillDoc};
use serde_json::json;

use crate::{
    check::{Checks, contains_any},
    home::Home,
    read::{Node, text},
    skills_manage::Play,
};

/// Runs one case.
pub(crate) async fn run(case: &Node<'_>, checks: &mut Checks) -> Result<(), String> {
    let home = Home::set_up(case.opt("setup").as_ref());
    let input = case.get("input")?;
    let folder = input.opt("dir").map(|it| it.str()).unwrap_or_default();
    let op = input.get("op")?.str();
    let skill_md = text(&input, "skill_md").unwrap_or_default();
    let mut is_created = None;
    match op {
        "load_skill" => {
            home.external_write(&format!("skills/{folder}/SKILL.md"), skill_md.as_bytes());
        }
        "create_skill" => {
            let arguments = json!({"action": "create", "name": folder, "content": skill_md});
            let outcome = Play::open(&home).call("skill_manage", &arguments).await;
            is_created = Some((outcome.is_success, outcome.text));
        }
        "list_skills" => {}
        other => return Err(format!("unknown op {other}")),
    }
    let read = Read::of(&home, folder, is_created).await?;
    let expect = case.get("expect")?;
    read.check(&expect, checks);
    home.check(&expect, checks);
    checks.any_of(&expect, |alternative, checks| read.check(alternative, checks));
    Ok(())
}

/// What the store says of the folder in question and of all.
struct Read {
    folder: String,
    summary: Option<SkillSummary>,
    doc: Option<SkillDoc>,
    names: Vec<String>,
    warnings: Vec<(String, String)>,
    is_created: Option<(bool, String)>,
}

impl Read {
    async fn of(
        home: &Home,
        folder: &str,
        is_created: Option<(bool, String)>,
    ) -> Result<Self, String> {
        let store = FsSkills::new(home.path());
        let list = store.list().await.map_err(|err| err.to_string())?;
        let summary = list.skills.iter().find(|it| it.name.as_str() == folder).cloned();
        let doc = match &summary {
            Some(_) => store.read(folder, &SkillFile::main()).await.ok(),
            None => None,
        };
        Ok(Self {
            folder: folder.to_owned(),
            summary,
            doc: doc.map(|it| SkillDoc::parse(&it.text.value)),
            names: list.skills.iter().map(|it| it.name.to_string()).collect(),
            warnings: list.warnings.into_iter().map(|it| (it.place, it.reason)).collect(),
            is_created,
        })
    }

    fn check(&self, expect: &Node<'_>, checks: &mut Checks) {
        if let Some(loaded) = expect.opt("loaded") {
            let is_loaded = self.summary.is_some() && self.doc.is_some();
            checks.that(is_loaded == loaded.bool(), format!("loaded is {is_loaded}"));
        }
        if let Some(success) = expect.opt("success") {
            let actual = self.is_created.as_ref().map(|it| it.0);
            checks.that(actual == Some(success.bool()), format!("result is {:?}", self.is_created));
        }
        if let Some(words) = expect.opt("error_contains_any") {
            let text = self.is_created.as_ref().map(|it| it.1.as_str()).unwrap_or_default();
            checks.that(contains_any(text, &words.strings()), format!("error is {text:?}"));
        }
        self.check_record(expect, checks);
        self.check_body(expect, checks);
        self.check_list(expect, checks);
    }

    fn check_record(&self, expect: &Node<'_>, checks: &mut Checks) {
        let summary = self.summary.as_ref();
        if let Some(name) = expect.opt("name") {
            let actual = self.doc.as_ref().and_then(|it| it.name.clone());
            let actual = actual.or_else(|| summary.map(|it| it.name.to_string()));
            checks.that(actual.as_deref() == Some(name.str()), format!("name is {actual:?}"));
        }
        let description = summary.map(|it| it.description.as_str()).unwrap_or_default();
        if let Some(expected) = expect.opt("description") {
            checks.that(description == expected.str(), format!("description is {description:?}"));
        }
        for part in expect.opt("description_contains").iter().flat_map(Node::strings) {
            checks.that(description.contains(part), format!("description is {description:?}"));
        }
        for (key, actual) in [
            ("platforms", summary.map(|it| it.platforms.clone()).unwrap_or_default()),
            ("tags", summary.map(|it| it.tags.clone()).unwrap_or_default()),
        ] {
            if let Some(expected) = expect.opt(key) {
                checks.that(actual == expected.strings(), format!("{key} are {actual:?}"));
            }
        }
    }

    fn check_body(&self, expect: &Node<'_>, checks: &mut Checks) {
        let body = self.doc.as_ref().map(|it| it.body.as_str()).unwrap_or_default();
        let body = body.trim_start_matches(['\r', '\n']);
        if let Some(start) = expect.opt("body_starts_with") {
            checks.that(body.starts_with(start.str()), format!("body is {body:?}"));
        }
        if let Some(parts) = expect.opt("body_contains") {
            let parts = parts.opt_str().map_or_else(|| parts.strings(), |one| vec![one]);
            let holds = parts.iter().all(|part| body.contains(part));
            checks.that(holds, format!("body is {body:?}"));
        }
    }

    fn check_list(&self, expect: &Node<'_>, checks: &mut Checks) {
        let has = |name: &str| self.names.iter().any(|it| it == name);
        let is_warned = |folder: &str| {
            self.warnings.iter().any(|(place, _)| place.split('/').any(|it| it == folder))
        };
        for name in expect.opt("names_include").iter().flat_map(Node::strings) {
            checks.that(has(name), format!("{name} is not in {:?}", self.names));
        }
        for name in expect.opt("names_exclude").iter().flat_map(Node::strings) {
            checks.that(!has(name), format!("{name} is in {:?}", self.names));
        }
        if let Some(reported) = expect.opt("reason_reported") {
            let actual = is_warned(&self.folder);
            checks.that(actual == reported.bool(), format!("warnings are {:?}", self.warnings));
        }
        let Some(each) = expect.opt("each_of") else { return };
        let words = each.opt("any_of").map(|it| it.strings()).unwrap_or_default();
        for folder in each.opt("ids").iter().flat_map(Node::strings) {
            let holds = words.iter().any(|word| match *word {
                "reported_as_unreadable" => is_warned(folder),
                "loaded_under_dir_name" => has(folder),
                _ => false,
            });
            checks.that(holds, format!("{folder} is neither of {words:?}: {:?}", self.warnings));
        }
    }
}
