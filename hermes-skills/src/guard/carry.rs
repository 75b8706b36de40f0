//! What a program takes up and where it carries it, in any language: what only the user or one
//! service may know, and a connection to somewhere else; orders from a connection, and a shell.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::{Category, File, Finding, Report, Severity, expression, flow, hosts};

/// Words, in lower case, of which every step has one.
const WORDS: &str = "env secrets token auth secret vault credential clipboard pyperclip pbpaste xclip xsel \
     wl-paste screenshot screencapture imagegrab scrot pynput keyboard getasynckeystate keylog \
     videocapture arecord sounddevice hosts.yml wp-config tdata leveldb chat.db kdbx msal .vault google-chrome chromium .mozilla /etc/passwd /etc/shadow environ grep find \
     .electrum .bitcoin .ethereum .ssh .aws .azure .gnupg .kube .docker gcloud .netrc .npmrc .pypirc \
     id_rsa id_ed25519 cookies logins wallet keychain history state.db memory.md user.md soul.md \
     .env curl wget requests httpx session aiohttp http axios fetch post send upload invoke- irm \
     iwr webclient nc ncat netcat /dev/tcp scp rsync sftp ftp s3 gsutil rclone gist push mail \
     smtp socket tcp sync connection ping dig nslookup gets readline recv system exec eval iex popen \
     subprocess shell spawn";

/// What each step looks like.
struct Steps {
    words: AhoCorasick,
    used: Regex,
    file: Regex,
    read: Regex,
    dump: Regex,
    watch: Regex,
    sent: Regex,
    connected: Regex,
    obeyed: Regex,
}

