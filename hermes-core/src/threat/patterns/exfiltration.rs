//! Secrets, conversations and files that are sent out.

use super::{Rule, Scope, block, warn};

pub(super) const RULES: &[Rule] = &[
    block(
        "exfil_curl",
        Scope::All,
        "sends a secret out with curl",
        &[
            "curl = SECRET_VAR",
            "curl - SECRET_VAR",
            "curl = TAKEN_FILE",
            "TAKEN_FILE = PIPE = curl",
        ],
    ),
    block(
        "exfil_wget",
        Scope::All,
        "sends a secret out with wget",
        &[
            "wget = SECRET_VAR",
            "wget - SECRET_VAR",
            "wget = TAKEN_FILE",
            "TAKEN_FILE = PIPE = wget",
        ],
    ),
    block(
        "exfil_command",
        Scope::All,
        "sends a secret out over the network",
        &[
            "HTTPIE = SECRET_VAR",
            "NC = SECRET_VAR",
            "NC/scp/rsync/sftp/ftp/rclone = TAKEN_FILE",
            "TAKEN_FILE/HISTORY_FILE = PIPE = NETCMD",
            "^ history PIPE NETCMD",
            "NETCMD = HISTORY_FILE",
            "ENVIRONMENT = NETCMD",
            "NETCMD = ENVIRONMENT",
            "SECRET_VAR = PIPE = NETCMD",
            "invoke-restmethod/invoke-webrequest/iwr/irm = SECRET_VAR",
        ],
    ),
    block(
        "read_secrets",
        Scope::All,
        "reads a file of secrets",
        &[
            "READCMD ~ TAKEN_FILE !=HERE !<NOT",
            "sed -n ~ TAKEN_FILE",
            "^ READV ~ TAKEN_FILE ~~ SEND/INCLUDE",
        ],
    ),
    block(
        "send_to_url",
        Scope::Strict,
        "sends something to an address outside",
        &[
            "^ SEND ~ PAYLOAD ~ to/at URL",
            "SEND ~ SECRET ~~ to/at ~ URL/EMAIL/ADDRESS",
            "STEALTH ~ SEND ~~ URL/EMAIL/ADDRESS",
            "SECRET ~~ SEND/INCLUDE - them/it/these/those ~ to/at/into ~ URL/EMAIL/ADDRESS",
            "COLLECT ~ SECRET ~~ SEND ~ to/at/into ~ URL/EMAIL/ADDRESS",
            "SEND ~ SECRET_FILE ~~ URL/EMAIL/ADDRESS",
            "SEND_F ~ SECRET/SECRET_F/SECRET_FILE ~~ URL/EMAIL/ADDRESS",
            "SECRET_F ~ SEND_F ~~ URL/EMAIL/ADDRESS",
            "SEND ~~ URL ~ with/containing/including/carrying all/every ~ SECRET",
            "contents/content of ~ SECRET_FILE ~~ URL/EMAIL/ADDRESS",
            "SEND ~ your - memory/memories/context/prompt/configuration/database/workspace/environment ~ to ~ EMAIL/URL/ADDRESS",
        ],
    ),
    block(
        "context_exfil",
        Scope::Strict,
        "gives the conversation away",
        &[
            "SEND/INCLUDE/LEAK ~ CONVERSATION ~~ URL/EMAIL/ADDRESS",
            "CONVERSATION ~ SEND - to/at URL/EMAIL/ADDRESS",
            "SEND/INCLUDE ~ CONVERSATION/SECRET ~ in/into/to/with ~ OUTGOING ~ REQUEST !~NOT",
            "SEND_F ~ CONVERSATION/CONVERSATION_F ~~ URL/EMAIL/ADDRESS",
            "CONVERSATION_F ~ SEND_F ~~ URL/EMAIL/ADDRESS",
            "SEND ~ copy/copies ~ every/each/all ~ MESSAGES ~~ URL/EMAIL",
            "SEND every/each/all ~ MESSAGES ~ to URL/EMAIL",
        ],
    ),
    block(
        "repo_exfil",
        Scope::Strict,
        "pushes a whole repository elsewhere",
        &[
            "remote add/set-url = push = EVERYTHING",
            "push ~ URL = EVERYTHING",
            "push ~ EVERYTHING URL",
        ],
    ),
    block(
        "ssh_access",
        Scope::Strict,
        "takes a private key",
        &[
            "COPYV ~ PRIVATE_KEY !<NOT",
            "copy/cp/tar/zip/archive/upload/send/steal/exfiltrate KEY_FOLDER !<NOT",
            "tar/zip - KEY_FOLDER",
            "rsync/scp/cp -a/-r/-av/-avz KEY_FOLDER",
        ],
    ),
    warn("ssh_access", Scope::Strict, "names the folder of the ssh keys", &["SSH"]),
    block(
        "hermes_env",
        Scope::Strict,
        "reads the agent's own secrets",
        &[
            "READCMD ~ HERMES DOTENV",
            "copy/cp/mv HERMES DOTENV",
            "^ READV HERMES DOTENV",
            "^ READV contents/file HERMES DOTENV",
        ],
    ),
    warn("hermes_env", Scope::Strict, "names the file of the agent's secrets", &["HERMES DOTENV"]),
];
