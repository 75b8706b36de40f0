//! What a call of `skill_manage` asks for, once its arguments have been read.

use hermes_core::{
    serde_json::{Map, Value},
    skill::{Category, SkillFile, SkillName},
};

use super::{args::Args, refusal::Refusal};

/// A call of `skill_manage`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) name: String,
    pub(super) wish: Wish,
}

/// What a call wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Create { category: Option<Category>, content: String },
    Edit { content: String },
    Patch { file: SkillFile, old: String, new: String, all: bool },
    Delete { heir: Option<String> },
    WriteFile { file: SkillFile, content: String },
    RemoveFile { file: SkillFile },
}

pub(super) const ACTIONS: [&str; 6] =
    ["create", "edit", "patch", "delete", "write_file", "remove_file"];

const PATH: &[&str] = &["file_path", "path", "file"];

impl Request {
    pub(super) fn parse(arguments: &Value) -> Result<Self, Refusal> {
        let args = Args::of(arguments)?;
        let action = args.text(&["action"])?.unwrap_or_default();
        if !ACTIONS.contains(&action) {
            return Err(Refusal::rejected(format!(
                "Unknown action '{action}'. Use: {}.",
                ACTIONS.join(", ")
            )));
        }
        let name = args.word(&["name", "skill", "skill_name"])?;
        let name = name.ok_or_else(|| missing("name", action))?.to_owned();
        let wish = match action {
            "create" => Wish::Create { category: category(args)?, content: content(args, action)? },
            "edit" => Wish::Edit { content: content(args, action)? },
            "patch" => patch(args)?,
            "delete" => {
                let heir = args.word(&["absorbed_into"])?.map(str::to_owned);
                Wish::Delete { heir }
            }
            "write_file" => write_file(args)?,
            _ => {
                let path = args.word(PATH)?.ok_or_else(|| missing("file_path", action))?;
                Wish::RemoveFile { file: file(path)? }
            }
        };
        Ok(Self { name, wish })
    }

    /// Returns the call as arguments that say the same of `skill`: hermes-agent's, without those that
    /// are not given.
    pub(super) fn payload(&self, skill: &SkillName) -> Map<String, Value> {
        let mut payload = Map::new();
        let mut put = |key: &str, value: Value| drop(payload.insert(key.to_owned(), value));
        put("name", skill.as_str().into());
        match &self.wish {
            Wish::Create { category, content } => {
                put("action", "create".into());
                put("content", content.as_str().into());
                if let Some(category) = category {
                    put("category", category.as_str().into());
                }
            }
            Wish::Edit { content } => {
                put("action", "edit".into());
                put("content", content.as_str().into());
            }
            Wish::Patch { file, old, new, all } => {
                put("action", "patch".into());
                put("old_string", old.as_str().into());
                put("new_string", new.as_str().into());
                put("replace_all", (*all).into());
                if !file.is_main() {
                    put("file_path", file.as_str().into());
                }
            }
            Wish::Delete { heir } => {
                put("action", "delete".into());
                if let Some(heir) = heir {
                    put("absorbed_into", heir.as_str().into());
                }
            }
            Wish::WriteFile { file, content } => {
                put("action", "write_file".into());
                put("file_path", file.as_str().into());
                put("file_content", content.as_str().into());
            }
            Wish::RemoveFile { file } => {
                put("action", "remove_file".into());
                put("file_path", file.as_str().into());
            }
        }
        payload
    }
}

fn category(args: Args<'_>) -> Result<Option<Category>, Refusal> {
    let parse = |text: &str| {
        text.parse().map_err(|err: hermes_core::skill::InvalidName| {
            Refusal::rejected(format!("The category {err}."))
        })
    };
    args.word(&["category"])?.map(parse).transpose()
}

fn content(args: Args<'_>, action: &str) -> Result<String, Refusal> {
    let content = args.text(&["content", "file_content", "skill_md"])?;
    match content.filter(|it| !it.is_empty()) {
        Some(content) => Ok(content.to_owned()),
        None => Err(Refusal::rejected(format!(
            "content is required for '{action}': give the whole SKILL.md, frontmatter and body."
        ))),
    }
}

fn patch(args: Args<'_>) -> Result<Wish, Refusal> {
    let old = args.text(&["old_string", "old_text", "old"])?.filter(|it| !it.is_empty());
    let old = old.ok_or_else(|| {
        Refusal::rejected(
            "old_string is required for 'patch': quote the passage of the file that is to change.",
        )
    })?;
    let new = args.text(&["new_string", "new_text", "new"])?;
    let new = new.ok_or_else(|| {
        Refusal::rejected(
            "new_string is required for 'patch': give the text to put there, \"\" to take it out.",
        )
    })?;
    if old == new {
        return Err(Refusal::rejected(
            "old_string and new_string are identical, so there is nothing to change.",
        ));
    }
    let path = args.word(PATH)?;
    let file = path.map(file).transpose()?.unwrap_or_else(SkillFile::main);
    let all = args.flag(&["replace_all"])?;
    Ok(Wish::Patch { file, old: old.to_owned(), new: new.to_owned(), all })
}

fn write_file(args: Args<'_>) -> Result<Wish, Refusal> {
    let action = "write_file";
    let path = args.word(PATH)?.ok_or_else(|| missing("file_path", action))?;
    let file = file(path)?;
    let content = args.text(&["file_content", "content", "text"])?;
    let content = content.ok_or_else(|| missing("file_content", action))?.to_owned();
    Ok(Wish::WriteFile { file, content })
}

fn file(path: &str) -> Result<SkillFile, Refusal> {
    path.parse().map_err(|err: hermes_core::skill::InvalidName| {
        Refusal::rejected(format!("file_path: {err}. An example: references/api.md."))
    })
}

fn missing(what: &str, action: &str) -> Refusal {
    Refusal::rejected(format!("{what} is required for '{action}'."))
}
