//! The views of the `index` family: what `skill_view` shows of a real folder.

#![expect(clippy::expect_used, reason = "a vector that is not as described is a defect")]

use std::{fs, path::Path, sync::Arc};

use hermes_core::{
    durable,
    message::CallStatus,
    skill::SkillStore,
    tool::{Tool, ToolContext},
};
use hermes_skills::{FsSkills, HiddenSkills, tool::SkillView};
use serde_json::{Value, json};

/// Returns the pairs, ours and theirs, that are not the same. `disabled` are the names that the
/// vector's configuration hides.
pub(super) async fn differences(vector: &Value, disabled: &[String]) -> Vec<(String, String)> {
    let home = tempfile::tempdir().expect("a folder");
    put_all(&home.path().join("skills"), &vector["files"]);
    put_all(&home.path().join("ext"), &vector["ext_files"]);
    let store = FsSkills::new(home.path()).external(home.path().join("ext"));
    let store: Arc<dyn SkillStore> = Arc::new(store);
    let view = SkillView::new(store, HiddenSkills::new(disabled));
    let mut differences = Vec::new();
    for asked in vector["views"].as_array().into_iter().flatten() {
        let output = view.call(asked["args"].clone(), &ToolContext::detached()).await;
        let output = output.expect("a working store");
        let reply: Value = serde_json::from_str(&output.content).unwrap_or_default();
        let ours = told(output.status == CallStatus::Done, &reply);
        let theirs = told(asked["success"] == true, &asked["result"]);
        if ours != theirs {
            differences.push((format!("{} {ours}", asked["args"]), theirs.to_string()));
        }
    }
    differences
}

fn told(success: bool, reply: &Value) -> Value {
    if !success {
        return json!({ "success": false });
    }
    let is_binary = reply["is_binary"] == true;
    let content = if is_binary { &Value::Null } else { &reply["content"] };
    json!({
        "success": true,
        "content": content,
        "tags": reply["tags"],
        "linked_files": reply["linked_files"],
    })
}

fn put_all(root: &Path, files: &Value) {
    fs::create_dir_all(root).expect("a folder");
    for (path, content) in files.as_object().into_iter().flatten() {
        let path = root.join(path);
        if let Some(target) = content["symlink"].as_str() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            #[cfg(unix)]
            std::os::unix::fs::symlink(target, path).expect("a link");
            continue;
        }
        let bytes = match (content.as_str(), content["hex"].as_str()) {
            (Some(text), _) => text.as_bytes().to_vec(),
            (None, hex) => super::skill_manage::from_hex(hex.expect("text or bytes")),
        };
        durable::replace(&path, &bytes).expect("a file");
    }
}
