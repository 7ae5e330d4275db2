//! Paths that look at an instance and a solution: understood, checked, drawn, written, and built step by step.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::{AnyQuery, blocking, input, options};
use crate::answer::{Steps, Understood, Verdict};
use crate::app::App;
use crate::error::Problem;
use crate::pool::Class;

/// `POST /v1/instance`: the instance as JSON, with the places of its nodes.
pub async fn instance(
    State(app): State<Arc<App>>,
    query: AnyQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (input, _) = input(&app, &headers, body, options(query)?).await?;
    let json = blocking(move || Understood::json(&input.instance, input.solution.as_ref()));
    Ok(([(header::CONTENT_TYPE, "application/json")], json.await?).into_response())
}

/// `POST /v1/check`: whether a solution is feasible, and its objective.
pub async fn check(
    State(app): State<Arc<App>>,
    query: AnyQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Verdict>, Problem> {
    let (input, _) = input(&app, &headers, body, options(query)?).await?;
    Ok(Json(Verdict::new(input.solution()?)))
}

/// `POST /v1/solution`: a solution as a file of its problem.
pub async fn solution(
    State(app): State<Arc<App>>,
    query: AnyQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (input, _) = input(&app, &headers, body, options(query)?).await?;
    let (format, extension) = input.instance.native_solution_format();
    let bytes = input.solution()?.to_bytes(format)?;
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    let file = format!("attachment; filename=\"solution.{extension}\"");
    headers.extend(HeaderValue::from_str(&file).map(|value| (header::CONTENT_DISPOSITION, value)));
    Ok(response)
}

/// `POST /v1/plot.svg`: a picture of the instance, with its solution if there is one.
pub async fn plot(
    State(app): State<Arc<App>>,
    query: AnyQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (input, _) = input(&app, &headers, body, options(query)?).await?;
    let svg = blocking(move || {
        let picture = input.solution.as_ref().map_or_else(|| input.instance.draw(), bqnco::Solution::draw);
        Ok(picture.to_svg())
    });
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg.await?).into_response())
}

/// `POST /v1/policy/steps`: a greedy construction with the probabilities of the next steps.
pub async fn steps(
    State(app): State<Arc<App>>,
    query: AnyQuery,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let (input, bytes) = input(&app, &headers, body, options(query)?).await?;
    let most = input.options.candidates()?;
    let task = super::solve::task(&app, input, bytes).await?;
    let cancel = CancelOnDrop(bqnco::CancelToken::new());
    let (seconds, token, work) = (task.seconds, cancel.0.clone(), Arc::clone(&app));
    let trace = app.pool.submit(Class::Request, &cancel.0, seconds.as_secs_f64(), move |solver| {
        let solver = solver.clone().search(task.search).time_limit(seconds).cancel_token(&token);
        let trace = work.metrics.timed(|| solver.trace(&task.instance, most))?;
        json(&Steps::new(&task.instance, &trace))
    })?;
    trace.await.unwrap_or_else(|_| Err(Problem::dropped()))
}

/// Ends the work of a client that has left.
struct CancelOnDrop(bqnco::CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// JSON, written on the calling thread: it may be long.
fn json(value: &impl Serialize) -> Result<Response, Problem> {
    let bytes = serde_json::to_vec(value).map_err(|error| Problem::internal(&error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}
