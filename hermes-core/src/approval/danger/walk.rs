//! Goes through a script in its order, with what is known of variables, files and outputs.

use std::collections::HashMap;

use super::{
    Danger, DangerClass,
    expand::Arg,
    fold::{Glyph, Text, placed, span},
    parse::parse,
    place::{self, Place},
    rule::lists,
    table::SHELLS,
    tree::{Assign, Pipeline, Redirect, Script, Simple, Stage},
    word::{Piece, Word, literal},
};

/// Where text comes from, if that matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Taint {
    /// From another machine.
    pub(super) is_remote: bool,
    /// From something encoded.
    pub(super) is_decoded: bool,
    /// From where keys and passwords are.
    pub(super) is_secret: bool,
}

impl Taint {
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            is_remote: self.is_remote || other.is_remote,
            is_decoded: self.is_decoded || other.is_decoded,
            is_secret: self.is_secret || other.is_secret,
        }
    }
}

/// What a command reads or writes: the text, where it is known, and where it comes from.
#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    pub(super) text: Option<Text>,
    pub(super) taint: Taint,
}

impl Data {
    pub(super) fn of(text: Text) -> Self {
        Self { text: Some(text), taint: Taint::default() }
    }

    pub(super) fn tainted(taint: Taint) -> Self {
        Self { text: None, taint }
    }
}

/// What is known while a script is gone through.
#[derive(Debug, Default)]
pub(super) struct Walk {
    found: Vec<Danger>,
    pub(super) variables: HashMap<String, Data>,
    pub(super) functions: HashMap<String, Script>,
    pub(super) aliases: HashMap<String, Text>,
    pub(super) files: HashMap<String, Data>,
    pub(super) folder: Option<String>,
    bodies: Vec<Word>,
    depth: u32,
    /// How many commands may still be looked at, and how many characters put into words.
    steps: usize,
    budget: usize,
    is_cut: bool,
}

impl Walk {
    const MAX_DEPTH: u32 = 40;

    /// Returns what is dangerous in `text`, which is a command of `len` bytes.
    pub(super) fn over(text: &[Glyph], len: usize) -> Vec<Danger> {
        let mut walk = Self {
            steps: text.len().saturating_add(1_000),
            budget: text.len().saturating_mul(8).saturating_add(16_000),
            ..Self::default()
        };
        walk.variables.insert("HOME".to_owned(), Data::of(placed("~", (0, 0))));
        walk.code(text, Data::default());
        if walk.is_cut {
            walk.found.push(Danger { class: DangerClass::Unreadable, range: 0..len });
        }
        walk.found
    }

    /// Notes a danger in what `args` say.
    pub(super) fn find(&mut self, class: DangerClass, args: &[Arg]) {
        let spans = args.iter().filter_map(|arg| span(&arg.text));
        let (start, end) =
            spans.fold((usize::MAX, 0), |(start, end), it| (start.min(it.0), end.max(it.1)));
        self.found.push(Danger { class, range: start.min(end)..end });
    }

    /// Takes `count` characters off what may still be put into words.
    pub(super) fn spend(&mut self, count: usize) -> bool {
        let is_affordable = count <= self.budget;
        self.budget = self.budget.saturating_sub(count);
        self.is_cut |= !is_affordable;
        is_affordable
    }

    /// Notes that something could not be read.
    pub(super) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// Counts one more command; returns whether it may still be looked at.
    pub(super) fn step(&mut self) -> bool {
        self.steps = self.steps.saturating_sub(1);
        self.is_cut |= self.steps == 0;
        0 < self.steps
    }

    /// Goes one level deeper; returns whether that may be.
    pub(super) fn deeper(&mut self) -> bool {
        let may = self.depth < Self::MAX_DEPTH;
        self.is_cut |= !may;
        self.depth = self.depth.saturating_add(u32::from(may));
        may
    }

