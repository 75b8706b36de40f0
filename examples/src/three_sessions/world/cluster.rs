//! The cluster: deployments, their pods, and the way in over HTTP.

use std::{collections::BTreeMap, fmt::Write};

use super::{
    Answer,
    app::App,
    facts::Facts,
    images::{Image, Images},
    manifest::{Manifest, Probe},
};

/// The deployments of the cluster, by their names.
#[derive(Debug, Default)]
pub(super) struct Cluster {
    deployments: BTreeMap<String, Deployment>,
}

#[derive(Debug)]
struct Deployment {
    manifest: Manifest,
    restarts: u32,
}

/// How the pod of a deployment is, which follows from what was applied and what was pushed.
#[derive(Debug, PartialEq, Eq)]
enum Pod<'a> {
    NoImage(String),
    Unwell { image: &'a Image, reason: String },
    Ready(&'a Image),
}

impl Cluster {
    /// Runs `kubectl` with the words of `command`; `input` is what it reads from `-f -`.
    pub(super) fn kubectl(
        &mut self,
        command: &str,
        input: Option<&str>,
        images: &Images,
        facts: &Facts,
    ) -> Answer {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["get", "namespaces"] => Ok(namespaces(facts)),
            ["apply", "-f", "-"] => self.apply(input.unwrap_or_default(), facts),
            ["rollout", "status", target, "-n", namespace] => {
                self.rollout(target, namespace, images, facts)
            }
            ["get", "pods", "-n", namespace] => Ok(self.pods(namespace, images, facts)),
            ["logs", target, "-n", namespace] => self.logs(target, namespace, images, facts),
            _ => Err(format!("error: unknown command \"{command}\" for \"kubectl\"")),
        }
    }

    /// Asks the way in for `path` under `host`.
    pub(super) fn get(&self, host: &str, path: &str, images: &Images, facts: &Facts) -> Answer {
        let named = |it: &&Deployment| host_of(&it.manifest.name, facts) == host;
        let Some(deployment) = self.deployments.values().find(named) else {
            return Err(format!("curl: (6) Could not resolve host: {host}"));
        };
        let Pod::Ready(image) = deployment.pod(images, facts) else {
            return Err("HTTP/1.1 503 Service Unavailable\n\nno available server".to_owned());
        };
        let response = deployment.app(image, facts).get(host, path);
        let (status, body) = (response.status, response.body);
        match status {
            200 => Ok(format!("HTTP/1.1 200 OK\n\n{body}")),
            400 => Err(format!("HTTP/1.1 400 Bad Request\n\n{body}")),
            _ => Err(format!("HTTP/1.1 {status}\n\n{body}")),
        }
    }

    fn apply(&mut self, input: &str, facts: &Facts) -> Answer {
        let manifest = Manifest::parse(input)?;
        let (name, namespace) = (manifest.name.clone(), &manifest.namespace);
        if *namespace != facts.namespace {
            return Err(format!(
                "Error from server (Forbidden): deployments.apps \"{name}\" is forbidden: you may \
                 not create deployments in the namespace \"{namespace}\""
            ));
        }
        let host = host_of(&name, facts);
        let deployment = Deployment { manifest, restarts: 0 };
        let known = self.deployments.insert(name.clone(), deployment).is_some();
        let verb = if known { "configured" } else { "created" };
        Ok(format!("deployment.apps/{name} {verb}\ningress/{name} {verb}, host {host}"))
    }

    fn rollout(&mut self, target: &str, namespace: &str, images: &Images, facts: &Facts) -> Answer {
        let deployment = self.find_mut(target, namespace)?;
        let name = deployment.manifest.name.clone();
        let events = match deployment.pod(images, facts) {
            Pod::Ready(_) => return Ok(format!("deployment \"{name}\" successfully rolled out")),
            Pod::NoImage(reason) => {
                format!("Failed to pull image: {reason}\nBack-off: ImagePullBackOff")
            }
            Pod::Unwell { reason, .. } => {
                deployment.restarts += 3;
                let restarts = deployment.restarts;
                format!("Liveness probe failed: {reason}\ncontainer restarted {restarts} times")
            }
        };
        Err(format!(
            "error: deployment \"{name}\" exceeded its progress deadline\nEvents:\n{events}"
        ))
    }

    fn pods(&self, namespace: &str, images: &Images, facts: &Facts) -> String {
        let mut table = "NAME STATUS RESTARTS\n".to_owned();
        for deployment in self.deployments.values() {
            if deployment.manifest.namespace != namespace {
                continue;
            }
            let status = match deployment.pod(images, facts) {
                Pod::Ready(_) => "Running",
                Pod::NoImage(_) => "ImagePullBackOff",
                Pod::Unwell { .. } => "CrashLoopBackOff",
            };
            let (name, restarts) = (&deployment.manifest.name, deployment.restarts);
            let _ = writeln!(table, "{name}-0 {status} {restarts}");
        }
        table
    }

    fn logs(&mut self, target: &str, namespace: &str, images: &Images, facts: &Facts) -> Answer {
        let deployment = self.find_mut(target, namespace)?;
        let name = &deployment.manifest.name;
        let (image, trouble) = match deployment.pod(images, facts) {
            Pod::NoImage(_) => {
                return Err(format!("container \"{name}\" is waiting to start: ImagePullBackOff"));
            }
            Pod::Unwell { image, reason } => (image, Some(reason)),
            Pod::Ready(image) => (image, None),
        };
        let banner = deployment.app(image, facts).banner();
        let path = deployment.manifest.probe.as_ref().map_or("/", |probe| probe.path.as_str());
        let asked = match trouble {
            Some(reason) => format!("\"GET {path} HTTP/1.1\" {reason}"),
            None => format!("\"GET {path} HTTP/1.1\" 200"),
        };
        Ok(format!("{banner}{asked}"))
    }

    fn find_mut(&mut self, target: &str, namespace: &str) -> Result<&mut Deployment, String> {
        let name = target.trim_start_matches("deployment/");
        self.deployments
            .get_mut(name)
            .filter(|it| it.manifest.namespace == namespace)
            .ok_or_else(|| format!("Error from server (NotFound): deployment \"{name}\" not found"))
    }
}

