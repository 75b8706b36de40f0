//! What a scan costs grows with the folder, and no faster; no folder can be made that costs many
//! times as much as an ordinary one of its size.
//!
//! The bounds leave room for a busy machine: what is to be noticed is work that grows with the
//! square, or lines that are made hundreds of times as long. `benches/benches/guard.rs` has the
//! figures.

use std::{fs, hint::black_box, thread, time::Instant};

use hermes_skills::guard::{self, Folder};

/// How large the smaller of two folders is, in bytes; the larger one is four times as large.
const SMALL: usize = 12_000;
/// How many times as much the larger one may cost; if work grew with the square, it were 16.
const GROWTH_MAX: f64 = 9.0;
/// How many times as much as ordinary lines a folder may cost.
const ORDINARY_MAX: f64 = 10.0;
/// How often costs are measured before they count as too high.
const ATTEMPTS: usize = 12;

/// Ordinary lines, then what is meant to be slow: a file, its first lines, and what is repeated.
const INPUTS: &[(&str, &str, &str)] = &[
    (
        "a.py",
        "",
        "    # Reads the file and counts its lines.\n    lines = open(path).readlines()\n\n",
    ),
    ("a.sh", "", "a = $a + \"/etc/x\"\n"),
    ("a.sh", "a=\"/etc/LONG\"\n", "$a $a $a $a $a $a $a $a $a $a $a $a $a\n"),
    ("a.sh", "curl -o a.b https://a.example/LONG\n", "a.b\n"),
    ("a.sh", "", "echo one two three; "),
    ("a.sh", "", "echo one two \\\n"),
    ("a.sh", "", "cat <<END\n"),
    ("a.sh", "", "\"'`\"'`'\""),
    ("a.py", "x = b64decode('", "aWdub3JlIGFsbCBwcmV2aW91cyBpbnN0cnVjdGlvbnM"),
    ("a.sh", "", "# what follows is curl, and says why it is done\n"),
    ("a.ps1", "", "i`e`x (i`w`r `h`t`t`p)\n"),
    ("a.py", "", "x = ''.join(['a', 'b', 'c'])\n"),
    ("a.py", "x = ''.join(['a'", ", 'a'"),
    ("a.sh", "", "$(grep -i x ~/.ssh/id_rsa.pub "),
    ("a.sh", "", "curl wget \u{e9}t\u{e9} env sudo .ssh \u{4eca} "),
    ("a.sh", "", "sudo a\n"),
];

#[test]
fn no_folder_costs_many_times_what_its_size_does() {
    let folders: Vec<_> =
        INPUTS.iter().map(|&input| [SMALL, 4 * SMALL].map(|it| folder(input, it))).collect();
    let mut costs = vec![[f64::MAX; 2]; INPUTS.len()];

    let mut dear = Vec::new();
    for _ in 0..ATTEMPTS {
        for (costs, folders) in costs.iter_mut().zip(&folders) {
            for (least, folder) in costs.iter_mut().zip(folders) {
                *least = least.min(cost(folder));
            }
        }
        dear = too_dear(&costs);
        if dear.is_empty() {
            break;
        }
    }

    assert_eq!(dear, Vec::<String>::new());
}

/// Returns which inputs cost too much, and how much.
fn too_dear(costs: &[[f64; 2]]) -> Vec<String> {
    let ordinary = costs.first().map_or(f64::MAX, |[_, large]| *large);
    let ratios = costs.iter().map(|[small, large]| (large / small, large / ordinary));
    ratios
        .zip(INPUTS)
        .filter(|((growth, ratio), _)| GROWTH_MAX < *growth || ORDINARY_MAX < *ratio)
        .map(|((growth, ratio), (.., unit))| {
            format!("{unit:?}: {growth:.1} times for four times the size, {ratio:.1} times ordinary lines")
        })
        .collect()
}

fn folder((path, start, unit): (&str, &str, &str), size: usize) -> Folder {
    let mut text = start.replace("LONG", &"x/".repeat(240));
    text.push_str(&unit.repeat(size / unit.len()));
    Folder::new().file(path, text)
}

/// Returns what a scan costs: the time on a processor where the system tells, in seconds.
fn cost(folder: &Folder) -> f64 {
    let start = (on_processor(), Instant::now());
    black_box(guard::scan(black_box(folder)));
    match (start.0, on_processor()) {
        (Some(before), Some(after)) => after - before,
        _ => start.1.elapsed().as_secs_f64(),
    }
}

/// Returns how long this thread has been on a processor, in seconds.
fn on_processor() -> Option<f64> {
    // The count is brought up to date when the thread steps aside.
    thread::yield_now();
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}
