//! Errors of the service: one table from causes to status codes.

use std::io::{self, Write};
use std::net::SocketAddr;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::pool::Refused;

/// Why the server cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The address cannot be used.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The store of jobs cannot be used.
    #[error("cannot use {place} for jobs: {reason}")]
    Store {
        /// The file, or the database without its password.
        place: String,
        /// Why not.
        reason: String,
    },
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(io::Error),
    /// The library refused a setting.
    #[error(transparent)]
    Library(#[from] bqnco::Error),
}

/// Why a request failed: the `error` of its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The kind, for programs.
    pub kind: Kind,
    /// One sentence, for people.
    pub message: String,
    /// Identifies an internal error in the server's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip)]
    retry_after: Option<u64>, // seconds
}

/// The kinds of failed requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The request is not understood.
    BadRequest,
    /// A token is needed.
    Unauthorized,
    /// A page of another origin.
    Forbidden,
    /// No such path or job.
    NotFound,
    /// The path has no such method.
    MethodNotAllowed,
    /// The client was too slow.
    TooSlow,
    /// The body is too large.
    TooLarge,
    /// The instance, the solution or the options cannot be used, or exceed a limit.
    Unfit,
    /// Too much is waiting already.
    Busy,
    /// A bug; the log has more.
    Internal,
    /// The server is ending.
    Ending,
    /// The store of jobs cannot be used now.
    Unavailable,
}

impl Kind {
    fn status(self) -> StatusCode {
        match self {
            Kind::BadRequest => StatusCode::BAD_REQUEST,
            Kind::Unauthorized => StatusCode::UNAUTHORIZED,
            Kind::Forbidden => StatusCode::FORBIDDEN,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Kind::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::Unfit => StatusCode::UNPROCESSABLE_ENTITY,
            Kind::Busy => StatusCode::TOO_MANY_REQUESTS,
            Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Kind::Ending | Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

impl Problem {
    /// A failed request.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Problem { kind, message: message.into(), id: None, retry_after: None }
    }

    /// An instance, a solution or an option that cannot be used.
    pub fn unfit(message: impl Into<String>) -> Self {
        Self::new(Kind::Unfit, message)
    }

    /// A bug. Its cause is logged under an id, which the client gets.
    pub fn internal(cause: &str) -> Self {
        let id = logged(cause);
        let message = format!("this is a bug in bqnco; the server's log has more under the id {id}");
        Problem { id: Some(id), ..Self::new(Kind::Internal, message) }
    }

    /// The store of jobs failed: its disk is full, or its database is down. The cause is logged under an id.
    pub fn unavailable(cause: &str) -> Self {
        let id = logged(&format!("the store of jobs: {cause}"));
        let message = format!("the store of jobs cannot be used; try again later (id {id} in the server's log)");
        Problem { id: Some(id), ..Self::new(Kind::Unavailable, message) }
    }

    /// Work that was dropped because the server ends.
    pub fn dropped() -> Self {
        Self::new(Kind::Ending, "the server ended before there was a solution; try again later")
    }

    /// Too much is waiting; `seconds` is when to ask again.
    pub fn busy(message: impl Into<String>, seconds: u64) -> Self {
        Problem { retry_after: Some(seconds.max(1)), ..Self::new(Kind::Busy, message) }
    }
}

/// Letters of a client's text in a message.
const SHORT: usize = 60;

/// What a client has sent, as a part of a message.
pub(crate) fn shortened(text: &str) -> String {
    let mut short: String = text.chars().filter(|c| !c.is_control()).take(SHORT).collect();
    if text.chars().nth(SHORT).is_some() {
        short += "...";
    }
    if short.is_empty() { "nothing".into() } else { short }
}

/// Logs a cause, and returns the id under which it is in the log.
fn logged(cause: &str) -> String {
    let id = crate::id::new();
    // A closed log is no reason to leave the client without an answer.
    let _ = writeln!(io::stderr(), "error {id}: {}", cause.replace(|c: char| c.is_control() && c != '\n', "?"));
    id
}

impl From<bqnco::Error> for Problem {
    /// The library's sentences are meant for people. Its inputs are the client's, except for what a network computes.
    fn from(error: bqnco::Error) -> Self {
        match error {
            bqnco::Error::Policy(_) | bqnco::Error::Threads { .. } | bqnco::Error::File { .. } => {
                Self::internal(&error.to_string())
            }
            bqnco::Error::Cancelled { .. } => Self::dropped(),
            error => Self::unfit(error.to_string()),
        }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full { waiting, retry_after } => {
                Self::busy(format!("{waiting} requests are waiting already; try again in {retry_after} s"), retry_after)
            }
            Refused::Closed => Self::new(Kind::Ending, "the server is ending; try again later"),
        }
    }
}

/// The body of the answer to a failed request.
#[derive(Serialize)]
struct Envelope {
    error: Problem,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (kind, retry_after) = (self.kind, self.retry_after);
        let mut response = (kind.status(), Json(Envelope { error: self })).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = retry_after.or((kind.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(1)) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if kind == Kind::Unauthorized {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(kind); // for the count of failures
        response
    }
}
