//! What opens the machine to others or uses it for them.

use super::{ALWAYS, RUNS, Rule, STRONG, Spared, USUAL, rule};
use crate::guard::Category::Network;

pub(super) const RULES: &[Rule] = &[
    rule(
        ("reverse_shell", "/dev/tcp /dev/udp nc netcat socat s_client telnet /inet"),
        Network,
        STRONG,
        r"(?i)/dev/(?:tcp|udp)/[\w.$]+/\d|\b(?:nc|ncat|netcat)\b[^\n;|]*\s(?:-[a-z]*[ec]|--(?:sh-)?exec)\s*\S*(?:sh|cmd)|\bsocat\b[^\n]*\bEXEC:|\bmkfifo\b[^\n]*\bnc\b|\|\s*(?:/bin/)?(?:ba|z|da)?sh\s+-i\b[^\n|]*\|\s*(?:nc|ncat|netcat|socat|telnet|openssl\s+s_client)\b|/inet6?/(?:tcp|udp)/\d+/|\bnc\b[^\n]*\|\s*(?:/bin/)?(?:ba)?sh\b|\b(?:openssl\s+s_client|telnet)\b[^\n]*\|\s*(?:/bin/)?(?:ba)?sh\b",
        "opens a shell to another machine",
    )
    .spared(Spared::LocalPort),
    rule(
        ("reverse_shell_script", "socket fsockopen net.connect dup2"),
        Network,
        RUNS,
        r"(?i)\b(?:perl|python\d?(?:\.\d+)?|ruby|php|lua|node)\s+-\S.*(?:\br?socket\b|tcpsocket|fsockopen|net\.connect)|\bsocket\b.*\b(?:dup2|pty\.spawn|subprocess\.\w+\()|\bos\.dup2\s*\(\s*\w+\.fileno",
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
        ("mining", "xmrig stratum randomx rx/0 kawpow ethash progpow autolykos coinhive cryptonight minerd"),
        Network,
        RUNS,
        r"(?i)\bxmrig\b|stratum\+(?:tcp|ssl)://|\bcoinhive\b|\bcryptonight\b|\bminerd\b|\b(?:randomx|rx/0|kawpow|ethash|progpow|autolykos2)\b[^\n]*(?:\s-o\s|--url|--pool|pool\.)",
        "mines coins",
    ),
    rule(
        ("reverse_shell_piped", "spawn exec tcpclient pipe( fsockopen connect"),
        Network,
        RUNS,
        r#"(?i)\.pipe\(.*\b(?:spawn|exec)\w*\(\s*["'][^"']*(?:sh|cmd|powershell)\b|\b(?:spawn|exec)\w*\(\s*["'][^"']*(?:sh|cmd(?:\.exe)?|powershell)["'].*\.pipe\(|Net\.Sockets\.TCPClient[^\n]*(?:\biex\b|invoke-expression|\bcmd\b|powershell)|(?:\biex\b|invoke-expression)[^\n]*Net\.Sockets\.TCPClient|\bfsockopen\b[^\n]*\b(?:exec|proc_open|shell_exec|system|passthru|popen)\s*\(|\bsocket\b[^\n]*connect[^\n]*["']/bin/(?:ba)?sh"#,
        "opens a shell to another machine",
    ),
    rule(
        ("serves_disk", "http.server simplehttpserver http-server ttyd gotty php dockerd x11vnc jupyter permitrootlogin permitemptypasswords npx tcp://0.0.0.0"),
        Network,
        ALWAYS,
        r#"(?i)\b(?:http\.server|simplehttpserver)\b[^\n\x60]*(?:--directory|\s-d)[ =]["']?(?:/|~/?|\$\{?HOME\}?/?|/etc|/home|/root|c:\\?)["']?(?:\s|$|[\x60"';&|,.)])|\bcd\s+(?:/|~|\$HOME)\s*(?:&&|;)[^\n]*\b(?:http\.server|simplehttpserver|http-server|php\s+-S)|\bphp\s+-S\s+\S+\s+-t\s+["']?(?:/|~/?|\$\{?HOME\}?/?|/etc|/home|/root|c:\\?)["']?(?:\s|$|[\x60"';&|,.)])|\b(?:http-server|npx\s+(?:-y\s+)?serve)\s+(?:-\S+\s+(?:\d+\s+)?)*["']?(?:/|~/?|\$\{?HOME\}?/?|/etc|/home|/root|c:\\?)["']?(?:\s|$|[\x60"';&|,.)])|-H\s*tcp://0\.0\.0\.0|\bx11vnc\b[^\n]*-nopw|\bjupyter\b[^\n]*0\.0\.0\.0[^\n]*token=["']*(?:\s|$|["'])|\bpermit(?:rootlogin|emptypasswords)\s+yes|\b(?:ttyd|gotty)\s+(?:-\S+\s+(?:\d+\s+)?)*(?:ba|z)?sh\b"#,
        "opens the machine to the network",
    ),
    rule(
        ("remote_desk", "enable-psremoting portproxy fdenytsconnections anydesk rustdesk teamviewer"),
        Network,
        USUAL,
        r"(?i)\benable-psremoting\b|\bportproxy\s+add\b|\bfdenytsconnections\b[^\n]*\b0\b|\b(?:anydesk|rustdesk|teamviewer)\b[^\n]*--?(?:set-)?password",
        "opens the machine to the network",
    ),
];
