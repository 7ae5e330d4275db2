//! What a request brings along: the arguments of most handlers.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Query, Request};
use axum::http::{HeaderMap, header};
use tokio::time::timeout;

use super::blocking;
use crate::app::{App, Room};
use crate::error::{Kind, Problem};
use crate::options::Options;
use crate::request::Input;
use crate::settings::Limits;

/// A request as it came: the options of its query, and its body within size and time.
pub struct Given {
    /// The options of the query.
    pub options: Options,
    /// The body.
    pub bytes: Vec<u8>,
    /// Its room in memory.
    pub room: Room,
    /// When it was complete: parsing is part of the time that the request asks for.
    pub arrived: Instant,
    /// Whether its content type is that of a form, which is what `curl -d` says of everything.
    is_form: bool,
}

/// A request that was understood.
pub struct Understood {
    /// What it says.
    pub input: Input,
    /// Bytes of its body.
    pub bytes: usize,
    /// Its room in memory.
    pub room: Room,
    /// When its body was complete.
    pub arrived: Instant,
}

impl FromRequest<Arc<App>> for Given {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let query = Query::try_from_uri(request.uri());
        let Query(pairs) = query.map_err(|error| Problem::new(Kind::BadRequest, error.body_text()))?;
        let options = Options::of_query(pairs)?;
        let (head, body) = request.into_parts();
        let content = head.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if content.starts_with("multipart/") {
            let message = "the body is a form of several parts; send the file alone, as curl --data-binary @FILE does";
            return Err(Problem::new(Kind::BadRequest, message));
        }
        let is_form = content.starts_with("application/x-www-form-urlencoded");
        let (bytes, room) = read(app, &head.headers, body).await?;
        Ok(Given { options, bytes, room, arrived: Instant::now(), is_form })
    }
}

impl Given {
    /// What it says.
    pub fn input(&self, limits: &Limits) -> Result<Input, Problem> {
        Input::read(&self.bytes, self.options.clone(), limits).map_err(|mut problem| {
            let is_json = self.bytes.trim_ascii_start().starts_with(b"{");
            if self.is_form && !is_json && !self.bytes.contains(&b'\n') {
                problem.message += "; curl -d removes line breaks: send files with curl --data-binary @FILE";
            }
            problem
        })
    }
}

impl FromRequest<Arc<App>> for Understood {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let given = Given::from_request(request, app).await?;
        let turn = app.turn(given.bytes.len()).await?;
        let app = Arc::clone(app);
        blocking(move || {
            let _turn = turn; // until the body is parsed, though the client may have left
            let input = given.input(&app.settings.limits)?;
            Ok(Understood { input, bytes: given.bytes.len(), room: given.room, arrived: given.arrived })
        })
        .await
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
        Err(_) => {
            let seconds = app.settings.limits.patience.as_secs_f64();
            Err(Problem::new(
                Kind::TooSlow,
                format!("the body did not arrive within {seconds} s, the limit of this server"),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::response::IntoResponse;
    use bqnco::CancelToken;

    use super::*;
    use crate::settings::{Place, Settings};

    /// An instance of four nodes in a body of so many bytes.
    fn request(bytes: usize) -> Request {
        let mut body = br#"{"coordinates": [[0,0],[1,1],[1,0],[0,1]]}"#.to_vec();
        body.resize(bytes, b' ');
        Request::new(Body::from(body))
    }

    #[tokio::test]
    async fn large_bodies_that_could_fill_the_memory_together_are_not_parsed_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let limits = Limits { body: 4 << 20, memory: 300 << 20, ..Limits::default() };
        let store = Place::File(folder.path().join("jobs.redb"));
        let settings = Settings { solves: 2, limits, store, ..Settings::default() };
        let app = App::start(settings, &CancelToken::new()).expect("it starts");
        let largest = app.turn(4 << 20).await.expect("nothing else is parsed"); // 264 of 300 MiB
        let refused = Understood::from_request(request(2 << 20), &app).await.map(drop).expect_err("too little is left");
        assert_eq!(refused.kind, Kind::Busy);
        assert!(refused.into_response().headers().contains_key(header::RETRY_AFTER));
        let small = Understood::from_request(request(1 << 20), &app).await;
        assert_eq!(small.map(|understood| understood.bytes), Ok(1 << 20));
        drop(largest);
        let second = Understood::from_request(request(2 << 20), &app).await;
        assert_eq!(second.map(|understood| understood.bytes), Ok(2 << 20));
        app.pool.close();
        app.pool.join();
    }
}
