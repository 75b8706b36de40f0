//! Processes that a test starts to kill them while they write. Other crates' tests share this file by its
//! path.

use std::{
    ffi::OsStr,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use hermes_core::durable;

/// The file by which a process says that it is under way.
const READY: &str = "ready";

/// Starts the ignored test called `test` of this very program as a process of its own, which finds
/// `variables` in its environment.
pub(crate) fn start<const N: usize>(test: &str, variables: [(&str, &OsStr); N]) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored"])
        .envs(variables)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Says that this process, which works in `home`, is under way.
pub(crate) fn say_ready(home: &Path) {
    durable::replace(&home.join(READY), b"").unwrap();
}

/// Waits until `child`, which works in `home`, is past its start, which takes longer on a busy machine than
/// the writes do.
pub(crate) fn wait_until_under_way(child: &mut Child, home: &Path) {
    let start = Instant::now();
    while fs::remove_file(home.join(READY)).is_err() {
        assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
        assert!(start.elapsed() < Duration::from_secs(120), "it never began");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills `child`, which must not have ended by itself.
pub(crate) fn kill(child: &mut Child) {
    assert_eq!(child.try_wait().unwrap(), None, "it ended by itself");
    child.kill().unwrap();
    child.wait().unwrap();
}
