//! A procedure as text: how a skill is read, and how one is written.

use std::fmt::Write;

use super::text::quoted;

/// What a step of a deployment does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Build,
    Push,
    Apply,
    Wait,
    Open,
}

/// What somebody does who knows the tools and not the place: nobody said that images must be pushed.
pub(super) const NAIVE: [Action; 4] = [Action::Build, Action::Apply, Action::Wait, Action::Open];

/// A procedure: its steps in order, and what they need to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) order: Vec<Action>,
    /// Where a service lies in the workspace.
    pub(super) folder: Option<String>,
    /// The file that holds the registry's address.
    pub(super) registry_file: Option<String>,
    /// The path on which services answer health checks.
    pub(super) probe: Option<String>,
    /// What only services of one framework need.
    pub(super) needs: Vec<Need>,
}

/// A setting that services of one framework need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) framework: String,
    pub(super) setting: String,
    pub(super) value: String,
}

impl Recipe {
    /// Reads the numbered steps and the pitfalls of a skill, in the order in which they stand.
    pub(super) fn parse(text: &str) -> Self {
        let mut recipe = Self::default();
        for line in text.lines().map(str::trim) {
            if let Some(need) = Need::parse(line) {
                recipe.needs.push(need);
            }
            let Some(Step { action, sentence, .. }) = step(line) else { continue };
            recipe.order.push(action);
            let mut names = quoted(sentence);
            match action {
                Action::Build => recipe.folder = names.next().map(str::to_owned),
                Action::Push => recipe.registry_file = names.next().map(str::to_owned),
                Action::Apply => {
                    recipe.probe = names.find(|it| it.starts_with('/')).map(str::to_owned);
                }
                Action::Wait | Action::Open => {}
            }
        }
        recipe
    }

    /// Writes the numbered steps.
    pub(super) fn steps(&self) -> String {
        let mut text = String::new();
        for (index, action) in self.order.iter().enumerate() {
            let (number, sentence) = (index + 1, self.sentence(*action));
            let _ = writeln!(text, "{number}. {sentence}");
        }
        text
    }

    /// Writes what a step does.
    pub(super) fn sentence(&self, action: Action) -> String {
        match action {
            Action::Build => match &self.folder {
                Some(folder) => format!("Build the image in the service's folder, `{folder}`."),
                None => "Build the image in the service's folder.".to_owned(),
            },
            Action::Push => match &self.registry_file {
                Some(file) => format!(
                    "Push the image before anything is applied. Where memory does not have the \
                     registry's address, it stands in `{file}`."
                ),
                None => "Push the image before anything is applied.".to_owned(),
            },
            Action::Apply => match &self.probe {
                Some(probe) => format!(
                    "Apply a Deployment with the port that the build shows and a probe on `{probe}`."
                ),
                None => "Apply a Deployment with the port that the build shows.".to_owned(),
            },
            Action::Wait => "Wait for the rollout.".to_owned(),
            Action::Open => "Open the page at the host that apply prints.".to_owned(),
        }
    }
}

impl Need {
    /// Writes it as a pitfall.
    pub(super) fn line(&self) -> String {
        let Self { framework, setting, value } = self;
        format!(
            "- {framework}: it answers 400 under a host it does not know; set `{setting}` to `{value}`."
        )
    }

    /// Reads it where it is a pitfall.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (framework, rest) = line.strip_prefix("- ")?.split_once(':')?;
        let mut names = quoted(rest);
        let (setting, value) = (names.next()?.to_owned(), names.next()?.to_owned());
        Some(Self { framework: framework.to_owned(), setting, value })
    }
}

/// A numbered line that says what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step<'a> {
    pub(super) number: u32,
    pub(super) action: Action,
    pub(super) sentence: &'a str,
}

/// Reads a numbered line.
pub(super) fn step(line: &str) -> Option<Step<'_>> {
    let (number, sentence) = line.split_once(". ")?;
    let verb = sentence.split(|ch: char| !ch.is_alphanumeric()).next()?;
    let action = match verb.to_lowercase().as_str() {
        "build" => Action::Build,
        "push" => Action::Push,
        "apply" => Action::Apply,
        "wait" => Action::Wait,
        "open" => Action::Open,
        _ => return None,
    };
    Some(Step { number: number.parse().ok()?, action, sentence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let recipe = Recipe {
            order: vec![Action::Build, Action::Push, Action::Apply, Action::Wait, Action::Open],
            folder: Some("things/<service>".to_owned()),
            registry_file: Some("where.txt".to_owned()),
            probe: Some("/well".to_owned()),
            needs: Vec::new(),
        };
        let need = Need {
            framework: "Rails".to_owned(),
            setting: "HOSTS".to_owned(),
            value: "<service>.test".to_owned(),
        };

        let text = format!("# Title\n\n{}\n{}\n", recipe.steps(), need.line());

        assert_eq!(Recipe::parse(&text), Recipe { needs: vec![need], ..recipe });
    }

    #[test]
    fn other_prose_is_no_step() {
        assert_eq!(Recipe::parse("Build it.\n- Push it\n2.5 Apply\n3. Dance."), Recipe::default());
    }
}
