//! What stays after the skill is gone.

use super::{ALWAYS, Rule, Spared, USUAL, rule};
use crate::guard::{
    Category::{Persistence, PrivilegeEscalation},
    Severity::{Critical, High, Low, Medium},
};

pub(super) const RULES: &[Rule] = &[
    rule(
        ("cron_install", "cron schtasks scheduledtask reg"),
        Persistence,
        USUAL,
        r"(?i)\|\s*(?:sudo\s+)?crontab\s+-(?:\s|$|\x60)|\bcrontab\s+-[\x22'\]]|\bcrontab\s+(?:/|\./|~|\$)?\w[\w./-]*\s*(?:$|[;&|])|>>?\s*/(?:etc/cron|var/spool/cron)|\bschtasks\s+/create\b|\bregister-scheduledtask\b|\breg\s+add\b[^\n]*\\Run\b",
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
    )
    .spared(Spared::OwnUnit),
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
        ("git_hook", ".git/hooks core.hookspath init.templatedir"),
        Persistence,
        USUAL,
        r"(?i)(?:>>?|\btee\s+(?:-a\s+)?|\bcp\s[^\n]*|\bmv\s[^\n]*|\bcat\s*>\s*)\s*\S*\.git/hooks/\w|core\.hooksPath\s|init\.templateDir\s",
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
    rule(
        ("agent_settings_written", ".claude .cursor .codex .gemini .hermes .openclaw"),
        Persistence,
        USUAL,
        r#"(?i)\.(?:claude|cursor|codex|gemini|hermes|openclaw)["'\s/+]+[\w.-]*(?:settings|config|mcp|hooks|soul|agents|memory)[\w.-]*["'\s)]*\.write_text\(|\bopen\([^,]*\.(?:claude|cursor|codex|gemini|hermes|openclaw)["'\s/+]+[\w.-]*(?:settings|config|mcp|hooks|soul|agents|memory)[^)]*["'][\s)]*,\s*["'][aw]|\b(?:write|append)file(?:sync)?\([^,]*\.(?:claude|cursor|codex|gemini|hermes|openclaw)["'\s/+]+[\w.-]*(?:settings|config|mcp|hooks|soul|agents)|(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?\S*\.(?:hermes|openclaw)/(?:config|soul|agents|hooks)\S*"#,
        "changes the settings of an agent",
    ),
    rule(
        ("approval_off", "approval allowlist allow_list bypasspermissions autoapprove auto_approve skip-permissions bash(*)"),
        Persistence,
        USUAL,
        r#"(?i)\bapprovals?\b\W{1,6}(?:n\s*)?(?:mode\b["']?\s*[:=]\s*["']?)?(?:off|never|none|disabled)\b|allow_?list["']?\s*[:=]\s*\[\s*["']\*["']|\bbypasspermissions\b|--dangerously-skip-permissions\b|["']bash\(\*\)["']|\bauto_?approve["']?\s*[:=]\s*(?:true|["'](?:\*|all))"#,
        "has the agent ask no more",
    ),
    rule(
        ("user_service", "systemd/user"),
        Persistence,
        (High, Medium),
        r"(?i)(?:>>?|\b(?:cp|mv|ln|tee|install)\b)[^\n;|]*/(?:\.config|\.local/share)/systemd/user/\S+\.(?:service|timer)",
        "has a program started at every login",
    ),
    rule(
        ("startup_written", "rc profile .zshenv autostart startup"),
        Persistence,
        USUAL,
        r#"(?i)\b(?:open\([^)]*|appendfile(?:sync)?\([^,]*|writefile(?:sync)?\([^,]*|file\.(?:open|write)\([^)]*)\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv|config/autostart)[^"']*["'][\s)]*,[^)]*(?:["'][aw]|\w)|(?:copy-item|cp|move-item|out-file|>)[^\n]*\\start menu\\programs\\startup|\bprofile\b[^\n]*(?:downloadstring|\biex\b|\biwr\b)"#,
        "has a command run at every login",
    ),
    rule(
        ("registry_run", "currentversion\\run"),
        Persistence,
        USUAL,
        r"(?i)\b(?:new-itemproperty|set-itemproperty|sp|reg(?:\.exe)?\s+add)\b[^\n]*\\CurrentVersion\\Run",
        "has a program started at every login",
    ),
    rule(
        ("agent_notes", "claude.md agents.md gemini.md soul.md .cursorrules .clinerules .windsurfrules"),
        Persistence,
        USUAL,
        r#"(?i)(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?(?:~|\$\{?HOME\}?|/home/\w+|/root)\S*/(?:CLAUDE|AGENTS|GEMINI|SOUL)\.md|(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?\S*\.(?:cursorrules|clinerules|windsurfrules)"#,
        "plants orders in a file that agents obey",
    ),
    rule(
        ("startup_more", "conf.d profile.d .xprofile .xinitrc .pam_environment .ssh/rc ld_preload \\startup shell:startup $profile launchagents systemd/user"),
        Persistence,
        (High, Medium),
        r#"(?i)(?:>>?|\btee\s+(?:-a\s+)?)\s*["']?\S*(?:/fish/conf\.d/|/etc/profile\.d/|/\.xprofile|/\.xinitrc|/\.pam_environment|/\.ssh/rc\b)|(?:\b(?:copy|xcopy|move|mklink|copy-item|move-item)\b|>)[^\n]*\\startup\b|\bshell:startup|(?:>>?|\b(?:add-content|set-content|out-file)\b)[^\n]*\$profile\b[^\n]*\b(?:iex|iwr|irm|invoke-|http|start-process|temp\b|-enc)|\b(?:iex|iwr|irm|invoke-\w+|start-process|https?:)[^\n]*(?:>>?|\b(?:add-content|set-content|out-file)\b)[^\n]*\$profile\b|(?:LaunchAgents|systemd/user)["'/][^\n]*(?:\.write|write_text|open\()|(?:\bopen\(|writefile\w*\(|\.write_text\()[^\n]*(?:LaunchAgents|systemd/user)/"#,
        "has a program started at every login",
    )
    .spared(Spared::ShellSetup),
    rule(
        ("timed", "midnight noon teatime now systemd-run eventfilter commandlineeventconsumer wmievent wmiinstance new-service binpath"),
        Persistence,
        (High, Medium),
        r"(?i)\|\s*at\s+(?:now|midnight|noon|teatime|\d)|\bsystemd-run\b[^\n]*--on-|\b__EventFilter\b|\bCommandLineEventConsumer\b|\bregister-wmievent\b|\bset-wmiinstance\b|\bnew-service\b|\bsc(?:\.exe)?\s+create\b",
        "has a command run again and again",
    ),
    rule(
        ("folder_opened", "folderopen postcreatecommand poststartcommand initializecommand"),
        Persistence,
        ALWAYS,
        r#"(?i)"runOn"\s*:\s*"folderOpen"|"(?:postCreate|postStart|initialize)Command"[^\n]*\b(?:curl|wget|base64|nc)\b"#,
        "has a command run when a folder is opened",
    ),
    rule(
        ("approval_order", "approval approvals sandbox sandbox_mode permissions permission allowlist"),
        Persistence,
        ALWAYS,
        r"(?i)\b(?:set|put|write|change|switch|turn|add|make|configure|edit)\b[^\n]{0,60}\b(?:approval\w*|sandbox\w*|permissions?|allowlist)\b[^\n]{0,60}\b(?:never|off|full-access|none|bypass\w*|auto|always|disabled)\b[^\n]*(?:\bso\s+(?:that\s+)?(?:no|nothing|later|it|you|the|every)\b|config\.(?:ya?ml|toml|json)|settings\.json)",
        "has the agent ask no more",
    ),
    rule(
        ("key_added", "authorized_keys"),
        Persistence,
        USUAL,
        r#"(?i)authorized_keys["')\s]*,\s*["'][aw]|\b(?:appendfile(?:sync)?|writefile(?:sync)?|add-content|set-content|out-file|file_put_contents|os\.WriteFile)\b[^\n]*authorized_keys|authorized_keys["')\s]*\)?\.write|authorized_keys[^\n]*FILE_APPEND"#,
        "adds a key that opens the machine",
    ),
    rule(
        ("tool_replaced", "/bin/"),
        Persistence,
        USUAL,
        r#"(?i)(?:\b(?:cp|mv|ln|install|tee)\b|>)[^\n;|&]*\s["']?(?:(?:~|\$\{?HOME\}?)/(?:\.local/)?bin|/usr/local/bin|/usr/bin|/bin)/(?:git|ssh|sudo|ls|curl|python\d?|node|npm|cat|docker|kubectl|bash|sh|pip\d?|su|passwd)["']?\s*(?:$|[;&|])"#,
        "puts itself in the place of a tool",
    ),
];
