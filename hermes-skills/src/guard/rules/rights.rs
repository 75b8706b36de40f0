//! What takes rights, leaves the folder or holds secrets.

use super::{ALWAYS, MINOR, Rule, Spared, USUAL, rule};
use crate::guard::Category::{PrivilegeEscalation, Secrets, Traversal};

pub(super) const RULES: &[Rule] = &[
    rule(
        (
            "defences_off",
            "setenforce mppreference ufw systemctl service iptables advfirewall wevtutil eventlog auditctl /var/log/ windefend pkill killall csrutil spctl antivirus defender security gatekeeper selinux apparmor history histfile",
        ),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\bsetenforce\s+0\b|\bset-mppreference\b[^\n]*-disable|\badd-mppreference\b[^\n]*-exclusion|\bufw\s+disable\b|\bcsrutil\s+disable\b|\bspctl\s+--master-disable\b|\b(?:disable|turn off|kill|uninstall)\b[^\n.]{0,20}\b(?:antivirus|defender|security (?:scanner|software|tools?|checks?)|gatekeeper|selinux|apparmor)\b|\bhistory\s+-c\b|\bunset\s+HISTFILE\b|\bHISTFILE=/dev/null|\b(?:systemctl|service)\s+(?:--\S+\s+)*(?:stop|disable|mask)\b[^\n;|]*\b(?:auditd|ufw|firewalld|apparmor|clamav|clamd|fail2ban|crowdsec|wazuh|falcon|osquery|sysmon|rsyslog|mdatp)|\biptables\s+(?:-F|--flush)\b|\badvfirewall\s+set\b[^\n]*\boff\b|\bwevtutil\s+cl\b|\bclear-eventlog\b|\bauditctl\s+-e\s*0|\b(?:rm|truncate|shred)\s[^\n;|]*/var/log/(?:auth|secure|audit|wtmp|lastlog)|>\s*/var/log/(?:auth|secure|audit|wtmp|lastlog)|\b(?:stop-service|sc(?:\.exe)?\s+(?:stop|config|delete))\s[^\n]*\bwindefend\b|\b(?:pkill|killall)\s[^\n;|]*(?:clamd|falcon|osquery|auditd|crowdstrike)",
        "turns off what protects the machine",
    ),
    rule(
        ("suid", "chmod setcap fchmod"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\bchmod\s+(?:-\w+\s+)*(?:[ugo]*\+[rwx]*s\w*|[ugo]+=\w*s\w*|0*[24567]\d{3})\s|\bf?l?chmod(?:sync)?\s*\([^)\n]*[\s,(](?:0o?)?[4-7][0-7]{3}\b|\bchmod(?:sync)?\s*\([^)\n]*\bS_ISUID\b|\bsetcap\s+\S*cap_(?:setuid|sys_admin|dac)",
        "lets anyone act as the owner of a program",
    ),
    rule(("sudo", "sudo"), PrivilegeEscalation, MINOR, r"\bsudo\s+\S", "acts as the administrator"),
    rule(
        ("sudo_password", "sudo"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\becho\s[^\n|]*\|\s*sudo\s+-S\b",
        "types the administrator's password",
    ),
    rule(
        ("account_files", "/etc/passwd /etc/shadow /etc/gshadow /etc/sudoers /etc/master.passwd dslocal"),
        Traversal,
        ALWAYS,
        r"(?i)(?:^|\W)(?:cat|read|open|less|more|head|tail|cp|copy|grep|awk|cut|strings|curl|scp|type|view|print|dump|load|fetch|send)\b[^\n;|]{0,24}[\s'\x22(\x60=@:/]/etc/(?:passwd|shadow|gshadow|sudoers|master\.passwd)\b|/var/db/dslocal/nodes/\S*users/",
        "reads the accounts of the machine",
    ),
    rule(
        ("climbing_path", "../.. ..\\.. '..' \"..\""),
        Traversal,
        ALWAYS,
        r#"(?:\.\./){2,}(?:etc|root|home|proc|var/(?:log|lib)|usr|Users|windows)/|(?:\.\.\\){2,}(?i:windows|users)|(?:["']\.\.["']\s*,\s*){2,}["'](?i:etc|root|windows|\.ssh|\.aws)["']"#,
        "climbs out of its folder",
    )
    .spared(Spared::Entry),
    rule(
        ("process_environment", "/environ"),
        Traversal,
        ALWAYS,
        r"(?i)\b(?:cat|read|open|strings|xxd|cp|tr)\b[^\n;|]{0,20}/proc/(?:\d+|self|1|\*)/environ\b",
        "reads the secrets of running programs",
    ),
    rule(
        ("process_memory", "/proc/"),
        Traversal,
        USUAL,
        r"/proc/(?:\d+|self|\$\$|\*|\[\d)/(?:environ|mem|maps)\b",
        "reads the memory of other programs",
    ),
    rule(("aws_key", "akia"), Secrets, ALWAYS, r"\bAKIA(?:[0-9A-Z]{16})\b", "holds a secret")
        .spared(Spared::Placeholder),
    rule(
        ("container_escape", "docker podman nsenter"),
        PrivilegeEscalation,
        USUAL,
        r#"(?i)\b(?:docker|podman)\b[^\n]*\s(?:-v|--volume)[ =]["']?/:/|\b(?:docker|podman)\b[^\n]*--privileged\b[^\n]*(?:--pid[ =]host|\bchroot\b|\bnsenter\b)|\bnsenter\s[^\n]*(?:-t|--target)[ =]*1\b"#,
        "leaves its container and takes the machine",
    ),
    rule(
        ("cloud_admin", "administratoraccess roles/owner cluster-admin"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\battach-\w+-policy\b[^\n]*administratoraccess|\badd-iam-policy-binding\b[^\n]*roles/owner|\bclusterrolebinding\b[^\n]*cluster-admin",
        "gives an account all rights",
    ),
    rule(
        ("new_account", "usermod useradd chpasswd adduser user localgroup dscl dseditgroup"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\busermod\s+-\w*G\w*\s+(?:sudo|wheel|root|admin)\b|\bchpasswd\b|\buseradd\b[^\n]*(?:-o\s+-u\s*0|-u\s*0|-G\s*(?:sudo|wheel|root))|\badduser\s+\S+\s+(?:sudo|wheel)\b|\bnet\s+user\s+\S+\s+\S+[^\n]*/add\b|\bnet\s+localgroup\s+administrators\b[^\n]*/add|\bdscl\s+\.\s+-(?:append|merge|create)\s+/(?:Groups/admin|Users/)|\bdseditgroup\b[^\n]*\s-a\b[^\n]*\badmin\b",
        "gives an account all rights",
    ),
    rule(
        ("environments", "/environ"),
        Traversal,
        USUAL,
        r"(?i)/proc/(?:\[[\d-]+\]\*?|\$\{?\w+\}?|\*|\{\w+\})/environ\b",
        "reads the secrets of running programs",
    ),
    rule(
        ("provider_token", "ghp_ gho_ ghs_ ghu_ ghr_ github_pat_ glpat- xoxb- xoxp- xoxa- xapp- sk-ant- sk-proj- sk_live_ rk_live_ aiza npm_ pypi-age hf_ sg. dop_v1_ shpat_ asia ya29. hooks.slack.com/services/ discord.com/api/webhooks/ lin_api_ gsk_ xai-"),
        Secrets,
        ALWAYS,
        r"(?i)(?-i:\b(?:gh[posur]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{20,}|xox[abprs]-\d[A-Za-z0-9_-]{20,}|xapp-\d-[A-Za-z0-9_-]{20,}|sk-ant-[A-Za-z0-9_-]{24,}|sk-proj-[A-Za-z0-9_-]{24,}|[sr]k_live_[A-Za-z0-9_]{20,}|AIza[A-Za-z0-9_-]{35}|npm_[A-Za-z0-9]{36}|pypi-AgE[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9]{30,}|SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}|dop_v1_[0-9a-f]{40,}|shpat_[0-9a-f]{32}|ASIA[0-9A-Z]{16}|lin_api_[A-Za-z0-9_]{32,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{40,})|hooks\.slack\.com/services/T[A-Za-z0-9_]{6,}/B[A-Za-z0-9_]{6,}/[A-Za-z0-9_]{16,}|discord\.com/api/webhooks/\d{15,}/[A-Za-z0-9_-]{40,})",
        "holds a secret",
    )
    .spared(Spared::NoSecret),
    rule(
        ("climbing_home", "../.. ..%2f %2e%2e ..//"),
        Traversal,
        ALWAYS,
        r"(?i)(?:\.\./){2,}(?:[\w.-]+/)*\.(?:ssh|aws|gnupg|bashrc|zshrc|profile|kube|netrc|npmrc)\b|(?:\.\.%2f){2,}|(?:%2e%2e(?:%2f|%5c|/|\\)){2,}(?:etc|root|home|windows|proc)\b|(?:\.{3,4}//){2,}",
        "climbs out of its folder",
    )
    .spared(Spared::Entry),
    rule(
        ("link_out", "ln"),
        Traversal,
        USUAL,
        r#"(?i)\bln\s+-\w*s\w*\s+["']?(?:/|/root/?|/etc/(?:shadow|passwd|sudoers)|(?:~|\$HOME)/\.(?:ssh|aws|gnupg)\S*)["']?\s"#,
        "makes a link out of its folder",
    ),
    rule(
        ("connection_secret", "postgres:// postgresql:// mysql:// mongodb:// mongodb+srv:// redis:// amqp:// amqps:// mssql://"),
        Secrets,
        ALWAYS,
        r"(?i)\b(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|redis|amqps?|mssql)://[^\s:/@$<{]*:[^\s@/$<{%]{8,}@[\w.-]+\.[a-z]{2,}",
        "holds a secret",
    )
    .spared(Spared::NoSecret),
    rule(
        ("root_taken", "setuid setreuid setresuid seteuid"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\bset(?:res|re|e)?uid\s*\(\s*0\s*[,)]",
        "runs on as the administrator",
    ),
    rule(
        ("root_by_tool", "sudo ld_preload polkit"),
        PrivilegeEscalation,
        USUAL,
        r#"(?i)\bsudo\b[^\n;|]*(?:\bLD_PRELOAD=["']?/(?:tmp|dev/shm|var/tmp|home)/|\s-exec\s+(?:/usr)?/bin/(?:ba|da|z)?sh\b|(?:\b(?:system|exec\w*)\s*\(?\s*["']|!)(?:/usr)?/bin/(?:ba|da|z)?sh\b|--checkpoint-action=exec)|\bLD_PRELOAD=["']?/(?:tmp|dev/shm|var/tmp|home)/\S+\s+sudo\b|\bpolkit\.Result\.YES\b"#,
        "becomes the administrator by a tool that may run as one",
    ),
    rule(
        ("consent_of_windows", "enablelua consentprompt ms-settings mscfile"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\b(?:enablelua|consentpromptbehavioradmin)\b[^\n]*\b0\b|\\(?:ms-settings|mscfile)\\shell\\open\\command",
        "becomes the administrator without being asked",
    ),
    rule(
        ("order_password", "password"),
        PrivilegeEscalation,
        ALWAYS,
        r"(?i)\bask\b[^.\n]{0,40}\b(?:sudo|root|administrator|admin|system|master) password\b[^\n]*\b(?:keep|store|save|write|record)\b",
        "orders the agent to keep a password",
    ),
];
