//! Judges a command, and follows it into the commands that it runs.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    DangerClass,
    expand::Arg,
    fold::Glyph,
    place::{self, Place},
    rule::{Call, Rule, lists, takes_value},
    table::{INTERPRETERS, RULES, Rest, SENDS, VALUES, WRAPPERS, Wrapper},
    walk::{Data, Walk, joined},
};

/// Programs that are recognised behind a pattern such as `/bin/r?`.
const BEHIND_PATTERNS: [&str; 8] =
    ["rm", "dd", "mkfs", "shred", "shutdown", "reboot", "chmod", "bash"];

/// What covers what: the second is not reported beside the first.
const COVERED: [(DangerClass, DangerClass); 5] = [
    (DangerClass::SystemDelete, DangerClass::RecursiveDelete),
    (DangerClass::SystemDelete, DangerClass::BulkDelete),
    (DangerClass::KillAll, DangerClass::Kill),
    (DangerClass::Exfiltration, DangerClass::SecretRead),
    (DangerClass::Disk, DangerClass::RawCopy),
];

/// The rules of the table by the programs that they are for.
static BY_PROGRAM: LazyLock<HashMap<&str, Vec<&Rule>>> = LazyLock::new(|| {
    let mut rules: HashMap<&str, Vec<&Rule>> = HashMap::new();
    for rule in RULES {
        for program in rule.programs.split_ascii_whitespace() {
            rules.entry(program).or_default().push(rule);
        }
    }
    rules
});

impl Walk {
    /// Judges the command that `args` are, with everything that it runs. Returns what it writes.
    pub(super) fn run(&mut self, args: &[Arg], input: Data) -> Data {
        if !self.step() || !self.deeper() {
            return Data::default();
        }
        let output = self.command(args, input);
        self.back();
        output
    }

    fn command(&mut self, args: &[Arg], input: Data) -> Data {
        let [first, rest @ ..] = args else { return Data::default() };
        if first.taint.is_remote {
            self.find(DangerClass::RemoteCode, args);
        }
        if let Some(alias) = self.aliases.remove(&first.word) {
            let output = self.alias(&alias, rest, input);
            self.aliases.insert(first.word.clone(), alias);
            return output;
        }
        if let Some(script) = self.functions.get(&first.word).cloned() {
            self.positions(rest);
            return self.script(&script, input);
        }
        let name = program(first);
        self.judge(&name, args, &input);
        self.start_file(first, args);
        if let Some(output) = self.builtin(&name, args, &input) {
            return output;
        }
        if let Some(output) = self.interpreted(&name, args, &input) {
            return output;
        }
        let mut output = None;
        for wrapper in WRAPPERS.iter().filter(|it| lists(it.names, &name)) {
            output = self.follow(wrapper, &name, rest, &input).or(output);
        }
        output.unwrap_or_else(|| self.output(&name, rest, input))
    }

    fn alias(&mut self, text: &[Glyph], rest: &[Arg], input: Data) -> Data {
        let words = text.split(|glyph| glyph.ch.is_whitespace()).filter(|it| !it.is_empty());
        let mut args: Vec<Arg> = words.map(|it| Arg::of(it.to_vec())).collect();
        args.extend(rest.iter().cloned());
        self.code(text, input.clone());
        self.run(&args, input)
    }

    /// Sets what `$1`, `$@` and so on stand for.
    pub(super) fn positions(&mut self, args: &[Arg]) {
        for (at, arg) in args.iter().take(9).enumerate() {
            let number = at.saturating_add(1).to_string();
            self.variables.insert(number, joined(std::slice::from_ref(arg)));
        }
        self.variables.insert("@".to_owned(), joined(args));
        self.variables.insert("*".to_owned(), joined(args));
    }

