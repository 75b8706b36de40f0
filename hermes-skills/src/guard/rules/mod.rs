//! The rules for commands: what each finds and how bad it is in a script and in documentation.

mod destruction;
mod exfiltration;
mod network;
mod obfuscation;
mod orders;
mod persistence;
mod rights;
mod services;
mod supply;

use super::{
    Category,
    Severity::{self, Critical, High, Low, Medium},
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
    /// The secret of a service, on its way to that service or as its header.
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

/// Hosts that the makers of well-known tools install from.
const INSTALLERS: &[&str] = &[
    "https://astral.sh/",
    "https://sh.rustup.rs",
    "https://raw.githubusercontent.com/",
    "https://github.com/",
    "https://get.docker.com",
    "https://deb.nodesource.com/",
    "https://bun.sh/",
    "https://deno.land/",
    "https://ollama.com/",
    "https://ollama.ai/",
    "https://tailscale.com/",
    "https://fly.io/",
    "https://install.python-poetry.org",
    "https://starship.rs/",
    "https://get.sdkman.io",
    "https://claude.ai/",
    "https://opencode.ai/",
    "https://get.pnpm.io/",
    "https://brew.sh/",
    "https://cli.github.com/",
    "https://nixos.org/",
    "https://sdk.cloud.google.com",
    "https://get.helm.sh/",
    "https://get.k3s.io",
    "https://hermes-agent.nousresearch.com/",
    "https://cursor.com/",
    "https://pixi.sh/",
    "https://micro.mamba.pm",
    "https://volta.sh",
    "https://get.volta.sh",
    "https://sh.rustup.rs/",
];

/// Returns whether `spared` holds for the text that a rule has matched in a line, in a skill about
/// `subject`.
pub(super) fn spares(spared: Spared, (line, found): (&str, &str), subject: &Subject) -> bool {
    match spared {
        Spared::KnownInstaller => {
            INSTALLERS.iter().any(|host| found.contains(host))
                || subject.is_served_by(found)
                || names_no_place(found)
        }
        Spared::ShellSetup => {
            let setup = ["export ", "PATH", "alias ", "source ", "eval ", "fpath", "completion"];
            let strange = ["curl", "wget", "/tmp/", "alias sudo", "alias ssh", "alias git"];
            !strange.iter().any(|it| found.contains(it))
                && setup.iter().any(|word| found.contains(word))
        }
        Spared::LocalPort => {
            let local = ["/localhost/", "/127.0.0.1/"].iter().any(|it| found.contains(it));
            local && !found.contains(" -i") && !found.contains(">&") && !found.contains("<>")
        }
        Spared::Placeholder => {
            ["EXAMPLE", "XXXX", "/dev/sdX"].iter().any(|part| found.contains(part))
        }
        Spared::ThisMachine => {
            ["//localhost", "//127.0.0.1"].iter().any(|part| found.contains(part))
        }
        Spared::Entry => !line.trim().contains(char::is_whitespace),
        Spared::OwnService => services::is_own(found),
        Spared::Namesake => services::is_namesake(found),
        Spared::Negated => {
            let found = found.to_lowercase();
            ["never", "do not", "don't", "not say", "not claim"].iter().any(|it| found.contains(it))
        }
        Spared::NoSecret => services::is_made_up(found),
        Spared::OwnUnit => !found.contains('>') && subject.speaks_of(SERVICES),
        Spared::PublicPart => {
            ["/config", "/known_hosts", ".pub"].iter().any(|part| found.contains(part))
        }
    }
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
