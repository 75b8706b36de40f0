//! What literals amount to: text that is joined, escaped or given as numbers, as it is when it runs.

use std::{borrow::Cow, sync::LazyLock};

use regex::Regex;

use super::expression;

/// The ways of writing a text so that it cannot be read at a glance.
struct Forms {
    joined: Regex,
    sum: Regex,
    steps: Regex,
    escapes: Regex,
    codes: Regex,
    quoted: Regex,
    places: Regex,
}

static FORMS: LazyLock<Option<Forms>> = LazyLock::new(|| {
    let regex = expression::compile;
    Some(Forms {
        joined: regex(
            r#"\[(?:\s*["'][^"'\[\]]*["']\s*,?){2,}\]\s*\.join\(\s*(?:""|'')?\s*\)|(?:""|'')\.join\(\s*[\[(](?:\s*["'][^"'\[\]]*["']\s*,?){2,}[\])]\s*\)"#,
        )?,
        sum: regex(r#"["']\s*\+\s*["']"#)?,
        steps: regex(r#"[\w.]["']\s+/\s+["'][\w.*]"#)?,
        escapes: regex(r"(?:\\x[0-9a-fA-F]{2}){2,}")?,
        quoted: regex(r#"\b[A-Za-z]+(?:'\w{0,12}'|"\w{0,12}")[A-Za-z]+"#)?,
        places: regex(r#"["']\s*,\s*["']"#)?,
        codes: regex(r"\[?(?:\s*\d{2,3}\s*,){7,}\s*\d{2,3}\s*\]?")?,
    })
});

/// Returns `line` with its literals put together.
pub(super) fn fold(line: &str) -> Cow<'_, str> {
    let Some(forms) = &*FORMS else { return Cow::Borrowed(line) };
    let mut folded = Cow::Borrowed(line);
    if line.contains("\\x") {
        replace(&mut folded, &forms.escapes, unescaped);
    }
    if line.bytes().filter(|&byte| byte == b',').nth(6).is_some() {
        replace(&mut folded, &forms.codes, numbered);
    }
    if line.contains("join(") {
        replace(&mut folded, &forms.joined, joined);
    }
    if line.contains("path.join(") || line.contains("File.join(") {
        replace(&mut folded, &forms.places, |_| "/".to_owned());
    }
    if line.contains("IFS") {
        folded = Cow::Owned(folded.replace("${IFS}", " ").replace("$IFS", " "));
    }
    if line.contains(['\'', '"']) {
        replace(&mut folded, &forms.quoted, |found| found.replace(['\'', '"'], ""));
    }
    if line.contains('+') {
        replace(&mut folded, &forms.sum, |_| String::new());
    }
    if line.contains('/') {
        replace(&mut folded, &forms.steps, |found| {
            let ends = (found.chars().next(), found.chars().next_back());
            ends.0.into_iter().chain(['/']).chain(ends.1).collect()
        });
    }
    folded
}

/// Replaces what `form` finds; the place is all that is looked for, which is much cheaper than its
/// parts.
fn replace(text: &mut Cow<'_, str>, form: &Regex, with: impl Fn(&str) -> String) {
    let mut out = String::new();
    let mut copied = 0;
    for found in form.find_iter(text) {
        out.push_str(text.get(copied..found.start()).unwrap_or_default());
        out.push_str(&with(found.as_str()));
        copied = found.end();
    }
    if 0 < copied {
        out.push_str(text.get(copied..).unwrap_or_default());
        *text = Cow::Owned(out);
    }
}

/// Returns the text that a list of parts is when they are joined.
fn joined(call: &str) -> String {
    let list = match call.strip_prefix('[') {
        Some(list) => list.split(']').next(),
        None => call.split_once("join(").map(|(_, list)| list),
    };
    let is_part = |ch: &char| !matches!(ch, '"' | '\'' | ',') && !ch.is_whitespace();
    let list =
        list.unwrap_or_default().trim_matches(|ch: char| "[]()".contains(ch) || ch.is_whitespace());
    format!("\"{}\"", list.chars().filter(is_part).collect::<String>())
}

/// Returns the characters that a run of `\x41` stands for.
fn unescaped(run: &str) -> String {
    let codes = run.split("\\x").filter_map(|digits| u8::from_str_radix(digits, 16).ok());
    codes.map(|code| if code.is_ascii() { char::from(code) } else { '\u{fffd}' }).collect()
}

/// Returns the characters that a list of numbers stands for, or the list if it is none of text.
fn numbered(list: &str) -> String {
    let numbers = list.trim_matches(['[', ']']).split(',');
    let text: Option<String> = numbers
        .map(|number| {
            let code = number.trim().parse::<u8>().ok()?;
            let is_text = (b' '..=b'~').contains(&code) || matches!(code, b'\t' | b'\n');
            is_text.then(|| char::from(code))
        })
        .collect();
    text.map_or_else(|| list.to_owned(), |text| format!("\"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(fold(line), expected);
    }

    #[test]
    fn parts_are_joined() {
        check("x = ['cu', 'rl'].join('')", "x = \"curl\"");
        check("x = ''.join(['cu', 'rl'])", "x = \"curl\"");
        check("x = 'cu' + 'rl'", "x = 'curl'");
        check("home / \".ssh\" / \"id_rsa\"", "home / \".ssh/id_rsa\"");
    }

    #[test]
    fn escapes_and_numbers_are_text() {
        check(r"a=$'\x63\x75\x72\x6c'", "a=$'curl'");
        check("[99,117,114,108,32,104,116,116,112]", "\"curl http\"");
    }

    #[test]
    fn numbers_that_are_no_text_stay() {
        check("[10, 200, 300, 400, 50, 60, 70, 80]", "[10, 200, 300, 400, 50, 60, 70, 80]");
    }
}
