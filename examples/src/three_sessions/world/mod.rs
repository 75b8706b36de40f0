//! A small simulated cluster and the workspace beside it.
//!
//! The world has rules and no memory of who acts in it: an image that was not pushed cannot be
//! pulled, a probe on a path that answers 404 restarts the pod, Django refuses hosts that are not
//! allowed, one namespace takes deployments. What comes of a command follows from the files, the
//! images and what was applied, and from nothing else. What differs from world to world are its
//! [`Facts`].

mod app;
mod cluster;
mod facts;
mod images;
mod manifest;
mod workspace;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use self::{app::Framework, facts::Facts};
use self::{cluster::Cluster, images::Images, workspace::Workspace};

/// What a command prints: `Err` is what it prints when it fails.
pub type Answer = Result<String, String>;

/// A handle of one world. Clones act in the same one.
///
/// # Examples
///
/// ```
/// use hermes_examples::three_sessions::world::World;
///
/// let world = World::new(0);
///
/// assert!(world.docker("push nowhere/shop:v1").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct World(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    facts: Facts,
    workspace: Workspace,
    images: Images,
    cluster: Cluster,
}

impl World {
    /// Creates the world with this seed: nothing is built, pushed or deployed.
    pub fn new(seed: u64) -> Self {
        let facts = Facts::new(seed);
        let workspace = Workspace::new(&facts);
        let state =
            State { facts, workspace, images: Images::default(), cluster: Cluster::default() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// Lists the files of the workspace below `path`, one a line.
    ///
    /// # Errors
    ///
    /// What `ls` says if there is nothing.
    pub fn list_files(&self, path: &str) -> Answer {
        self.state().workspace.list(path)
    }

    /// Returns the text of a file of the workspace.
    ///
    /// # Errors
    ///
    /// What `cat` says if there is no such file.
    pub fn read_file(&self, path: &str) -> Answer {
        self.state().workspace.read(path)
    }

    /// Returns the lines of the workspace that hold `pattern`, in any case, as `path:line: text`, and
    /// `no matches` if there are none.
    pub fn search_files(&self, pattern: &str) -> String {
        self.state().workspace.search(pattern)
    }

    /// Runs `docker` with `command`: `build -t NAME PATH`, `push NAME` or `images`.
    ///
    /// # Errors
    ///
    /// What `docker` prints when it fails.
    pub fn docker(&self, command: &str) -> Answer {
        let State { facts, workspace, images, .. } = &mut *self.state();
        images.docker(command, workspace, facts)
    }

    /// Runs `kubectl` with `command`: `get namespaces`, `get pods -n NS`, `apply -f -` with a
    /// Deployment in JSON as `input`, `rollout status deployment/NAME -n NS` or
    /// `logs deployment/NAME -n NS`.
    ///
    /// # Errors
    ///
    /// What `kubectl` prints when it fails.
    pub fn kubectl(&self, command: &str, input: Option<&str>) -> Answer {
        let State { facts, images, cluster, .. } = &mut *self.state();
        cluster.kubectl(command, input, images, facts)
    }

    /// Asks for `url` over HTTP and returns the head and body of the answer.
    ///
    /// # Errors
    ///
    /// The same for any status but 200, or why there was no answer.
    pub fn http_get(&self, url: &str) -> Answer {
        let address = url.trim_start_matches("http://");
        let (host, path) = address.split_once('/').unwrap_or((address, ""));
        let State { facts, images, cluster, .. } = &*self.state();
        cluster.get(host, &format!("/{path}"), images, facts)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
