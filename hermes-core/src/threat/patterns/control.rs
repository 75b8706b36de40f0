//! Remote control of the machine, and hiding it.

use super::{Rule, Scope, block, warn};

pub(super) const RULES: &[Rule] = &[
    block(
        "reverse_shell",
        Scope::All,
        "opens a shell to another machine",
        &[
            "SHELL -i = /tcp",
            "SHELL = REDIRECT /tcp !=localhost !=echo",
            "exec = REDIRECT /tcp !=localhost !=echo",
            "^ open/start/spawn/create/establish ~ reverse shell ~ to",
            "NC = -e ~ SHELL",
            "NC = -e",
            "socket.socket/socket/tcpsocket/tcpsocket.open/fsockopen/net.connect = os.dup2/dup2/pty.spawn/subprocess.call",
        ],
    ),
    block(
        "c2_heartbeat",
        Scope::Context,
        "reports to a remote controller",
        &[
            "BEACON ~ to/with/home/out/back ~ ADDRESS/URL !<NOT !~NOT",
            "check in with URL/ADDRESS",
            "^ beacon to ~ every",
        ],
    ),
    block(
        "c2_task_pull",
        Scope::Context,
        "takes orders from a remote controller",
        &[
            "PULL ~ TASKING",
            "ENROL ~~ wait/await ~ orders/instructions/commands/tasks",
            "ORDERS/commands - reach/come/arrive ~~ through/via/from/over ... RUNV/DOIT/obey them/it !~NOT",
            "PULL ~ ORDERS/commands/tasks ~~ via/through/over/from ~ CHANNEL !~NOT",
            "^ PULL_F ~~ ADDRESS/URL ~~ ORDERS_F ~~ RUN_F !~NOT_F",
            "ADDRESS/URL ~~ PULL_F - ORDERS_F ~ RUN_F !~NOT_F",
            "PULL_F - ORDERS_F ~ ADDRESS/URL ~~ RUN_F !~NOT_F",
            "PULL ~ tasks/commands/orders ~ from URL/ADDRESS",
            "connect to ~ and wait/await ~ orders/instructions/commands/tasks",
            "PULL ~ commands/instructions/orders ~ from ~ C2/c2/attacker/operator",
            "PULL/poll/visit/open/check ~ URL/ADDRESS ~~ RUNV/obey/perform/follow - whatever/anything/everything",
            "PULL/poll/visit/check ~ URL/ADDRESS ~~ RUNV/obey - commands/orders/response/output/result/replies",
            "PULL/poll/ask ~ orders/commands/tasks ~~ URL/ADDRESS ~~ RUNV/obey/carry/perform",
        ],
    ),
    block(
        "env_var_unset_agent",
        Scope::Context,
        "hides that an agent is running",
        &["unset AGENT_VAR !~restore", "unset ~ -u AGENT_VAR !~restore"],
    ),
    block(
        "known_c2_framework",
        Scope::Context,
        "uses a kit for remote control",
        &[
            "C2_USE ~ C2_BRAND ~ C2_KIT/demon/demons/grunt/grunts",
            "C2_USE ~ C2_KIT ~ C2_BRAND",
            "C2_USE ~ cobalt strike",
            "^ C2_USE metasploit/meterpreter/brainworm",
        ],
    ),
    block(
        "c2_explicit",
        Scope::Context,
        "uses a channel for remote control",
        &[
            "CONTACT ~ C2 C2_THING",
            "^ C2 beacon/implant every/to",
            "CONTACT ~ command and control C2_THING",
            "CONTACT ~ command-and-control C2_THING",
            "CONTACT/BEACON ~ to ~ command-and-control/CONTROLLER/C2 ~~ DOIT/FOLLOW/every/hourly",
        ],
    ),
    warn(
        "c2_node_registration",
        Scope::Context,
        "speaks of registering as a node",
        &["register ~ node"],
    ),
    warn(
        "forced_action",
        Scope::Context,
        "orders the agent to report somewhere",
        &["you must ~ register/connect/report/beacon ~ to/with"],
    ),
    warn(
        "c2_network_connect",
        Scope::Context,
        "speaks of joining a network",
        &["^ connect to network"],
    ),
    warn(
        "c2_explicit_long",
        Scope::Context,
        "speaks of remote control",
        &["command and control", "command-and-control"],
    ),
    warn(
        "anti_forensic_oneliner",
        Scope::Context,
        "asks for commands that leave nothing behind",
        &["only use one-liners", "only use one liners"],
    ),
    warn(
        "anti_forensic_disk",
        Scope::Context,
        "asks for nothing to be written to disk",
        &["never ~ create/write ~ script/file/files/scripts ~ disk"],
    ),
    warn("pipe_to_shell", Scope::Strict, "runs what it downloads", &["curl/wget = PIPE SHELL"]),
];
