//! Words of scripts that are written without spaces, as overlapping pairs of characters.
//!
//! A text is cut where such a script begins and ends. Each run of it becomes its pairs, and its last
//! character alone; what is between stays as it is. `更新zephyr主机` is indexed as
//! `更新 新 zephyr 主机 机`, and a word of two characters or more is found as the phrase of its pairs.

/// Returns whether `ch` belongs to a script written without spaces, Hangul included, where endings
/// are attached to words.
pub(super) fn is_dense(ch: char) -> bool {
    matches!(ch,
        '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9d}' | '\u{20000}'..='\u{3ffff}')
        && ch.is_alphanumeric()
}

/// Returns what the index of pairs holds of `text`; `None` if it has no such script.
pub(super) fn pairs(text: &str) -> Option<String> {
    text.chars().any(is_dense).then(|| {
        let mut tokens = String::with_capacity(text.len().saturating_mul(2));
        for run in runs(text) {
            push(&mut tokens, &run);
            push_end(&mut tokens, &run);
        }
        tokens
    })
}

/// Returns the phrase that finds `term` in the index of pairs, and whether its last token is the
/// beginning of one.
pub(super) fn phrase(term: &str) -> (String, bool) {
    let mut tokens = String::new();
    let runs: Vec<String> = runs(term).collect();
    for (at, run) in runs.iter().enumerate() {
        push(&mut tokens, run);
        if at.saturating_add(1) < runs.len() {
            push_end(&mut tokens, run);
        }
    }
    let is_single =
        runs.last().is_some_and(|run| run.starts_with(is_dense) && run.chars().nth(1).is_none());
    (tokens, is_single)
}

/// Cuts `text` into letters and digits of one kind of script.
fn runs(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = text.chars().peekable();
    std::iter::from_fn(move || {
        while rest.next_if(|ch| !ch.is_alphanumeric()).is_some() {}
        let dense = is_dense(*rest.peek()?);
        let mut run = String::new();
        while let Some(ch) = rest.next_if(|ch| ch.is_alphanumeric() && is_dense(*ch) == dense) {
            run.push(ch);
        }
        Some(run)
    })
}

/// Appends the tokens of `run`; a single character is one only as the end of its run.
fn push(tokens: &mut String, run: &str) {
    if !tokens.is_empty() {
        tokens.push(' ');
    }
    if !run.starts_with(is_dense) {
        tokens.push_str(run);
        return;
    }
    let chars: Vec<char> = run.chars().collect();
    let pairs: Vec<String> = chars.windows(2).map(|pair| pair.iter().collect()).collect();
    if pairs.is_empty() {
        tokens.push_str(run);
    } else {
        tokens.push_str(&pairs.join(" "));
    }
}

/// Appends the last character of a dense `run` of several.
fn push_end(tokens: &mut String, run: &str) {
    let last = run.chars().skip(1).last();
    if let Some(last) = last.filter(|_| run.starts_with(is_dense)) {
        tokens.push(' ');
        tokens.push(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_runs_become_pairs_and_their_end() {
        assert_eq!(pairs("更新zephyr主机的").unwrap(), "更新 新 zephyr 主机 机的 的");
        assert_eq!(pairs("no such script"), None);
    }

    #[test]
    fn a_word_is_the_phrase_of_its_pairs() {
        assert_eq!(phrase("大别山"), ("大别 别山".to_owned(), false));
        assert_eq!(phrase("100万元"), ("100 万元".to_owned(), false));
        assert_eq!(phrase("项目s"), ("项目 目 s".to_owned(), false));
        assert_eq!(phrase("山"), ("山".to_owned(), true));
    }
}
