//! The life of a server: bind, accept, end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bqnco::CancelToken;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::api;
use crate::app::{App, STORE_CALLS};
use crate::connection::Impatient;
use crate::error::{Problem, ServeError};
use crate::jobs::Jobs;
use crate::settings::{Settings, cores};

/// How often the token that ends the server, jobs, and those that expire are looked at.
const LOOK: Duration = Duration::from_millis(50);
const TEND: Duration = Duration::from_secs(1);
const EXPIRE: Duration = Duration::from_secs(30);
/// When something that failed is tried again: soon enough that other servers do not take over what runs here.
const AGAIN: Duration = Duration::from_secs(3);
/// Bytes that a connection may have read and not yet used, its headers for example.
const BUFFER: usize = 64 << 10;
/// Part of the grace that is kept for writing the last answers.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Serves until `ending` is cancelled; then requests that are running end with their best within the grace. `ready` is
/// told the address as soon as connections are accepted.
///
/// # Errors
/// An address or a store that cannot be used.
pub fn serve(settings: Settings, ending: &CancelToken, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores().clamp(1, 4)) // they only move bytes
        .max_blocking_threads(cores() + 2 + STORE_CALLS + 2) // they parse, check and draw; for the store; `repeat`
        .enable_all()
        .build()
        .map_err(ServeError::Threads)?;
    let app = App::start(settings, ending)?;
    let served = runtime.block_on(run(&app, ready));
    runtime.shutdown_timeout(LAST_WORDS);
    app.pool.close(); // if it could not even listen
    app.pool.join();
    served
}

async fn run(app: &Arc<App>, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let settings = &app.settings;
    let refuse = |source| ServeError::Listen { address: settings.listen, source };
    let listener = TcpListener::bind(settings.listen).await.map_err(refuse)?;
    ready(listener.local_addr().map_err(refuse)?);
    let (tended, expired) = (Arc::clone(app), Arc::clone(app));
    tokio::spawn(repeat(TEND, move || Jobs::tend(&tended)));
    let keep = settings.keep;
    let often = EXPIRE.min(keep.max(Duration::from_millis(100)));
    tokio::spawn(repeat(often, move || Ok(expired.jobs.store().expire(keep)?)));
    let (router, graceful) = (api::router(app), GracefulShutdown::new());
    let places = Arc::new(Semaphore::new(settings.limits.connections));
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let (place, accepted) = tokio::select! {
            accepted = async { (place.await, listener.accept().await) } => accepted,
            () = ended(&app.ending) => break,
        };
        let Ok((stream, _)) = accepted else {
            sleep(LOOK).await; // too many open files: others must close first
            continue;
        };
        let _ = stream.set_nodelay(true); // events are small; without it they are only slower
        let stream = TokioIo::new(Impatient::new(stream, settings.limits.patience));
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(settings.limits.patience).max_buf_size(BUFFER);
        let connection = protocol.serve_connection(stream, TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        let open = (place, Arc::clone(&app.connections));
        tokio::spawn(async move {
            let _ = connection.await; // the client has gone, or was too slow
            drop(open);
        });
    }
    drop(listener);
    end(app, graceful).await;
    Ok(())
}

/// Lets what is running go on for the grace, then ends it with its best.
async fn end(app: &Arc<App>, graceful: GracefulShutdown) {
    app.pool.close();
    let grace = app.settings.grace;
    let finished = async {
        graceful.shutdown().await;
        while app.pool.load().2 > 0 {
            sleep(LOOK).await;
        }
    };
    tokio::pin!(finished);
    if timeout(grace.saturating_sub(LAST_WORDS), &mut finished).await.is_err() {
        app.pool.cancel_running();
        let _ = timeout(LAST_WORDS.min(grace), &mut finished).await;
    }
    app.pool.cancel_running();
}

async fn ended(ending: &CancelToken) {
    while !ending.is_cancelled() {
        sleep(LOOK).await;
    }
}

/// Does something again and again, on a thread where it may block. Errors are logged; then it waits a little longer.
async fn repeat(pause: Duration, work: impl Fn() -> Result<(), Problem> + Send + Sync + 'static) {
    let work = Arc::new(work);
    loop {
        let once = Arc::clone(&work);
        let done = tokio::task::spawn_blocking(move || once()).await;
        sleep(if let Ok(Ok(())) = done { pause } else { pause.max(AGAIN) }).await;
    }
}
