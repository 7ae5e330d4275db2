//! Server-sent events of a solve: `improved` for every better solution, then `finished` or `failed`.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde::Serialize;

use crate::app::Underway;

/// A silent stream gets a comment this often, so that proxies do not close it.
const SILENCE: Duration = Duration::from_secs(10);

/// The events of a solve.
struct Events {
    underway: Underway,
    ended: bool,
}

/// Streams the events of a solve.
pub fn stream(underway: Underway) -> Response {
    let events = Sse::new(Events { underway, ended: false });
    events.keep_alive(KeepAlive::new().interval(SILENCE)).into_response()
}

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        match self.underway.events.poll_recv(context) {
            Poll::Ready(Some(improved)) => return Poll::Ready(Some(Ok(event("improved", &improved)))),
            Poll::Ready(None) => {} // the search has ended
            Poll::Pending => return Poll::Pending,
        }
        let answer = pin!(self.underway.answer()).poll(context);
        answer.map(|answer| {
            self.ended = true;
            Some(Ok(match answer {
                Ok(answer) => event("finished", &answer),
                Err(problem) => event("failed", &problem),
            }))
        })
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}
