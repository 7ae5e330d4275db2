//! `bqnco serve`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow};
use bqnco_server::{Limits, Place, Settings, serve};
use clap::Args;

use crate::failure::Failure;
use crate::output::say;
use crate::{interruption, output};

/// Solve over HTTP, and show the policy at work on a page.
///
/// Prints the address when it is ready. SIGTERM or Ctrl-C ends it: running requests end with their best within --grace, and
/// jobs go on at the next start.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Serve {
    /// Address and port; port 0 lets the system choose one.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Requests that are solved at a time, each on its share of the cores (default: one per core).
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    solves: Option<u16>,
    /// File of tokens, one per line: requests must send one of them (`Authorization: Bearer TOKEN`).
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Allow pages of this origin (such as https://example.org) to use the service.
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    allow_origin: Option<String>,
    /// File of jobs and their results (default: bqnco/jobs.redb in $STATE_DIRECTORY, $XDG_STATE_HOME or
    /// ~/.local/state), or a PostgreSQL that several servers share: postgres://USER@HOST/DATABASE, its password in
    /// $PGPASSWORD (feature `postgres`).
    #[arg(long, value_name = "FILE|URL")]
    store: Option<PathBuf>,
    /// Hours for which the result of a job is kept.
    #[arg(long, value_name = "HOURS", default_value_t = 24.0, value_parser = positive)]
    keep: f64,
    /// Seconds for which running requests may go on after SIGTERM.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = output::seconds)]
    grace: Duration,
    /// Largest body of a request in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 32.0, value_parser = positive)]
    max_body: f64,
    /// Most nodes, customers or items of an instance.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().size)]
    max_size: usize,
    /// Most seconds of a solve.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().seconds, value_parser = positive)]
    max_seconds: f64,
    /// Most memory that a solve may need, by an estimate, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 2048.0, value_parser = positive)]
    max_memory: f64,
    /// Requests that may wait for a core; more are told to come back later.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().queue)]
    max_queue: usize,
    /// Jobs that may be stored, finished ones included.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().jobs)]
    max_jobs: usize,
    /// Open connections; more wait to be accepted.
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().connections)]
    max_connections: usize,
    /// Seconds in which a client must have sent its request, or must have read some of the answer.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = output::seconds)]
    patience: Duration,
}

const EXAMPLES: &str = "\
Examples:
  bqnco serve
  bqnco serve --listen 0.0.0.0:80 --token-file tokens.txt --max-seconds 10
  curl --data-binary @data/examples/depot40.vrp \\
    'http://127.0.0.1:8080/v1/solve?seconds=1'";

impl Serve {
    pub fn run(self) -> Result<(), Failure> {
        let settings = self.settings()?;
        if settings.tokens.is_empty() && !settings.listen.ip().is_loopback() {
            say!("warning: {} is reachable by others, and no token is needed (--token-file)", settings.listen);
        }
        interruption::catch()?;
        let mut told = Ok(());
        serve(settings, interruption::token(), |address| {
            told = output::print(format!("listening on http://{address}\n").as_bytes());
        })?;
        told
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let bytes = |mebibytes: f64| (mebibytes * f64::from(1 << 20)) as u64;
        let limits = Limits {
            body: bytes(self.max_body) as usize,
            size: self.max_size,
            seconds: self.max_seconds,
            memory: bytes(self.max_memory),
            queue: self.max_queue,
            jobs: self.max_jobs,
            connections: self.max_connections.max(1),
            patience: self.patience,
        };
        let usual = Settings::default();
        Ok(Settings {
            listen: self.listen,
            solves: self.solves.map_or(usual.solves, usize::from),
            limits,
            grace: self.grace,
            tokens: self.token_file.as_deref().map(tokens).transpose()?.unwrap_or_default(),
            allow_origin: self.allow_origin.clone(),
            store: Place::from(self.store.clone().map_or_else(usual_store, Ok)?),
            keep: Duration::from_secs_f64(self.keep * 3600.0),
        })
    }
}

/// The tokens of a file.
fn tokens(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("--token-file {}", path.display()))?;
    let tokens: Vec<String> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(String::from).collect();
    if tokens.is_empty() {
        return Err(anyhow!("--token-file {}: expected a token per line, found none", path.display()));
    }
    Ok(tokens)
}

/// Where services and programs keep their state.
fn usual_store() -> anyhow::Result<PathBuf> {
    let folder = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = folder("STATE_DIRECTORY")
        .or_else(|| folder("XDG_STATE_HOME"))
        .or_else(|| folder("HOME").map(|home| home.join(".local/state")));
    let base = base.ok_or_else(|| anyhow!("there is no home folder for jobs; name a file with --store"))?;
    Ok(base.join("bqnco/jobs.redb"))
}

/// For clap: the origin of pages, as browsers write it.
fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    match host {
        Some(host) if !host.is_empty() && host.bytes().all(|c| c.is_ascii_graphic() && c != b'/') => Ok(text.into()),
        _ => Err("expected a scheme and a host without a path, such as https://example.org".into()),
    }
}

/// For clap: a number above zero.
fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 1e6 => Ok(number),
        _ => Err("expected a number above zero, a million at most".into()),
    }
}
