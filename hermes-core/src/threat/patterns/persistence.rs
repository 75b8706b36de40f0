//! Changes that stay: keys, start-up files, files that agents obey.

use super::{Rule, Scope, block, warn};

pub(super) const RULES: &[Rule] = &[
    block(
        "ssh_backdoor",
        Scope::Strict,
        "adds a key that opens the machine",
        &["ADDV ~ AUTHORIZED !<NOT !~ATTACKERS", "APPEND/REDIRECT = AUTHORIZED"],
    ),
    warn("ssh_backdoor", Scope::Strict, "names the list of keys that may log in", &["AUTHORIZED"]),
    block(
        "agent_config_mod",
        Scope::Strict,
        "plants orders in a file that agents obey",
        &[
            "EDITV ~ AGENT_FILE/SOUL ~ to/so/that ~ NETCMD/OBEY",
            "EDITV ~ AGENT_FILE ~~ IGNORE/ignores/skips/NOT/STEALTH/SECRET/DISABLE ~~ DIRECTIVE/GUARD/USER/CONFIRM",
        ],
    ),
    warn(
        "agent_config_mod",
        Scope::Strict,
        "speaks of changing a file that agents obey",
        &["EDITV ~ AGENT_FILE"],
    ),
    block(
        "hermes_config_mod",
        Scope::Strict,
        "weakens the agent's own configuration",
        &[
            "EDITV ~ HERMES HERMES_FILE ~~ DISABLE ~ GUARD",
            "DISABLE ~ GUARD ~~ HERMES HERMES_FILE",
            "HERMES HERMES_FILE ~ GUARD OFF/off/false/none",
        ],
    ),
    warn(
        "hermes_config_mod",
        Scope::Strict,
        "speaks of changing the agent's own configuration",
        &["EDITV ~ HERMES HERMES_FILE", "EDITV ~ SOUL"],
    ),
    block(
        "shell_startup",
        Scope::Strict,
        "has a command run at every login",
        &[
            "tee ~ RC_FILE = NETCMD",
            "NETCMD = APPEND ~ RC_FILE !=HARMLESS_ADD",
            "APPEND ~ RC_FILE = NETCMD !=HARMLESS_ADD",
            "crontab = NETCMD",
            "NETCMD = crontab",
            "ADDV = NETCMD = RC_FILE !=HARMLESS_ADD",
        ],
    ),
];
