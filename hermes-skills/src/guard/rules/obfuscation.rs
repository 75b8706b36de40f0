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
    rule(
        ("exec_unpacked", "pack( unpack .pack h* gzinflate gzuncompress gzdecode str_rot13 strrev base64 convert_uudecode hex2bin rawurldecode bzdecompress zlib unhexlify fromhex rot13 rot_13 decompress atob buffer.from unescape fromcharcode chr( chrw("),
        Obfuscation,
        RUNS,
        r#"(?i)\b(?:eval|exec|system|qx|assert|create_function|preg_replace|call_user_func\w*|instance_eval|class_eval|iex|invoke-expression|Function|execScript|ExecuteGlobal|loadstring|shell_exec|passthru|popen|os\.execute|execSync)\b[\s(@"'{]*(?:[\w.:>$-]+\s*\(\s*){0,4}(?:pack\s*\(?\s*["'][Hhu]|unpack\s*\(?\s*["']|gzinflate|gzuncompress|gzdecode|str_rot13|strrev|base64_decode|convert_uudecode|hex2bin|rawurldecode|bzdecompress|decode_base64|MIME::Base64|Base64\.\w*decode\w*|Zlib::|b64decode|unhexlify|fromhex|rot_?13|decompress|atob|Buffer\.from|unescape|fromCharCode|FromBase64String|ChrW?\()|\b(?:eval|exec|system|qx|assert|create_function|preg_replace|call_user_func\w*|instance_eval|class_eval|iex|invoke-expression|Function|execScript|ExecuteGlobal|loadstring|shell_exec|passthru|popen|os\.execute|execSync)\b[\s(@]+[^\n;]{0,200}\.(?:pack|unpack1?)\s*\(?\s*["'][mHhuC]"#,
        "decodes a program and runs it",
    ),
    rule(
        ("shell_from_web", "$_get $_post $_request $_cookie"),
        Obfuscation,
        RUNS,
        r"(?i)(?:\b(?:system|exec|passthru|shell_exec|eval|assert|popen|proc_open|create_function)|\$\w+)\s*\(\s*@?\$_(?:GET|POST|REQUEST|COOKIE)\b|\x60\s*\$_(?:GET|POST|REQUEST)",
        "runs what a visitor sends",
    ),
    rule(
        ("translated_to_shell", "a-z a-y a-m n-z b-z [: rev xxd base32 base64 openssl uudecode gzip xz bzip2"),
        Obfuscation,
        RUNS,
        r#"(?i)\b(?:echo|printf|cat|tail|sed|head)\b[^\n]*\|\s*(?:tr\s+["'\w\\\[]|rev\b|xxd\s+-\w*r|base\d\d\s+-\w*d|openssl\s+\S+\s[^\n|]*-d|uudecode|(?:gzip|xz|bzip2)\s+-\w*d)[^\n]*\|\s*(?:sudo\s+)?(?:/\S*/)?(?:ba|z|da|k|fi)?sh\b|\b(?:ba|z|da|k)?sh\b[^\n|]{0,12}(?:<<<|<\(|-c)\s*["'(]*\$?\(?[^\n]*(?:\|\s*(?:rev\b|tr\s|xxd\s+-\w*r|base\d\d\s+-\w*d)|\bbase\d\d\s+-\w*d)|\beval\s+["'\x60(]*\$?\(?[^\n]*(?:\|\s*(?:rev\b|tr\s|xxd\s+-\w*r|base\d\d\s+-\w*d|openssl\s+\S+\s[^\n|]*-d)|<<<[^\n]*\|\s*rev)"#,
        "decodes a program and runs it",
    ),
    rule(
        ("sliced_command", "${ comspec :~ /? [char iex invoke- gcm get-command -join -bxor -replace {0}"),
        Obfuscation,
        RUNS,
        r#"(?i)(?:\$\{\w+:\d+:\d+\}\S*){2,}|(?:%\w+:~-?\d+,\s*-?\d+%\S*){2,}|\$env:comspec\[|(?:^|[;&|(]\s*|\$\()/[\w?*]*\?[\w?*]*/[\w?*/]*\?[\w?*]*(?:\s|$)|\[char\[\]\][^\n]*-join|\b(?:iex|invoke-expression)\b[^\n]*(?:-join|\[char|\[array\]::reverse|-bxor)|[&.]\s*\(\s*(?:["'](?:iex|invoke-expression|cmd|powershell)["']\s*\)|["'][^"']{0,24}["']\s*(?:\+|-f|-replace)|\$\w+\[|gcm\s|get-command\s[^\n)]*\*)"#,
        "hides what it runs",
    ),
    rule(
        ("named_by_text", "getattr import_module constructor child_process preg_replace chr( send(:eval public_send \\u00 create_function"),
        Obfuscation,
        RUNS,
        r#"(?i)\bgetattr\(\s*[\w.]+\s*,\s*["'](?:system|popen|exec\w*|eval|spawn\w*|check_output)["']|\bimport_module\(\s*["'](?:os|subprocess|pty|ctypes)["']\s*\)|\[["']constructor["']\]\s*\[["']constructor["']\]|\.constructor\.constructor\s*\(|\brequire\([^)\n]*\)\s*\[\s*["'](?:exec|spawn)\w*["']|\bpreg_replace\s*\(\s*["'](/|#).*(?:/|#)\w*e\w*["']|(?:Chr\(\d+\)\s*&\s*){3,}|\b(?:public_)?send\(\s*:(?:eval|system|exec|instance_eval)|(?:\\u00[2-7][0-9a-f]){4,}"#,
        "hides what it runs",
    ),
    rule(
        ("characters_run", "chr( map( pickle marshal dill constructor("),
        Obfuscation,
        RUNS,
        r#"(?i)\bmap\(\s*chr\s*,\s*[\[(]\s*\d+\s*,|\bchr\([^)]*\)\s+for\s+\w+\s+in\s+[\[(]\s*\d+\s*,|\b(?:pickle|marshal|dill)\.loads\(\s*(?:\w+\.)*(?:a?b64decode|b85decode|fromhex|decompress)\(|\.constructor\(\s*["']return\b"#,
        "hides what it runs",
    ),
];
