//! What an operator can set.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// The settings of a server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address and port; port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// How many requests are solved at a time; each has its share of the cores.
    pub solves: usize,
    /// What a request may ask for.
    pub limits: Limits,
    /// How long running requests may go on after the server was told to end.
    pub grace: Duration,
    /// Bearer tokens of which a request must have one; none: no token is needed.
    pub tokens: Vec<String>,
    /// The origin of pages of others that may use the service; none: only its own page.
    pub allow_origin: Option<String>,
    /// Where jobs and their results are kept.
    pub store: Place,
    /// How long the result of a job is kept.
    pub keep: Duration,
}

/// Where jobs are kept.
#[derive(Clone)]
pub enum Place {
    /// A file that one server uses at a time.
    File(PathBuf),
    /// A PostgreSQL that several servers share: `postgres://USER@HOST/DATABASE`.
    Postgres(String),
}

impl From<PathBuf> for Place {
    /// A file, unless it is the address of a PostgreSQL.
    fn from(path: PathBuf) -> Self {
        match path.to_str() {
            Some(url) if url.starts_with("postgres://") || url.starts_with("postgresql://") => {
                Place::Postgres(url.into())
            }
            _ => Place::File(path),
        }
    }
}

/// Without the password of a database.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path) => write!(f, "{}", path.display()),
            Place::Postgres(_) => f.write_str("PostgreSQL"),
        }
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a request may ask for, and how much may wait.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Nodes, customers or items of an instance.
    pub size: usize,
    /// Seconds of a solve.
    pub seconds: f64,
    /// Bytes that a solve may need, by [`estimate`](crate::estimate).
    pub memory: u64,
    /// Requests that wait for a core.
    pub queue: usize,
    /// Jobs in the store, finished ones included.
    pub jobs: usize,
    /// Open connections; more wait to be accepted.
    pub connections: usize,
    /// The time in which a client must have sent a request, or must have read some of an answer.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: 32 << 20,
            size: 20_000,
            seconds: 60.0,
            memory: 2 << 30,
            queue: 64,
            jobs: 10_000,
            connections: 4096,
            patience: Duration::from_secs(30),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            listen: (Ipv4Addr::LOCALHOST, 8080).into(),
            solves: cores(),
            limits: Limits::default(),
            grace: Duration::from_secs(10),
            tokens: Vec::new(),
            allow_origin: None,
            store: Place::File(PathBuf::from("bqnco-jobs.redb")),
            keep: Duration::from_secs(24 * 3600),
        }
    }
}

/// The cores of this machine.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
