//! Paths that look at an instance and a solution: understood, checked, drawn, written, and built step by step.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::blocking;
use super::given::Understood;
use crate::answer::{self, Steps, Verdict};
use crate::app::App;
use crate::error::Problem;
use crate::pool::Class;

/// `POST /v1/instance`: the instance as JSON, with the places of its nodes.
pub async fn instance(Understood { input, .. }: Understood) -> Result<Response, Problem> {
    let json = blocking(move || answer::Understood::json(&input.instance, input.solution.as_ref())).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// `POST /v1/check`: whether a solution is feasible, and its objective.
pub async fn check(Understood { input, .. }: Understood) -> Result<Json<Verdict>, Problem> {
    blocking(move || Ok(Json(Verdict::new(input.solution()?)))).await
}

/// `POST /v1/solution`: a solution as a file of its problem.
pub async fn solution(Understood { input, .. }: Understood) -> Result<Response, Problem> {
    let (format, extension) = input.instance.native_solution_format();
    let bytes = blocking(move || Ok(input.solution()?.to_bytes(format)?)).await?;
    let file = format!("attachment; filename=\"solution.{extension}\"");
    let headers =
        [(header::CONTENT_TYPE, "text/plain; charset=utf-8".to_string()), (header::CONTENT_DISPOSITION, file)];
    Ok((headers, bytes).into_response())
}

/// `POST /v1/plot.svg`: a picture of the instance, with its solution if there is one.
pub async fn plot(Understood { input, .. }: Understood) -> Result<Response, Problem> {
    let draw = move || {
        let picture = input.solution.as_ref().map_or_else(|| input.instance.draw(), bqnco::Solution::draw);
        Ok(picture.to_svg())
    };
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], blocking(draw).await?).into_response())
}

/// `POST /v1/policy/steps`: a greedy construction with the probabilities of the next steps.
pub async fn steps(State(app): State<Arc<App>>, understood: Understood) -> Result<Response, Problem> {
    let most = understood.input.options.candidates()?;
    let (task, _room) = super::solve::task(&app, understood).await?;
    let cancel = CancelOnDrop(bqnco::CancelToken::new());
    let (seconds, token, work) = (task.seconds, cancel.0.clone(), Arc::clone(&app));
    let trace = app.pool.submit(Class::Request, &cancel.0, seconds.as_secs_f64(), move |solver| {
        let solver = solver.clone().search(task.search).time_limit(seconds).cancel_token(&token);
        let trace = work.metrics.timed(|| solver.trace(&task.instance, most))?;
        // Written on the solving thread: it may be long.
        serde_json::to_vec(&Steps::new(&task.instance, &trace)).map_err(|error| Problem::internal(&error.to_string()))
    })?;
    let json = trace.await.unwrap_or_else(|_| Err(Problem::dropped()))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], json).into_response())
}

/// Ends the work of a client that has left.
struct CancelOnDrop(bqnco::CancelToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
