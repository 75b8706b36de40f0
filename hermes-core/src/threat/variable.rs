//! Variables that hold secrets, and whether a line uses one to log in where it belongs.

/// A reference such as `$NAME`, `${NAME}` or `$env:NAME`.
#[derive(Debug)]
pub(super) struct Variable<'t> {
    pub(super) name: &'t str,
    /// Where the name ends.
    pub(super) end: usize,
}

impl<'t> Variable<'t> {
    /// Returns the variable whose `$` is at `at`.
    pub(super) fn at(text: &'t str, at: usize) -> Option<Self> {
        let rest = text.get(at + 1..)?;
        let prefix = ["{env:", "env:", "ENV{", "{!", "{"]
            .into_iter()
            .find(|prefix| {
                rest.get(..prefix.len()).is_some_and(|it| it.eq_ignore_ascii_case(prefix))
            })
            .unwrap_or_default();
        let name = rest.get(prefix.len()..)?;
        let length = name.bytes().take_while(|&byte| is_name_byte(byte)).count();
        let name = name.get(..length).filter(|name| !name.is_empty())?;
        Some(Self { name, end: at + 1 + prefix.len() + length })
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether a variable or field of this name holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let is = |part: &str, list: &[&str]| list.iter().any(|it| it.eq_ignore_ascii_case(part));
    let mut parts = name.split(['_', '-', '.']).filter(|part| !part.is_empty());
    let Some(last) = parts.next_back() else { return false };
    if is(last, PLAIN_ENDS) || is(name, &["PWD", "OLDPWD", "KEY"]) {
        return false;
    }
    is(last, SECRET_PARTS)
        || parts.any(|part| is(part, SECRET_PARTS))
        || SECRET_ENDS.iter().any(|end| {
            let start = last.len().saturating_sub(end.len());
            last.get(start..).is_some_and(|it| it.eq_ignore_ascii_case(end))
        })
}

/// Parts of names that speak of secrets.
const SECRET_PARTS: &[&str] = &[
    "key",
    "keys",
    "apikey",
    "token",
    "secret",
    "secrets",
    "password",
    "passwd",
    "passphrase",
    "pass",
    "pwd",
    "credential",
    "credentials",
    "creds",
    "cred",
    "cookie",
    "pat",
    "jwt",
];

/// Ends of names written in one piece.
const SECRET_ENDS: &[&str] = &["apikey", "token", "secret", "password", "passwd", "secretkey"];

/// Ends of names that speak of where or how large something is.
const PLAIN_ENDS: &[&str] = &[
    "url", "uri", "host", "path", "file", "dir", "name", "len", "length", "limit", "count", "max",
    "version", "type", "endpoint", "public", "pub", "index", "idx", "format", "env", "var",
];

/// Parts of names that do not say whose secret it is.
const NAMELESS: &[&str] = &[
    "key", "api", "token", "secret", "access", "auth", "password", "bearer", "my", "the", "app",
    "id", "client", "account", "user", "admin", "personal", "prod", "dev", "test", "private",
    "deploy", "db", "database", "service", "master", "root", "session", "refresh",
];

/// Services whose hosts carry their name.
const WELL_KNOWN: &[&str] = &["anthropic", "github", "gitlab", "npm", "slack", "stripe", "pypi"];

/// The hosts that a line speaks to.
#[derive(Debug, Default)]
pub(super) struct Hosts(Vec<String>);

impl Hosts {
    const MAX: usize = 4;
    /// How much of a line is looked at, in bytes.
    const REACH: usize = 4_096;

    /// Collects the hosts of the URLs on the line that starts at `start`.
    pub(super) fn on_line(text: &str, start: usize) -> Self {
        let mut end = text.len().min(start + Self::REACH);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let reach = text.get(start..end).unwrap_or_default();
        let mut line = reach;
        for (at, _) in reach.match_indices('\n') {
            let before = reach.get(..at).unwrap_or_default();
            if !before.trim_end_matches('\r').ends_with('\\') {
                line = before;
                break;
            }
        }
        let hosts = line.split("://").skip(1).take(Self::MAX).map(|rest| {
            let end = rest.find(['/', ' ', '"', '\'', '?', '\n']).unwrap_or(rest.len());
            rest.get(..end).unwrap_or_default().to_ascii_lowercase()
        });
        Self(hosts.collect())
    }

    /// Returns whether all hosts call themselves an interface for programs.
    fn are_apis(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|host| host.starts_with("api."))
    }

    /// Returns whether `name` speaks of a well-known service and no host is that service's.
    fn are_strangers_to(&self, name: &str) -> bool {
        let owned = name
            .split('_')
            .any(|part| WELL_KNOWN.iter().any(|service| service.eq_ignore_ascii_case(part)));
        owned && !self.0.is_empty() && !self.belong_to(name)
    }

