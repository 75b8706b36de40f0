//! The rules for commands: what each finds and how bad it is in a script and in documentation.

mod destruction;
mod exfiltration;
mod network;
mod obfuscation;
mod orders;
mod persistence;
mod rights;
pub(super) mod services;
mod supply;

use std::sync::LazyLock;

use regex::Regex;

use super::{
    Category,
    Severity::{self, Critical, High, Low, Medium},
    expression, hosts,
    subject::Subject,
};

/// A class of harmful commands.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: &'static str,
    /// Words, in lower case, of which every line that the pattern matches has one.
    pub(super) words: &'static str,
    pub(super) category: Category,
    pub(super) script: Severity,
    pub(super) document: Severity,
    pub(super) pattern: &'static str,
    pub(super) reason: &'static str,
    /// What makes a match less bad.
    pub(super) spared: Option<Spared>,
}

/// What makes a match less bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spared {
    /// The installer of a well-known tool or of the tool that the skill is about, over an encrypted
    /// connection; or the mere form of a download, from nowhere.
    KnownInstaller,
    /// A path or an alias, in the file that a shell reads at its start.
    ShellSetup,
    /// A part of a key folder that holds no key.
    PublicPart,
    /// A port of this machine, to see whether something listens there.
    LocalPort,
    /// A key or a disk that says of itself that it is none.
    Placeholder,
    /// A server of this machine.
    ThisMachine,
    /// A line of a list that is nothing but the path.
    Entry,
    /// The secret of a service, on its way to that service, or to another in a header, as when the
    /// other stands in for it.
    OwnService,
    /// The secret of a service whose host bears the same name.
    Namesake,
    /// An order that says what not to do.
    Negated,
    /// What has the form of a secret but stands for one.
    NoSecret,
    /// A unit that the skill brings along, in a skill that is about a service.
    OwnUnit,
}

const fn rule(
    (id, words): (&'static str, &'static str),
    category: Category,
    (script, document): (Severity, Severity),
    pattern: &'static str,
    reason: &'static str,
) -> Rule {
    Rule { id, words, category, script, document, pattern, reason, spared: None }
}

impl Rule {
    const fn spared(mut self, spared: Spared) -> Self {
        self.spared = Some(spared);
        self
    }
}

/// Places that the makers of well-known tools install from. A host that anyone may publish at has
/// the folder of its owner.
const INSTALLERS: &[&str] = &[
    "astral.sh",
    "brew.sh",
    "bun.sh",
    "claude.ai",
    "cli.github.com",
    "cursor.com",
    "deb.nodesource.com",
    "deno.land/install",
    "fly.io",
    "get.docker.com",
    "get.helm.sh",
    "get.k3s.io",
    "get.pnpm.io",
    "get.sdkman.io",
    "get.volta.sh",
    "github.com/astral-sh/",
    "github.com/cli/",
    "github.com/docker/",
    "github.com/Homebrew/",
    "github.com/nvm-sh/",
    "hermes-agent.nousresearch.com",
    "install.python-poetry.org",
    "micro.mamba.pm",
    "nixos.org",
    "ollama.ai",
    "ollama.com",
    "opencode.ai",
    "pixi.sh",
    "raw.githubusercontent.com/aquasecurity/",
    "raw.githubusercontent.com/golangci/",
    "raw.githubusercontent.com/helm/",
    "raw.githubusercontent.com/Homebrew/",
    "raw.githubusercontent.com/k3d-io/",
    "raw.githubusercontent.com/nvm-sh/",
    "raw.githubusercontent.com/ohmyzsh/",
    "raw.githubusercontent.com/pyenv/",
    "sdk.cloud.google.com",
    "sh.rustup.rs",
    "starship.rs",
    "tailscale.com",
    "volta.sh",
];

