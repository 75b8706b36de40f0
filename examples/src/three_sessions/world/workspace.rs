//! The files of the workspace.

use std::{collections::BTreeMap, fmt::Write};

use super::{Answer, app::Framework, facts::Facts};

/// The files of the workspace, by path.
#[derive(Debug)]
pub(super) struct Workspace {
    files: BTreeMap<String, String>,
    folders: BTreeMap<String, Framework>,
}

impl Workspace {
    pub(super) fn new(facts: &Facts) -> Self {
        let mut workspace = Self { files: BTreeMap::new(), folders: BTreeMap::new() };
        workspace.write("README.md", readme(facts));
        workspace.write(&facts.registry_file, format!("retries: 2\n{}\n", facts.registry_line));
        for framework in Framework::ALL {
            let folder = format!("{}/{}", facts.folder, facts.service(framework));
            workspace.write(&format!("{folder}/Dockerfile"), dockerfile(framework));
            workspace.write(&format!("{folder}/app.py"), "# the service\n".to_owned());
            workspace.folders.insert(folder, framework);
        }
        workspace
    }

    pub(super) fn list(&self, path: &str) -> Answer {
        let path = normal(path);
        let inside = |file: &&String| path.is_empty() || file.starts_with(&format!("{path}/"));
        let files: Vec<&str> = self.files.keys().filter(inside).map(String::as_str).collect();
        if files.is_empty() {
            return Err(format!("ls: cannot access '{path}': No such file or directory"));
        }
        Ok(files.join("\n"))
    }

    pub(super) fn read(&self, path: &str) -> Answer {
        let missing = || format!("cat: {path}: No such file or directory");
        self.files.get(normal(path)).cloned().ok_or_else(missing)
    }

    /// Finds the lines that hold `pattern`, in any case, as `path:line: text`.
    pub(super) fn search(&self, pattern: &str) -> String {
        let pattern = pattern.to_lowercase();
        let mut found = String::new();
        for (path, text) in &self.files {
            let lines = text.lines().enumerate();
            for (index, line) in lines.filter(|(_, it)| it.to_lowercase().contains(&pattern)) {
                let number = index + 1;
                let _ = writeln!(found, "{path}:{number}: {line}");
            }
        }
        if found.is_empty() { "no matches".to_owned() } else { found }
    }

    /// Returns what is written in the folder at `path` and how its image is made.
    pub(super) fn build_context<'a>(
        &'a self,
        path: &'a str,
    ) -> Result<(&'a str, Framework, &'a str), String> {
        let folder = normal(path);
        let missing =
            || format!("unable to prepare context: no Dockerfile in path \"{path}\" was found");
        let dockerfile = self.files.get(&format!("{folder}/Dockerfile")).ok_or_else(missing)?;
        let framework = self.folders.get(folder).copied().ok_or_else(missing)?;
        let name = folder.rsplit('/').next().unwrap_or(folder);
        Ok((name, framework, dockerfile))
    }

    fn write(&mut self, path: &str, text: String) {
        self.files.insert(path.to_owned(), text);
    }
}

fn normal(path: &str) -> &str {
    match path.trim().trim_start_matches("./").trim_end_matches('/') {
        "." => "",
        path => path,
    }
}

fn readme(facts: &Facts) -> String {
    format!(
        "# {}\n\nEach service has a folder of its own with a Dockerfile.\n\
         Images are kept in our own registry, which a release writes to.\n",
        facts.domain
    )
}

fn dockerfile(framework: Framework) -> String {
    let (port, command) = (framework.port(), framework.start_command());
    format!("FROM python:3.13-slim\nCOPY . /app\nEXPOSE {port}\nCMD {command}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_names_file_and_line() {
        let facts = Facts::new(0);

        let found = Workspace::new(&facts).search("registry");

        let expected = format!("{}:2: {}", facts.registry_file, facts.registry_line);
        assert!(found.lines().any(|line| line == expected), "{found}");
    }

    #[test]
    fn files_that_are_not_there_are_errors() {
        let workspace = Workspace::new(&Facts::new(0));

        assert!(workspace.read("nothing").unwrap_err().contains("No such file"));
        assert!(workspace.list("nothing").unwrap_err().contains("No such file"));
        assert!(workspace.build_context(".").is_err());
    }
}
