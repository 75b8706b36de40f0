//! What takes secrets and files out.

use super::{ALWAYS, RUNS, Rule, STRONG, Spared, USUAL, rule};
use crate::guard::{
    Category::Exfiltration,
    Severity::{High, Medium},
};

pub(super) const RULES: &[Rule] = &[
    rule(
        ("exfil_dns", "dig nslookup host drill getaddrinfo dns.lookup dns.resolve resolve-dnsname"),
        Exfiltration,
        STRONG,
        r"(?i)\b(?:gethostbyname|getaddrinfo|dns\.(?:lookup|resolve\w*)|resolve-dnsname)\b[\s(].*(?:getenv|environ|process\.env|\$env:|\btoken\b|\bsecret\b|password|read_text|open\()|\b(?:dig|nslookup|host|drill)\s+[^\n;|]*\$(?:\([^)]*\)|\{?\w+\}?)\S*\.[a-z]",
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
        ("exfil_environment", "environ process.env $(env $(printenv `env `printenv env:"),
        Exfiltration,
        RUNS,
        r"(?i)(?:urlopen|requests\.\w+|httpx\.\w+|session\.\w+|axios\S*|fetch|https?\.\w+|post|\.write|\.send(?:all)?)\s*\(.*(?:(?:dict|str|json\.dumps|repr|urlencode)\(\s*(?:dict\()?os\.environ(?:\.copy\(\))?\s*\)|JSON\.stringify\(\s*process\.env\s*\)|(?:json|data|params)\s*=\s*(?:dict\()?os\.environ(?:\.copy\(\)|\.items\(\))?\s*[,)]|os\.environ\.items\(\)|body:\s*process\.env\b[^.\[]|,\s*process\.env\s*[,)])|\b(?:curl|wget)\b[^\n]*[$`]\(?(?:env|printenv)\b|(?:get-childitem|gci|dir|ls)\s+env:[^\n]*(?:invoke-|\biwr\b|\birm\b)|(?:invoke-\w+|\biwr|\birm)\b[^\n]*(?:get-childitem|gci|dir|ls)\s+env:",
        "sends all environment variables out",
    ),
    rule(
        ("exfil_file", "id_rsa id_ed25519 id_ecdsa .ssh .aws .gnupg .netrc .npmrc .pypirc .pgpass .git-credentials .kube .docker/config wallet.dat cookies.sqlite key4.db logins.json login /etc/shadow /etc/passwd"),
        Exfiltration,
        RUNS,
        r#"(?i)(?:requests\.\w+|httpx\.\w+|session\.\w+|urlopen|axios(?:\.\w+)?|fetch|https?\.request|sendall|\.send)\s*\(.*(?:id_(?:rsa|ed25519|ecdsa|dsa)|[/\\~"']\.(?:ssh|aws|gnupg|kube)[/\\"']|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.docker/config|wallet\.dat|login data|cookies\.sqlite|key4\.db|logins\.json|/etc/(?:passwd|shadow))|(?:\bcurl\b[^\n;|]*\s(?:-F|--form|-T|--upload-file|-d|--data[\w-]*)|\bwget\b[^\n]*--(?:post|body)-(?:file|data)|invoke-(?:restmethod|webrequest)\b[^\n]*-(?:body|infile)|\b(?:irm|iwr)\b[^\n]*-(?:body|infile))[^\n;|]*(?:id_(?:rsa|ed25519|ecdsa|dsa)|[/\\~"']\.(?:ssh|aws|gnupg|kube)[/\\"']|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.docker/config|wallet\.dat|login data|cookies\.sqlite|key4\.db|logins\.json|/etc/(?:passwd|shadow))"#,
        "sends a file of secrets out",
    ),
    rule(
        ("exfil_variable", "environ getenv process.env"),
        Exfiltration,
        USUAL,
        r#"(?i)\b(?:requests|httpx|session|aiohttp|client|urllib\d?|axios)\.(?:post|put|request|get)\s*\((?:[^)]|\)[^;])*\b(?:json|data|params|content|files|body)\s*[=:]\s*[^=]{0,80}(?:os\.environ(?:\.get\(|\[)|os\.getenv\(|process\.env[.\[])\s*["']?\w*(?:KEY|TOKEN|SECRET|PASSWORD)"#,
        "sends a secret out",
    )
    .spared(Spared::Namesake),
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
    rule(
        ("file_published", "hosts.yml wp-config msal_token .vault-token .ssh .aws .azure .gnupg .kube .docker/config gcloud/ .netrc .npmrc .pypirc .pgpass .git-credentials id_rsa id_ed id_ecdsa id_dsa cookies.sqlite logins.json key4.db login wallet.dat _history .env /etc/shadow .hermes/"),
        Exfiltration,
        RUNS,
        r#"(?i)\b(?:gh\s+gist\s+create|pastebinit|ipfs\s+add|croc\s+send|wormhole\s+send|gh\s+release\s+upload|mutt|mailx?|telegram-send|git\s+add)\b[^\n;|]*(?:\bgh/hosts\.yml|\bwp-config\.php|\bmsal_token\w*|\.vault-token|[/\\~"'}]\.(?:ssh|aws|azure|gnupg|kube)[/\\"']|\.docker/config|\bgcloud/|\.(?:netrc|npmrc|pypirc|pgpass|git-credentials)\b|\bid_(?:rsa|ed25519|ecdsa|dsa)\b|\bcookies\.sqlite|\blogins\.json|\bkey4\.db|\blogin data\b|\bwallet\.dat\b|\.(?:bash|zsh)_history\b|(?:~|\$home)\S{0,40}/\.env\b|/etc/shadow\b|\.hermes/(?:\.env|auth\.json))"#,
        "sends a file of secrets out",
    ),
    rule(
        ("exfil_upload_home", "curl wget"),
        Exfiltration,
        RUNS,
        r#"(?i)\bcurl(?:\.exe)?\b[^\n;|]*(?:@|\s-T\s*|--upload-file[ =])["']?(?:%(?:userprofile|appdata|localappdata|homepath)%|\$\{?env:(?:userprofile|appdata|localappdata)|~|\$\{?HOME\}?|/home/|/root/|/etc/|/Users/|c:\\users\\)"#,
        "sends a file of the user out",
    ),
    rule(
        ("exfil_folders", "scp rsync s3 rclone gsutil azcopy sftp robocopy"),
        Exfiltration,
        (High, Medium),
        r#"(?i)\b(?:scp|rsync|robocopy)\s+(?:-\S+\s+)*(?:["']?(?:~|\$\{?HOME\}?|/root|/home/[\w.*$-]+|/Users/[\w.*$-]+)(?:/(?:Documents|Desktop|Pictures|Photos|Music|Movies|Videos|Downloads|Library))?/?["']?\s+)+\S*:|\b(?:aws\s+s3\s+(?:cp|sync|mv)|rclone\s+(?:copy|sync|move)|gsutil\s+(?:-m\s+)?(?:cp|rsync)|azcopy\s+(?:copy|sync))\s+(?:-\S+\s+)*["']?(?:~|\$\{?HOME\}?|/root|/home/[\w.*$-]+|/Users/[\w.*$-]+)(?:/(?:Documents|Desktop|Pictures|Photos|Music|Movies|Videos|Downloads|Library))?/?["']?\s+\S*:"#,
        "copies the user's files to another machine",
    ),
    rule(
        ("exfil_names", "ping getent traceroute nslookup curl wget resolve gethostby"),
        Exfiltration,
        RUNS,
        r#"(?i)\b(?:ping|getent|traceroute|nslookup|dig|host|curl|wget)\b[^\n;|]*(?:\$\([^()"'\\\n]{0,60}\)|\x60[^\x60"'\\\n]{0,60}\x60)\.[\w.-]*[a-z]"#,
        "sends data out in the names it looks up",
    ),
    rule(
        ("exfil_watched", "xclip pbpaste xsel wl-paste clipboard screencapture scrot grim arecord ffmpeg xinput getevent _history history"),
        Exfiltration,
        ALWAYS,
        r"(?i)(?:\bxclip\b[^\n|]*\s-o|\bpbpaste\b|\bxsel\b[^\n|]*\s-\w*o|\bwl-paste\b|\bget-clipboard\b|\bscreencapture\s+-\w*x|\b(?:scrot|grim)\s|\barecord\b|\bffmpeg\b[^\n|;]*(?:x11grab|avfoundation|gdigrab|\balsa\b|\bpulse\b|v4l2)|\bxinput\s+test|\bgetevent\b|\b(?:cat|tail|head)\s[^\n|;]*_history\b|(?:^|[\x60;&(]\s*)history)[^\n]*(?:\||&&|;)\s*(?:(?:base64|gzip|xxd|tee|head|tail)\b[^\n|]*\|\s*)?(?:curl|wget|nc|ncat|netcat|socat|telnet|mail|http|xh|invoke-\w+|irm|iwr|scp|rsync)\b",
        "sends out what the user types, copies or sees",
    ),
    rule(
        ("exfil_other_host", "environ getenv process.env env[ $env: $env{ _token _key _secret _password _passwd database_url"),
        Exfiltration,
        RUNS,
        r#"(?i)\b(?:fetch|requests|httpx|axios|curl|wget|urlopen|urllib|http\S*\.(?:get|post|request)|iwr|irm|invoke-webrequest|invoke-restmethod|URI\.open|Net::HTTP\S*|LWP\S*|file_get_contents|got|session|client)\b[^\n]*https?://[^\n]*(?:process\.env\.|environ(?:\.get\(|\[)["']|getenv\(["']|ENV\[["']|\$env:|\$ENV\{["']?|\$_ENV\[["']|%|\$\{?)\w*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|DATABASE_URL)\w*"#,
        "sends the secret of one service to another",
    )
    .spared(Spared::OwnService),
];
