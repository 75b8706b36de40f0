//! The rules for commands: what each finds and how bad it is in a script and in documentation.

use super::{
    Category::{
        self, Destructive, Exfiltration, Network, Obfuscation, Persistence, PrivilegeEscalation,
        Secrets, SupplyChain, Traversal,
    },
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
#[derive(Clone, Copy, Debug)]
pub(super) enum Spared {
    /// The installer of a well-known tool or of the tool that the skill is about, over an encrypted
    /// connection.
    KnownInstaller,
    /// A path or an alias, in the file that a shell reads at its start.
    ShellSetup,
    /// A part of a key folder that holds no key.
    PublicPart,
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

/// Returns whether `spared` holds for the text that a rule has matched, in a skill about `subject`.
pub(super) fn spares(spared: Spared, found: &str, subject: &Subject) -> bool {
    match spared {
        Spared::KnownInstaller => {
            INSTALLERS.iter().any(|host| found.contains(host)) || subject.is_served_by(found)
        }
        Spared::ShellSetup => {
            let setup = ["export ", "PATH", "alias ", "source ", "eval ", "fpath", "completion"];
            !found.contains("curl") && setup.iter().any(|word| found.contains(word))
        }
        Spared::PublicPart => {
            ["/config", "/known_hosts", ".pub"].iter().any(|part| found.contains(part))
        }
    }
}

const RUNS: (Severity, Severity) = (Critical, High);
const STRONG: (Severity, Severity) = (Critical, Critical);
const USUAL: (Severity, Severity) = (High, Medium);
const ALWAYS: (Severity, Severity) = (High, High);
const MINOR: (Severity, Severity) = (Low, Low);

/// The rules, by category.
pub(super) const RULES: &[Rule] = &[
    // Destruction
    rule(
        ("destructive_rm", "rm"),
        Destructive,
        RUNS,
        r#"(?i)\brm\s+(?:-[a-z-]+\s+)*(?:-[a-z]*r[a-z]*|--recursive)\s+(?:-[a-z-]+\s+)*(?:--\s+)?["']?(?:/|~|\$\{?HOME\}?|/\*|~/|/(?:etc|usr|var|home|root|boot|bin|lib|opt|Users|System|Library)|/\$\{?HOME\}?|\*)["']?/?\*?["']?(?:\s|$|[;&|`)'"\]])"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_call", "rmtree rmsync rmdirsync rimraf remove_dir_all removeall rm_rf rm_r"),
        Destructive,
        RUNS,
        r#"(?i)(?:rmtree|rmSync|rmdirSync|rimraf|remove_dir_all|RemoveAll|rm_rf|rm_r)\s*\(\s*(?:os\.path\.expanduser\(\s*["']~/?["']|Path\.home\(\)|os\.environ\[["']HOME["']\]|os\.homedir\(\)|["'](?:/|~|/etc|/home|/usr|/var)/?["']|Dir\.home)"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_powershell", "-recurse /s"),
        Destructive,
        RUNS,
        r#"(?i)\b(?:remove-item|ri|rd|rmdir|del)\b[^\n;|]*(?:-recurse|/s\b)[^\n;|]*(?:\b[a-z]:\\?(?:\s|$|\*|["'])|\$home\b|\$env:userprofile|%userprofile%|~(?:\s|$))"#,
        "deletes a whole disk or home",
    ),
    rule(
        ("destructive_disk", "/dev/ mkfs format diskpart"),
        Destructive,
        RUNS,
        r"(?i)\bdd\b[^\n|;]*\bof=/dev/(?:sd|hd|vd|nvme|mmcblk|disk|r?disk)|\bmkfs(?:\.\w+)?\s+(?:-\S+\s+)*/dev/|>\s*/dev/(?:sd|hd|vd|nvme)|\bformat\s+[a-z]:|\bwipefs\b[^\n]*/dev/|\bdiskpart\b",
        "overwrites a disk",
    ),
    rule(
        ("destructive_shred", "shred find truncate"),
        Destructive,
        RUNS,
        r#"(?i)\bshred\b[^\n;|]*\s["']?(?:~|\$HOME|/(?:etc|home|root|usr|var|dev))|\bfind\s+(?:/|~|\$HOME)\s[^\n]*(?:-delete|-exec\s+rm)|\btruncate\s+-s\s*0\s+(?:/etc|/var|/home|~)"#,
        "destroys files beyond recovery",
    ),
    rule(
        ("fork_bomb", ":()"),
        Destructive,
        RUNS,
        r":\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;",
        "brings the machine to a stop",
    ),
    rule(
        ("system_overwrite", "/etc/"),
        Destructive,
        RUNS,
        r"(?i)(?:>>?|\btee\s+(?:-a\s+)?)\s*/etc/(?:hosts|passwd|shadow|resolv\.conf|ld\.so\.preload|profile|environment|crontab|pam\.d|ssh/|fstab|group)",
        "overwrites the configuration of the system",
    ),
    rule(
        ("insecure_mode", "chmod"),
        Destructive,
        USUAL,
        r"(?i)\bchmod\s+(?:-\w+\s+)*(?:777|a\+rwx|ugo\+rwx)\s+(?:/|~|\$HOME)\S*",
        "lets everyone write where only the owner should",
    ),
    // Exfiltration
    rule(
        ("exfil_dns", "dig nslookup host drill"),
        Exfiltration,
        STRONG,
        r"(?i)\b(?:dig|nslookup|host|drill)\s+[^\n;|]*\$(?:\([^)]*\)|\{?\w+\}?)\S*\.[a-z]",
        "sends data out in the names it looks up",
    ),
    rule(
        ("exfil_staged", "curl"),
        Exfiltration,
        RUNS,
        r"(?i)\bcurl\b[^\n;|]*\s(?:-F|--form|-T|--upload-file|-d|--data\S*)\s*\S*@?/(?:tmp|var/tmp|dev/shm)/",
        "sends a file out that was put aside",
    ),
    rule(
        ("exfil_upload", "curl wget"),
        Exfiltration,
        RUNS,
        r"(?i)\b(?:curl|wget)\b[^\n;|]*(?:@|--post-file=?\s*|--body-file=?\s*|-T\s*|--upload-file\s*)\s*(?:~|\$\{?HOME\}?|/home/\w+|/root|/etc)/",
        "sends a file of the user out",
    ),
    rule(
        ("key_folder", "/.ssh /.aws /.gnupg /.kube /.docker /.config/gcloud /.mozilla /.password-store"),
        Exfiltration,
        USUAL,
        r#"(?i)\b(?:cp|tar|zip|rsync|scp|mv|7z)\s+(?:-\S+\s+|c?[zj]?c[zj]?v?f?\s+)*(?:\S+\.(?:tar|tgz|zip|gz|7z)\S*\s+|-\s+)?["']?(?:~|\$\{?HOME\}?|/root|/home/\w+)/\.(?:ssh|aws|gnupg|kube|docker|config/gcloud|mozilla|password-store)\b\S*"#,
        "takes keys and credentials",
    )
    .spared(Spared::PublicPart),
    rule(
        ("exfil_home", "scp rsync"),
        Exfiltration,
        (High, Medium),
        r"(?i)\b(?:scp|rsync)\s+(?:-\S+\s+)*(?:~|\$\{?HOME\}?)(?:/(?:Documents|Desktop|Downloads|Pictures|Library|\.\w+)?)?/?\s+\S+:",
        "copies the user's files to another machine",
    ),
    rule(
        ("exfil_environment", "os.environ process.env"),
        Exfiltration,
        RUNS,
        r"(?i)(?:urlopen|requests\.\w+|httpx\.\w+|axios\S*|fetch|http\.\w+|post)\s*\(.*(?:(?:dict|str|json\.dumps|repr)\(\s*(?:dict\()?os\.environ\s*\)|JSON\.stringify\(\s*process\.env\s*\)|json\s*=\s*(?:dict\()?os\.environ\b|data\s*=\s*(?:dict\()?os\.environ\b)",
        "sends all environment variables out",
    ),
    rule(
        ("exfil_call", "requests httpx session aiohttp client urllib"),
        Exfiltration,
        USUAL,
        r"(?i)\b(?:requests|httpx|session|aiohttp|client|urllib\d?)\.(?:post|put|request)\s*\(.*\b(?:json|data|content|files)\s*=\s*[^)]*(?:\b(?:token|secret|password|passwd|api_?key|credentials?|private_key)\b\s*[})\],]|\.env\b|id_rsa)",
        "sends a secret out",
    ),
    rule(
        ("exfil_cookie", "document.cookie"),
        Exfiltration,
        ALWAYS,
        r"(?i)(?:fetch|sendBeacon|src\s*=|location|XMLHttpRequest|axios)[^\n;]*document\.cookie",
        "sends the cookies of a page out",
    ),
    rule(
        ("keychain", "security vaultcmd mimikatz lsass"),
        Exfiltration,
        USUAL,
        r"(?i)\bsecurity\s+(?:find-(?:generic|internet)-password|dump-keychain)\b|\bvaultcmd\b|\bmimikatz\b|\blsass\b",
        "takes passwords from the keychain",
    ),
    rule(
        ("drop_site", "webhook.site requestbin pipedream interact.sh oast. burpcollaborator hookbin beeceptor transfer.sh 0x0.st termbin file.io paste.ee requestcatcher dnslog canarytokens"),
        Exfiltration,
        ALWAYS,
        r"(?i)\b(?:webhook\.site|requestbin\.\w+|\w+\.m\.pipedream\.net|pipedream\.net|interact\.sh|oast\.(?:fun|pro|live|me|site|online)|burpcollaborator\.net|hookbin\.com|beeceptor\.com|transfer\.sh|0x0\.st|termbin\.com|file\.io|paste\.ee|requestcatcher\.com|dnslog\.cn|canarytokens\.com)\b",
        "sends something to a place where anyone can pick it up",
    ),
    // Remote control
    rule(
        ("reverse_shell", "/dev/tcp /dev/udp nc netcat socat"),
        Network,
        STRONG,
        r"(?i)/dev/(?:tcp|udp)/[\w.$]+/\d|\b(?:nc|ncat|netcat)\b[^\n;|]*\s(?:-[a-z]*[ec]|--(?:sh-)?exec)\s*\S*(?:sh|cmd)|\bsocat\b[^\n]*\bEXEC:|\bmkfifo\b[^\n]*\bnc\b|\bnc\b[^\n]*\|\s*(?:/bin/)?(?:ba)?sh\b",
        "opens a shell to another machine",
    ),
    rule(
        ("reverse_shell_script", "socket fsockopen net.connect dup2"),
        Network,
        RUNS,
        r"(?i)\b(?:perl|python\d?(?:\.\d+)?|ruby|php|lua|node)\s+-\S.*(?:\br?socket\b|tcpsocket|fsockopen|net\.connect)|\bsocket\b.*\b(?:dup2|pty\.spawn|subprocess)|\bos\.dup2\s*\(\s*\w+\.fileno",
        "opens a connection that takes commands",
    ),
    rule(
        ("tunnel", "ngrok cloudflared localtunnel lt bore ssh serveo chisel frpc"),
        Network,
        USUAL,
        r"(?i)\bngrok\s+(?:http|tcp|tls|start)\b|\bcloudflared\s+tunnel\b|\b(?:localtunnel|lt)\s+--port\b|\bbore\s+local\b|\bssh\b[^\n|;]*\s-\w*R\s*\S*\d+:|\bserveo\.net\b|\bchisel\s+client\b|\bfrpc\s+-c\b",
        "opens the machine to the network",
    ),
    rule(
        ("mining", "xmrig stratum coinhive cryptonight minerd"),
        Network,
        RUNS,
        r"(?i)\bxmrig\b|stratum\+(?:tcp|ssl)://|\bcoinhive\b|\bcryptonight\b|\bminerd\b",
        "mines coins",
    ),
    // Obfuscation
    rule(
        ("decode_and_run", "base64 xxd rev eval openssl"),
        Obfuscation,
        RUNS,
        r"(?i)\bbase64\s+(?:-d|-D|--decode|-di)\b[^\n]*\|\s*(?:sudo\s+)?(?:/\w+/)*(?:ba|z|da|k)?(?:sh|python\d?|perl|node|ruby)\b|\b(?:ba|z)?sh\s+(?:-c\s+)?<?[($]+\s*(?:echo|base64|printf)\b[^\n]*base64|\bxxd\s+-r\b[^\n]*\|\s*(?:ba|z)?sh\b|\|\s*rev\s*\|\s*(?:ba|z)?sh\b|\beval\s+.?\$\(\s*(?:echo|printf|base64|curl|wget)\b|\bopenssl\s+enc\b[^\n]*\|\s*(?:ba|z)?sh\b",
        "decodes a program and runs it",
    ),
    rule(
        ("exec_decoded", "exec eval compile function system passthru popen assert"),
        Obfuscation,
        RUNS,
        r"(?i)\b(?:exec|eval|compile|Function|system|passthru|shell_exec|popen|assert)\s*\(\s*(?:\w+\.)*(?:base64_decode|\$_(?:GET|POST|REQUEST|COOKIE)|b64decode|a?b64decode|base64\.\w+|marshal\.loads|zlib\.decompress|gzip\.decompress|lzma\.decompress|codecs\.decode|bytes\.fromhex|bytearray\.fromhex|unhexlify|pickle\.loads|atob|Buffer\.from|unescape|String\.fromCharCode|decodeURIComponent|requests\.get|urllib\.request\.urlopen|urlopen|__import__|chr\()|\bnew\s+Function\s*\(\s*(?:atob|Buffer)",
        "decodes a program and runs it",
    ),
    rule(
        ("exec_disguised", "exec eval __import__ getattr __builtins__ chr( fromcharcode"),
        Obfuscation,
        RUNS,
        r#"(?i)\b(?:exec|eval)\s*\(.*(?:\[::-1\]|\.reverse\(\)|\.split\(['"]{2}\)|join\(\s*chr|join\(\s*map\(\s*chr)|__import__\(\s*['"](?:os|subprocess|socket|pty|ctypes)['"]\s*\)\s*\.|getattr\(\s*(?:__builtins__|os|subprocess)\s*,|__builtins__\s*(?:\[|\.__dict__)|globals\(\)\[['"]__builtins__|(?:chr\(\d+\)\s*\+\s*){3,}|String\.fromCharCode\((?:\s*\d+\s*,){6,}"#,
        "hides what it runs",
    ),
    rule(
        ("powershell_encoded", "powershell pwsh iex invoke-expression"),
        Obfuscation,
        RUNS,
        r"(?i)\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*\s-e(?:nc(?:odedcommand)?|c)?\s+[A-Za-z0-9+/=]{8,}|\b(?:iex|invoke-expression)\b[^\n]*(?:downloadstring|webclient|iwr|invoke-webrequest|irm|invoke-restmethod|frombase64string)|(?:iwr|irm|downloadstring)\b[^\n]*\|\s*iex\b",
        "runs a program that cannot be read here",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("echo_to_shell", "echo printf"),
        Obfuscation,
        USUAL,
        r"(?i)\b(?:echo|printf)\s[^\n|]*\|\s*(?:sudo\s+)?(?:/\w+/)*(?:ba|z|da)?sh(?:\s*$|\s*[;&)\x60'\x22]|\s+-s?\s*$)",
        "runs text as a program",
    ),
    // Code from elsewhere
    rule(
        ("download_and_run", "curl wget fetch"),
        SupplyChain,
        RUNS,
        r"(?i)\b(?:curl|wget|fetch)\b[^\n|]*\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+\S+\s+)?(?:/\w+/)*(?:(?:ba|z|da|k)?sh|perl|node|ruby|php)\b|\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?python[\d.]*\s*(?:-\s*)?(?:$|[;&)\x60'\x22]|#)|\b(?:ba|z)?sh\s+(?:-c\s+)?[\x22']?(?:<|\$)\(\s*(?:curl|wget)\b[^\n)]*",
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("download_then_run", "curl wget"),
        SupplyChain,
        (Critical, Medium),
        r"(?i)\b(?:curl|wget)\b[^\n]*(?:-[a-zA-Z]*[oO]|--output|>)\s*(\S+)[^\n]*(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+\+x|chmod\s+7|(?:ba|z)?sh\s|\./)",
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("foreign_index", "http://"),
        SupplyChain,
        USUAL,
        r"(?i)\b(?:pip\d?|uv)\b[^\n;|]*\s(?:--index-url|--extra-index-url|-i)\s*=?\s*http://|\bnpm\b[^\n;|]*--registry[= ]http://",
        "installs over a connection that anyone can change",
    ),
    // Staying
    rule(
        ("cron_install", "cron schtasks reg"),
        Persistence,
        USUAL,
        r"(?i)\|\s*(?:sudo\s+)?crontab\s+-(?:\s|$|\x60)|\bcrontab\s+(?:/|\./|~|\$)?\w[\w./-]*\s*(?:$|[;&|])|>>?\s*/(?:etc/cron|var/spool/cron)|\bschtasks\s+/create\b|\breg\s+add\b[^\n]*\\Run\b",
        "has a command run again and again",
    ),
    rule(
        ("shell_startup", "/.bash /.zsh /.profile /.zprofile /.config/fish /.config/autostart"),
        Persistence,
        USUAL,
        r#"(?i)[^\n;]*(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?(?:~|\$\{?HOME\}?|/root|/home/\w+)/\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|bash_login|config/fish/config\.fish|config/autostart)"#,
        "has a command run at every login",
    )
    .spared(Spared::ShellSetup),
    rule(
        ("system_service", "/systemd/system init.d rc.local rc.d"),
        Persistence,
        (High, Low),
        r"(?i)(?:>>?|\b(?:cp|mv|ln|tee|install)\b)[^\n;|]*\s/(?:etc|lib|usr/lib)/(?:systemd/system|init\.d|rc\.local|rc\.d)\b",
        "has a program started with the machine",
    ),
    rule(
        ("launch_agent", "launchctl launchagents launchdaemons"),
        Persistence,
        USUAL,
        r"(?i)\blaunchctl\s+(?:load|bootstrap|submit|enable)\b|(?:>|\bcp\b|\bmv\b|\btee\b)[^\n]*/Library/Launch(?:Agents|Daemons)/",
        "has a program started at every login",
    ),
    rule(
        ("sudoers", "nopasswd sudoers"),
        PrivilegeEscalation,
        (Critical, High),
        r"(?i)\bNOPASSWD\s*:\s*ALL\b|(?:>>?|\btee\s+(?:-a\s+)?|\bvisudo\b)[^\n]*/etc/sudoers",
        "gives itself rights without asking",
    ),
    rule(
        ("git_hook", ".git/hooks core.hookspath"),
        Persistence,
        USUAL,
        r"(?i)(?:>>?|\btee\s+(?:-a\s+)?|\bcp\s[^\n]*|\bmv\s[^\n]*|\bcat\s*>\s*)\s*\S*\.git/hooks/\w|core\.hooksPath\s",
        "has a command run at every commit",
    ),
    rule(
        ("python_startup", ".pth sitecustomize"),
        Persistence,
        USUAL,
        r#"(?i)(?:site-packages|getsitepackages|usersite)[^\n]*\.pth\b|\.pth['"]\s*,\s*['"][wa]|sitecustomize\.py"#,
        "has code run whenever Python starts",
    ),
    rule(
        ("agent_settings", ".claude/settings .cursor/mcp .codex/config .gemini/settings"),
        Persistence,
        ALWAYS,
        r"(?i)^\W*(?:then\s+)?(?:write|edit|modify|append|add|inject|overwrite|change|create|put)\b[^\n]{0,30}\.(?:claude/settings(?:\.local)?\.json|cursor/mcp\.json|codex/config\.toml|gemini/settings\.json)\s+(?:hooks?|to\b|with\b|so\b|and\b)|>>?\s*(?:~|\$HOME)?/?\.(?:claude/settings\S*|cursor/mcp\.json|codex/config\.toml)",
        "changes the settings of an agent",
    ),
    // Rights
    rule(
        ("defences_off", "setenforce mppreference ufw csrutil spctl antivirus defender security gatekeeper selinux apparmor history histfile"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\bsetenforce\s+0\b|\bset-mppreference\b[^\n]*-disable|\bufw\s+disable\b|\bcsrutil\s+disable\b|\bspctl\s+--master-disable\b|\b(?:disable|turn off|kill|uninstall)\b[^\n.]{0,20}\b(?:antivirus|defender|security (?:scanner|software|tools?|checks?)|gatekeeper|selinux|apparmor)\b|\bhistory\s+-c\b|\bunset\s+HISTFILE\b",
        "turns off what protects the machine",
    ),
    rule(
        ("suid", "chmod setcap"),
        PrivilegeEscalation,
        USUAL,
        r"(?i)\bchmod\s+(?:-\w+\s+)*(?:[ugo]*\+[rwx]*s\w*|[ugo]+=\w*s\w*|[24567]\d{3})\s|\bsetcap\s+\S*cap_(?:setuid|sys_admin|dac)",
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
    // Out of the folder
    rule(
        ("account_files", "/etc/passwd /etc/shadow /etc/gshadow /etc/sudoers /etc/master.passwd"),
        Traversal,
        ALWAYS,
        r"(?i)(?:^|\W)(?:cat|read|open|less|more|head|tail|cp|copy|grep|awk|cut|strings|curl|scp|type|view|print|dump|load|fetch|send)\b[^\n;|]{0,24}[\s'\x22(\x60=@:/]/etc/(?:passwd|shadow|gshadow|sudoers|master\.passwd)\b",
        "reads the accounts of the machine",
    ),
    rule(
        ("climbing_path", "../.. ..\\.."),
        Traversal,
        ALWAYS,
        r"(?:\.\./){2,}(?:etc|root|home|proc|var/(?:log|lib)|usr|Users|windows)/|(?:\.\.\\){2,}(?i:windows|users)",
        "climbs out of its folder",
    ),
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
    // Secrets
    rule(
        ("aws_key", "akia"),
        Secrets,
        ALWAYS,
        r"\bAKIA(?:[0-9A-Z]{16})\b",
        "holds a secret",
    ),
];
