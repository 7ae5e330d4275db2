//! Server-sent events of a solve: `improved` for every better solution, then `finished` or `failed`.

use std::convert::Infallible;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use serde::Serialize;

use crate::app::Underway;
use crate::metrics::Metrics;

/// A silent stream gets a comment this often, so that proxies do not close it.
const SILENCE: Duration = Duration::from_secs(10);

/// The events of a solve.
struct Events {
    underway: Underway,
    metrics: Arc<Metrics>,
    ended: bool,
}

/// Streams the events of a solve.
pub fn stream(underway: Underway, metrics: Arc<Metrics>) -> Response {
    let events = Sse::new(Events { underway, metrics, ended: false });
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
                Err(problem) => {
                    self.metrics.failure(problem.kind);
                    event("failed", &problem)
                }
            }))
        })
    }
}

fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).data(serde_json::to_string(data).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use axum::body::to_bytes;
    use bqnco::{CancelToken, Solver};

    use super::*;
    use crate::app::App;
    use crate::options::Options;
    use crate::pool::Class;
    use crate::request::Input;
    use crate::settings::{Limits, Place, Settings};
    use crate::task::Task;

    fn task() -> Task {
        let points = b"x,y\n0,0\n3,1\n1,5\n4,1\n2,2\n";
        let input = Input::read(points, Options::default(), &Limits::default()).expect("an instance");
        input.task(&Limits::default(), points.len(), Duration::ZERO).expect("within the limits")
    }

    #[tokio::test]
    async fn a_solve_that_fails_ends_its_stream_and_is_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Place::File(folder.path().join("jobs.redb"));
        let settings = Settings { solves: 1, store, ..Settings::default() };
        let app = App::start(settings, &CancelToken::new()).expect("it starts");
        let (started, has_started) = mpsc::channel::<()>();
        let (release, blocked) = mpsc::channel::<()>();
        let work = move |_: &Solver| {
            started.send(()).expect("the test waits");
            Ok(blocked.recv().ok())
        };
        let _running = app.pool.submit(Class::Request, &CancelToken::new(), 1.0, work).expect("room");
        has_started.recv().expect("the only thread runs it");
        let waiting = app.solve(task(), app.room(1).expect("room")).expect("a place in the queue");
        let stream = stream(waiting, Arc::clone(&app.metrics));
        app.pool.close(); // as when the server ends
        let body = to_bytes(stream.into_body(), 1 << 16).await.expect("an end");
        let text = String::from_utf8_lossy(&body).into_owned();
        assert!(text.starts_with("event: failed\ndata: {\"kind\":\"ending\","), "{text}");
        assert_eq!(text.matches("event:").count(), 1, "{text}");
        let metrics = app.metrics.text(&app, None);
        assert!(metrics.contains("bqnco_failures_total{kind=\"ending\"} 1\n"), "{metrics}");
        drop(release);
        app.pool.join();
    }
}
