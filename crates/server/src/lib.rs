//! The service behind `bqnco serve`: a thin layer over [`bqnco`] that speaks HTTP.
//!
//! ```text
//! connection -> api -> request (bytes to Task) -> pool (bounded queue, solving threads) -> answer (JSON, events)
//!                   \-> jobs -> store (redb, PostgreSQL) --^
//! ```
//!
//! Nothing here knows how to solve, or which problems there are. Everything is bounded ([`Limits`]): what a request may
//! ask for is checked before it waits, and what waits is counted. A client that hangs up drops its request, which
//! cancels its search.

mod answer;
mod api;
mod app;
mod connection;
mod error;
mod guard;
mod id;
mod jobs;
mod members;
mod metrics;
mod options;
mod page;
mod pool;
mod request;
mod server;
mod settings;
mod store;
mod task;

pub use error::ServeError;
pub use request::refusal;
pub use server::serve;
pub use settings::{Limits, Place, Settings};
pub use task::estimate;
