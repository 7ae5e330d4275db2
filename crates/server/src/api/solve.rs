//! `POST /v1/solve`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};

use super::given::Understood;
use super::{blocking, events};
use crate::app::{App, Room};
use crate::error::Problem;
use crate::task::Task;

/// Solves, and answers at the end or with every improvement.
pub async fn solve(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    understood: Understood,
) -> Result<Response, Problem> {
    let (task, room) = task(&app, understood).await?;
    let mut underway = app.solve(task, room)?;
    let accepts = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    if accepts.contains("text/event-stream") {
        return Ok(events::stream(underway, Arc::clone(&app.metrics)));
    }
    Ok(Json(underway.answer().await?).into_response())
}

/// What to solve; refused if the search does not fit.
pub async fn task(app: &Arc<App>, understood: Understood) -> Result<(Task, Room), Problem> {
    let app = Arc::clone(app);
    blocking(move || {
        let Understood { input, bytes, room, arrived } = understood;
        let task = input.task(&app.settings.limits, bytes, arrived.elapsed())?;
        task.check(&app.solver)?;
        Ok((task, room))
    })
    .await
}
