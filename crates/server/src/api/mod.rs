//! The paths of the service.

mod events;
mod given;
mod info;
mod jobs;
mod solve;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderValue, Method, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::time::timeout;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;

use crate::app::App;
use crate::error::{Kind, Problem};
use crate::{guard, page};

/// How long a request waits for the store of jobs while others wait for it, too.
const STORE_PATIENCE: Duration = Duration::from_secs(10);

/// All paths.
pub fn router(app: &Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/v1/solve", post(solve::solve))
        .route("/v1/jobs", post(jobs::submit))
        .route("/v1/jobs/{id}", get(jobs::get).delete(jobs::cancel))
        .route("/v1/instance", post(tools::instance))
        .route("/v1/check", post(tools::check))
        .route("/v1/solution", post(tools::solution))
        .route("/v1/plot.svg", post(tools::plot))
        .route("/v1/policy/steps", post(tools::steps))
        .route("/v1/problems", get(info::problems))
        .route("/v1/models", get(info::models))
        .route("/v1/examples", get(info::examples))
        .route("/v1/examples/{name}", get(info::example))
        .route("/openapi.json", get(info::openapi))
        .route("/healthz", get(info::healthy))
        .route("/readyz", get(info::ready))
        .route("/metrics", get(info::metrics));
    for &(path, kind, content) in page::FILES {
        router = router.route(path, get(move || async move { page::answer(kind, content) }));
    }
    let mut router = router
        .fallback(|| async { Problem::new(Kind::NotFound, "there is no such path; /openapi.json lists all") })
        .method_not_allowed_fallback(|| async { Problem::new(Kind::MethodNotAllowed, "this path has no such method") })
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(app), guard::guard));
    if let Some(origin) = app.settings.allow_origin.as_deref().and_then(|origin| HeaderValue::from_str(origin).ok()) {
        let methods = [Method::GET, Method::POST, Method::DELETE];
        let headers = [header::CONTENT_TYPE, header::AUTHORIZATION];
        router = router.layer(CorsLayer::new().allow_origin(origin).allow_methods(methods).allow_headers(headers));
    }
    router.with_state(Arc::clone(app))
}

fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let message = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Problem::internal(message.unwrap_or("a panic")).into_response()
}

/// Work that would block others, on a thread of its own.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(move || crate::pool::guarded(work)).await {
        Ok(result) => result.and_then(|result| result),
        Err(_) => Err(Problem::dropped()),
    }
}

/// Work with the store of jobs. A database that does not answer must not take the threads of all other requests.
async fn stored<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&Arc<App>) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let Ok(call) = timeout(STORE_PATIENCE, Arc::clone(&app.store_calls).acquire_owned()).await else {
        return Err(Problem::unavailable("it does not answer"));
    };
    let app = Arc::clone(app);
    blocking(move || {
        let _call = call; // until the store has answered, though the client may have left
        work(&app)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn the_document_lists_every_path_with_its_methods() {
        let document: serde_json::Value = serde_json::from_str(include_str!("../openapi.json")).expect("JSON");
        let documented = document["paths"].as_object().expect("paths").iter().flat_map(|(path, methods)| {
            methods.as_object().expect("methods").keys().map(move |method| format!("{method} {path}"))
        });
        let mut routed = BTreeSet::new();
        for line in include_str!("mod.rs").lines().filter_map(|line| line.trim().strip_prefix(".route(\"")) {
            let (path, handlers) = line.split_once("\", ").expect("a path and its handlers");
            for method in ["get", "post", "delete"].iter().filter(|method| handlers.contains(&format!("{method}("))) {
                routed.insert(format!("{method} {path}"));
            }
        }
        assert_eq!(documented.collect::<BTreeSet<_>>(), routed);
    }
}
