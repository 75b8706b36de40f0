//! Commands that read code: what the shell has built in, shells, interpreters, and their like.

use super::{
    DangerClass, code,
    expand::Arg,
    fold::{Text, placed, span, string},
    follow::{option, program},
    output::decode,
    place::{self, Place},
    rule::{Call, has_flag, lists},
    sql,
    table::{AWKS, INTERPRETERS, Interpreter, SHELLS, SQL, XARGS},
    walk::{Data, Walk, joined},
};

impl Walk {
    /// Judges code that a shell runs.
    pub(super) fn execute(&mut self, code: Data, args: &[Arg], input: Data) -> Data {
        if code.taint.is_remote {
            self.find(DangerClass::RemoteCode, args);
        } else if code.taint.is_decoded {
            self.find(DangerClass::HiddenCode, args);
        }
        code.text.map(|text| self.code(&text, input)).unwrap_or_default()
    }

    /// Does what the shell itself does for a command, if it is one of its own.
    pub(super) fn builtin(&mut self, name: &str, args: &[Arg], input: &Data) -> Option<Data> {
        let rest = args.get(1..)?;
        match name {
            "eval" => return Some(self.execute(joined(rest), args, input.clone())),
            "iex" | "invoke-expression" => {
                let code = if rest.is_empty() { input.clone() } else { joined(rest) };
                return Some(self.execute(code, args, Data::default()));
            }
            "source" | "." => {
                let data = self.content(rest.first()?);
                return Some(self.execute(data, args, input.clone()));
            }
            "trap" => return Some(self.execute(joined(rest.get(..1)?), args, Data::default())),
            "alias" => self.define(rest),
            "export" | "declare" | "typeset" | "local" | "readonly" | "set" => {
                self.set(name, rest);
            }
            "read" => {
                if let Some(variable) = rest.last() {
                    self.variables.insert(variable.word.clone(), input.clone());
                }
            }
            "cd" | "pushd" | "chdir" => self.enter(rest.last()),
            "cp" | "mv" => {
                if let [.., from, to] = rest {
                    let data = self.content(from);
                    self.keep(to, data);
                }
                return None;
            }
            _ => return None,
        }
        Some(Data::of(Text::new()))
    }

    fn define(&mut self, args: &[Arg]) {
        for arg in args {
            if let Some((name, _)) = arg.word.split_once('=') {
                let value = arg.text.iter().skip(name.chars().count().saturating_add(1));
                self.aliases.insert(name.to_owned(), value.copied().collect());
            }
        }
    }

    fn set(&mut self, name: &str, args: &[Arg]) {
        if name == "set" {
            let start = args.iter().position(|arg| arg.word == "--");
            self.positions(
                start.and_then(|at| args.get(at.saturating_add(1)..)).unwrap_or_default(),
            );
            return;
        }
        for arg in args {
            if let Some((name, _)) = arg.word.split_once('=') {
                let value = arg.text.iter().skip(name.chars().count().saturating_add(1));
                let data = Data { text: Some(value.copied().collect()), taint: arg.taint };
                self.variables.insert(name.to_owned(), data);
            }
        }
    }

    fn enter(&mut self, folder: Option<&Arg>) {
        let Some(arg) = folder else {
            self.folder = Some("~".to_owned());
            return;
        };
        let word = arg.word.trim_end_matches('/');
        self.folder = match &self.folder {
            _ if arg.is_unknown => None,
            _ if arg.word.starts_with(['/', '~']) => Some(word.to_owned()),
            Some(before) => Some(format!("{before}/{word}")),
            None => None,
        };
    }

