//! What a program does in several steps, each harmless by itself: secrets that are read and
//! something that is sent, a connection and a shell.

use std::{borrow::Cow, sync::LazyLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::{Category, File, Finding, Report, Severity, expression, hosts};

/// Words, in lower case, of which every step has one.
const WORDS: &[&str] = &[
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    ".ssh",
    ".gnupg",
    ".aws",
    "gcloud",
    ".azure",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".docker",
    ".kube",
    "login data",
    "login.keychain",
    "logins.json",
    "key4.db",
    "cookies",
    "wallet",
    "keystore",
    "local state",
    "keychain",
    "shadow",
    "credential",
    "password",
    "printenv",
    "env",
    "secret-tool",
    "cmdkey",
    "169.254.169.254",
    "_history",
    "mimikatz",
    "secret-keys",
    "dns",
    "gethostby",
    "getoutput",
    "system(",
    "popen",
    "walk",
    "glob",
    "iterdir",
    "readdir",
    "tar ",
    "zip ",
    "requests.",
    "httpx.",
    "session.",
    "client.",
    "axios.",
    "urlopen",
    "sendall",
    "connection",
    "fetch",
    ".request",
    ".upload",
    "invoke-",
    "irm ",
    "iwr ",
    "curl",
    "wget",
    "nc ",
    "ncat",
    "netcat",
    "/dev/tcp",
    "/dev/udp",
    "scp ",
    "rsync",
    "sftp",
    "aws s3",
    "gsutil",
    "rclone",
    "push",
    "nslookup",
    "dig ",
    "smtplib",
    "mail",
    "net::http",
    "http.post",
    "post_f",
    "->p",
    "ftplib",
    "paramiko",
    "websocket",
    "socket",
    "tcpclient",
    "net.",
    "stdin",
    "stdout",
    "dup2",
    "pty.spawn",
    "/bin/",
    "cmd",
    "powershell",
];

/// What each step looks like.
struct Steps {
    words: AhoCorasick,
    harmless: Regex,
    secret: Regex,
    taken: Regex,
    dumped: Regex,
    gathered: Regex,
    posted: Regex,
    sent: Regex,
    connected: Regex,
    shell: Regex,
}

static STEPS: LazyLock<Option<Steps>> = LazyLock::new(|| {
    let regex = expression::compile;
    Some(Steps {
        words: AhoCorasick::builder().ascii_case_insensitive(true).build(WORDS).ok()?,
        // What holds no key, asks whether there is one, names it to a program, or picks the token that
        // a service knows its user by.
        harmless: regex(
            r#"(?i)[^\s"']*(?:\.pub\b|known_hosts|\.ssh/config\b|authorized_keys)[^\s"']*|\s-i\s*\S+|\b(?:key_?file(?:name)?|identity_?file|private_?key(?:_?path)?|pkey|kubeconfig)\s*[=: ]\s*\S+|\bssh-(?:add|keygen|copy-id)\b.*|\b(?:exists?|is_?file|is_?dir|existssync|test-path)\b.*|(?:\[+|\btest)\s+!?\s*-[a-z]\s+\S+|\$\(\s*(?:grep|sed|awk|cut|jq)\b[^)]*\)|^\s*(?:export\s+)?\w+=.*\b(?:grep|sed|awk|cut|jq)\b.*|\bauthorization["']?\s*:\s*["'`]?(?:token|bearer|basic)\b.*"#,
        )?,
        secret: regex(
            r#"(?i)\bid_(?:rsa|ed25519|ecdsa|dsa)\b|[/\\~"'}]\.(?:ssh|gnupg)\b|\.aws["'/\\ ]|\.config/gcloud|application_default_credentials|\.azure["'/\\]|\.netrc\b|\.npmrc\b|\.pypirc\b|\.pgpass\b|\.git-credentials\b|\.docker/config|\.kube/config|\blogin data\b|\blogin\.keychain|\blogins\.json\b|\bkey4\.db\b|[/\\]cookies\b|\bcookies(?:\.sqlite|\.binarycookies|["'])|\bwallet\.dat\b|/keystore\b|\blocal state["'/\\]|/keychains\b|/etc/shadow\b|\.(?:bash|zsh|python|psql|mysql)_history\b|consolehost_history"#,
        )?,
        taken: regex(
            r#"(?i)\b(?:cat|cp|tar|zip|7z|gzip|base64|xxd|od|head|tail|strings|openssl|sqlite3|scp|rsync|open|read\w*|r?glob\w*|iterdir|listdir|walk|copy\w*|get-content|get-childitem|gc|type|slurp|file_get_contents|connect|zipfile|write|map|for|post|put|sync)\b|@|<\s*["']?[~$/]"#,
        )?,
        dumped: regex(
            r"(?i)\bgit\s+credential\s+fill\b|\bsecurity\s+(?:dump-keychain|find-\w+-password)\b|\bprintenv\s*(?:[|>)`]|$)|\benv\s*[|>]|(?:get-childitem|gci|dir|ls)\s+env:|json\.stringify\(\s*process\.env\s*\)|(?:dict|str|json\.dumps|repr)\(\s*(?:dict\()?os\.environ\s*\)|os\.environ\.items\(\)|os\.environ\.copy\(\)\s*[\]})]|--export-secret-keys\b|\bsecret-tool\s+(?:search|lookup)\b|\bcmdkey\s+/list\b|169\.254\.169\.254|\bmimikatz\b",
        )?,
        gathered: regex(
            r#"(?i)(?:\bos\.walk|\br?glob|\breaddir\w*|\bmake_archive)\s*\(.*(?:expanduser\(\s*["']~(?:/(?:Documents|Desktop|Pictures|Downloads))?/?["']|path\.home\(\)\s*[,)]|homedir\(\)\s*[,)])|(?:path\.home\(\)|expanduser\(\s*["']~/?["']\s*\)\)?)(?:\s*/\s*["'](?:Documents|Desktop|Pictures|Downloads)["']\)?)?\.(?:iterdir|r?glob)\(|\b(?:tar|zip)\s[^;|]*\s["']?(?:~|\$\{?HOME\}?)(?:/(?:Documents|Desktop|Pictures|Downloads))?/?["']?(?:\s|$)"#,
        )?,
        posted: regex(
            r#"(?i)\b(?:requests|httpx|session|axios)\.(?:post|put)\b|\burlopen\s*\(.*(?:\bdata\b|request\()|\.sendall\s*\(|\bfetch\s*\(.*\b(?:post|put)\b|\bhttps?["']?\)?\.request\b|\.upload(?:string|data|file|values)\w*\s*\(|\bcurl\b[^|;]*\s(?:(?-i:-[a-zA-Z]*[dFT])\b|--data\S*|--form\S*|--upload-file)|\b(?:nc|ncat|netcat)\s+(?:-\S+\s+(?:\d+\s+)?)*[\w.$-]+\s+\$?\w+|/dev/(?:tcp|udp)/|\bftplib\b"#,
        )?,
        sent: regex(
            r#"(?i)\b(?:requests|httpx|session|client|axios)\.(?:post|put|patch)\b|\burlopen\s*\(.*(?:\bdata\b|request\()|\.sendall\s*\(|\bfetch\s*\(.*\b(?:post|put)\b|\bhttps?["']?\)?\.request\b|\.upload(?:string|data|file|values)\w*\s*\(|\binvoke-(?:restmethod|webrequest)\b.*-(?:method|body|infile)|\b(?:irm|iwr)\b.*-(?:method|body|infile)|\bcurl\b[^|;]*\s(?:(?-i:-[a-zA-Z]*[dFT])\b|--data\S*|--form\S*|--upload-file|--json|-X\s*(?:POST|PUT))|\bwget\b.*--(?:post|body)|\b(?:nc|ncat|netcat)\s+(?:-\S+\s+(?:\d+\s+)?)*[\w.$-]+\s+\$?\w+|/dev/(?:tcp|udp)/|\b(?:scp|rsync|sftp)\b.*[\w.-]+:|\baws\s+s3\s+(?:cp|sync|mv)\b|\bgsutil\b.*\bcp\b|\brclone\s+(?:copy|sync|move)\b|\bgit\b.*\bpush\b|\b(?:nslookup|dig)\b.*\$|\bsmtplib\b|\bsendmail\b|\bmailx?\s+-s|\bsend-mailmessage\b|\bnet::http\b.*(?:post|put)|\bhttp\.post|\bpost_(?:form|file)\b|\b\w*(?:client|http|guzzle|ua|request)\w*->(?:post|put)\w*\b|\bftplib\b|\bparamiko\b|\bwebsocket\w*\(|\b(?:dns["']?\)?\.(?:lookup|resolve\w*)|gethostbyname)\s*\(.*(?:\+|\$\{|\{\w)|\b(?:urlopen|requests\.get|httpx\.get|fetch|axios\.get|https?\.get)\s*\(.*\?.*(?:\+|\$\{|\{\w)"#,
        )?,
        connected: regex(
            r"(?i)\bsocket\s*[.(]|\buse\s+(?:io::)?socket\b|\btcpsocket\b|\bfsockopen\b|\bnet\.(?:connect|dial|socket)\b|\btcpclient\b|\bnew\s+socket\b",
        )?,
        shell: regex(
            r#"(?i)\bopen\s*\(?\s*\*?std(?:in|out)\b.*&|\bdup2\b|\bpty\.spawn\b|\b(?:os\.system|getoutput|io\.popen|shell_exec)\s*\(\s*\$?[a-z_]\w*\s*[,)]|\b(?:exec\w*|spawn\w*|popen|call|run|system|command|start)\s*\(?\s*\[?\s*["'](?:(?:/usr)?/bin/(?:ba|z|da|k)?sh(?:["']|\s+-i)|cmd(?:\.exe)?["']|powershell(?:\.exe)?["'])"#,
        )?,
    })
});

/// The steps of one program: of a file that runs, or of a block in a document.
#[derive(Debug, Default)]
pub(super) struct Flow {
    takes: Option<usize>,
    sends: Option<(usize, String)>,
    gathers: Option<usize>,
    posts: Option<(usize, String)>,
    connects: Option<usize>,
    shells: Option<(usize, String)>,
}

impl Flow {
    /// Looks at a line of the program, with names replaced by what they stand for.
    pub(super) fn see(&mut self, number: usize, line: &str) {
        let Some(steps) = STEPS.as_ref().filter(|steps| steps.words.is_match(line)) else { return };
        if self.takes.is_none() && steps.takes(line) {
            self.takes = Some(number);
        }
        let is_local = || hosts::are_local(line);
        if self.sends.is_none() && steps.sent.is_match(line) && !is_local() {
            self.sends = Some((number, line.trim().to_owned()));
        }
        if self.gathers.is_none() && steps.gathered.is_match(line) {
            self.gathers = Some(number);
        }
        if self.posts.is_none() && steps.posted.is_match(line) && !is_local() {
            self.posts = Some((number, line.trim().to_owned()));
        }
        if self.connects.is_none() && steps.connected.is_match(line) {
            self.connects = Some(number);
        }
        if self.shells.is_none() && steps.shell.is_match(line) {
            self.shells = Some((number, line.trim().to_owned()));
        }
    }

    /// Returns what the steps amount to.
    pub(super) fn finish(self, file: &File<'_>) -> impl Iterator<Item = Finding> {
        let finding = move |(line, excerpt): (usize, String), id: &'static str| Finding {
            file: file.path.to_owned(),
            line,
            id: id.into(),
            category: match id {
                "shell_beside_socket" => Category::Network,
                _ => Category::Exfiltration,
            },
            severity: Severity::High,
            reason: match id {
                "secrets_sent" => "sends something out after secrets were read".into(),
                "files_sent" => "sends something out after the user's files were gathered".into(),
                _ => "starts a shell beside a connection".into(),
            },
            excerpt: excerpt.chars().take(Report::EXCERPT_MAX).collect(),
        };
        let sent = self.takes.and(self.sends).map(|at| (at, "secrets_sent"));
        let posted = self.gathers.and(self.posts).map(|at| (at, "files_sent"));
        let shell = self.connects.and(self.shells).map(|at| (at, "shell_beside_socket"));
        sent.into_iter().chain(posted).chain(shell).map(move |(at, id)| finding(at, id))
    }
}

impl Steps {
    fn takes(&self, line: &str) -> bool {
        if self.dumped.is_match(line) {
            return true;
        }
        if !self.secret.is_match(line) {
            return false;
        }
        let closed = closed(line);
        let rest = self.harmless.replace_all(&closed, " ");
        self.secret.is_match(&rest) && self.taken.is_match(&rest)
    }
}

/// Returns `line` without the `$(` that nothing closes: the end of each would be looked for all the
/// way to the end of the line.
pub(super) fn closed(line: &str) -> Cow<'_, str> {
    let (closed, open) = line.split_at(line.rfind(')').unwrap_or_default());
    if open.contains("$(") {
        Cow::Owned(format!("{closed}{}", open.replace("$(", "${")))
    } else {
        Cow::Borrowed(line)
    }
}
