//! The rules of the world, each by the commands a person would type.

use serde_json::json;

use super::*;

struct Desk {
    world: World,
    facts: Facts,
    framework: Framework,
}

impl Desk {
    fn new(framework: Framework) -> Self {
        Self { world: World::new(5), facts: Facts::new(5), framework }
    }

    fn name(&self) -> &str {
        self.facts.service(self.framework)
    }

    fn image(&self) -> String {
        format!("{}/{}:v1", self.facts.registry, self.name())
    }

    fn build(&self) {
        let command = format!("build -t {} {}/{}", self.image(), self.facts.folder, self.name());
        self.world.docker(&command).unwrap();
    }

    fn push(&self) {
        self.world.docker(&format!("push {}", self.image())).unwrap();
    }

    fn apply(&self, probe: &str, hosts: &str) -> Answer {
        self.apply_in(&self.facts.namespace, probe, hosts)
    }

    fn apply_in(&self, namespace: &str, probe: &str, hosts: &str) -> Answer {
        let port = self.framework.port();
        let manifest = json!({
            "kind": "Deployment",
            "metadata": {"name": self.name(), "namespace": namespace},
            "spec": {"template": {"spec": {"containers": [{
                "image": self.image(),
                "ports": [{"containerPort": port}],
                "livenessProbe": {"httpGet": {"path": probe, "port": port}},
                "env": [{"name": self.facts.hosts_setting, "value": hosts}],
            }]}}},
        });
        self.world.kubectl("apply -f -", Some(&manifest.to_string()))
    }

    fn kubectl(&self, command: &str) -> Answer {
        let (name, namespace) = (self.name(), &self.facts.namespace);
        self.world.kubectl(&format!("{command} deployment/{name} -n {namespace}"), None)
    }

    fn page(&self) -> Answer {
        self.world.http_get(&format!("http://{}.{}/", self.name(), self.facts.domain))
    }
}

#[test]
fn an_image_that_was_not_pushed_cannot_be_pulled() {
    let desk = Desk::new(Framework::Flask);
    desk.build();
    desk.apply(&desk.facts.probe_path, "").unwrap();

    assert!(desk.kubectl("rollout status").unwrap_err().contains("ImagePullBackOff"));
    assert!(desk.kubectl("logs").unwrap_err().contains("waiting to start"));
    assert!(desk.page().unwrap_err().contains("503"));

    desk.push();

    assert!(desk.kubectl("rollout status").is_ok());
    assert!(desk.page().unwrap().contains("200 OK"));
}

#[test]
fn a_probe_on_a_wrong_path_restarts_the_pod() {
    let desk = Desk::new(Framework::FastApi);
    desk.build();
    desk.push();
    desk.apply("/healthz", "").unwrap();

    let err = desk.kubectl("rollout status").unwrap_err();
    assert!(err.contains("statuscode: 404") && err.contains("restarted 3 times"), "{err}");
    assert!(desk.kubectl("logs").unwrap().contains(&desk.facts.probe_path));
    let pods = desk.world.kubectl(&format!("get pods -n {}", desk.facts.namespace), None).unwrap();
    assert!(pods.contains("CrashLoopBackOff 3"), "{pods}");

    desk.apply(&desk.facts.probe_path, "").unwrap();

    assert!(desk.kubectl("rollout status").is_ok());
}

#[test]
fn django_is_ready_and_still_refuses_its_host() {
    let desk = Desk::new(Framework::Django);
    desk.build();
    desk.push();
    desk.apply(&desk.facts.probe_path, "").unwrap();

    assert!(desk.kubectl("rollout status").is_ok());
    assert!(desk.page().unwrap_err().contains(&desk.facts.hosts_setting));

    let host = format!("{}.{}", desk.name(), desk.facts.domain);
    desk.apply(&desk.facts.probe_path, &host).unwrap();

    assert!(desk.page().is_ok());
}

#[test]
fn other_namespaces_are_forbidden() {
    let desk = Desk::new(Framework::Flask);

    assert!(desk.apply_in("default", "/", "").unwrap_err().contains("Forbidden"));
    let listed = desk.world.kubectl("get namespaces", None).unwrap();
    assert!(listed.contains(&format!("{} Active purpose=apps", desk.facts.namespace)), "{listed}");
}

#[test]
fn commands_it_does_not_know_are_errors() {
    let desk = Desk::new(Framework::Flask);

    assert!(desk.world.kubectl("dance", None).is_err());
    assert!(desk.world.kubectl("apply -f -", None).is_err());
    assert!(desk.kubectl("logs").is_err());
    assert!(desk.world.http_get("http://nowhere.test/").unwrap_err().contains("resolve"));
}
