//! `POST /v1/jobs`, `GET` and `DELETE /v1/jobs/{id}`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::given::Given;
use super::{Name, blocking, named, stored};
use crate::app::App;
use crate::error::{Kind, Problem};
use crate::jobs::{JobView, Jobs};

/// Accepts a job: it is stored when the answer is sent.
pub async fn submit(State(app): State<Arc<App>>, given: Given) -> Result<Response, Problem> {
    if app.ending.is_cancelled() {
        return Err(Problem::new(Kind::Ending, "the server is ending; try again later"));
    }
    let turn = app.turn(given.bytes.len()).await?;
    let work = Arc::clone(&app);
    let given = blocking(move || {
        let _turn = turn; // until the body is parsed, though the client may have left
        let limits = &work.settings.limits;
        let task = given.input(limits)?.task(limits, given.bytes.len(), Duration::ZERO)?;
        task.check(&work.solver)?; // its time starts when it is solved
        Ok(given)
    })
    .await?;
    let job = stored(&app, move |app| Jobs::accept(app, &given.bytes, given.options.clone())).await?;
    let place = [(header::LOCATION, job.url().to_string())];
    Ok((StatusCode::ACCEPTED, place, Json(job)).into_response())
}

/// Where a job stands.
pub async fn get(State(app): State<Arc<App>>, id: Name) -> Result<Json<JobView>, Problem> {
    let id = named(id);
    found(stored(&app, move |app| app.jobs.get(&id)).await?)
}

/// Ends a job with its best so far.
pub async fn cancel(State(app): State<Arc<App>>, id: Name) -> Result<Json<JobView>, Problem> {
    let id = named(id);
    found(stored(&app, move |app| app.jobs.cancel(&id)).await?)
}

fn found(job: Option<JobView>) -> Result<Json<JobView>, Problem> {
    job.map(Json).ok_or_else(|| Problem::new(Kind::NotFound, "there is no such job, or it has expired"))
}
