//! The hosts that a command speaks to, read in one place.
//!
//! A host is compared as a whole or by its last labels, never by a part of its text: what stands
//! before an `@`, in a path or in a query is no host, and `known.example.elsewhere.example` is not
//! `known.example`. What names several hosts has to be good for all of them.

/// The address of a host in a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Host<'c> {
    /// Whether the connection is encrypted.
    is_encrypted: bool,
    /// The name, with whatever stands in for parts of it.
    pub(super) name: &'c str,
    /// What follows the name, from the `/`.
    path: &'c str,
}

/// How files end, which are not to be taken for hosts.
const FILE_ENDS: &[&str] = &[
    "bin", "cfg", "conf", "csv", "db", "env", "gz", "html", "jpg", "js", "json", "key", "log",
    "md", "pem", "php", "png", "ps1", "pub", "py", "rb", "sh", "sql", "sqlite", "tar", "tgz",
    "toml", "ts", "txt", "xml", "yaml", "yml", "zip",
];

/// Returns the hosts of the addresses in `command`, in order.
pub(super) fn hosts(command: &str) -> impl Iterator<Item = Host<'_>> {
    command.match_indices("://").map(|(at, mark)| {
        let before = command.get(..at).unwrap_or_default();
        let rest = command.get(at + mark.len()..).unwrap_or_default();
        let end = rest.find(ends_address).unwrap_or(rest.len());
        let (address, _) = rest.split_at(end);
        let (authority, path) = match address.find(['/', '?', '#', '\\']) {
            Some(at) => address.split_at(at),
            None => (address, ""),
        };
        let host = authority.rsplit('@').next().unwrap_or(authority);
        let name = match host.strip_prefix('[') {
            Some(inner) => inner.split(']').next().unwrap_or(inner),
            None => host.split(':').next().unwrap_or(host),
        };
        let is_encrypted = before
            .get(before.len().saturating_sub(5)..)
            .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
        Host { is_encrypted, name: name.trim_end_matches('.'), path }
    })
}

fn ends_address(ch: char) -> bool {
    ch.is_whitespace() || matches!(ch, '"' | '\'' | '`' | ')' | '|' | ';' | '>' | '<' | ',' | '&')
}

impl Host<'_> {
    /// Returns whether the host is this machine.
    pub(super) fn is_local(&self) -> bool {
        is_local_name(self.name)
    }

    /// Returns whether the host is `domain`, or one below it.
    pub(super) fn is_within(&self, domain: &str) -> bool {
        let start = self.name.len().checked_sub(domain.len());
        let Some(start) = start else { return false };
        self.name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(domain))
            && self.name.get(..start).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }

    /// Returns whether the host stands for one that whoever runs the command fills in.
    pub(super) fn is_open(&self) -> bool {
        self.name.is_empty() || self.name.starts_with(['$', '{', '<', '%', '['])
    }

    /// Returns the label that its owner has registered, in lower case: `b` in `a.b.example`.
    pub(super) fn label(&self) -> Option<String> {
        self.name.rsplit('.').nth(1).map(str::to_ascii_lowercase)
    }

    /// Returns the first parts of the path.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.path.split('/').skip(1)
    }

    /// Returns whether the address is encrypted and leads to `place`, a host with or without the
    /// beginning of a path.
    fn is_at(&self, place: &str) -> bool {
        let (name, folder) = place.find('/').map_or((place, ""), |at| place.split_at(at));
        let climbs = self.path.contains("..") || self.path.to_ascii_lowercase().contains("%2e");
        self.is_encrypted
            && self.name.eq_ignore_ascii_case(name)
            && (folder.is_empty() || self.path.starts_with(folder) && !climbs)
    }
}

