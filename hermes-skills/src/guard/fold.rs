//! What literals amount to: text that is joined, escaped or given as numbers, as it is when it runs.

use std::{borrow::Cow, sync::LazyLock};

use regex::{Captures, Regex};

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
    let regex = |source| Regex::new(source).ok();
    Some(Forms {
        joined: regex(
            r#"\[((?:\s*["'][^"'\[\]]{0,64}["']\s*,?){2,32})\]\s*\.join\(\s*(?:""|'')?\s*\)|(?:""|'')\.join\(\s*[\[(]((?:\s*["'][^"'\[\]]{0,64}["']\s*,?){2,32})[\])]\s*\)"#,
        )?,
        sum: regex(r#"["']\s*\+\s*["']"#)?,
        steps: regex(r#"([\w.])["']\s+/\s+["']([\w.*])"#)?,
        escapes: regex(r"(?:\\x[0-9a-fA-F]{2}){2,}")?,
        quoted: regex(r#"\b([A-Za-z]+)(?:'(\w{0,12})'|"(\w{0,12})")([A-Za-z]+)"#)?,
        places: regex(r#"["']\s*,\s*["']"#)?,
        codes: regex(r"\[?(?:\s*\d{2,3}\s*,){7,}\s*\d{2,3}\s*\]?")?,
    })
});

/// Returns `line` with its literals put together.
pub(super) fn fold(line: &str) -> Cow<'_, str> {
    let Some(forms) = &*FORMS else { return Cow::Borrowed(line) };
    let mut folded = Cow::Borrowed(line);
    if line.contains("\\x") {
        replace(&mut folded, &forms.escapes, |found| unescaped(&found[0]));
    }
    if line.bytes().filter(|&byte| byte == b',').nth(6).is_some() {
        replace(&mut folded, &forms.codes, |found| numbered(&found[0]));
    }
    if line.contains("join(") {
        replace(&mut folded, &forms.joined, |found| {
            let parts = found.get(1).or_else(|| found.get(2)).map_or("", |it| it.as_str());
            let is_part = |ch: &char| !matches!(ch, '"' | '\'' | ',') && !ch.is_whitespace();
            format!("\"{}\"", parts.chars().filter(is_part).collect::<String>())
        });
    }
    if line.contains("path.join(") || line.contains("File.join(") {
        replace(&mut folded, &forms.places, |_| "/".to_owned());
    }
    if line.contains("IFS") {
        folded = Cow::Owned(folded.replace("${IFS}", " ").replace("$IFS", " "));
    }
    if line.contains(['\'', '"']) {
        let part = |found: &Captures<'_>, at| found.get(at).map_or("", |it| it.as_str()).to_owned();
        replace(&mut folded, &forms.quoted, |found| {
            [1, 2, 3, 4].map(|at| part(found, at)).concat()
        });
    }
    if line.contains('+') {
        replace(&mut folded, &forms.sum, |_| String::new());
    }
    if line.contains('/') {
        replace(&mut folded, &forms.steps, |found| format!("{}/{}", &found[1], &found[2]));
    }
    folded
}

fn replace(text: &mut Cow<'_, str>, form: &Regex, with: impl Fn(&Captures<'_>) -> String) {
    if let Cow::Owned(replaced) = form.replace_all(text, |found: &Captures<'_>| with(found)) {
        *text = Cow::Owned(replaced);
    }
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
