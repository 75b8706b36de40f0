//! `skills_list`: every skill in one line.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use hermes_core::{
    serde_json::{Value, json},
    skill::{SkillStore, SkillSummary},
    tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec},
};

use super::{HiddenSkills, Library, args::Args, refusal::Refusal};
use crate::index::{cut, one_line};

/// The most characters of a description in the list.
const MAX_DESCRIPTION: usize = 1_024;

/// The tool with which a model lists skills: `skills_list`.
///
/// It is called without arguments or with a `category`, and answers with a JSON object that has name,
/// category and description of each skill under `skills`. Skills that are hidden or not for this system
/// are left out.
#[derive(Clone, Debug)]
pub struct SkillsList {
    library: Library,
}

impl SkillsList {
    /// Creates the tool on `store`.
    pub fn new(store: Arc<dyn SkillStore>, hidden: HiddenSkills) -> Self {
        Self::of(Library::new(store, hidden))
    }

    pub(crate) fn of(library: Library) -> Self {
        Self { library }
    }

    async fn run(&self, arguments: &Value) -> Result<ToolOutput, Refusal> {
        let category = Args::of(arguments)?.word(&["category"])?;
        let list = self.library.offered().await?;
        let shown = list.skills.iter().filter(|skill| category.is_none_or(|it| is_in(skill, it)));
        let skills: Vec<Value> = shown.clone().map(row).collect();
        let categories: BTreeSet<&str> = shown.filter_map(first_category).collect();
        let mut reply = json!({
            "success": true,
            "skills": skills,
            "categories": categories,
            "count": skills.len(),
            "hint": "Use skill_view(name) to see full content, tags, and linked files",
        });
        if skills.is_empty()
            && let Some(fields) = reply.as_object_mut()
        {
            fields.insert("message".to_owned(), "No skills found.".into());
        }
        Ok(reply.into())
    }
}

#[async_trait]
impl Tool for SkillsList {
    fn spec(&self) -> ToolSpec {
        let category = "Only skills of this category; all if left out.";
        ToolSpec::new("skills_list", include_str!("../prompts/skills_list.md").trim())
            .with_parameters(json!({
                "type": "object",
                "properties": {
                    "category": { "type": ["string", "null"], "description": category },
                },
            }))
            .read_only()
    }

    async fn call(&self, arguments: Value, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.run(&arguments).await.or_else(Refusal::into_output)
    }
}

fn row(skill: &SkillSummary) -> Value {
    json!({
        "name": one_line(skill.name.as_str()),
        "description": cut(&skill.description, MAX_DESCRIPTION),
        "category": first_category(skill),
    })
}

fn first_category(skill: &SkillSummary) -> Option<&str> {
    skill.category.as_deref().and_then(|it| it.split('/').next())
}

fn is_in(skill: &SkillSummary, category: &str) -> bool {
    first_category(skill) == Some(category) || skill.category.as_deref() == Some(category)
}
