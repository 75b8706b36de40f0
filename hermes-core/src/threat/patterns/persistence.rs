//! Changes that stay: keys, start-up files, files that agents obey.

use super::{Rule, Scope, block, warn};

pub(super) const RULES: &[Rule] = &[
    block(
        "ssh_backdoor",
        Scope::Strict,
        "adds a key that opens the machine",
        &[
            "ADDV ~ AUTHORIZED !<NOT !~ATTACKERS",
            "^ ADDV ~ key/keys ~ to/in/into ~ AUTHORIZED !<NOT",
            "APPEND/REDIRECT = AUTHORIZED",
            "allow/permit/enable ~ login/access ~ with/for/by ~ AUTHORIZED !<NOT",
            "^ ADDV this/following/my - key ~~ root/daemon/sshd/login ~~ ssh-ed25519/ssh-rsa",
        ],
    ),
    warn("ssh_backdoor", Scope::Strict, "names the list of keys that may log in", &["AUTHORIZED"]),
    block(
        "agent_config_mod",
        Scope::Strict,
        "plants orders in a file that agents obey",
        &[
            "EDITV ~ AGENT_FILE/SOUL ~ to/so/that ~ NETCMD/OBEY",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ NOT ~ ask/asking/confirm/prompt/CONFIRM",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ hide/conceal/withhold ~ PERSON",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ NETCMD = PIPE SHELL",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ GUARD ~ is/are OFF",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ no longer asks/ask/confirms/checks",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ fetches/downloads/runs/executes/pulls ~ URL/ADDRESS !<NOT",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ RUNV ~ URL/ADDRESS !<NOT",
            "EDITV/ADDV ~ AGENT_FILE/SOUL ~~ session/sessions/agent ~ runs/executes/loads/obeys/running/executing/starts !~NOT",
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
            "alias sudo/ssh/su/git = APPEND/REDIRECT = RC_FILE",
            "NETCMD = APPEND/REDIRECT = GIT_HOOK",
            "SCHEDULE ~~ fetches/downloads/pulls/gets ~~ runs/executes/starts !~NOT",
            "schtasks = NETCMD/DOWNLOADER",
            "reg add = currentversion = run",
            "postinstall/preinstall FETCHCMD = PIPE SHELL",
            "SCHEDULE ~~ FETCH_F ~ RUN_F",
            "ADDV ~~ CRON ~~ survives/persists",
            "REDIRECT/APPEND = ld.so.preload",
            "ADDV/EDITV ~ RC_FILE ~~ starts/launches/loads/sources/fetches ~ URL/ADDRESS !~NOT",
            "ADDV/create/register/schedule ~ SCHEDULE/unit/service/hook/task ~~ MALWARE !~NOT",
            "eval - FETCHCMD = APPEND ~ RC_FILE",
            "git config = ADDRESS = insteadof",
        ],
    ),
];
