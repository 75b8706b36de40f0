//! What a rule can ask of a command.

use super::{
    DangerClass,
    expand::Arg,
    place::{self, Place},
};

/// One row of the table: programs, and what must hold of their arguments.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) class: DangerClass,
    /// Names of programs, in lower case.
    pub(super) programs: &'static str,
    /// All of these must hold.
    pub(super) tests: &'static [Test],
}

/// Something that holds of a command or not.
#[derive(Debug)]
pub(super) enum Test {
    /// The first words that are no options are these; `|` stands between alternatives.
    Sub(&'static str),
    /// One of these options is there: `-r` also within `-fr`, `--recursive` also cut short or with a
    /// value, `-Recurse` and `/s` in either case.
    Flag(&'static str),
    /// None of these options is there.
    No(&'static str),
    /// A word is one of these, in either case; one that ends in `*` only begins so.
    Word(&'static str),
    /// A word contains one of these, in lower case.
    Has(&'static str),
    /// No word contains one of these, in lower case.
    Lacks(&'static str),
    /// An operand after the first so many is such a place.
    At(Place, usize),
    /// The last operand is such a place.
    Last(Place),
    /// The last word of all is this.
    Final(&'static str),
    /// There is an operand.
    Operand,
    /// There is none, so that standard input is read.
    NoOperand,
    /// Its first operand lets everybody write.
    OpenMode,
    /// Its first operand gives the rights of the owner.
    OwnerMode,
    /// The first operand is root.
    ToRoot,
}

/// A program with its arguments, to be judged.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) args: &'a [Arg],
    /// The options of the program that take the next word as their value.
    pub(super) values: &'a str,
    pub(super) folder: Option<&'a str>,
}

pub(super) fn lists(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

impl Rule {
    /// Returns whether all of the tests hold of a call of one of the programs.
    pub(super) fn holds(&self, call: &Call<'_>) -> bool {
        let mut start = 0;
        self.tests.iter().all(|test| call.holds(test, &mut start))
    }
}

impl<'a> Call<'a> {
    /// Returns whether `test` holds. `start` is where the arguments behind the subcommands begin.
    fn holds(&self, test: &Test, start: &mut usize) -> bool {
        let args = self.args.get(*start..).unwrap_or_default();
        let operands = || self.operands(*start).map(|(_, arg)| arg);
        let first = || operands().next().map(|arg| arg.word.as_str()).unwrap_or_default();
        let is_at = |arg: &Arg, place| place::is(arg, place, self.folder);
        match test {
            Test::Sub(words) => {
                let found = self.sub(words);
                *start = found.unwrap_or(*start);
                found.is_some()
            }
            Test::Flag(flags) => has_flag(args, flags),
            Test::No(flags) => !has_flag(args, flags),
            Test::Word(words) => args.iter().any(|arg| is_listed(words, &arg.word)),
            Test::Has(parts) => args.iter().any(|arg| has(arg, parts)),
            Test::Lacks(parts) => !args.iter().any(|arg| has(arg, parts)),
            Test::At(place, skip) => operands().skip(*skip).any(|arg| is_at(arg, *place)),
            Test::Last(place) => operands().last().is_some_and(|arg| is_at(arg, *place)),
            Test::Final(word) => args.last().is_some_and(|arg| arg.word == *word),
            Test::Operand => operands().next().is_some(),
            Test::NoOperand => operands().next().is_none(),
            Test::OpenMode => is_open(first()),
            Test::OwnerMode => gives_rights(first()),
            Test::ToRoot => {
                let owner = first().to_lowercase();
                matches!(owner.split([':', '.']).next(), Some("root" | "0"))
            }
        }
    }

    /// Returns the words that are neither options nor their values, with their places.
    pub(super) fn operands(&self, start: usize) -> impl Iterator<Item = (usize, &'a Arg)> {
        let values = self.values.to_owned();
        let (mut is_value, mut is_over) = (false, false);
        self.args.iter().enumerate().skip(start).filter(move |(_, arg)| {
            let word = arg.word.as_str();
            if std::mem::take(&mut is_value) {
                return false;
            }
            if is_over || !word.starts_with('-') || word == "-" {
                return true;
            }
            is_over = word == "--";
            is_value = takes_value(&values, word);
            false
        })
    }

    /// Returns where the arguments behind the subcommands `words` begin, if they are those.
    pub(super) fn sub(&self, words: &str) -> Option<usize> {
        let mut operands = self.operands(0);
        let mut end = 0;
        for alternatives in words.split_ascii_whitespace() {
            let (at, arg) = operands.next()?;
            let word = arg.word.to_lowercase();
            alternatives.split('|').find(|it| *it == word)?;
            end = at.saturating_add(1);
        }
        Some(end)
    }
}

/// Returns whether the option `word` takes the next word as its value.
pub(super) fn takes_value(values: &str, word: &str) -> bool {
    if word.starts_with("--") || lists(values, word) {
        return lists(values, word);
    }
    // The last of several letters may take one: `-xzf name`.
    let last = word.chars().last().map(|it| format!("-{it}"));
    word.len() <= 5 && last.is_some_and(|it| lists(values, &it))
}

/// Returns whether one of `flags` is among the options of `args`.
pub(super) fn has_flag(args: &[Arg], flags: &str) -> bool {
    let options = args.iter().map(|arg| arg.word.as_str()).take_while(|it| *it != "--");
    let mut words = options.filter(|it| it.starts_with(['-', '/']) && 1 < it.len());
    words.any(|word| flags.split_ascii_whitespace().any(|flag| is_flag(word, flag)))
}

fn is_flag(word: &str, flag: &str) -> bool {
    if flag.starts_with("--") {
        let name = word.split('=').next().unwrap_or(word);
        return name == flag || (5 <= name.len() && flag.starts_with(name));
    }
    if flag.starts_with('/') {
        return word.eq_ignore_ascii_case(flag);
    }
    if word.starts_with("--") || !word.starts_with('-') {
        return false;
    }
    let mut letters = flag.chars().skip(1);
    match (letters.next(), letters.next()) {
        (Some(letter), None) => {
            word.split('=').next().unwrap_or(word).chars().skip(1).any(|it| it == letter)
        }
        _ => {
            word == flag
                || (3 <= word.len() && flag.to_lowercase().starts_with(&word.to_lowercase()))
        }
    }
}

fn has(arg: &Arg, parts: &str) -> bool {
    let word = arg.word.to_lowercase();
    parts.split_ascii_whitespace().any(|it| word.contains(it))
}

fn is_listed(words: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    words.split_ascii_whitespace().any(|it| {
        let start = it.strip_suffix('*').filter(|start| !matches!(*start, "" | "." | "./"));
        word == it || start.is_some_and(|start| word.starts_with(start))
    })
}

/// Returns whether a mode of `chmod` lets everybody write.
fn is_open(mode: &str) -> bool {
    if !mode.is_empty() && mode.chars().all(|it| it.is_digit(8)) {
        return 3 <= mode.len() && mode.chars().last().is_some_and(|it| "2367".contains(it));
    }
    mode.split(',').any(|part| {
        let who: String = part.chars().take_while(|it| "ugoa".contains(*it)).collect();
        let rest = part.get(who.len()..).unwrap_or_default();
        who.contains(['o', 'a']) && rest.starts_with(['+', '=']) && rest.contains('w')
    })
}

/// Returns whether a mode of `chmod` sets the bit of the owner's rights.
fn gives_rights(mode: &str) -> bool {
    if mode.chars().all(|it| it.is_digit(8)) {
        let bits = mode.chars().rev().nth(3).and_then(|it| it.to_digit(8)).unwrap_or(0);
        return 4 <= bits || bits == 2 || bits == 3;
    }
    mode.split(',').any(|part| {
        part.split_once('+').or_else(|| part.split_once('=')).is_some_and(|(who, what)| {
            (who.is_empty() || who.contains(['u', 'g', 'a'])) && what.contains('s')
        })
    })
}