static STEPS: LazyLock<Option<Steps>> = LazyLock::new(|| {
    let regex = |source: &str| expression::compile(&format!("(?i){source}"));
    Some(Steps {
        words: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(WORDS.split_whitespace())
            .ok()?,
        // What holds no secret, asks whether there is one, or shows it to the service it is for.
        used: regex(
            r"\S*(?:\.pub\b|known_hosts|\.ssh/config\b|\.env\.(?:example|sample|template))\S*|\b(?:exists?|is_?file|is_?dir|existssync|test-path)\b.*|(?:\[+|\btest)\s+!?\s*-[a-z]\s+\S+|\$\(\s*(?:grep|sed|awk|cut|jq)\b[^)]*\)|\b(?:authorization|bearer|x-api-key|headers?)\b.*|\s-[iH]\s+\S+|\b(?:load_dotenv|dotenv|source)\b.*",
        )?,
        file: regex(
            r#"\bgh/hosts\.yml|\bwp-config\.php|\btdata\b|\bleveldb\b|\bchat\.db\b|\.kdbx\b|\bmsal_token_cache|\.vault-token\b|\.(?:electrum|bitcoin|ethereum)\b|[/\\~"'}]\.(?:ssh|aws|azure|gnupg|kube)[/\\"']|\.docker[/\\]config|\bgcloud[/\\]|application_default_credentials|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|terraformrc|my\.cnf)\b|\.cargo[/\\]credentials|\.gem[/\\]credentials|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|/etc/(?:passwd|shadow)\b|\.config/(?:google-chrome|chromium|bravesoftware)|application support/(?:google/chrome|firefox)|\.mozilla/|\\google\\chrome\\user data|\bcookies\.sqlite|\blogins\.json|\bkey4\.db|\blogin data\b|\bwallet\.dat\b|\.(?:bash|zsh|fish|psql|python)_history\b|\bfish_history\b|\bconsolehost_history|\.(?:hermes|openclaw)[/\\](?:\.env|auth\.json|state\.db|memories)|(?:~|\$home|home\(\))\S{0,40}[/\\"']\.env\b"#,
        )?,
        read: regex(
            r#"\b(?:cat|cp|tar|zip|base64|head|tail|strings|open|read\w*|slurp|file_get_contents|get-content|gc|type|glob|copy\w*|post\w*|put|upload\w*|create|sync|scp|rsync)\b|@|\s-T|<\s*["']?[~$/]"#,
        )?,
        dump: regex(
            r"\\%ENV\b|\bjoin\b.*%ENV\b|\bENV\.(?:to_h|to_a|inspect|map|to_json)\b|\bENV\.each|\b(?:json_encode|serialize|http_build_query|print_r|urlencode)\s*\(\s*(?:\$_(?:ENV|SERVER)|getenv\(\s*\))|\bos\.Environ\(\)|\benv::vars\(|\bSystem\.getenv\(\)|\bDeno\.env\.toObject|\bprocess\.env\s*[,)}]|\btoJSON\(\s*(?:secrets|github\.token)|\b(?:env|printenv|set)\s*\|\s*(?:curl|nc|base64|gzip|xxd)|(?:^|[|&;(]\s*)(?:env|printenv|set)\s*>|\b(?:dict|str|repr|list|json\.dumps)\(\s*(?:dict\()?os\.environ\s*\)|\b(?:grep|rg|ag|find|locate)\b[^\n]*(?:api_?key|secret|token|passw|\.pem|\.key\b|\.env\b|id_rsa|private)[^\n]*(?:\||-exec)[^\n]*\b(?:curl\s|wget\s[^\n]*--post|nc\s|ncat\s)|\b(?:get-childitem|gci|dir|ls)\s+env:|\b(?:gh\s+auth\s+token|gcloud\s+auth\s+(?:application-default\s+)?print-\w+-token|az\s+account\s+get-access-token|aws\s+(?:configure\s+(?:get|export-credentials)|sts\s+get-\S+)|kubectl\s+get\s+secrets?|vault\s+(?:kv\s+get|read|print\s+token)|op\s+(?:read|item\s+get)|pass\s+show|bw\s+(?:get|list|export)|secret-tool\s+(?:lookup|search)|git\s+credential\s+fill|security\s+(?:find-\S+-password|dump-keychain))[^\n;]*\|\s*(?:base64\s*\S*\s*\|\s*|xxd\s*\S*\s*\|\s*|gzip\s*\S*\s*\|\s*)?(?:curl|wget|nc|ncat|openssl|mail|http)\b",
        )?,
        watch: regex(
            r"\bpyperclip\.paste|\bclipboard(?:\.|\s*::\s*)(?:paste|readtext|gettext|get)\b|\bget-clipboard\b|\bpbpaste\b|\bxclip\b.*-o\b|\bxsel\b.*-\w*o|\bwl-paste\b|\bImageGrab\.grab|\bpyautogui\.screenshot|\bscreencapture\s+-\w*x|\bCopyFromScreen\b|\bpynput\b|\bkeyboard\.(?:on_press|hook|record|Listener)|\bgetasynckeystate\b|\bxinput\s+test|\bcv2\.VideoCapture\(|\barecord\b|\bsounddevice\.rec|\bsd\.rec\(",
        )?,
        sent: regex(
            r#"\b(?:requests|httpx|session|client|aiohttp|axios|http|ua|agent|useragent|conn|connection|faraday|httparty|restclient|rest-client|got|superagent)(?:\.|->|::)(?:new(?:->|\.))?(?:post|put|patch|request|post_form)\b|->(?:post|put|request)\s*\(|\b(?:requests|httpx)\.get\s*\([^)]*params|\burlopen\s*\(|\.sendall\s*\(|\.request\s*\(\s*["'](?:post|put)|\bio::socket\b|\bnet\.dial\b|\bfetch\s*\(|\bsendbeacon\b|\.upload(?:string|data|file|values)?\w*\s*\(|\b(?:invoke-(?:restmethod|webrequest)|irm|iwr)\b.*(?:-(?:method|body|infile)|[?&]\w+=)|\bcurl(?:\.exe)?\b[^|;]*\s(?:(?-i:-[a-zA-Z]*[dFT])\b|--data\S*|--form\S*|--upload-file|--json)|\bcurl\b[^|;]*https?://\S*\$\(|\bwget\b.*--(?:post|body)|\b(?:nc|ncat|netcat)\s+(?:-\S+\s+)*[\w.$-]+\s+\$?\w+|/dev/(?:tcp|udp)/|\b(?:scp|rsync|sftp)\b.*[\w.-]+:|\baws\s+s3\s+(?:cp|sync|mv)\b|\bgsutil\b.*\b(?:cp|rsync)\b|\brclone\s+(?:copy|sync|move)|\baz\s+storage\s+blob\s+upload|\bgh\s+gist\s+create\b|\bsmtplib\b|\bsendmail\b|\bmailx?\s+-s|\bmutt\b|\bsend-mailmessage\b|\bnet::(?:http|smtp|ftp)\b|\bhttp\.(?:post|newrequest)|\bftplib\b|\bparamiko\b|\bwebsocket\w*\(|\bcurl_(?:setopt|exec)\b|\bfile_get_contents\s*\(\s*["']https?:|\bfsockopen\b|\bLWP::|\breqwest::|\bmail\s*\("#,
        )?,
        connected: regex(
            r"\bsocket\.(?:socket|create_connection|tcp)\b|\brequire\W+socket\b|\bio::socket\b|\btcpsocket\b|\btcpserver\b|\bfsockopen\b|\bstream_socket_(?:client|server)\b|\bnet\.(?:connect|dial|createconnection|createserver|socket)\b|\btcpclient\b|\btcplistener\b|\btcpstream\b|\bnew\s+(?:net\.)?socket\b|\bnew\s+websocket\(|\brequire\W+websocket|\bsocket\.io-client|\birc\.\w|\bdiscord\.client|\bgetupdates\b",
        )?,
        // A name that is run, not a text.
        obeyed: regex(
            r#"`\s*#\{\s*\w+[\w.\s]*\}|\b(?:iex|invoke-expression)\s+\$?\(?\$\w+|(?:^|[^.\w]|\b(?:os|subprocess|cp|child_process|kernel|io|open3)\.)(?:system|popen\w*|getoutput|check_output|shell_exec|passthru|proc_open|execsync|capture\w*|iex|invoke-expression|qx|eval|exec|run|call)\s*\(?\s*\(?\s*(?:\[?["'](?:/bin/)?(?:ba|z)?(?:sh|cmd(?:\.exe)?)["']\s*,\s*["'](?:-c|/c)["']\s*,\s*)?\$?(?:cmd|command|line|l|data|buf\w*|msg|message|order|task|recv\w*|d|c|m|r|_|input|payload|body|text)\b(?:\.(?:decode|strip|chomp|trim|tostring|text|data|content)\(?[^)]*\)?)*\s*[,;)}]|\b(?:os\.system|os\.popen|popen|getoutput|check_output|shell_exec|exec|eval|system|run|call|iex)\s*\(?\s*\$?\w+\.(?:recv|gets|readline|read|readtoend|receive)\b|\bexec\.Command\(\s*["'](?:/bin/)?(?:ba)?sh["']\s*,\s*["']-c["']\s*,\s*\w+"#,
        )?,
    })
});

