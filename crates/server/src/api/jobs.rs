//! `POST /v1/jobs`, `GET` and `DELETE /v1/jobs/{id}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::blocking;
use super::given::Given;
use crate::app::App;
use crate::error::{Kind, Problem};
use crate::jobs::{JobView, Jobs};
use crate::request::Input;

/// Accepts a job: it is stored when the answer is sent.
pub async fn submit(State(app): State<Arc<App>>, given: Given) -> Result<Response, Problem> {
    let job = blocking(move || {
        if app.ending.is_cancelled() {
            return Err(Problem::new(Kind::Ending, "the server is ending; try again later"));
        }
        let (Given { options, bytes, .. }, limits) = (&given, &app.settings.limits);
        Input::read(bytes, options.clone(), limits)?.task(limits, bytes.len())?.check(&app.solver)?;
        Jobs::accept(&app, bytes, options.clone())
    })
    .await?;
    let place = [(header::LOCATION, job.url().to_string())];
    Ok((StatusCode::ACCEPTED, place, Json(job)).into_response())
}

/// Where a job stands.
pub async fn get(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Json<JobView>, Problem> {
    found(blocking(move || app.jobs.get(&id)).await?)
}

/// Ends a job with its best so far.
pub async fn cancel(State(app): State<Arc<App>>, Path(id): Path<String>) -> Result<Json<JobView>, Problem> {
    found(blocking(move || app.jobs.cancel(&id)).await?)
}

fn found(job: Option<JobView>) -> Result<Json<JobView>, Problem> {
    job.map(Json).ok_or_else(|| Problem::new(Kind::NotFound, "there is no such job, or it has expired"))
}
