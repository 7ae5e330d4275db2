//! What the service is and how it does.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::time::timeout;

use super::{Name, named};
use crate::answer::{self, About, ModelInfo};
use crate::app::App;
use crate::error::{Kind, Problem};
use crate::page::EXAMPLES;

/// The description of all paths.
pub(super) const OPENAPI: &str = include_str!("../openapi.json");

/// `GET /v1/problems`, with the limits of this server.
pub async fn problems(State(app): State<Arc<App>>) -> Json<Problems> {
    let limits = &app.settings.limits;
    let (size, seconds, body) = (limits.size, limits.seconds, limits.body);
    Json(Problems { problems: answer::problems(), limits: PublicLimits { size, seconds, body } })
}

/// The problems, and what a request may ask for.
#[derive(Serialize)]
pub struct Problems {
    problems: Vec<About>,
    limits: PublicLimits,
}

#[derive(Serialize)]
struct PublicLimits {
    size: usize,
    seconds: f64,
    body: usize, // bytes
}

/// `GET /v1/models`.
pub async fn models() -> Result<Json<Vec<ModelInfo>>, Problem> {
    Ok(Json(answer::models()?))
}

/// `GET /v1/examples`: the names of the instances to try.
pub async fn examples() -> Json<Vec<&'static str>> {
    Json(EXAMPLES.iter().map(|(name, _)| *name).collect())
}

/// `GET /v1/examples/{name}`: the file.
pub async fn example(name: Name) -> Result<Response, Problem> {
    let name = named(name);
    let found = EXAMPLES.iter().find(|(example, _)| *example == name); // a list, not a folder
    let (_, content) =
        found.ok_or_else(|| Problem::new(Kind::NotFound, "there is no such example; /v1/examples lists all"))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], *content).into_response())
}

/// `GET /openapi.json`.
pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// `GET /healthz`: the process answers.
pub async fn healthy() -> &'static str {
    "ok\n"
}

/// `GET /readyz`: it takes requests.
pub async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, Problem> {
    if app.ending.is_cancelled() {
        return Err(Problem::new(Kind::Ending, "the server is ending"));
    }
    Ok("ready\n")
}

/// How long `/metrics` waits for the store of jobs: one that fails or does not answer must not hide everything else.
const COUNTING: Duration = Duration::from_secs(1);

/// `GET /metrics`.
pub async fn metrics(State(app): State<Arc<App>>) -> Response {
    let counts = super::stored(&app, |app| Ok(app.jobs.store().counts()?));
    let jobs = timeout(COUNTING, counts).await.ok().and_then(Result::ok);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.text(&app, jobs)).into_response()
}
