//! How the services answer, depending on what they are written in.

use std::collections::BTreeMap;

use super::facts::Facts;

/// What a service is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Framework {
    /// Flask.
    Flask,
    /// Django, which answers only under host names that it has been told.
    Django,
    /// `FastAPI`.
    FastApi,
}

impl Framework {
    /// All three, in the order of the story.
    pub const ALL: [Self; 3] = [Self::Flask, Self::Django, Self::FastApi];

    /// Returns the name as its makers write it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Flask => "Flask",
            Self::Django => "Django",
            Self::FastApi => "FastAPI",
        }
    }

    /// Returns the name in lower case, as it stands in results.
    pub fn key(self) -> &'static str {
        match self {
            Self::Flask => "flask",
            Self::Django => "django",
            Self::FastApi => "fastapi",
        }
    }

    /// Returns the port on which its services listen.
    pub(super) fn port(self) -> u16 {
        match self {
            Self::Flask => 5000,
            Self::Django => 8000,
            Self::FastApi => 8080,
        }
    }

    pub(super) fn start_command(self) -> &'static str {
        match self {
            Self::Flask => r#"["flask", "run"]"#,
            Self::Django => r#"["gunicorn", "site.wsgi"]"#,
            Self::FastApi => r#"["uvicorn", "main:app"]"#,
        }
    }
}

/// A service as it runs: what it is, and the environment it was started with.
#[derive(Debug)]
pub(super) struct App<'a> {
    pub(super) framework: Framework,
    pub(super) name: &'a str,
    pub(super) environment: &'a BTreeMap<String, String>,
    pub(super) facts: &'a Facts,
}

/// An answer over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: String,
}

impl App<'_> {
    /// Answers a request for `path` with `host` in its head.
    ///
    /// Health checks are answered before the framework sees the request, so that the cluster, which
    /// asks under the pod's address, needs no entry in any list of hosts.
    pub(super) fn get(&self, host: &str, path: &str) -> Response {
        if path == self.facts.probe_path {
            return Response { status: 200, body: "ok".to_owned() };
        }
        if !self.allows(host) {
            let setting = &self.facts.hosts_setting;
            let body = format!(
                "DisallowedHost at {path}\nInvalid HTTP_HOST header: '{host}'.\n\
                 You may need to add '{host}' to {setting}."
            );
            return Response { status: 400, body };
        }
        match path {
            "/" => Response { status: 200, body: format!("hello from {}", self.name) },
            _ => Response { status: 404, body: format!("no route for {path}") },
        }
    }

    /// Returns what the service writes when it starts.
    pub(super) fn banner(&self) -> String {
        let (label, port) = (self.framework.label(), self.framework.port());
        let probe = &self.facts.probe_path;
        format!("{label} is listening on port {port}\nhealth checks are answered at {probe}\n")
    }

    fn allows(&self, host: &str) -> bool {
        let setting = self.environment.get(&self.facts.hosts_setting).map_or("", String::as_str);
        self.framework != Framework::Django
            || setting.split(',').map(str::trim).any(|it| it == host || it == "*")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(framework: Framework, hosts: &str, host: &str, path: &str) -> u16 {
        let facts = Facts::new(0);
        let environment = BTreeMap::from([(facts.hosts_setting.clone(), hosts.to_owned())]);
        let app = App { framework, name: "shop", environment: &environment, facts: &facts };
        app.get(host, path).status
    }

    #[test]
    fn django_refuses_hosts_that_are_not_allowed() {
        assert_eq!(status(Framework::Django, "", "shop.test", "/"), 400);
        assert_eq!(status(Framework::Django, "other.test, shop.test", "shop.test", "/"), 200);
        assert_eq!(status(Framework::Flask, "", "shop.test", "/"), 200);
    }

    #[test]
    fn health_checks_need_the_right_path_and_no_host() {
        let probe = Facts::new(0).probe_path;

        assert_eq!(status(Framework::Django, "", "10.42.0.7", &probe), 200);
        assert_eq!(status(Framework::Flask, "", "10.42.0.7", "/healthz"), 404);
    }
}
