//! The classes of dangerous commands, as data.

use serde::{Deserialize, Serialize};

/// How much is at stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Severity {
    /// Something is changed or shown that a person would want to know of.
    Medium,
    /// Work, data or access may be lost.
    High,
    /// The machine, all data or all secrets may be lost. Never allowed for a whole session.
    Critical,
}

macro_rules! classes {
    ($($name:ident, $id:literal, $severity:ident, $reason:literal;)*) => {
        /// What makes a command dangerous. Each has an id, a [`Severity`] and a reason for a person.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum DangerClass {
            $(#[doc = $reason] #[serde(rename = $id)] $name,)*
        }

        /// One row a class, in the order of the enum.
        const CLASSES: &[Row] = &[
            $(Row {
                class: DangerClass::$name,
                id: $id,
                severity: Severity::$severity,
                reason: $reason,
            },)*
        ];
    };
}

struct Row {
    class: DangerClass,
    id: &'static str,
    severity: Severity,
    reason: &'static str,
}

classes! {
    SystemDelete, "system-delete", Critical, "It deletes the system, a home folder or the root of a disk.";
    RecursiveDelete, "recursive-delete", High, "It deletes folders with everything in them.";
    BulkDelete, "bulk-delete", High, "It deletes every file that a search finds.";
    Shred, "shred", High, "It destroys files so that nothing brings them back.";
    Disk, "disk", Critical, "It formats, partitions or overwrites a disk.";
    RawCopy, "raw-copy", Medium, "It overwrites its target block by block.";
    WorldWritable, "world-writable", Medium, "It lets everybody on the machine change files.";
    Ownership, "ownership", Medium, "It gives files to root or takes system files from their owner.";
    Setuid, "setuid", High, "It lets a program run with the rights of its owner.";
    SystemFiles, "system-files", High, "It changes files of the system.";
    Credentials, "credentials", High, "It changes keys, logins or who may log in.";
    Startup, "startup", High, "It changes what runs at every login or start.";
    ProjectSecrets, "project-secrets", Medium, "It changes the environment file or the hooks of a project.";
    SecretRead, "secret-read", Medium, "It shows keys or passwords.";
    Exfiltration, "exfiltration", Critical, "It sends keys or passwords elsewhere.";
    Kill, "kill", Medium, "It ends programs by force.";
    KillAll, "kill-all", Critical, "It ends every program at once.";
    Shutdown, "shutdown", Critical, "It turns the machine off or starts it anew.";
    Service, "service", Medium, "It stops or disables a service.";
    GitDiscard, "git-discard", High, "It throws away work that git has no other copy of.";
    GitForce, "git-force", High, "It rewrites or deletes what others have in a repository.";
    SqlDrop, "sql-drop", High, "It removes tables or databases with everything in them.";
    SqlAll, "sql-all-rows", High, "It deletes or changes every row of a table.";
    ForkBomb, "fork-bomb", Critical, "It starts copies of itself until the machine stands still.";
    RemoteCode, "remote-code", High, "It runs code that it has just fetched from elsewhere.";
    HiddenCode, "hidden-code", High, "It runs code that is encoded, so that nobody can read it.";
    InlineCode, "inline-code", Medium, "It runs code that may do anything.";
    ReverseShell, "reverse-shell", Critical, "It gives control of the machine to somebody elsewhere.";
    Container, "container", Medium, "It stops or removes containers, or gives one the whole machine.";
    Infrastructure, "infrastructure", High, "It removes infrastructure or what is stored in it.";
    Schedule, "schedule", Medium, "It changes what runs by itself later.";
    Accounts, "accounts", High, "It changes users, groups or passwords.";
    Protection, "protection", High, "It turns protection off or removes traces.";
    Privilege, "privilege", Medium, "It passes a password to a program that runs as another user.";
    Unreadable, "unreadable", High, "It is too long or too deeply nested to be judged.";
}

impl DangerClass {
    /// Returns the stable name of the class, in lower case with hyphens.
    pub fn id(self) -> &'static str {
        self.row().map_or("unknown", |row| row.id)
    }

    /// Returns how much is at stake.
    pub fn severity(self) -> Severity {
        self.row().map_or(Severity::Critical, |row| row.severity)
    }

    /// Returns why it is dangerous: one sentence for a person.
    pub fn reason(self) -> &'static str {
        self.row().map_or("It is dangerous.", |row| row.reason)
    }

    /// Returns all classes.
    pub fn all() -> impl Iterator<Item = Self> {
        CLASSES.iter().map(|row| row.class)
    }

    fn row(self) -> Option<&'static Row> {
        CLASSES.iter().find(|row| row.class == self)
    }
}