    fn judge(&mut self, name: &str, args: &[Arg], input: &Data) {
        let rest = args.get(1..).unwrap_or_default();
        let folder = self.folder.clone();
        let call = Call { name, args: rest, values: values(name), folder: folder.as_deref() };
        let is_help = rest.iter().any(|arg| arg.word == "--help" || arg.word == "--version");
        let mut classes: Vec<DangerClass> = Vec::new();
        if !is_help {
            let rules = BY_PROGRAM.get(name).into_iter().flatten();
            classes.extend(rules.filter(|rule| rule.holds(&call)).map(|rule| rule.class));
        }
        if is_hidden_delete(name, rest) {
            classes.push(DangerClass::RecursiveDelete);
        }
        if sends_secrets(&call, input) {
            classes.push(DangerClass::Exfiltration);
        }
        let all = classes.clone();
        let is_covered = |class| COVERED.iter().any(|(by, it)| *it == class && all.contains(by));
        for class in classes.into_iter().filter(|class| !is_covered(*class)) {
            self.find(class, args);
        }
    }

    /// Judges a file of the script's own making that is started by its path.
    fn start_file(&mut self, first: &Arg, args: &[Arg]) {
        if first.word.contains('/') || first.content.is_some() {
            let data = self.content(first);
            if data.taint.is_remote || data.text.is_some() {
                self.execute(data, args, Data::default());
            }
        }
    }

    /// Follows a program into the one that it runs, if it runs one.
    fn follow(
        &mut self,
        wrapper: &Wrapper,
        name: &str,
        rest: &[Arg],
        input: &Data,
    ) -> Option<Data> {
        let start = if wrapper.sub.is_empty() {
            0
        } else {
            let call = Call { name, args: rest, values: values(name), folder: None };
            call.sub(wrapper.sub)?
        };
        let rest = rest.get(start..)?;
        if name == "command" && rest.iter().any(|arg| arg.word == "-v" || arg.word == "-V") {
            return rest.last().map(|arg| Data::of(arg.text.clone()));
        }
        match wrapper.rest {
            Rest::Option(flags) => {
                let code = option(rest, flags)?;
                Some(self.execute(code, rest, input.clone()))
            }
            Rest::Dashes => {
                let at = rest.iter().position(|arg| arg.word == "--")?;
                Some(self.run(rest.get(at.saturating_add(1)..)?, input.clone()))
            }
            Rest::Words => {
                let at = begins(rest, wrapper);
                Some(self.run(rest.get(at..).filter(|it| !it.is_empty())?, input.clone()))
            }
            Rest::Joined => {
                let words = rest.get(begins(rest, wrapper)..).unwrap_or_default();
                let code = if words.is_empty() { input.clone() } else { joined(words) };
                let reads = if words.is_empty() { Data::default() } else { input.clone() };
                Some(self.code(&code.text?, reads))
            }
        }
    }
}

/// Returns the name of a program without its folder and its ending, in lower case.
pub(super) fn program(arg: &Arg) -> String {
    let word = arg.word.replace('^', "").to_lowercase();
    let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let name = [".exe", ".cmd", ".bat", ".com"]
        .iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name);
    if name.starts_with("mkfs") {
        return "mkfs".to_owned();
    }
    if arg.has_pattern
        && let Some(found) = BEHIND_PATTERNS.iter().find(|it| matches(name, it))
    {
        return (*found).to_owned();
    }
    let plain = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    let is_versioned = INTERPRETERS.iter().any(|it| lists(it.names, plain));
    if is_versioned { plain.to_owned() } else { name.to_owned() }
}

/// Returns whether the pattern of a shell fits `name`.
fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().take(64).collect();
    let mut fits = vec![true];
    fits.resize(name.len().saturating_add(1), false);
    let mut at = 0;
    while let Some(sign) = pattern.get(at).copied() {
        at = at.saturating_add(1);
        let set =
            (sign == '[').then(|| pattern.iter().skip(at).position(|it| *it == ']')).flatten();
        let members: Vec<char> =
            set.map(|end| pattern.iter().skip(at).take(end).copied().collect()).unwrap_or_default();
        at = at.saturating_add(set.map_or(0, |end| end.saturating_add(1)));
        let mut next = vec![sign == '*' && fits.first() == Some(&true)];
        for (before, ch) in name.chars().enumerate() {
            let one = fits.get(before) == Some(&true);
            let fit = match sign {
                '*' => {
                    fits.get(before.saturating_add(1)) == Some(&true) || next.last() == Some(&true)
                }
                '?' => one,
                '[' if set.is_some() => one && members.contains(&ch),
                _ => one && sign == ch,
            };
            next.push(fit);
        }
        fits = next;
    }
    fits.last() == Some(&true)
}