/// The steps of one program: of a file that runs, or of a block in a document.
#[derive(Debug, Default)]
pub(super) struct Carry {
    takes: bool,
    watches: bool,
    sends: Option<(usize, String)>,
    connects: bool,
    obeys: Option<(usize, String)>,
}

impl Carry {
    /// Looks at a line of the program, with names replaced by what they stand for.
    pub(super) fn see(&mut self, number: usize, line: &str) {
        let Some(steps) = STEPS.as_ref().filter(|steps| steps.words.is_match(line)) else { return };
        self.takes = self.takes || steps.takes(line);
        self.watches = self.watches || steps.watch.is_match(line);
        let is_local = || hosts::are_local(line);
        if self.sends.is_none() && steps.sent.is_match(line) && !is_local() {
            self.sends = Some((number, line.trim().to_owned()));
        }
        self.connects = self.connects || steps.connected.is_match(line);
        if self.obeys.is_none() && steps.obeyed.is_match(line) {
            self.obeys = Some((number, line.trim().to_owned()));
        }
    }

    /// Returns what the steps amount to.
    pub(super) fn finish(self, file: &File<'_>) -> impl Iterator<Item = Finding> {
        let path = file.path.to_owned();
        let sent = self.sends.filter(|_| self.takes || self.watches);
        let reason = if self.takes {
            ("secrets_carried", "sends something out after secrets were read")
        } else {
            ("user_watched", "sends out what the user types, copies or sees")
        };
        let carried = sent.map(|at| (at, Category::Exfiltration, reason));
        let obeyed = self.obeys.filter(|_| self.connects).map(|at| {
            (at, Category::Network, ("remote_orders", "runs what it is told over a connection"))
        });
        carried.into_iter().chain(obeyed).map(move |((line, excerpt), category, (id, reason))| {
            Finding {
                file: path.clone(),
                line,
                id: id.into(),
                category,
                severity: Severity::High,
                reason: reason.into(),
                excerpt: excerpt.chars().take(Report::EXCERPT_MAX).collect(),
            }
        })
    }
}

impl Steps {
    fn takes(&self, line: &str) -> bool {
        if self.dump.is_match(line) {
            return true;
        }
        if !self.file.is_match(line) {
            return false;
        }
        let closed = flow::closed(line);
        let rest = self.used.replace_all(&closed, " ");
        self.file.is_match(&rest) && self.read.is_match(&rest)
    }
}