    /// Judges a program that reads code or statements, if it is one.
    pub(super) fn interpreted(&mut self, name: &str, args: &[Arg], input: &Data) -> Option<Data> {
        let rest = args.get(1..)?;
        if lists(SHELLS, name) {
            return Some(self.shell(args, input.clone()));
        }
        if let Some(interpreter) = INTERPRETERS.iter().find(|it| lists(it.names, name)) {
            return Some(self.interpret(interpreter, args, input));
        }
        match name {
            "find" | "gfind" | "fd" | "fdfind" => return Some(self.search(args)),
            "xargs" | "gxargs" => return Some(self.each(args, input)),
            "powershell" | "pwsh" => return Some(self.power_shell(args, input)),
            "cmd" => {
                let at = rest.iter().position(|it| lists("/c /k /C /K", &it.word))?;
                let code = joined(rest.get(at.saturating_add(1)..)?);
                return Some(self.execute(code, args, input.clone()));
            }
            "at" | "batch" => return Some(self.execute(input.clone(), args, Data::default())),
            _ => {}
        }
        if lists(AWKS, name) {
            let call = Call { name, args: rest, values: "-F -v -f", folder: None };
            let code = call.operands(0).next().map(|(_, arg)| joined(std::slice::from_ref(arg)))?;
            self.judge_code(&code, args, true);
        }
        self.statements(name, args, input);
        self.options_with_code(name, args);
        None
    }

    fn shell(&mut self, args: &[Arg], input: Data) -> Data {
        let (mut at, mut is_code, mut is_input) = (1_usize, false, false);
        while let Some(word) = args.get(at).map(|arg| arg.word.as_str()) {
            if !word.starts_with(['-', '+']) || word == "-" {
                break;
            }
            at = at.saturating_add(1);
            if word == "--" {
                break;
            }
            let is_short = !word.starts_with("--");
            is_code |= is_short && word.contains('c');
            is_input |= is_short && word.contains('s') && !word.contains("posix");
            if lists("-o +o -O +O --rcfile --init-file -eo -euo -uo -xeuo -euxo", word) {
                at = at.saturating_add(1);
            }
        }
        match args.get(at) {
            Some(code) if is_code => {
                let positions = args.get(at.saturating_add(2)..).unwrap_or_default();
                self.positions(positions);
                let code = Data { text: Some(code.text.clone()), taint: code.taint };
                self.execute(code, args, input)
            }
            Some(file) if file.word != "-" && file.word != "/dev/stdin" && !is_input => {
                let data = self.content(file);
                self.execute(data, args, input)
            }
            _ => self.execute(input, args, Data::default()),
        }
    }

    fn interpret(&mut self, interpreter: &Interpreter, args: &[Arg], input: &Data) -> Data {
        let rest = args.get(1..).unwrap_or_default();
        let output = Data { text: None, taint: input.taint };
        if rest.iter().any(|arg| arg.word == "-m") {
            return output;
        }
        if let Some(code) = inline(interpreter, rest) {
            self.judge_code(&code, args, interpreter.is_terse);
            return output;
        }
        let call = Call { name: "", args: rest, values: interpreter.values, folder: None };
        match call.operands(0).next().map(|(_, arg)| arg) {
            Some(file) if file.word != "-" => {
                let data = self.content(file);
                if data.taint.is_remote || data.taint.is_decoded || data.text.is_some() {
                    self.judge_code(&data, args, interpreter.is_terse);
                }
            }
            _ if has_flag(rest, "--version -V -v --help -h") => {}
            _ if input.text.is_some() || input.taint.is_remote || input.taint.is_decoded => {
                self.judge_code(input, args, interpreter.is_terse);
            }
            _ => {}
        }
        output
    }

    /// Judges code in a language that is no shell's.
    fn judge_code(&mut self, code: &Data, args: &[Arg], is_terse: bool) {
        if code.taint.is_remote {
            self.find(DangerClass::RemoteCode, args);
        } else if code.taint.is_decoded {
            self.find(DangerClass::HiddenCode, args);
        }
        let Some(text) = &code.text else {
            self.find(DangerClass::InlineCode, args);
            return;
        };
        let judged = code::judge(&string(text), is_terse);
        if judged.is_harmless {
            return;
        }
        self.find(DangerClass::InlineCode, args);
        let place = span(text).unwrap_or_default();
        for literal in judged.texts.iter().filter(|it| it.contains(' ')) {
            self.code(&placed(literal, place), Data::default());
        }
    }