/// Returns the options of a program that take the next word.
fn values(name: &str) -> &'static str {
    VALUES.iter().find(|(names, _)| lists(names, name)).map_or("", |(_, values)| values)
}

/// Returns where the words begin that a wrapper runs.
fn begins(rest: &[Arg], wrapper: &Wrapper) -> usize {
    let mut at = 0_usize;
    while let Some(word) = rest.get(at).map(|arg| arg.word.as_str()) {
        if word == "--" {
            at = at.saturating_add(1);
            break;
        }
        if word.starts_with('-') && 1 < word.len() {
            at = at.saturating_add(if takes_value(wrapper.values, word) { 2 } else { 1 });
        } else if is_assignment(word) {
            at = at.saturating_add(1);
        } else {
            break;
        }
    }
    at.saturating_add(wrapper.operands)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|it: char| it.is_ascii_digit())
            && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
    })
}

/// Returns the value of one of the options `flags`.
pub(super) fn option(args: &[Arg], flags: &str) -> Option<Data> {
    for (at, arg) in args.iter().enumerate() {
        if lists(flags, &arg.word) {
            return args.get(at.saturating_add(1)).map(|it| joined(std::slice::from_ref(it)));
        }
        let value = flags.split_ascii_whitespace().find_map(|flag| {
            let rest = arg.word.strip_prefix(flag).filter(|it| !it.is_empty())?;
            if flag.starts_with("--") { rest.strip_prefix('=') } else { Some(rest) }
        });
        if let Some(value) = value {
            let skip = arg.text.len().saturating_sub(value.chars().count());
            return Some(Data::of(arg.text.iter().skip(skip).copied().collect()));
        }
    }
    None
}

/// Returns whether a program of unknown name is given what only a deletion takes.
fn is_hidden_delete(name: &str, rest: &[Arg]) -> bool {
    let is_force = |arg: &Arg| {
        let letters = arg.word.strip_prefix('-').unwrap_or_default();
        letters.len() < 5 && letters.contains('f') && letters.contains(['r', 'R'])
    };
    name.is_empty() && 1 < rest.len() && rest.iter().any(is_force)
}

/// Returns whether keys or passwords are sent elsewhere.
fn sends_secrets(call: &Call<'_>, input: &Data) -> bool {
    if !lists(SENDS, call.name) {
        return false;
    }
    let word_of = |arg: &Arg| arg.word.clone();
    let is_web = lists("curl wget http https xh httpie", call.name);
    let reads_input = !is_web
        || call
            .args
            .iter()
            .map(word_of)
            .any(|it| it.contains("@-") || it == "-" || it.contains("/dev/stdin"));
    let is_secret = |arg: &Arg| place::is(arg, Place::Secret, call.folder);
    let uploads = |arg: &Arg| {
        let path = arg.word.rsplit(['@', '=']).next().unwrap_or_default();
        let file = Arg { word: path.to_owned(), ..Arg::default() };
        arg.word.contains(['@', '=']) && is_secret(&file)
    };
    let after_flag = || {
        option(call.args, "-T --upload-file --post-file --body-file --data-binary")
            .and_then(|it| it.text)
            .is_some_and(|text| is_secret(&Arg::of(text)))
    };
    let copies = lists("scp rsync sftp gsutil rclone aws gh gist mail mutt", call.name);
    (input.taint.is_secret && reads_input)
        || call.args.iter().any(|arg| arg.taint.is_secret || uploads(arg))
        || after_flag()
        || (copies && call.operands(0).any(|(_, arg)| is_secret(arg)))
}