impl Deployment {
    fn pod<'a>(&self, images: &'a Images, facts: &Facts) -> Pod<'a> {
        let image = match images.pull(&self.manifest.image, facts) {
            Ok(image) => image,
            Err(reason) => return Pod::NoImage(reason),
        };
        match self.check(image, facts) {
            Ok(()) => Pod::Ready(image),
            Err(reason) => Pod::Unwell { image, reason },
        }
    }

    /// Does what the kubelet does: asks the pod, under its address, on the path of the probe.
    fn check(&self, image: &Image, facts: &Facts) -> Result<(), String> {
        let port = image.framework.port();
        let Probe { path, port: asked } =
            self.manifest.probe.clone().unwrap_or(Probe { path: "/".to_owned(), port });
        if asked != port || self.manifest.port != port {
            return Err(format!("dial tcp 10.42.0.7:{asked}: connection refused"));
        }
        match self.app(image, facts).get("10.42.0.7", &path).status {
            200 => Ok(()),
            status => Err(format!("HTTP probe failed with statuscode: {status}")),
        }
    }

    fn app<'a>(&'a self, image: &'a Image, facts: &'a Facts) -> App<'a> {
        App {
            framework: image.framework,
            name: &image.service,
            environment: &self.manifest.environment,
            facts,
        }
    }
}

fn host_of(name: &str, facts: &Facts) -> String {
    let domain = &facts.domain;
    format!("{name}.{domain}")
}

fn namespaces(facts: &Facts) -> String {
    let ours = &facts.namespace;
    format!(
        "NAME STATUS LABELS\ndefault Active purpose=none\nkube-system Active purpose=system\n\
         monitoring Active purpose=system\n{ours} Active purpose=apps"
    )
}
