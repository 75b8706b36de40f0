//! Which paths are which, as data.

use super::{DangerClass, expand::Arg};

/// A kind of path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The root, a folder of the system itself, or a home folder: what must not be deleted.
    Vital,
    /// A file of the system.
    System,
    /// A disk.
    Device,
    /// Keys and logins, to write.
    Credential,
    /// What runs at a login or start.
    Startup,
    /// The environment file or the hooks of a project.
    Project,
    /// Keys and passwords, to read.
    Secret,
    /// What turns the machine off when it is written to.
    Power,
}

/// What writing to a place is.
pub(super) const WRITES: &[(Place, DangerClass)] = &[
    (Place::Device, DangerClass::Disk),
    (Place::Power, DangerClass::Shutdown),
    (Place::System, DangerClass::SystemFiles),
    (Place::Credential, DangerClass::Credentials),
    (Place::Startup, DangerClass::Startup),
    (Place::Project, DangerClass::ProjectSecrets),
];

/// Folders directly below the root that a system needs.
const VITAL: &str = "bin boot dev etc home lib lib32 lib64 media mnt opt private proc root run sbin \
                     srv sys usr var applications library system users volumes windows";
/// Folders of the system whose files are nobody's to change.
const SYSTEM: &str = "bin boot etc lib lib32 lib64 sbin sys proc usr system windows";
/// What lies below `usr` and is the user's own.
const OWN: &str = "local src share tmp";
const DEVICES: &str = "sd hd vd xvd nvme mmcblk disk rdisk mapper md dm- mem kmem block";
/// Below a home folder: files and folders with keys and logins.
const CREDENTIALS: &str = ".ssh .aws .gnupg .kube .docker .azure .netrc .pgpass .npmrc .pypirc \
                           .git-credentials .config/gh .config/gcloud .password-store .my.cnf \
                           .cargo/credentials .cargo/credentials.toml .vault-token";
const STARTUP: &str = ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc \
                       .zshenv .zprofile .zlogin .kshrc .cshrc .tcshrc .xprofile .xinitrc .xsession \
                       .config/fish .config/autostart .config/systemd library/launchagents \
                       .gitconfig .vimrc .inputrc";
/// Files whose content is secret wherever they lie.
const SECRET_NAMES: &str = "id_rsa id_dsa id_ecdsa id_ed25519 .netrc .pgpass .git-credentials .env \
                            .env.local .env.production .env.prod .envrc .vault-token";
const SECRET_FILES: &str = ".aws/credentials .kube/config .docker/config.json .npmrc .pypirc \
                            .gnupg .config/gh/hosts.yml .config/gcloud .azure .password-store \
                            .cargo/credentials .cargo/credentials.toml .my.cnf";
