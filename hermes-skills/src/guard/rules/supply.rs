//! What runs or installs code that nobody has seen.

use super::{ALWAYS, RUNS, Rule, Spared, USUAL, rule};
use crate::guard::{
    Category::SupplyChain,
    Severity::{Critical, Medium},
};

pub(super) const RULES: &[Rule] = &[
    rule(
        ("download_and_run", "curl wget fetch http"),
        SupplyChain,
        RUNS,
        r"(?i)\b(?:curl|wget|fetch)\b[^\n|]*(?:\|\s*(?:tee|gunzip|zcat|tr|sed|base64|cat)\b[^\n|]*){0,2}\|\s*(?:sudo\s+(?:-\S+\s+)*)?(?:env\s+\S+\s+)?(?:/\w+/)*(?:(?:ba|z|da|k)?sh|perl|node|ruby|php)\b|\b(?:curl|wget)\b[^\n|]*\|\s*(?:sudo\s+)?python[\d.]*\s*(?:-\s*)?(?:$|[;&)\x60'\x22]|#)|https?://[^\s|]+[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\s*(?:$|[;&)\x60'\x22]|-)|(?:\b(?:(?:ba|z)?sh|source|eval|python\d?|perl|ruby|node)\s+|^\s*\.\s+)(?:-[ce]\s+)?[\x22']?(?:<|\$)\(\s*(?:curl|wget)\b[^\n)]*",
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("download_then_run", "curl wget"),
        SupplyChain,
        (Critical, Medium),
        r"(?i)\b(?:curl|wget)\b[^\n]*(?:-[a-zA-Z]*[oO]|--output|>)\s*(\S+)[^\n]*(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:a|u)?\+x|chmod\s+7|(?:ba|z)?sh\s|\./|python\d?\s+/tmp|(?:source|\.)\s+/)",
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("foreign_index", "http://"),
        SupplyChain,
        USUAL,
        r"(?i)\b(?:pip\d?|uv)\b[^\n;|]*\s(?:--index-url|--extra-index-url|-i|-f|--find-links)\s*=?\s*http://\S*|\b(?:npm|pnpm|yarn)\b[^\n;|]*\bregistry[= ]+http://\S*|\bgem\s+(?:sources?\s[^\n;|]*-(?:a|-add)|install\s[^\n;|]*-(?:s|-source))[ =]+http://\S*|\bdeb\s+\[[^\]]*trusted=yes[^\n]*http://\S*",
        "installs over a connection that anyone can change",
    )
    .spared(Spared::ThisMachine),
    rule(
        ("foreign_index_kept", "http://"),
        SupplyChain,
        ALWAYS,
        r#"(?i)^\s*(?:--(?:extra-)?index-url|index-url|registry)\s*[= ]\s*http://\S*|"(?:git\+)?http://[^"]+\.t(?:ar\.)?gz""#,
        "installs over a connection that anyone can change",
    )
    .spared(Spared::ThisMachine),
    rule(
        ("download_then_call", "urlretrieve downloadfile outfile"),
        SupplyChain,
        RUNS,
        r"(?i)(?:\burlretrieve|\bdownloadfile|-outfile)\b[^\n]*;[^\n]*(?:\bos\.(?:system|chmod|exec\w+|startfile)|\bsubprocess\.\w+|\bstart-process|\binvoke-item|\bexec|&\s)",
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("download_open", "http:// https://"),
        SupplyChain,
        RUNS,
        r"(?i)\b(?:curl|wget|git\s+clone)\b[^\n]*(?:http://|https://\d+\.\d+\.\d+\.\d+)[^\n]*(?:&&|;)\s*(?:sudo\s+)?(?:chmod\s+(?:[au]?\+\w*x|[0-7]*[1357])\b|(?:nohup|setsid|exec)\s|(?:ba|z)?sh\s+\S|make\b|pip\s|npm\s|\./\w|/(?:tmp|var/tmp|dev/shm)/)",
        "runs what came over a connection that anyone can change",
    )
    .spared(Spared::ThisMachine),
    rule(
        ("exec_fetched", "fetch get( open( urlopen recv( request downloadstring download("),
        SupplyChain,
        RUNS,
        r#"(?i)(?:\bfetch|\bhttps?["']?\)?\.get|\baxios\.get|\bgot)\s*\(.*(?:\bnew\s+Function\s*\(|\beval\s*\(|\bvm\.run\w+\()|(?:^|[^.\w])(?:os\.system|os\.popen|exec|eval|execSync|system|popen|loadstring|vm\.run\w+|new\s+Function)\s*\(.*(?:\brequests\.get\(|\burlopen\(|\bhttpx\.get\(|\brecv\(|\bURI\.open\(|\bNet::HTTP\b|\bfetch\(|\bhttp\.request\()|\bsubprocess\.\w+\(\s*(?:requests\.get|urllib\.request\.urlopen|urlopen|\w+\.recv|httpx\.get)\(|\beval\s+(?:get|lwp\w*)\b.*https?:|\bfetch\s*\([^\n]*\.then\(\s*(?:eval|Function)\s*\)|\brequire\(\s*["']https?:|\binclude(?:_once)?\b\s*\(?\s*["']https?:"#,
        "runs what it downloads",
    ),
    rule(
        ("hidden_program", "/tmp/. /dev/shm/."),
        SupplyChain,
        ALWAYS,
        r"(?:^\s*|[;&|(`\x22']\s*|\b(?:nohup|exec|setsid|sh|bash|chmod\s+\S+)\s+)(?:/var)?/(?:tmp|dev/shm)/\.\w",
        "runs a program from a hidden place",
    ),
    rule(
        ("install_hook", "install\""),
        SupplyChain,
        ALWAYS,
        r#""(?:pre|post)?install"\s*:\s*"[^\n]*?(?:\bnode\s+-e|\bpython\d?\s+-c|\bcurl\b|\bwget\b|\bpowershell\b|\bbase64\b|\bsh\s+-c|\bnc\b)"#,
        "has code run when it is installed",
    ),
    rule(
        ("package_url", "install add"),
        SupplyChain,
        USUAL,
        r"(?i)\b(?:(?:npm|pnpm|yarn|bun)\s+(?:install|i|add)|pip\d?\s+install|uv\s+(?:pip\s+install|add)|gem\s+install|cargo\s+install\s+--git)\s+(?:-\S+\s+)*(?:git\+)?https?://\S+",
        "installs a package from anywhere",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("download_and_source", "curl wget fetch iwr irm invoke- aria2c lynx psub"),
        SupplyChain,
        RUNS,
        r#"(?i)\b(?:curl|wget|fetch|aria2c|lynx|w3m|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n|]*\|\s*(?:sudo\s+)?(?:/\S*/)?(?:fish|source|pwsh|powershell|tclsh|lua|deno|bun|osascript|cmd|t?csh|ash|nu|iex|invoke-expression)\b|(?:\b(?:source|eval|fish\s+-c)\s+["']?|^\s*\.\s+)\(\s*(?:curl|wget)\b[^\n)]*"#,
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("download_by_system", "certutil bitsadmin mshta regsvr32 rundll32 msiexec wmic cmstp wscript cscript"),
        SupplyChain,
        RUNS,
        r#"(?i)\bcertutil(?:\.exe)?\b[^\n]*[-/]urlcache|\bbitsadmin\b[^\n]*/transfer|\bmshta(?:\.exe)?\s+["']?(?:https?:|javascript:|vbscript:)|\bregsvr32\b[^\n]*/i:\s*https?:|\brundll32\b[^\n]*(?:https?:|javascript:|url\.dll)|\bmsiexec\b[^\n]*\s/(?:i|q\w*)\s[^\n]*http|\bwmic\b[^\n]*process\s+call\s+create|\b[wc]script\b[^\n]*(?:https?:|%temp%|\\\\)"#,
        "runs what it downloads",
    ),
    rule(
        ("download_then_start", "iwr irm invoke-webrequest invoke-restmethod bitstransfer curl wget"),
        SupplyChain,
        RUNS,
        r#"(?i)\b(?:iwr|irm|invoke-webrequest|invoke-restmethod|start-bitstransfer)\b[^\n]*\s-(?:o(?:ut\w*)?|destination)\b[^\n]*[;&|]\s*(?:&\s*|start(?:-process)?\s+|invoke-item\s+|ii\s+|\.\\|\./|cmd\s)|\b(?:curl|wget)(?:\.exe)?\b[^\n]*(?:-o|--output)\s*["']?(\S+\.(?:exe|bat|cmd|ps1|vbs|msi|scr))["']?[^\n]*(?:&|;)\s*(?:start\s+)?["']?(?:%\w+%|\$env:\w+|\.|[a-z]:)?\\?[\w\\.-]*\.(?:exe|bat|cmd|ps1|vbs|msi|scr)"#,
        "runs what it downloads",
    )
    .spared(Spared::KnownInstaller),
    rule(
        ("foreign_index_forced", "--trusted-host trusted=yes --allow-unauthenticated --nogpgcheck strict-ssl"),
        SupplyChain,
        ALWAYS,
        r"(?i)--trusted-host[ =]\S+[^\n]*http://\S+|http://\S+[^\n]*--trusted-host[ =]\S+|\bnpm\b[^\n]*strict-ssl[ =]false[^\n]*http://",
        "installs over a connection that anyone can change",
    )
    .spared(Spared::ThisMachine),
    rule(
        ("eval_fetched", "eval load loadstring dostring"),
        SupplyChain,
        RUNS,
        r#"(?i)\b(?:eval|instance_eval|class_eval|loadstring|load|dostring)\b[\s(@"'{]*(?:[\w.:>$-]+[\s(]*){0,3}(?:file_get_contents|curl_exec|LWP::Simple|URI\.(?:open|parse)|Net::HTTP|HTTP::Tiny|http\.request|urlopen|requests\.get|httpx\.get)\b[^\n]*https?:"#,
        "runs what it downloads",
    ),
    rule(
        ("formula", "=cmd| +cmd| -cmd| @cmd| |powershell =dde( =webservice( =importxml( =importdata( =hyperlink( cmd|"),
        SupplyChain,
        RUNS,
        r#"(?i)(?:^|[,;\t"])\s*[=+@-]\s*[\w+*.()]*(?:cmd|powershell|mshta|rundll32|msexcel)\s*\||(?:^|[,;\t"])\s*=\s*(?:webservice|importxml|importdata|hyperlink)\(\s*"*https?://[^\n]*&"#,
        "is a table that runs a command when it is opened",
    ),
    rule(
        ("database_command", "program xp_cmdshell outfile dumpfile sys_exec sys_eval"),
        SupplyChain,
        USUAL,
        r"(?i)\b(?:to|from)\s+program\s+'|\bxp_cmdshell\b|\binto\s+(?:out|dump)file\b[^\n]*\.(?:php|jsp|sh)\b|\bsys_(?:exec|eval)\(",
        "has a database run a command",
    ),
];
