//! `POST /v1/solve`.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::{AnyQuery, blocking, events, input, options};
use crate::app::App;
use crate::error::Problem;
use crate::request::Input;
use crate::task::Task;

/// Solves, and answers at the end or with every improvement.
pub async fn solve(
    State(app): State<Arc<App>>,
    query: AnyQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (input, bytes) = input(&app, &headers, body, options(query)?).await?;
    let task = task(&app, input, bytes).await?;
    let mut underway = app.solve(task)?;
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/event-stream") {
        return Ok(events::stream(underway));
    }
    Ok(Json(underway.answer().await?).into_response())
}

/// What to solve; refused if the search does not fit.
pub async fn task(app: &Arc<App>, input: Input, bytes: usize) -> Result<Task, Problem> {
    let app = Arc::clone(app);
    blocking(move || {
        let task = input.task(&app.settings.limits, bytes)?;
        task.check(&app.solver)?;
        Ok(task)
    })
    .await
}