const SYSTEM_SECRETS: &str = "etc/shadow etc/gshadow etc/sudoers etc/master.passwd";
/// Environment files that hold examples only.
const EXAMPLES: &str = "example sample template dist tmpl defaults schema";

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// Returns whether one of `list` is `path` or a folder above it.
fn covers(list: &str, path: &str) -> bool {
    list.split_ascii_whitespace().any(|it| {
        path.strip_prefix(it).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Returns whether `arg` names such a place, seen from `folder`.
pub(super) fn is(arg: &Arg, place: Place, folder: Option<&str>) -> bool {
    let word = arg.word.split_once('=').map_or(arg.word.as_str(), |(name, value)| {
        if name.starts_with('-') { value } else { &arg.word }
    });
    !word.is_empty() && Path::of(word, folder, arg.begins_unknown).is(place)
}

/// A path in one spelling.
#[derive(Debug)]
struct Path {
    root: Root,
    /// The names below the root, in lower case.
    names: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    System,
    Home,
    Somewhere,
}

impl Path {
    fn of(word: &str, folder: Option<&str>, begins_unknown: bool) -> Self {
        let word = word.replace('\\', "/").to_lowercase();
        let word = drive(&word);
        let full = match folder {
            Some(folder) if !word.starts_with(['/', '~']) && !begins_unknown => {
                format!("{folder}/{word}")
            }
            _ => word,
        };
        let (mut root, rest) = match (full.strip_prefix('/'), full.strip_prefix('~')) {
            _ if begins_unknown => (Root::Somewhere, full.as_str()),
            (Some(rest), _) => (Root::System, rest),
            (_, Some(rest)) => {
                (Root::Home, rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(""))
            }
            _ => (Root::Somewhere, full.as_str()),
        };
        let mut names: Vec<String> = Vec::new();
        for name in rest.split('/') {
            match name {
                "" | "." => {}
                ".." => {
                    names.pop();
                }
                name => names.push(name.to_owned()),
            }
        }
        if names.first().is_some_and(|it| it == "private") {
            names.remove(0);
        }
        let home = match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            _ if root != Root::System => None,
            ["root", ..] => Some(1),
            ["home" | "users", user, ..] if !user.contains('*') => Some(2),
            _ => None,
        };
        if let Some(count) = home {
            root = Root::Home;
            names.drain(..count.min(names.len()));
        }
        Self { root, names }
    }

    fn is(&self, place: Place) -> bool {
        let joined = self.names.join("/");
        let last = self.names.last().map_or("", String::as_str);
        let is_system = self.root == Root::System;
        match place {
            Place::Vital => self.is_vital(),
            Place::Device => {
                is_system
                    && joined.strip_prefix("dev/").is_some_and(|name| {
                        DEVICES.split_ascii_whitespace().any(|it| name.starts_with(it))
                    })
            }
            Place::Power => is_system && joined.starts_with("proc/sysrq"),
            Place::System => is_system && self.is_system(&joined),
            Place::Credential => {
                let is_own = self.root == Root::Home && covers(CREDENTIALS, &joined);
                is_own
                    || last == "authorized_keys"
                    || (is_system && covers(SYSTEM_SECRETS, &joined))
            }
            Place::Startup => {
                (self.root == Root::Home && covers(STARTUP, &joined))
                    || (is_system && joined.starts_with("var/spool/cron"))
                    || (is_system && joined.starts_with("library/launch"))
            }
            Place::Project => is_environment(last) || joined.contains(".git/hooks/"),
            Place::Secret => {
                let is_own = self.root == Root::Home && covers(SECRET_FILES, &joined);
                let is_named = lists(SECRET_NAMES, last) || last.starts_with("id_rsa*");
                let is_key = joined.contains(".ssh/") && last.contains('*');
                let is_folder = self.root == Root::Home && lists(".ssh .aws", &joined);
                is_own
                    || is_named
                    || is_key
                    || is_folder
                    || (is_system && covers(SYSTEM_SECRETS, &joined))
            }
        }
    }

    fn is_vital(&self) -> bool {
        let is_any = |name: &str| !name.is_empty() && name.chars().all(|it| "*.?".contains(it));
        let names: Vec<&str> =
            self.names.iter().map(String::as_str).take_while(|it| !is_any(it)).collect();
        let is_whole = self.names.iter().skip(names.len()).all(|it| is_any(it));
        match (self.root, names.as_slice()) {
            (Root::Home | Root::System, []) => is_whole,
            (Root::System, [name]) => is_whole && lists(VITAL, name),
            (Root::System, ["usr", name]) => {
                is_whole && lists("bin lib lib64 sbin share local", name)
            }
            (Root::System, ["var", name]) => is_whole && lists("lib log spool", name),
            _ => false,
        }
    }

    fn is_system(&self, joined: &str) -> bool {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        match names.as_slice() {
            ["usr", own, ..] if lists(OWN, own) => false,
            ["proc", "self", ..] => false,
            [first, _, ..] => lists(SYSTEM, first) && !joined.starts_with("proc/sysrq"),
            _ => false,
        }
    }
}

/// Returns whether a file is an environment file with real values.
fn is_environment(name: &str) -> bool {
    match name.strip_prefix(".env") {
        Some("" | "rc") => true,
        Some(kind) => kind.strip_prefix('.').is_some_and(|it| !lists(EXAMPLES, it)),
        None => false,
    }
}

/// Returns a path on a drive as one from the root.
fn drive(word: &str) -> String {
    let mut chars = word.chars();
    let is_letter = chars.next().is_some_and(|it| it.is_ascii_alphabetic());
    match (is_letter, chars.next()) {
        (true, Some(':')) => format!("/{}", chars.as_str()),
        _ => word.to_owned(),
    }
}
