//! The figures that have been reached, which a run must not fall below.

use std::collections::HashMap;

/// One line per family: `name>=n` and `name<=n` are floors, `name=n` says for which vectors.
const FLOORS: &str = include_str!("floors.txt");

/// What a family's line of figures is beside its floor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// As good as the floor, or not comparable: other vectors, or no floor.
    Holds,
    /// Worse, with what is worse.
    Fell(String),
    /// Better, with what the file should say now.
    Rose(String),
}

/// Compares the line `oracle <family> name=value …`, the last one of `printed`, with its floor.
pub(crate) fn stand(printed: &str) -> Standing {
    compare(printed, FLOORS)
}

fn compare(printed: &str, floors: &str) -> Standing {
    let line = printed.lines().next_back().unwrap_or_default();
    let mut words = line.split_whitespace().skip(1);
    let family = words.next().unwrap_or_default();
    let figures: HashMap<&str, u64> = words.filter_map(|word| number(word, "=")).collect();
    let Some(floor) = floors.lines().find(|it| it.split_whitespace().next() == Some(family)) else {
        return Standing::Holds;
    };
    let figure = |name: &str| figures.get(name).copied().unwrap_or_default();
    let (mut fell, mut rose, mut raised) = (Vec::new(), false, vec![family.to_owned()]);
    for bound in floor.split_whitespace().skip(1) {
        if let Some((name, least)) = number(bound, ">=") {
            let value = figure(name);
            rose |= least < value;
            raised.push(format!("{name}>={value}"));
            if value < least {
                fell.push(format!("{name}={value}, not {least}"));
            }
        } else if let Some((name, most)) = number(bound, "<=") {
            let value = figure(name);
            rose |= value < most;
            raised.push(format!("{name}<={value}"));
            if most < value {
                fell.push(format!("{name}={value}, not {most}"));
            }
        } else if let Some((name, wanted)) = number(bound, "=") {
            if figure(name) != wanted {
                return Standing::Holds;
            }
            raised.push(bound.to_owned());
        }
    }
    match (fell.is_empty(), rose) {
        (false, _) => Standing::Fell(fell.join("; ")),
        (true, true) => Standing::Rose(raised.join(" ")),
        (true, false) => Standing::Holds,
    }
}

fn number<'w>(word: &'w str, sign: &str) -> Option<(&'w str, u64)> {
    let (name, value) = word.split_once(sign)?;
    Some((name, value.parse().ok()?))
}

/// Checks the comparison itself, since this program has no test harness.
pub(crate) fn check() {
    let floors = "threat found>=9 wrong<=1 total=10";
    let line =
        |found, wrong, total| format!("oracle threat found={found} wrong={wrong} total={total}");
    assert_eq!(compare(&line(9, 1, 10), floors), Standing::Holds);
    assert_eq!(compare(&line(8, 1, 10), floors), Standing::Fell("found=8, not 9".to_owned()));
    assert_eq!(compare(&line(9, 2, 10), floors), Standing::Fell("wrong=2, not 1".to_owned()));
    let raised = "threat found>=10 wrong<=1 total=10".to_owned();
    assert_eq!(compare(&line(10, 1, 10), floors), Standing::Rose(raised));
    assert_eq!(compare(&line(3, 3, 20), floors), Standing::Holds);
    assert_eq!(compare("oracle other found=1", floors), Standing::Holds);
}
