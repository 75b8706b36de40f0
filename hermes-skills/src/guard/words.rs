//! Words as an interpreter sees them: without the marks that split them, put together from the
//! pieces that they were cut into.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use regex::{Captures, Regex};

use super::{language::Language, lines::FOLLOWED_MAX};

/// The longest piece that is remembered, in bytes.
const PIECE_MAX: usize = 256;

/// The ways of cutting a word.
struct Forms {
    assigned: Regex,
    named: Regex,
    literals: Regex,
    dotted: Regex,
    format: Regex,
    braces: Regex,
    split: Regex,
    ticked: Regex,
    empty: Regex,
    quoted: Regex,
    variable: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let regex = |source| Regex::new(source).ok();
    Some(Forms {
        // `a=cu`, `set a cu`, `set "a=cu"`, `$a = 'cu'`, `local a = "cu"`
        assigned: regex(
            r#"(?:^|[;&|({]|\b(?:do|then|let|var|const|my|local|export)\s)\s*(?:set\s+(?:-\w+\s+)*(\w+)\s+|(?:set\s+(?:/\w\s+)?"?)?\$?(\w+)\s*=\s*)(?:"([^"$]*)"|'([^'$]*)'|([^\s;&|"'()$=<>`]+))"#,
        )?,
        named: regex(r"\$?\{(\w+)\}|\$(\w+)|%(\w+)%|!(\w+)!|\b([A-Za-z_]\w*)\b")?,
        literals: regex(r#"(["'])((?:\s+|\s*\+\s*|\s*\.\.\s*))["']"#)?,
        dotted: regex(r#"["']\s*\.\s*["']"#)?,
        format: regex(r#"["']((?:\{\d\}){2,})["']\s*-f\s*((?:["'][^"']*["']\s*,?\s*)+)"#)?,
        braces: regex(r"\{([\w./:-]+(?:,[\w./:~-]+)+)\}")?,
        split: regex(r"(\w)(?:\\|\$[@*]|\$\(\)|\$\{[@*]\})(\w)")?,
        ticked: regex(r"(\w)[`^]+(\w)")?,
        empty: regex(r#"(\w)(?:''|"")(\w)"#)?,
        quoted: regex(r#"([A-Za-z])(?:"(\w{1,12})"|'(\w{1,12})')"#)?,
        variable: regex(r"\$\(([A-Z][A-Z_]+)\)")?,
    })
});

/// The pieces of words of one program.
#[derive(Debug, Default)]
pub(super) struct Words {
    pieces: HashMap<String, String>,
}

impl Words {
    /// Returns `line` with its words whole, or `None` if none was cut.
    pub(super) fn whole(&mut self, line: &str, language: Language) -> Option<String> {
        let forms = FORMS.as_ref().filter(|_| line.len() <= FOLLOWED_MAX)?;
        let mut whole = Cow::Borrowed(line);
        unsplit(&mut whole, forms, language);
        self.learn(&whole, forms);
        let filled = self.filled(&whole, forms);
        let mut whole = filled.map_or(whole, Cow::Owned);
        if whole.contains(['"', '\'']) {
            replace(&mut whole, &forms.literals, |found| {
                let between = found.get(2).map_or("", |it| it.as_str());
                let is_text = between.trim().is_empty() && language != Language::Hash;
                if is_text { found[0].to_owned() } else { String::new() }
            });
            replace(&mut whole, &forms.dotted, |_| String::new());
        }
        (whole != line).then(|| whole.into_owned())
    }

    fn learn(&mut self, line: &str, forms: &Forms) {
        if !line.contains('=') && !line.contains("set ") {
            return;
        }
        for found in forms.assigned.captures_iter(line) {
            let group = |groups: &[usize]| groups.iter().find_map(|&at| found.get(at));
            let (Some(name), Some(value)) = (group(&[1, 2]), group(&[3, 4, 5])) else { continue };
            // What goes on is a call or a text, and no piece.
            let rest = line.get(value.end()..).unwrap_or_default();
            if found.get(5).is_some() && rest.starts_with(['(', '"', '\'', '`']) {
                continue;
            }
            let (name, value) = (name.as_str(), value.as_str().trim_end_matches('"'));
            if PIECE_MAX < value.len() {
                continue;
            }
            self.pieces.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Returns `line` with names that stand beside one another, or beside a text, replaced by the
    /// pieces that they stand for.
    fn filled(&self, line: &str, forms: &Forms) -> Option<String> {
        if self.pieces.is_empty() || !line.contains(['$', '%', '!', '+', '.', '{']) {
            return None;
        }
        let mut is_filled = false;
        let text = forms.named.replace_all(line, |found: &Captures<'_>| {
            let whole = found.get(0).map_or(0..0, |it| it.range());
            let name = (1..=5).find_map(|at| found.get(at)).map_or("", |it| it.as_str());
            let before = line.get(..whole.start).unwrap_or_default();
            let after = line.get(whole.end..).unwrap_or_default();
            let Some(piece) = self.pieces.get(name) else { return found[0].to_owned() };
            let place = Place::of((before, after), found.get(5).is_some());
            is_filled |= place != Place::Apart;
            match place {
                Place::Apart => found[0].to_owned(),
                Place::Summand => format!("\"{piece}\""),
                Place::Word if line.contains("IFS=") || self.pieces.contains_key("IFS") => {
                    piece.replace([',', ':', '_'], " ")
                }
                Place::Word => piece.clone(),
            }
        });
        is_filled.then(|| text.into_owned())
    }
}

/// Where a name stands in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// By itself.
    Apart,
    /// Added to a text or to another name.
    Summand,
    /// In a word, or where a command is named.
    Word,
}

impl Place {
    /// Tells the place by what stands before and after; a bare name has no sign of its own.
    fn of((before, after): (&str, &str), is_bare: bool) -> Self {
        let stands = |ch: char| ch.is_alphanumeric() || matches!(ch, '$' | '%' | '!' | '}');
        let is_text = |ch: char| matches!(ch, ' ' | '$' | '"' | '\'');
        let (first, last) = (after.trim_start(), before.trim_end());
        let dots = first.strip_prefix('.').is_some_and(|rest| rest.starts_with(is_text))
            || last.strip_suffix('.').is_some_and(|rest| rest.ends_with(is_text));
        if ["=", "+=", ".=", ":="].iter().any(|sign| first.starts_with(sign)) {
            return Self::Apart;
        }
        let adds = first.starts_with('+') || last.ends_with('+');
        let touches = before.ends_with(stands) || after.starts_with(stands);
        let is_command = (last.is_empty() || last.ends_with([';', '|', '&', '(', '@']))
            && (after.is_empty() || after.starts_with([' ', '\t']));
        match is_bare {
            false if touches => Self::Word,
            false if adds || dots => Self::Summand,
            false if is_command => Self::Word,
            true if adds => Self::Summand,
            _ => Self::Apart,
        }
    }
}

/// Takes the marks out of the words of `line`.
fn unsplit(line: &mut Cow<'_, str>, forms: &Forms, language: Language) {
    let pair = |found: &Captures<'_>| format!("{}{}", &found[1], &found[2]);
    // A mark may stand between every two letters, and matches do not overlap.
    for _ in 0..2 {
        if line.contains(['`', '^']) && language.runs() {
            replace(line, &forms.ticked, pair);
        }
        let is_path = language == Language::Batch
            || [":\\", "\\x", "$'"].iter().any(|mark| line.contains(mark));
        if !is_path && line.contains(['\\', '$']) {
            replace(line, &forms.split, pair);
        }
        if line.contains("''") || line.contains("\"\"") {
            replace(line, &forms.empty, pair);
        }
    }
    if line.contains(['"', '\'']) {
        replace(line, &forms.quoted, |found| {
            let part = found.get(2).or_else(|| found.get(3)).map_or("", |it| it.as_str());
            format!("{}{part}", &found[1])
        });
    }
    if line.contains("$(") {
        replace(line, &forms.variable, |found| format!("${{{}}}", &found[1]));
    }
    if line.contains('{') && line.contains(',') {
        replace(line, &forms.braces, |found| found[1].replace(',', " "));
    }
    if line.contains("-f") && line.contains("{0}") {
        replace(line, &forms.format, |found| {
            let parts: Vec<&str> = found[2].split(['"', '\'']).skip(1).step_by(2).collect();
            let places = found[1].split(['{', '}']).filter_map(|it| it.parse::<usize>().ok());
            let text: String = places.filter_map(|at| parts.get(at).copied()).collect();
            format!("'{text}'")
        });
    }
}

fn replace(text: &mut Cow<'_, str>, form: &Regex, with: impl Fn(&Captures<'_>) -> String) {
    if let Cow::Owned(replaced) = form.replace_all(text, |found: &Captures<'_>| with(found)) {
        *text = Cow::Owned(replaced);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: Language, lines: &[&str], expected: &str) {
        let mut words = Words::default();
        let mut last = None;
        for line in lines {
            last = words.whole(line, language);
        }
        assert_eq!(last.as_deref(), Some(expected));
    }

    #[test]
    fn pieces_that_stand_for_parts_are_put_together() {
        check(Language::Hash, &["x=l;y=s", "$x$y -a"], "ls -a");
        check(Language::Hash, &["set x l", "set y s", "$x$y -a"], "ls -a");
        check(Language::Batch, &["set x=l", "%x%s"], "ls");
        check(Language::Hash, &["x = 'l'", "run(x + 's')"], "run(\"ls')");
        check(Language::Slash, &["$x = 'l';", "f($x . 's');"], "f(\"ls');");
    }

    #[test]
    fn marks_within_a_word_are_taken_out() {
        check(Language::Batch, &["e^c^h^o a"], "echo a");
        check(Language::Hash, &["Wri`te-Ho`st a"], "Write-Host a");
        check(Language::Hash, &["ec\\ho a"], "echo a");
        check(Language::Hash, &["e$@cho a"], "echo a");
        check(Language::Hash, &["e\"ch\"o a"], "echo a");
        check(Language::Hash, &["IFS=,", "a=ls,-a", "$a"], "ls -a");
        check(Language::Hash, &["{echo,-n,a}"], "echo -n a");
        check(Language::Hash, &["& ('{1}{0}' -f 'ir','d')"], "& ('dir')");
        check(Language::Hash, &["f('l' 's')"], "f('ls')");
        check(Language::Hash, &["\tls $(HOME)/"], "\tls ${HOME}/");
    }

    #[test]
    fn words_that_are_whole_stay() {
        let mut words = Words::default();
        assert_eq!(words.whole("echo $x/y", Language::Hash), None);
        assert_eq!(words.whole("x=1", Language::Hash), None);
        assert_eq!(words.whole("$x = 2", Language::Hash), None);
        assert_eq!(words.whole("ls $x", Language::Hash), None);
        assert_eq!(words.whole("y = f.g('a')", Language::Hash), None);
        assert_eq!(words.whole("h(y + '.a')", Language::Hash), None);
    }
}
