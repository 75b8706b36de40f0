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
];