    fn belong_to(&self, name: &str) -> bool {
        let owners = || {
            name.split('_').filter(|part| {
                3 <= part.len() && !NAMELESS.iter().any(|it| it.eq_ignore_ascii_case(part))
            })
        };
        self.0.iter().any(|host| {
            host.starts_with("localhost")
                || host.starts_with("127.0.0.1")
                || host.starts_with('$')
                || host.starts_with('{')
                || owners().any(|owner| host.contains(&owner.to_ascii_lowercase()))
        })
    }
}

/// How much before a variable is looked at, in bytes.
const BEFORE: usize = 64;

/// Returns whether the variable at `start` is used to log in: in a header for credentials, as a
/// user, or towards the service that it is named after.
pub(super) fn authenticates(text: &str, start: usize, name: &str, hosts: &Hosts) -> bool {
    let mut from = start.saturating_sub(BEFORE);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text.get(from..start).unwrap_or_default();
    let before = before.rsplit('\n').next().unwrap_or_default();
    (is_header(before) || is_user(before)) && !hosts.are_strangers_to(name)
        || hosts.belong_to(name)
        || hosts.are_apis() && is_key(before)
}

fn is_header(before: &str) -> bool {
    let mut before = before.trim_end_matches(['"', '\'', '{', ' ', '\\']);
    for scheme in ["bearer", "token", "basic", "bot", "apikey", "key", "oauth"] {
        let start = before.len().saturating_sub(scheme.len());
        if let Some((rest, end)) = before.split_at_checked(start)
            && end.eq_ignore_ascii_case(scheme)
            && rest.ends_with([' ', ':', '"', '\'', '='])
        {
            before = rest.trim_end_matches([' ', '"', '\'', '{', 'f']);
            break;
        }
    }
    let Some(before) = before.strip_suffix(':').or_else(|| before.strip_suffix('=')) else {
        return false;
    };
    let before = before.trim_end_matches(['"', '\'', ' ', '\\', ']']);
    let is_name = |ch: char| ch.is_ascii_alphanumeric() || ch == '-' || ch == '_';
    let start = before.rfind(|ch| !is_name(ch)).map_or(0, |at| at + 1);
    let (lead, name) = before.split_at_checked(start).unwrap_or_default();
    let name = name.to_ascii_lowercase();
    let lead = lead.trim_end_matches(['"', '\'', ' ', '=', '{', '\\', '$']);
    let speaks_of_secrets = ["key", "token", "secret"].iter().any(|it| name.contains(it));
    name.contains("authorization")
        || name.contains("auth-")
        || speaks_of_secrets
            && (name.contains('-') || lead.ends_with("-H") || lead.ends_with("--header"))
}

/// Returns whether a query parameter for keys comes right before.
fn is_key(before: &str) -> bool {
    let before = before.trim_end_matches('{');
    ["api_key=", "apikey=", "access_token=", "appid="].iter().any(|it| before.ends_with(it))
}

fn is_user(before: &str) -> bool {
    let argument = before.trim_end_matches(|ch: char| !ch.is_ascii_whitespace()).trim_end();
    argument.ends_with(" -u")
        || argument.ends_with("--user")
        || argument.ends_with("--oauth2-bearer")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: bool) {
        let start = line.find('$').unwrap();
        let variable = Variable::at(line, start).unwrap();
        let hosts = Hosts::on_line(line, 0);
        assert_eq!(authenticates(line, start, variable.name, &hosts), expected, "{line}");
    }

    #[test]
    fn a_header_for_credentials_logs_in() {
        check("curl -H \"Authorization: Bearer $API_TOKEN\" https://x.example", true);
        check("wget --header=\"X-Key: $API_KEY\" https://x.example", true);
        check("curl -H 'A: ${MY_SECRET}' https://x.example", false);
    }

    #[test]
    fn a_secret_goes_to_the_service_that_it_is_named_after() {
        check("curl \"https://tenor.example/v2?key=${TENOR_API_KEY}\"", true);
        check("curl \"https://drop.example/?t=$DEPLOY_TOKEN\"", false);
        check("curl -u x:$GITLAB_TOKEN https://gitlab.corp.example/api", true);
        check("curl -u x:$GITLAB_TOKEN https://drop.example", false);
    }

    #[test]
    fn a_user_logs_in() {
        check("curl -u $LAMBDA_API_KEY: https://x.example", true);
    }

    #[test]
    fn names_tell_secrets_from_other_things() {
        for name in ["API_KEY", "GITHUB_TOKEN", "DBPASSWORD", "AWS_SECRET_ACCESS_KEY"] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in ["PWD", "HOME", "API_URL", "TOKEN_LIMIT", "KEYBOARD", "MAX_TOKENS"] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
