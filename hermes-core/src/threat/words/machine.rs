//! Commands, files and flags.

pub(super) const WORDS: &[(&str, &str)] = &[
    (
        "NETCMD",
        "s_client curl wget nc ncat netcat socat telnet scp rsync sftp ftp tftp http invoke-webrequest \
        invoke-restmethod iwr irm requests.post requests.put requests.get httpx.post urlopen \
        urllib.request.urlopen http.post http.get axios.post fetch xh rclone dig nslookup",
    ),
    ("NC", "nc ncat netcat socat"),
    (
        "READCMD",
        "cat less more head tail bat strings xxd hexdump od base64 tac nl get-content gc \
        type rev cut awk",
    ),
    ("SHELL", "sh bash zsh dash ksh python python3 perl ruby node powershell pwsh iex"),
    (
        "SECRET_FILE",
        ".env .netrc .pgpass .npmrc .pypirc .git-credentials .env.local \
        .env.production .envrc id_rsa id_ed25519 id_ecdsa id_dsa /credentials /shadow secring.gpg \
        .htpasswd wallet.dat .vault-token /kubeconfig .dockercfg login.keychain .my.cnf \
        credentials.db private-keys-v1.d application_default_credentials.json credentials.json credentials.yml secrets.yaml secrets.yml secrets.json secrets.toml .s3cfg .boto key4.db logins.json",
    ),
    (
        "HOME_SECRET",
        "id_rsa id_ed25519 id_ecdsa id_dsa /credentials .netrc .pgpass secring.gpg \
        .git-credentials .env .vault-token",
    ),
    ("KEPT_SECRET", "id_rsa id_ed25519 id_ecdsa id_dsa /credentials .pgpass .vault-token"),
    ("PRIVATE_KEY", "id_rsa id_ed25519 id_ecdsa id_dsa secring.gpg"),
    ("KEY_FOLDER", ".ssh .gnupg .aws .kube .mozilla .thunderbird .password-store .electrum"),
    ("SSH", ".ssh"),
    ("HISTORY_FILE", ".bash_history .zsh_history .python_history .psql_history .mysql_history"),
    ("CONFIG", "/config config.json"),
    ("HERMES", ".hermes $hermes_home hermes_home"),
    ("DOTENV", ".env"),
    ("AUTHORIZED", "authorized_keys authorized_key authorized_keys2 authorized-keys"),
    (
        "AGENT_FILE",
        "agents.md claude.md .cursorrules .clinerules gemini.md .windsurfrules \
        copilot-instructions.md .hermes.md soul.md",
    ),
    ("HERMES_FILE", "config.yaml soul.md"),
    ("SOUL", "soul.md"),
    (
        "RC_FILE",
        ".bashrc .zshrc .profile .bash_profile .zprofile .zshenv .bash_login config.fish \
        .xinitrc .xprofile .bash_aliases .bash_logout rc.local",
    ),
    ("CRON", "crontab cron.d launchagents launchdaemons"),
    ("EVERYTHING", "--all --mirror"),
    (
        "AGENT_VAR",
        "claudecode claude_code* codex_home codex_sandbox \
        hermes_home hermes_session hermes_agent agent_home anthropic_api_key openai_api_key \
        claude_config_dir agent_id hermes_gateway hermes_token codex_session hermes_api_key \
        agent_session claude_session hermes_config hermes_base_url claude_* codex_* openai_* anthropic_*",
    ),
    ("AGENT_VAR", "hermes_*"),
    (
        "AGENT_SETTING",
        "hermes_profile hermes_debug hermes_color hermes_no_color hermes_log hermes_log_level hermes_theme hermes_verbose \
        hermes_lang hermes_editor hermes_pager hermes_model hermes_timeout hermes_cache hermes_cache_dir hermes_test hermes_port",
    ),
    ("HISTORY_FILE", "/environ"),
    (
        "AGENT_HOOK",
        "sessionstart pretooluse posttooluse userpromptsubmit sessionend subagentstop precompact",
    ),
    ("HTTPIE", "httpie"),
    ("KEPT_SECRET", ".password-store"),
    ("BROWSER_SECRET", "logins.db"),
    (
        "HTTP_CALL",
        "get post fetch request urlopen file_get_contents http.get https.get https.request axios got needle superagent requests.get requests.post open-uri lwp",
    ),
    (
        "FILE_READ",
        "file.read readfile readfilesync fs.readfilesync read_text read_bytes file_get_contents ioutil.readfile os.readfile",
    ),
    ("MAILER", "mail mailx mutt sendmail msmtp swaks"),
    ("BROWSER_DIR", "google-chrome chrome chromium firefox .mozilla brave-browser bravesoftware"),
    ("SOCKET_NEW", "tcpsocket.new tcpsocket.open"),
    ("BROWSER_FILE", "logins.db logins.json cookies.sqlite key4.db signons.sqlite"),
];
