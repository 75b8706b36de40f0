//! Images: built on this machine, pushed to the registry, pulled by the cluster.

use std::{collections::BTreeMap, fmt::Write};

use super::{Answer, app::Framework, facts::Facts, workspace::Workspace};

/// What an image holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    pub(super) service: String,
    pub(super) framework: Framework,
}

/// The images of this machine and those of the registry, by their full names.
#[derive(Debug, Default)]
pub(super) struct Images {
    local: BTreeMap<String, Image>,
    pushed: BTreeMap<String, Image>,
}

impl Images {
    /// Runs `docker` with the words of `command`.
    pub(super) fn docker(&mut self, command: &str, work: &Workspace, facts: &Facts) -> Answer {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["build", "-t", name, path] | ["build", path, "-t", name] => {
                self.build(name, path, work)
            }
            ["push", name] => self.push(name, facts),
            ["images"] => Ok(self.local.keys().cloned().collect::<Vec<_>>().join("\n")),
            _ => Err(format!("docker: '{command}' is not understood; see 'docker --help'")),
        }
    }

    /// Returns the image that the cluster gets under `name`.
    ///
    /// Only what was pushed can be pulled: the nodes do not see this machine's images.
    pub(super) fn pull(&self, name: &str, facts: &Facts) -> Result<&Image, String> {
        let host = registry_of(name);
        if host != facts.registry {
            return Err(format!("dial tcp: lookup {host}: no such host"));
        }
        self.pushed.get(name).ok_or_else(|| format!("{name}: not found"))
    }

    fn build(&mut self, name: &str, path: &str, work: &Workspace) -> Answer {
        let (service, framework, dockerfile) = work.build_context(path)?;
        let image = Image { service: service.to_owned(), framework };
        self.local.insert(name.to_owned(), image);
        let total = dockerfile.lines().count();
        let mut log = String::new();
        for (index, line) in dockerfile.lines().enumerate() {
            let step = index + 1;
            let _ = writeln!(log, "Step {step}/{total} : {line}");
        }
        Ok(format!("{log}Successfully tagged {name}"))
    }

    fn push(&mut self, name: &str, facts: &Facts) -> Answer {
        let Some(image) = self.local.get(name) else {
            return Err(format!("An image does not exist locally with the tag: {name}"));
        };
        let host = registry_of(name);
        if host != facts.registry {
            return Err(format!(
                "Get \"https://{host}/v2/\": dial tcp: lookup {host}: no such host"
            ));
        }
        self.pushed.insert(name.to_owned(), image.clone());
        Ok(format!("The push refers to repository [{name}]\nPushed"))
    }
}

fn registry_of(name: &str) -> &str {
    name.split_once('/').map_or("docker.io", |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> (Images, Workspace, Facts, String) {
        let facts = Facts::new(3);
        let name = format!("{}/shop:v1", facts.registry);
        (Images::default(), Workspace::new(&facts), facts, name)
    }

    #[test]
    fn an_image_that_was_only_built_cannot_be_pulled() {
        let (mut images, work, facts, name) = setting();
        let folder = format!("{}/{}", facts.folder, facts.service(Framework::Flask));

        let log = images.docker(&format!("build -t {name} {folder}"), &work, &facts).unwrap();
        assert!(log.contains("EXPOSE 5000"), "{log}");
        assert_eq!(images.pull(&name, &facts).unwrap_err(), format!("{name}: not found"));

        images.docker(&format!("push {name}"), &work, &facts).unwrap();
        assert_eq!(images.pull(&name, &facts).unwrap().framework, Framework::Flask);
    }

    #[test]
    fn another_registry_is_not_there() {
        let (mut images, work, facts, _) = setting();
        let folder = format!("{}/{}", facts.folder, facts.service(Framework::Flask));
        images.docker(&format!("build -t elsewhere/shop:v1 {folder}"), &work, &facts).unwrap();

        let err = images.docker("push elsewhere/shop:v1", &work, &facts).unwrap_err();

        assert!(err.contains("no such host"), "{err}");
    }

    #[test]
    fn what_was_not_built_cannot_be_pushed() {
        let (mut images, work, facts, name) = setting();

        assert!(images.docker(&format!("push {name}"), &work, &facts).is_err());
        assert!(images.docker("dance", &work, &facts).is_err());
    }
}