    fn search(&mut self, args: &[Arg]) -> Data {
        let rest = args.get(1..).unwrap_or_default();
        let roots = rest.iter().take_while(|arg| !arg.word.starts_with(['-', '(', '!']));
        let is_vital =
            roots.clone().any(|arg| place::is(arg, Place::Vital, self.folder.as_deref()));
        let deletes = if is_vital { DangerClass::SystemDelete } else { DangerClass::BulkDelete };
        if rest.iter().any(|arg| arg.word == "-delete") {
            self.find(deletes, args);
        }
        let starts = "-exec -execdir -ok -okdir -x -X --exec --exec-batch";
        for (at, _) in rest.iter().enumerate().filter(|(_, arg)| lists(starts, &arg.word)) {
            let command = rest.get(at.saturating_add(1)..).unwrap_or_default();
            let command = command.iter().take_while(|arg| arg.word != ";" && arg.word != "+");
            let command: Vec<Arg> = command.map(filled).collect();
            if command.first().is_some_and(|it| lists("rm unlink shred rmdir srm", &program(it))) {
                self.find(deletes, args);
            }
            self.run(&command, Data::default());
        }
        Data::default()
    }

    /// Judges what `xargs` runs for each line.
    fn each(&mut self, args: &[Arg], input: &Data) -> Data {
        let rest = args.get(1..).unwrap_or_default();
        let call = Call { name: "xargs", args: rest, values: XARGS, folder: None };
        let Some((at, first)) = call.operands(0).next() else { return input.clone() };
        let mut command: Vec<Arg> = rest.get(at..).unwrap_or_default().iter().map(filled).collect();
        if lists("rm unlink shred srm", &program(first)) {
            self.find(DangerClass::BulkDelete, args);
        }
        match &input.text {
            Some(text) if self.spend(text.len()) => {
                let words = text.split(|glyph| glyph.ch.is_whitespace());
                command.extend(words.filter(|it| !it.is_empty()).map(|it| Arg::of(it.to_vec())));
            }
            _ => command.push(Arg::unknown(input.taint)),
        }
        let is_shell = lists(SHELLS, &program(first));
        if is_shell && has_flag(rest.get(at..).unwrap_or_default(), "-c") && input.taint.is_remote {
            self.find(DangerClass::RemoteCode, args);
        }
        self.run(&command, Data::default())
    }

    fn power_shell(&mut self, args: &[Arg], input: &Data) -> Data {
        let rest = args.get(1..).unwrap_or_default();
        let begins = |flag: &str, arg: &Arg| {
            let word = arg.word.to_lowercase();
            1 < word.len() && flag.starts_with(&word)
        };
        if let Some(at) =
            rest.iter().position(|it| begins("-encodedcommand", it) && it.word.len() != 3)
        {
            let encoded = rest.get(at.saturating_add(1)).map(|it| it.text.clone());
            let decoded = encoded.and_then(|it| decode(&it)).map(|mut text| {
                text.retain(|glyph| glyph.ch != '\0');
                text
            });
            return decoded.map(|it| self.code(&it, Data::default())).unwrap_or_default();
        }
        let named =
            rest.iter().position(|it| begins("-command", it)).map(|at| at.saturating_add(1));
        let values = "-executionpolicy -ep -ex -windowstyle -w -version -inputformat -outputformat";
        let plain = || {
            let mut is_value = false;
            rest.iter().position(|arg| {
                let word = arg.word.to_lowercase();
                let is_option = word.starts_with('-') || is_value;
                is_value = !is_value && lists(values, &word);
                !is_option
            })
        };
        let words = named.or_else(plain).and_then(|at| rest.get(at..)).unwrap_or_default();
        let is_input = words.is_empty() || words.first().is_some_and(|it| it.word == "-");
        let code = if is_input { input.clone() } else { joined(words) };
        self.execute(code, args, Data::default())
    }

