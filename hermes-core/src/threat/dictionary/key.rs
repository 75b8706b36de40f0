//! Numbers that stand for words, read eight bytes at a time.

/// Eight bytes of a text that begin with a word or a part of one.
const WIDTH: usize = 8;
const START: u64 = 0x9e37_79b9_7f4a_7c15;
const TURN: u64 = 0x2545_f491_4f6c_dd1d;
const LONG: u64 = 1 << 63;

/// The key of a word that has been read from a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Run {
    /// Where the word ends.
    pub(in super::super) end: usize,
    pub(in super::super) key: u64,
    /// Whether some of its characters are digits.
    pub(in super::super) has_digits: bool,
}

/// Returns the key of a word, without regard to ASCII case.
///
/// It is the word itself if that is short and ASCII, else a hash.
pub(in super::super) fn of(bytes: &[u8]) -> u64 {
    if bytes.len() <= WIDTH && bytes.is_ascii() {
        return start(bytes);
    }
    finish(bytes.chunks(WIDTH).fold(START, |hash, chunk| step(hash, start(chunk))))
}

/// Returns whether only one word has this key.
pub(in super::super) fn is_exact(key: u64) -> bool {
    key & LONG == 0
}

/// Returns the first eight bytes as a number, ASCII in lower case; zeros stand for what is missing.
pub(in super::super) fn start(bytes: &[u8]) -> u64 {
    let lower = |chunk: u64| {
        let low = chunk & every(0x7f);
        let from_a = low + every(0x80 - b'A');
        let beyond_z = low + every(0x7f - b'Z');
        chunk | (from_a & !beyond_z & !chunk & every(0x80)) >> 2
    };
    lower(load(bytes, 0))
}

/// Spreads a key over the places of a table.
pub(in super::super) fn spread(key: u64) -> usize {
    usize::try_from(key.wrapping_mul(TURN) >> 40).unwrap_or_default()
}

/// Reads the ASCII letters and digits from `at` on.
pub(in super::super) fn run(bytes: &[u8], at: usize) -> Run {
    let (chunk, width, mut has_digits) = chunk(bytes, at);
    if width < WIDTH {
        return Run { end: at + width, key: chunk, has_digits };
    }
    let mut hash = step(START, chunk);
    let mut end = at + width;
    loop {
        let (next, width, digits) = self::chunk(bytes, end);
        if width == 0 {
            let key = if end - at == WIDTH { chunk } else { finish(hash) };
            return Run { end, key, has_digits };
        }
        has_digits |= digits;
        hash = step(hash, next);
        end += width;
        if width < WIDTH {
            return Run { end, key: finish(hash), has_digits };
        }
    }
}

/// Returns the letters and digits at `at` in lower case, how many there are, at most eight, and
/// whether there are digits.
fn chunk(bytes: &[u8], at: usize) -> (u64, usize, bool) {
    let raw = load(bytes, at);
    let low = raw & every(0x7f);
    let lower = low | every(0x20);
    let letters = (lower + every(0x80 - b'a')) & !(lower + every(0x7f - b'z'));
    let digits = (low + every(0x80 - b'0')) & !(low + every(0x7f - b'9'));
    let others = !(letters | digits) & every(0x80) | raw & every(0x80);
    let bits = others.trailing_zeros() & !7;
    let mask = 1_u64.checked_shl(bits).unwrap_or_default().wrapping_sub(1);
    let has_digits = digits & mask & every(0x80) != 0;
    (lower & mask, bits as usize / 8, has_digits)
}

fn load(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first_chunk::<WIDTH>() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => rest.iter().rev().fold(0, |chunk, &byte| chunk << 8 | u64::from(byte)),
    }
}

const fn every(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; WIDTH])
}

fn step(hash: u64, chunk: u64) -> u64 {
    (hash.rotate_left(5) ^ chunk).wrapping_mul(TURN)
}

/// Marks a hash as one; the mark that nothing has been read is never a key.
fn finish(hash: u64) -> u64 {
    (hash ^ hash >> 32 | LONG) & !1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, word: &str, has_digits: bool) {
        let expected = Run { end: word.len(), key: of(word.as_bytes()), has_digits };
        assert_eq!(run(text.as_bytes(), 0), expected);
    }

    #[test]
    fn a_run_ends_before_the_first_other_character() {
        check("word", "word", false);
        check("Word and more", "word", false);
        check("w\u{e9}rd", "w", false);
        check("[word", "", false);
        check("a{bcdefghij", "a", false);
    }

    #[test]
    fn words_of_every_length_have_the_key_of_their_letters() {
        let text = "abcdefghijklmnopqrstuvwxyzabcdefghij";
        for length in 1..=text.len() {
            let word = text.get(..length).unwrap();
            for after in ["", ".", " and the rest of the line"] {
                check(&format!("{}{after}", word.to_uppercase()), word, false);
            }
        }
    }

    #[test]
    fn digits_are_noticed_wherever_they_stand() {
        check("1 word", "1", true);
        check("abcdefgh9 word", "abcdefgh9", true);
        check("abcdefgh 9", "abcdefgh", false);
    }

    #[test]
    fn short_words_are_their_own_keys() {
        assert!(is_exact(of(b"pipeline")));
        assert!(!is_exact(of(b"pipelines")));
        assert_ne!(of(b"pipelines"), of(b"pipelined"));
    }
}