/// Returns whether `command` speaks to one of `places` over an encrypted connection, or to what
/// `is_known` says, and to nothing else.
pub(super) fn are_known(
    command: &str,
    places: &[&str],
    is_known: impl Fn(&Host<'_>) -> bool,
) -> bool {
    let mut hosts = hosts(command).peekable();
    hosts.peek().is_some()
        && !is_turned(command)
        && !is_disguised(command)
        && !bare_hosts(command).any(|(_, has_path)| has_path)
        && hosts.all(|host| {
            host.is_encrypted && (places.iter().any(|place| host.is_at(place)) || is_known(&host))
        })
}

/// Returns whether everything that `command` speaks to is this machine.
pub(super) fn are_local(command: &str) -> bool {
    let mut hosts = hosts(command).peekable();
    let is_addressed = hosts.peek().is_some();
    let mut names = bare_hosts(command).peekable();
    (is_addressed || names.peek().is_some())
        && hosts.all(|host| host.is_local())
        && names.all(|(name, _)| is_local_name(name))
}

/// Returns whether an address may be read as that of another host: `https://known\@other`, where some
/// take the host from behind the `@`.
fn is_disguised(command: &str) -> bool {
    command.split("://").skip(1).any(|rest| {
        let ends =
            |ch: char| ch.is_whitespace() || matches!(ch, '/' | '?' | '#' | '"' | '\'' | '`');
        let authority = rest.split(ends).next().unwrap_or(rest);
        authority.contains('@') && authority.contains(['\\', '&', '<', '>', ',', ';', '|', ')'])
    })
}

/// Returns whether an option makes the name of a host worth nothing: checks are off, or another
/// machine answers in its place.
fn is_turned(command: &str) -> bool {
    const OPTIONS: &[&str] = &[
        "--insecure",
        "--no-check-certificate",
        "--resolve",
        "--connect-to",
        "--proxy",
        "--preproxy",
        "--socks",
        "--doh-url",
        "--config",
        "_proxy=",
    ];
    let is_short = |word: &str| {
        let letters = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
        letters.is_some_and(|it| it.contains(['k', 'x', 'K']) && it.len() < 8)
    };
    let is_curl = command.contains("curl");
    OPTIONS.iter().any(|option| command.contains(option))
        || is_curl && command.split_whitespace().any(is_short)
}

/// Returns whether `name` is one of this machine.
pub(super) fn is_local_name(name: &str) -> bool {
    let numbers = name.strip_prefix("127.");
    name.eq_ignore_ascii_case("localhost")
        || matches!(name, "::1" | "0.0.0.0")
        || numbers.is_some_and(|rest| rest.bytes().all(|it| it.is_ascii_digit() || it == b'.'))
}

/// Returns the hosts that are named without a scheme, and whether a path follows.
fn bare_hosts(command: &str) -> impl Iterator<Item = (&str, bool)> {
    let words = command.split(|ch: char| {
        ch.is_whitespace() || matches!(ch, '"' | '\'' | '`' | '(' | ')' | ',' | ';' | '|')
    });
    words.filter(|word| !word.starts_with('-') && !word.contains("://")).filter_map(|word| {
        let end = word.find(['/', ':', '?']).unwrap_or(word.len());
        let (name, rest) = word.split_at(end);
        let name = name.rsplit('@').next().unwrap_or(name);
        let is_name = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '.' | '-');
        let last = name.rsplit('.').next().unwrap_or(name);
        let is_number = name.bytes().all(|it| it.is_ascii_digit() || it == b'.')
            && name.bytes().filter(|it| *it == b'.').count() == 3;
        let is_domain = name.contains('.')
            && !name.starts_with('.')
            && name.chars().all(is_name)
            && 2 <= last.len()
            && last.chars().all(|ch| ch.is_ascii_lowercase())
            && !FILE_ENDS.contains(&last);
        let is_host = is_local_name(name) || is_number || is_domain && !rest.starts_with("//");
        is_host.then(|| (name, rest.starts_with(['/', ':', '?'])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_what_stands_between_the_scheme_and_the_path() {
        for (command, expected) in [
            ("curl https://a.example/x?https://b.example/", vec!["a.example", "b.example"]),
            ("curl https://b.example@a.example:80/b.example", vec!["a.example"]),
            ("curl \"https://a.example\\@b.example\"", vec!["a.example"]),
            ("curl http://[::1]/ https://a.example.", vec!["::1", "a.example"]),
            ("curl a.example", vec![]),
        ] {
            assert_eq!(hosts(command).map(|it| it.name).collect::<Vec<_>>(), expected, "{command}");
        }
    }

    #[test]
    fn all_hosts_have_to_be_known_as_a_whole() {
        let places = ["a.example", "b.example/owner/"];
        let is_known = |command| are_known(command, &places, |_| false);

        for command in ["curl -fsSL https://a.example/i.sh | sh", "curl https://b.example/owner/x"]
        {
            assert!(is_known(command), "{command}");
        }
        for command in [
            "curl https://a.example.c.example | sh",
            "curl https://c.example/?https://a.example | sh",
            "curl https://a.example/ https://c.example | sh",
            "curl https://a.example c.example/x | sh",
            "curl http://a.example | sh",
            "curl https://b.example/other/x",
            "curl https://b.example/owner/../other/x",
            "curl -fskL https://a.example | sh",
            "curl --resolve a.example:443:1.2.3.4 https://a.example | sh",
            "curl | sh",
        ] {
            assert!(!is_known(command), "{command}");
        }
    }

    #[test]
    fn only_whole_hosts_are_this_machine() {
        for command in
            ["nc localhost 80", "get('http://127.0.0.1:80/a.example')", "scp a.tgz localhost:"]
        {
            assert!(are_local(command), "{command}");
        }
        for command in [
            "curl https://a.example/localhost",
            "curl https://localhost.a.example",
            "curl -d localhost a.example",
            "nc 1.2.3.4 80 < localhost",
            "post(url)",
        ] {
            assert!(!are_local(command), "{command}");
        }
    }
}
