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
use axum::extract::rejection::PathRejection;
use axum::extract::{MatchedPath, Path, Request};
use axum::http::{HeaderValue, Method, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::Value;
use tokio::time::timeout;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;

use crate::app::App;
use crate::error::{Kind, Problem, shortened};
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
        .fallback(|uri: Uri| async move { no_path(&uri) })
        .method_not_allowed_fallback(|request: Request| async move { no_method(&request) })
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(app), guard::guard));
    if let Some(origin) = app.settings.allow_origin.as_deref().and_then(|origin| HeaderValue::from_str(origin).ok()) {
        let methods = [Method::GET, Method::POST, Method::DELETE];
        let headers = [header::CONTENT_TYPE, header::AUTHORIZATION];
        router = router.layer(CorsLayer::new().allow_origin(origin).allow_methods(methods).allow_headers(headers));
    }
    router.with_state(Arc::clone(app))
}

/// The name of something as a part of a path.
type Name = Result<Path<String>, PathRejection>;

/// What is not UTF-8 names nothing.
fn named(name: Name) -> String {
    name.map(|Path(name)| name).unwrap_or_default()
}

fn no_path(uri: &Uri) -> Problem {
    let path = shortened(uri.path());
    Problem::new(Kind::NotFound, format!("there is no path {path}; /openapi.json lists all"))
}

/// Names the methods that a path has: those of the document, which a test compares with the router, or that of all files
/// of the page.
fn no_method(request: &Request) -> Problem {
    let path = request.extensions().get::<MatchedPath>().map_or("this path", MatchedPath::as_str);
    let document: Value = serde_json::from_str(info::OPENAPI).unwrap_or_default();
    let methods = document["paths"][path].as_object().map_or("GET".into(), |methods| {
        methods.keys().map(|method| method.to_uppercase()).collect::<Vec<_>>().join(" or ")
    });
    let method = shortened(request.method().as_str());
    Problem::new(Kind::MethodNotAllowed, format!("{path} has no method {method}; use {methods}"))
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

    #[tokio::test]
    async fn a_panic_of_a_handler_is_a_500_with_an_id() {
        let response = super::panicked(Box::new("on purpose"));
        assert_eq!(response.status().as_u16(), 500);
        let body = axum::body::to_bytes(response.into_body(), 1 << 16).await.expect("a body");
        let answer: serde_json::Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(answer["error"]["id"].as_str().map(str::len), Some(32));
        assert!(!answer.to_string().contains("on purpose"), "{answer}");
    }
}
