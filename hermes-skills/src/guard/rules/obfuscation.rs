//! What hides what it runs.

use super::{RUNS, Rule, Spared, USUAL, rule};
use crate::guard::Category::Obfuscation;

pub(super) const RULES: &[Rule] = &[
    rule(
        ("decode_and_run", "base64 base32 xxd rev eval openssl gunzip zcat gzip uudecode"),
        Obfuscation,
        RUNS,
        r#"(?i)\bbase64\s+(?:-d|-D|--decode|-di)\b[^\n]*\|\s*(?:sudo\s+)?(?:/\w+/)*(?:ba|z|da|k)?(?:sh|python\d?|perl|node|ruby)\b|\b(?:ba|z)?sh\s+(?:-c\s+)?<?[($]+\s*(?:echo|base64|printf)\b[^\n]*base64|\bxxd\s+-r\b[^\n]*\|\s*(?:ba|z)?sh\b|(?:\|\s*rev|\brev\s*<<<[^\n|]*|\b(?:base(?:64|32)\s+-\S*d\S*|gunzip|zcat|gzip\s+-\w*d\w*|uudecode)\b[^\n;]*)\|\s*(?:sudo\s+)?(?:/\w+/)*(?:ba|z|da|k)?sh\b|(?:^\s*|[;&|]\s*|\beval\s+["']?)\$\([^\n]*\|\s*(?:rev|base64\s+-\S*d\S*|xxd\s+-r[^|)]*)\s*\)|\beval\s+.?\$\(\s*(?:echo|printf|base64|curl|wget)\b|\bopenssl\s+enc\b[^\n]*\|\s*(?:ba|z)?sh\b"#,
        "decodes a program and runs it",
    ),
    rule(
        ("exec_decoded", "exec eval loadstring compile function system passthru popen assert scriptblock"),
        Obfuscation,
        RUNS,
        r#"(?i)\b(?:exec|eval|instance_eval|loadstring|compile|Function|system|passthru|shell_exec|popen|assert)\s*\(\s*(?:\w+\.)*(?:base64_decode|\$_(?:GET|POST|REQUEST|COOKIE)|b64decode|a?b64decode|base64\.\w+|marshal\.loads|zlib\.decompress|gzip\.decompress|lzma\.decompress|codecs\.decode|bytes\.fromhex|bytearray\.fromhex|unhexlify|pickle\.loads|atob|Buffer\.from|unescape|String\.fromCharCode|decodeURIComponent|requests\.get|urllib\.request\.urlopen|urlopen|__import__|chr\(|URI\.open|open\(\s*["']https?:|Net::HTTP|file_get_contents\(\s*["']https?:|get\(\s*["']https?:)|\bnew\s+Function\s*\(\s*(?:atob|Buffer)|\[scriptblock\]::create\(.*(?:frombase64|downloadstring|\biwr\b|\birm\b|invoke-)"#,
        "decodes a program and runs it",
    ),
    rule(
        ("exec_disguised", "exec eval [char] __import__ getattr __builtins__ chr( fromcharcode"),
        Obfuscation,
        RUNS,
        r#"(?i)\b(?:exec|eval)\s*\(.*(?:\[::-1\]|\.reverse\(\)|\.split\(['"]{2}\)|join\(\s*chr|join\(\s*map\(\s*chr)|__import__\(\s*['"](?:os|subprocess|socket|pty|ctypes)['"]\s*\)\s*\.|getattr\(\s*(?:__builtins__|os|subprocess)\s*,|__builtins__\s*(?:\[|\.__dict__)|globals\(\)\[['"]__builtins__|(?:chr\(\d+\)\s*\+\s*){3,}|String\.fromCharCode\((?:\s*\d+\s*,){6,}|\b(?:exec|eval)\s*\(.*(?:\bbytes\(\s*\[|\s\^\s*(?:0x)?\d)|\b(?:globalThis|window|global|self)\s*\[\s*["'](?:eval|Function)["']|getattr\(\s*__import__|\beval\b.*(?:\\x[0-9a-f]{2}){3}|(?:\[char\]\s*\d+\s*\+?,?\s*){4,}"#,
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
    rule(
        ("hex_command", "printf echo"),
        Obfuscation,
        USUAL,
        r#"(?i)[$`]\(?\s*(?:printf|echo\s+-\w*e\w*)\s+["']?(?:\\x[0-9a-f]{2}|\\[0-7]{3}){3,}"#,
        "hides what it runs",
    ),
];