    /// Judges statements of SQL, as arguments, as standard input, or as if they were commands.
    fn statements(&mut self, name: &str, args: &[Arg], input: &Data) {
        let mut texts: Vec<String> = Vec::new();
        if lists(SQL, name) {
            texts.extend(args.iter().skip(1).map(|arg| arg.word.clone()));
            let attached = args.iter().skip(1).map(|arg| arg.word.as_str());
            texts.extend(attached.filter_map(|it| {
                ["-e", "-c", "-Q", "-q"]
                    .iter()
                    .find_map(|flag| it.strip_prefix(flag))
                    .map(str::to_owned)
            }));
            texts.extend(input.text.as_deref().map(string));
        } else if lists("drop delete truncate update alter", name) {
            texts.extend(joined(args).text.as_deref().map(string));
        }
        let mut classes: Vec<DangerClass> = texts.iter().flat_map(|it| sql::judge(it)).collect();
        classes.sort_unstable();
        classes.dedup();
        for class in classes {
            self.find(class, args);
        }
    }

    /// Follows the options of other programs that are commands.
    fn options_with_code(&mut self, name: &str, args: &[Arg]) {
        let rest = args.get(1..).unwrap_or_default();
        for arg in rest {
            let starts: &[&str] = match name {
                "tar" | "bsdtar" | "gtar" => {
                    &["--checkpoint-action=exec=", "--to-command=", "--use-compress-program="]
                }
                "vim" | "vi" | "nvim" | "view" | "ex" => &[":!", "!"],
                "rsync" => &["--rsh="],
                _ => &[],
            };
            let found = starts.iter().find_map(|start| arg.word.strip_prefix(start));
            if let Some(code) = found {
                let place = span(&arg.text).unwrap_or_default();
                self.code(&placed(code, place), Data::default());
            }
        }
        let Some(setting) = option(rest, "-c").filter(|_| name == "git") else { return };
        let text = setting.text.unwrap_or_default();
        let plain = string(&text);
        if let Some((key, command)) = plain.split_once('=') {
            let key = key.to_lowercase();
            let alias = command.strip_prefix('!');
            let runs = alias.or(Some(command).filter(|_| {
                key.ends_with("command") || key.ends_with("pager") || key.ends_with("editor")
            }));
            if let Some(command) = runs {
                let place = span(&text).unwrap_or_default();
                self.code(&placed(command, place), Data::default());
            }
        }
    }
}

/// Returns an argument in which `{}` stands for something that is not known.
fn filled(arg: &Arg) -> Arg {
    if arg.word == "{}" { Arg::unknown(arg.taint) } else { arg.clone() }
}

/// Returns the code in the arguments of an interpreter.
fn inline(interpreter: &Interpreter, rest: &[Arg]) -> Option<Data> {
    let mut all: Option<Data> = None;
    let mut args = rest.iter();
    while let Some(arg) = args.next() {
        let word = arg.word.as_str();
        let is_long = word.starts_with("--") || !word.starts_with('-');
        let is_flag = interpreter.flags.split_ascii_whitespace().any(|flag| {
            let is_cluster =
                !is_long && flag.len() == 2 && flag.chars().last() == word.chars().last();
            word == flag || (is_cluster && word.len() <= 6)
        });
        let code = if is_flag {
            args.next().map(|it| joined(std::slice::from_ref(it)))
        } else if is_long {
            let start = interpreter
                .flags
                .split_ascii_whitespace()
                .find(|it| word.starts_with(&format!("{it}=")));
            if start.is_none() && !word.starts_with('-') {
                break;
            }
            option(std::slice::from_ref(arg), interpreter.flags)
        } else if word.starts_with("-c") && lists(interpreter.flags, "-c") {
            option(std::slice::from_ref(arg), "-c")
        } else {
            None
        };
        if let Some(code) = code {
            let before = all.take().unwrap_or_default();
            let text = match (before.text, code.text) {
                (Some(mut before), Some(text)) => {
                    before.extend(text);
                    Some(before)
                }
                (before, text) => text.or(before),
            };
            all = Some(Data { text, taint: before.taint.with(code.taint) });
        }
    }
    all
}
