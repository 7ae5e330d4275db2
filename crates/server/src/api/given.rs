//! What a request brings along: the arguments of most handlers.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Query, Request};
use axum::http::{HeaderMap, header};
use tokio::time::timeout;

use super::blocking;
use crate::app::{App, Room};
use crate::error::{Kind, Problem};
use crate::request::{Input, Options};

/// A request as it came: the options of its query, and its body within size and time.
pub struct Given {
    /// The options of the query.
    pub options: Options,
    /// The body.
    pub bytes: Vec<u8>,
    /// Its room in memory.
    pub room: Room,
}

/// A request that was understood.
pub struct Understood {
    /// What it says.
    pub input: Input,
    /// Bytes of its body.
    pub bytes: usize,
    /// Its room in memory.
    pub room: Room,
}

impl FromRequest<Arc<App>> for Given {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let query = Query::try_from_uri(request.uri());
        let Query(options) = query.map_err(|error| Problem::new(Kind::BadRequest, error.body_text()))?;
        let (head, body) = request.into_parts();
        let (bytes, room) = read(app, &head.headers, body).await?;
        Ok(Given { options, bytes, room })
    }
}

impl FromRequest<Arc<App>> for Understood {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let Given { options, bytes, room } = Given::from_request(request, app).await?;
        let app = Arc::clone(app);
        let read = move || Ok((Input::read(&bytes, options, &app.settings.limits)?, bytes.len()));
        let (input, bytes) = blocking(read).await?;
        Ok(Understood { input, bytes, room })
    }
}

/// The bytes of a body, within size and time.
async fn read(app: &App, headers: &HeaderMap, body: Body) -> Result<(Vec<u8>, Room), Problem> {
    let most = app.settings.limits.body;
    let too_large = || {
        let message = format!("the body is larger than {} KiB, the most that this server takes", most >> 10);
        Problem::new(Kind::TooLarge, message)
    };
    let stated = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let length = stated.map_or(most, |length| usize::try_from(length).unwrap_or(usize::MAX));
    if length > most {
        return Err(too_large());
    }
    let room = app.room(length)?;
    match timeout(app.settings.limits.patience, to_bytes(body, most)).await {
        Ok(Ok(bytes)) => Ok((bytes.into(), room)),
        Ok(Err(error)) if std::error::Error::source(&error).is_some_and(|why| why.to_string().contains("limit")) => {
            Err(too_large())
        }
        Ok(Err(error)) => Err(Problem::new(Kind::BadRequest, format!("the body cannot be read: {error}"))),
        Err(_) => Err(Problem::new(Kind::TooSlow, "the body did not arrive in time")),
    }
}
