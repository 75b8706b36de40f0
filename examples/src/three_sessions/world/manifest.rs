//! The part of a Kubernetes Deployment that this cluster reads.

use std::collections::BTreeMap;

use serde::Deserialize;

/// What is to run, where, and how the cluster finds out that it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) image: String,
    pub(super) port: u16,
    pub(super) probe: Option<Probe>,
    pub(super) environment: BTreeMap<String, String>,
}

/// Where the cluster asks whether a pod is well.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Probe {
    pub(super) path: String,
    pub(super) port: u16,
}

impl Manifest {
    /// Reads a Deployment in JSON, as `kubectl apply -f -` would.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let deployment: Deployment = serde_json::from_str(text)
            .map_err(|err| format!("error: error parsing STDIN: {err}"))?;
        if deployment.kind != "Deployment" {
            let kind = deployment.kind;
            return Err(format!("error: no matches for kind \"{kind}\" in this cluster"));
        }
        let Some(container) = deployment.spec.template.spec.containers.into_iter().next() else {
            return Err(
                "The Deployment is invalid: spec.template.spec.containers: Required value".into()
            );
        };
        let port = container.ports.first().map_or(80, |port| port.container_port);
        let environment = container.env.into_iter().map(|it| (it.name, it.value)).collect();
        Ok(Self {
            name: deployment.metadata.name,
            namespace: deployment.metadata.namespace,
            image: container.image,
            port,
            probe: container.liveness_probe.map(|probe| probe.http_get),
            environment,
        })
    }
}

#[derive(Deserialize)]
struct Deployment {
    kind: String,
    metadata: Metadata,
    spec: DeploymentSpec,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default = "default_namespace")]
    namespace: String,
}

#[derive(Deserialize)]
struct DeploymentSpec {
    template: Template,
}

#[derive(Deserialize)]
struct Template {
    spec: PodSpec,
}

#[derive(Deserialize)]
struct PodSpec {
    containers: Vec<Container>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    image: String,
    #[serde(default)]
    ports: Vec<Port>,
    liveness_probe: Option<HttpProbe>,
    #[serde(default)]
    env: Vec<Variable>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Port {
    container_port: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HttpProbe {
    http_get: Probe,
}

#[derive(Deserialize)]
struct Variable {
    name: String,
    value: String,
}

fn default_namespace() -> String {
    "default".to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deployment_is_read() {
        let text = json!({
            "kind": "Deployment",
            "metadata": {"name": "shop"},
            "spec": {"template": {"spec": {"containers": [{
                "name": "shop",
                "image": "r/shop:v1",
                "ports": [{"containerPort": 5000}],
                "livenessProbe": {"httpGet": {"path": "/up", "port": 5000}},
                "env": [{"name": "A", "value": "b"}],
            }]}}},
        });

        let manifest = Manifest::parse(&text.to_string()).unwrap();

        assert_eq!(manifest.namespace, "default");
        assert_eq!((manifest.image.as_str(), manifest.port), ("r/shop:v1", 5000));
        assert_eq!(manifest.probe, Some(Probe { path: "/up".to_owned(), port: 5000 }));
        assert_eq!(manifest.environment["A"], "b");
    }

    #[test]
    fn other_text_is_refused() {
        assert!(Manifest::parse("kind: Deployment").unwrap_err().contains("STDIN"));
    }
}
