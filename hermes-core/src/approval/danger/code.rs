//! Code for interpreters that stands in a command.
//!
//! What it does cannot be known, so it is harmless only if everything it calls is in a list.

/// What code may call and still be harmless: it computes and shows.
const PURE: &str = "print println printf puts p echo say log error warn len length size str int float \
    bool repr ord chr hex oct bin abs round min max sum sorted sort reversed reverse list dict set \
    tuple map filter reduce zip enumerate range any all type isinstance format join split strip \
    lstrip rstrip trim replace sub gsub match search findall upper lower title upcase downcase touppercase \
    tolowercase startswith endswith find index count items keys values get append extend push pop \
    json loads load dumps dump stringify parse read readline readlines readfilesync stdin write \
    sqrt pow floor ceil log2 log10 sin cos now today utcnow time strftime isoformat date datetime \
    version getsizeof b64encode b64decode hexdigest sha256 sha1 md5 digest encode decode quote unquote \
    uuid4 random randint choice token_hex exit if for while return and or not in is lambda switch \
    sprintf substr open path exists isfile isdir basename dirname abspath require math foreach \
    slice concat includes indexof tostring tofixed number string object array entries fromentries \
    console process platform cwd getcwd scan to_s to_i each inspect const let var function def";
/// Modules that only compute.
const PURE_MODULES: &str = "sys json math re datetime time random string collections itertools \
    functools statistics decimal fractions hashlib base64 uuid textwrap pprint platform calendar \
    operator secrets csv typing os.path struct binascii unicodedata strict warnings 5.010";
/// What is not harmless in languages whose calls need no brackets.
const RISKY: &str = "system exec execv execvp execl popen spawn spawnsync execsync execfile fork \
    unlink unlinksync rmtree rmdir rmdirsync rmsync rm_rf rm_r remove removesync rename renames chmod \
    chown kill killpg socket connect eval compile __import__ importlib getattr subprocess \
    child_process fs fileutils shell_exec passthru proc_open ctypes os pty shutil deltree opendir \
    writefile writefilesync truncate symlink qx backtick urlopen urllib requests httpx fetch \
    net http invoke do syscall pipe open3";
/// How files are opened to be written.
const MODES: &str = "w a x w+ a+ r+ wb ab xb w+b r+b wt at > >>";

/// What code says.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) is_harmless: bool,
    /// The texts in it.
    pub(super) texts: Vec<String>,
}

fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// Judges `text`. `is_terse` says that calls need no brackets and backticks run commands.
pub(super) fn judge(text: &str, is_terse: bool) -> Code {
    let mut code = Code { is_harmless: true, texts: Vec::new() };
    let mut words: Vec<(String, bool)> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        if matches!(ch, '\'' | '"' | '`') {
            let mut literal = String::new();
            while let Some(it) = chars.next().filter(|it| *it != ch) {
                let it = if it == '\\' { chars.next().unwrap_or(it) } else { it };
                literal.push(it);
            }
            code.is_harmless &= !(is_terse && ch == '`');
            code.texts.push(literal);
        } else if ch.is_alphanumeric() || ch == '_' {
            let mut word = ch.to_lowercase().to_string();
            while let Some(it) = chars.next_if(|it| it.is_alphanumeric() || *it == '_') {
                word.extend(it.to_lowercase());
            }
            while chars.next_if(|it| *it == ' ').is_some() {}
            words.push((word, chars.peek() == Some(&'(')));
        } else if is_terse && ch == '|' {
            while chars.next_if(|it| *it == ' ').is_some() {}
            if chars.peek() == Some(&'"') {
                // To a command, in `awk`.
                words.push(("pipe".to_owned(), true));
            }
        }
    }
    code.is_harmless &= words.iter().all(|(word, is_called)| {
        !(lists(RISKY, word) && (is_terse || *is_called || word.contains("import")))
            && (!is_called || lists(PURE, word))
    });
    code.is_harmless &= modules(text).all(|it| lists(PURE_MODULES, it));
    let writes = code.texts.iter().any(|it| lists(MODES, it));
    code.is_harmless &= !(writes && words.iter().any(|(word, _)| word == "open"));
    code.is_harmless &= !(is_terse && code.texts.iter().any(|it| it.trim_start().starts_with('|')));
    code
}

/// Returns the modules that the code brings in.
fn modules(text: &str) -> impl Iterator<Item = &str> {
    let statements = text.split(['\n', ';']);
    statements.flat_map(|statement| {
        let mut words =
            statement.split([' ', '\t', ',', '(', ')', '\'', '"']).filter(|it| !it.is_empty());
        let brings =
            words.next().is_some_and(|it| matches!(it, "import" | "from" | "use" | "require"));
        words.take_while(|it| !matches!(*it, "import" | "as" | "qw")).take(if brings {
            8
        } else {
            0
        })
    })
}
