//! Small readings of prose: what stands in backticks, what follows a phrase.

/// What stands for a service's name in a sentence that holds for all services.
pub(super) const ANY_SERVICE: &str = "<service>";

/// Returns the pieces of `text` that stand in backticks.
pub(super) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Returns what follows `phrase` up to the next `end`.
pub(super) fn between<'a>(text: &'a str, phrase: &str, end: char) -> Option<&'a str> {
    let (_, rest) = text.split_once(phrase)?;
    rest.split_once(end).map(|(found, _)| found)
}

/// Returns the word that follows `phrase`, without the full stop or comma behind it.
pub(super) fn word_after<'a>(text: &'a str, phrase: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(phrase)?;
    rest.split_whitespace().next().map(|word| word.trim_end_matches(['.', ',']))
}

/// Returns `text` with the name of one service made to hold for all.
pub(super) fn generalised(text: &str, service: &str) -> String {
    text.replace(service, ANY_SERVICE)
}

/// Returns `text` with what holds for all services said of one.
pub(super) fn applied_to(text: &str, service: &str) -> String {
    text.replace(ANY_SERVICE, service)
}