    /// Comes back from a deeper level.
    pub(super) fn back(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// Goes through `text` as through a script that reads `input`, and returns what it writes.
    pub(super) fn code(&mut self, text: &[Glyph], input: Data) -> Data {
        if !self.spend(text.len()) || !self.deeper() {
            return Data::default();
        }
        let parsed = parse(text, self.bodies.len());
        self.is_cut |= parsed.is_cut;
        self.bodies.extend(parsed.bodies);
        if bombs(&parsed.script, "$0") {
            self.find(DangerClass::ForkBomb, &[Arg::of(text.to_vec())]);
        }
        let output = self.script(&parsed.script, input);
        self.back();
        output
    }

    /// Goes through a script. Returns all of its output.
    pub(super) fn script(&mut self, script: &Script, input: Data) -> Data {
        let mut output = Data::of(Text::new());
        let inputs = std::iter::repeat_n(input, script.pipelines.len());
        for (pipeline, input) in script.pipelines.iter().zip(inputs) {
            let data = self.pipeline(pipeline, input);
            output.taint = output.taint.with(data.taint);
            output.text = match (output.text, data.text) {
                (Some(mut before), Some(text)) => {
                    before.extend(text);
                    Some(before)
                }
                _ => None,
            };
        }
        output
    }

    fn pipeline(&mut self, pipeline: &Pipeline, input: Data) -> Data {
        if let Some(args) = pipeline.stages.windows(2).find_map(controls) {
            self.find(DangerClass::ReverseShell, &[Arg::of(args)]);
        }
        let mut data = input;
        for stage in &pipeline.stages {
            data = self.stage(stage, data);
        }
        data
    }

    fn stage(&mut self, stage: &Stage, input: Data) -> Data {
        if !self.step() || !self.deeper() {
            return Data::default();
        }
        let output = match stage {
            Stage::Simple(simple) => self.simple(simple, input),
            Stage::Group(script, redirects) => {
                let (input, outs) = self.redirects(redirects, input);
                let output = self.script(script, input);
                self.write(&outs, &output);
                output
            }
            Stage::Function(name, script) => {
                self.functions.insert(name.clone(), script.clone());
                if bombs(script, name) {
                    self.find(DangerClass::ForkBomb, &[Arg::of(glyphs(script))]);
                }
                self.script(script, Data::default());
                Data::of(Text::new())
            }
            Stage::For(name, words) => {
                let args = self.args(words);
                let data = joined(&args);
                if !name.is_empty() {
                    self.variables.insert(name.clone(), data);
                }
                Data::of(Text::new())
            }
        };
        self.back();
        output
    }

    fn simple(&mut self, simple: &Simple, input: Data) -> Data {
        for assign in &simple.assigns {
            self.assign(assign);
        }
        let args = self.args(&simple.words);
        let (input, outs) = self.redirects(&simple.redirects, input);
        let output = if args.is_empty() { Data::of(Text::new()) } else { self.run(&args, input) };
        self.write(&outs, &output);
        output
    }

    fn assign(&mut self, assign: &Assign) {
        let mut args = Vec::new();
        for word in &assign.values {
            args.push(self.one(word));
        }
        let mut data = joined(&args);
        if assign.appends {
            let before = self.variables.get(&assign.name).and_then(|it| it.text.clone());
            data.text = before.zip(data.text).map(|(mut before, text)| {
                before.extend(text);
                before
            });
        }
        self.variables.insert(assign.name.clone(), data);
    }

    /// Returns what is read after `redirects`, and where is written to.
    fn redirects(&mut self, redirects: &[Redirect], mut input: Data) -> (Data, Vec<Arg>) {
        let mut outs = Vec::new();
        for redirect in redirects {
            match redirect {
                Redirect::In(word) => {
                    let arg = self.one(word);
                    self.streams(&arg);
                    input = self.content(&arg);
                }
                Redirect::Out(word) => outs.push(self.one(word)),
                Redirect::Text(word) => input = joined(&[self.one(word)]),
                Redirect::Body(at) => {
                    let word = self.bodies.get(*at).cloned().unwrap_or_default();
                    input = joined(&[self.one(&word)]);
                }
            }
        }
        (input, outs)
    }

    /// Returns what the file has that `arg` names, as far as it is known.
    pub(super) fn content(&self, arg: &Arg) -> Data {
        if let Some(data) = &arg.content {
            return data.clone();
        }
        let key = arg.word.trim_start_matches("./");
        let mut data = self.files.get(key).cloned().unwrap_or_default();
        data.taint = data.taint.with(arg.taint);
        data.taint.is_secret |= place::is(arg, Place::Secret, self.folder.as_deref());
        data
    }

    /// Judges and remembers what is written to files.
    pub(super) fn write(&mut self, outs: &[Arg], output: &Data) {
        for out in outs {
            self.streams(out);
            for (place, class) in place::WRITES {
                if place::is(out, *place, self.folder.as_deref()) {
                    self.find(*class, std::slice::from_ref(out));
                }
            }
            self.keep(out, output.clone());
        }
    }

    /// Remembers what a file has now.
    pub(super) fn keep(&mut self, file: &Arg, data: Data) {
        self.files.insert(file.word.trim_start_matches("./").to_owned(), data);
    }

    /// Finds the files by which a shell talks to another machine.
    fn streams(&mut self, arg: &Arg) {
        if arg.word.starts_with("/dev/tcp/") || arg.word.starts_with("/dev/udp/") {
            self.find(DangerClass::ReverseShell, std::slice::from_ref(arg));
        }
    }
}

/// Returns the arguments as one text with blanks between them.
pub(super) fn joined(args: &[Arg]) -> Data {
    let mut text = Text::new();
    let mut data = Data::default();
    for arg in args {
        if let Some(last) = text.last().copied() {
            text.push(Glyph { ch: ' ', ..last });
        }
        text.extend(arg.text.iter().copied());
        data.taint = data.taint.with(arg.taint);
    }
    let is_unknown = args.iter().any(|arg| arg.is_unknown && arg.text.is_empty());
    data.text = (!is_unknown).then_some(text);
    data
}

/// Returns whether `script`, which is called `name`, starts itself more than once.
fn bombs(script: &Script, name: &str) -> bool {
    script.pipelines.iter().any(|pipeline| {
        let calls = pipeline.stages.iter().filter(|it| calls(it, name)).count();
        let inner = pipeline.stages.iter().any(
            |it| matches!(it, Stage::Group(script, _) | Stage::Function(_, script) if bombs(script, name)),
        );
        1 < calls || (calls == 1 && pipeline.is_background) || inner
    })
}

/// Returns the text of two commands of which one is a shell that the other lets somebody use.
fn controls(pair: &[Stage]) -> Option<Text> {
    let [Stage::Simple(shell), Stage::Simple(network)] = pair else { return None };
    let first = |simple: &Simple| simple.words.first().and_then(|word| literal(word));
    let name = first(shell)?;
    let is_shell = lists(SHELLS, name.rsplit('/').next().unwrap_or_default())
        && shell.words.iter().any(|word| literal(word).is_some_and(|it| it == "-i"));
    let is_network = lists("nc ncat netcat telnet socat openssl", &first(network)?);
    let text = shell.words.iter().chain(&network.words).flat_map(|word| texts(word));
    (is_shell && is_network).then(|| text.collect())
}

fn texts(word: &[Piece]) -> impl Iterator<Item = Glyph> {
    word.iter().filter_map(|piece| match piece {
        Piece::Text { glyph, .. } => Some(*glyph),
        _ => None,
    })
}

fn calls(stage: &Stage, name: &str) -> bool {
    let Stage::Simple(simple) = stage else { return false };
    match simple.words.first().map(Vec::as_slice) {
        Some([Piece::Variable { name: variable, .. }]) => name == "$0" && variable == "0",
        Some(word) => literal(word).is_some_and(|it| it == name),
        None => false,
    }
}

/// Returns some of the text of a script, to tell where it is.
fn glyphs(script: &Script) -> Text {
    let stages = script.pipelines.iter().flat_map(|it| &it.stages);
    let words = stages.flat_map(|stage| match stage {
        Stage::Simple(simple) => simple.words.as_slice(),
        _ => &[],
    });
    words.flat_map(|word| texts(word)).collect()
}