/// Returns whether `spared` holds for the text that a rule has matched in a line, in a skill about
/// `subject`.
pub(super) fn spares(spared: Spared, (line, found): (&str, &str), subject: &Subject) -> bool {
    match spared {
        Spared::KnownInstaller => {
            hosts::are_known(found, INSTALLERS, |host| subject.is_served_by(host))
                || names_no_place(found)
        }
        Spared::ShellSetup => {
            let setup = ["export ", "PATH", "alias ", "source ", "eval ", "fpath", "completion"];
            let strange = ["curl", "wget", "/tmp/", "alias sudo", "alias ssh", "alias git"];
            !strange.iter().any(|it| found.contains(it))
                && setup.iter().any(|word| found.contains(word))
        }
        Spared::LocalPort => {
            let is_shell = [" -i", ">&", "<>"].iter().any(|it| found.contains(it));
            found.starts_with("/dev/") && !is_shell && ports(line).all(hosts::is_local_name)
        }
        Spared::Placeholder if found.contains("/dev/") => disks(found).all(|it| it == "/dev/sdX"),
        Spared::Placeholder => ["EXAMPLE", "XXXX"].iter().any(|part| found.contains(part)),
        Spared::ThisMachine => hosts::are_local(found),
        Spared::Entry => !line.trim().contains(char::is_whitespace),
        Spared::OwnService => services::is_own(found),
        Spared::Namesake => services::is_namesake(found),
        Spared::Negated => is_negated(found),
        Spared::NoSecret => services::is_made_up(found),
        Spared::OwnUnit => !found.contains('>') && subject.speaks_of(SERVICES),
        Spared::PublicPart => {
            let path = found.rsplit(char::is_whitespace).next().unwrap_or(found);
            let path = path.trim_end_matches(['"', '\'']);
            ["/config", "/known_hosts", ".pub"].iter().any(|end| path.ends_with(end))
        }
    }
}

/// Returns the hosts of the connections that a shell opens as files.
fn ports(line: &str) -> impl Iterator<Item = &str> {
    let rests = ["/dev/tcp/", "/dev/udp/"].into_iter().flat_map(|it| line.split(it).skip(1));
    rests.map(|rest| rest.split('/').next().unwrap_or(rest))
}

/// Returns the disks that a command names.
fn disks(command: &str) -> impl Iterator<Item = &str> {
    let words =
        command.split(|ch: char| ch.is_whitespace() || matches!(ch, '=' | '>' | '"' | '\''));
    let sources = ["/dev/zero", "/dev/random", "/dev/urandom", "/dev/null"];
    words.filter(move |it| it.starts_with("/dev/") && !sources.contains(it))
}

/// Returns whether an order to say something says not to.
fn is_negated(order: &str) -> bool {
    static NEGATION: LazyLock<Option<Regex>> = LazyLock::new(|| {
        expression::compile(
            r"(?i)\b(?:never|not|n't|n\x{2019}t|without|instead of|rather than)(?:\W+\w+)?\W+(?:report|say|tell|claim|pretend|state|announce|writ)",
        )
    });
    NEGATION.as_ref().is_some_and(|negation| negation.is_match(order))
}

/// Returns whether a download only shows the form of one: `curl ... | sh`, `wget URL`.
fn names_no_place(found: &str) -> bool {
    let command = found.split('|').next().unwrap_or_default();
    let mut places = command.split_whitespace().skip(1).filter(|it| !it.starts_with('-'));
    let is_form = |place: &str| {
        let place = place.trim_matches(['<', '>', '[', ']', '"', '\'', '\\']);
        place.is_empty() || matches!(place, "..." | "\u{2026}") || place.eq_ignore_ascii_case("url")
    };
    places.clone().next().is_some() && places.all(is_form)
}

/// How a skill says that it is about a service.
const SERVICES: &[&str] = &["service", "services", "unit", "units", "systemd", "daemon", "daemons"];

const RUNS: (Severity, Severity) = (Critical, High);
const STRONG: (Severity, Severity) = (Critical, Critical);
const USUAL: (Severity, Severity) = (High, Medium);
const ALWAYS: (Severity, Severity) = (High, High);
/// An order is obeyed where a model reads it, and hardly in what a program prints.
const PROSE: (Severity, Severity) = (Medium, High);
const MINOR: (Severity, Severity) = (Low, Low);

/// Returns the rules, by category.
pub(super) fn rules() -> impl Iterator<Item = &'static Rule> {
    [
        destruction::RULES,
        exfiltration::RULES,
        network::RULES,
        obfuscation::RULES,
        supply::RULES,
        persistence::RULES,
        rights::RULES,
        orders::RULES,
    ]
    .into_iter()
    .flatten()
}
