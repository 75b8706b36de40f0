//! What hides what it runs.

use super::{RUNS, Rule, Spared, USUAL, rule};
use crate::guard::Category::Obfuscation;

pub(super) const RULES: &[Rule] = &[
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
    rule(
        ("hex_command", "printf echo"),
        Obfuscation,
        USUAL,
        r#"(?i)[$`]\(?\s*(?:printf|echo\s+-\w*e\w*)\s+["']?(?:\\x[0-9a-f]{2}|\\[0-7]{3}){3,}"#,
        "hides what it runs",
    ),
];
