//! From the bytes of a request to an instance, a solution and options.

use std::collections::BTreeMap;
use std::time::Duration;

use bqnco::{Instance, Solution};
use serde_json::json;

use crate::error::{Kind, Problem, shortened};
use crate::members::{members, text};
use crate::options::Options;
use crate::settings::Limits;
use crate::task::Task;

/// A request, understood.
pub struct Input {
    /// The instance.
    pub instance: Instance,
    /// The solution beside it, or in its file.
    pub solution: Option<Solution>,
    /// Whether the solution is given beside the instance: then a search starts from it.
    start: bool,
    /// Options of body and query.
    pub options: Options,
}

/// Why the body of a request is refused; `None` if it is understood.
pub fn refusal(body: &[u8], limits: &Limits) -> Option<String> {
    let understood = Input::read(body, Options::default(), limits).and_then(|input| input.options.search().map(drop));
    understood.err().map(|problem| problem.message)
}

impl Input {
    /// Understands a request: the bytes of an instance file in any format; or a JSON object with the keys `instance` (an
    /// object, or the text of a file), `solution` (a list, or the text of a file) and `options`; or an instance as JSON
    /// with a key `options`.
    pub fn read(body: &[u8], query: Options, limits: &Limits) -> Result<Self, Problem> {
        let Parts { instance, solution, options } = Parts::of(body)?;
        let options = query.or(options);
        let instance = Instance::parse(&options.file_name(), instance)?;
        if instance.size() > limits.size {
            let (sized, most) = (instance.sized(), limits.size);
            return Err(Problem::unfit(format!("the instance has {sized}; this server takes at most {most}")));
        }
        let start = solution.is_some();
        let solution = match solution {
            Some(bytes) => Some(instance.parse_solution("solution", bytes)?),
            None => instance.solution(),
        };
        Ok(Input { instance, solution, start, options })
    }

    /// The solution, which the request must have.
    pub fn solution(&self) -> Result<&Solution, Problem> {
        self.solution.as_ref().ok_or_else(|| {
            Problem::unfit("there is no solution: send {\"instance\": ..., \"solution\": ...}, or a file with both")
        })
    }

    /// What to solve, within the limits; `spent` is the part of the request's time that has passed already.
    pub fn task(self, limits: &Limits, bytes: usize, spent: Duration) -> Result<Task, Problem> {
        let (search, asked) = (self.options.search()?, self.options.seconds(limits)?);
        let needed = crate::estimate(self.instance.size(), bytes, &search);
        if needed > limits.memory {
            let (needed, most) = (needed >> 20, limits.memory >> 20);
            let message = format!("this may need {needed} MiB of memory; this server allows {most} MiB per request");
            return Err(Problem::unfit(message));
        }
        let start = self.solution.filter(|_| self.start);
        let (seconds, seed) = (asked.saturating_sub(spent), self.options.seed.unwrap_or(0));
        Ok(Task { instance: self.instance, search, asked, seconds, seed, start })
    }
}

/// The parts of a body.
struct Parts {
    instance: Vec<u8>,
    solution: Option<Vec<u8>>,
    options: Options,
}

impl Parts {
    fn of(body: &[u8]) -> Result<Self, Problem> {
        let plain = || Parts { instance: body.to_vec(), solution: None, options: Options::default() };
        if body.trim_ascii().is_empty() {
            return Err(Problem::new(
                Kind::BadRequest,
                "the body is empty; send the bytes of an instance file, or JSON",
            ));
        }
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Ok(plain());
        }
        // Broken JSON is reported by the reader of instances, with its line.
        let Some(mut object) = members(body) else { return Ok(plain()) };
        let options = object.remove("options").map_or(Ok(Options::default()), Options::of_json)?;
        let Some(instance) = object.remove("instance") else {
            let instance = as_instance(&object)?;
            return Ok(Parts { instance, solution: None, options });
        };
        let solution = object.remove("solution").filter(|solution| *solution != b"null");
        if let Some(key) = object.keys().next() {
            let key = shortened(key);
            let message = format!("unknown key `{key}` beside `instance`; expected `solution` or `options`");
            return Err(Problem::unfit(message));
        }
        expect("instance", instance, b'{', "an object")?;
        solution.map_or(Ok(()), |solution| expect("solution", solution, b'[', "a list of numbers from 0"))?;
        let solution = solution.map(|solution| {
            text(solution).map_or_else(|| [b"{\"solution\":", solution, b"}"].concat(), String::into_bytes)
        });
        let instance = text(instance).map_or_else(|| instance.to_vec(), String::into_bytes);
        Ok(Parts { instance, solution, options })
    }
}

/// The fields of an instance as one object again. Options among them are refused: the reader of instances could only say
/// that it does not know them.
fn as_instance(fields: &BTreeMap<String, &[u8]>) -> Result<Vec<u8>, Problem> {
    let is_option = |key: &&String| *key != "name" && Options::has(key); // instances have names, too
    if let Some(key) = fields.keys().find(is_option) {
        let message = format!("`{key}` is an option, no field of an instance; write \"options\": {{\"{key}\": ...}}");
        return Err(Problem::unfit(message));
    }
    let field = |(key, value): (&String, &&[u8])| [json!(key).to_string().as_bytes(), b":", value].concat();
    Ok([b"{", &*fields.iter().map(field).collect::<Vec<_>>().join(&b','), b"}"].concat())
}

/// Refuses a value that is no text and does not begin as it must.
fn expect(key: &str, value: &[u8], mark: u8, what: &str) -> Result<(), Problem> {
    if value.first().is_some_and(|&first| first == mark || first == b'"') {
        return Ok(());
    }
    let found = shortened(&String::from_utf8_lossy(value));
    Err(Problem::unfit(format!("`{key}` is {found}: expected {what}, or the text of a file")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "x,y\n0,0\n1,1\n1,0\n0,1\n";

    fn read(body: &str) -> Result<Input, Problem> {
        Input::read(body.as_bytes(), Options::default(), &Limits::default())
    }

    #[test]
    fn a_body_is_a_file_or_json_with_options_or_an_envelope() {
        let json = r#"{"coordinates": [[0,0],[1,1],[1,0],[0,1]], "options": {"seconds": 1.5}}"#;
        let text = json!({ "instance": SQUARE, "solution": [0, 2, 1, 3], "options": { "seconds": 1.5 } });
        let object = r#"{"instance": {"coordinates": [[0,0],[1,1],[1,0],[0,1]]}, "solution": "0 2 1 3"}"#;
        for (body, seconds, solution) in [
            (SQUARE, None, false),
            (json, Some(1.5), false),
            (&text.to_string(), Some(1.5), true),
            (object, None, true),
        ] {
            let input = read(body).expect(body);
            assert_eq!((input.instance.size(), input.options.seconds), (4, seconds), "{body}");
            assert_eq!(input.solution.as_ref().map(Solution::value), solution.then_some(4.0), "{body}");
        }
    }

    #[test]
    fn the_query_comes_before_the_body() {
        let body = r#"{"coordinates": [[0,0],[1,1]], "options": {"seconds": 1.5, "seed": 3}}"#;
        let query = Options { seconds: Some(0.5), name: Some("../../etc/two.csv".into()), ..Options::default() };
        let options = Input::read(body.as_bytes(), query, &Limits::default()).expect("valid").options;
        assert_eq!((options.seconds, options.seed, options.file_name().as_str()), (Some(0.5), Some(3), "two.csv"));
    }

    fn task(options: &str, spent: f64) -> Task {
        let body = format!(r#"{{"coordinates": [[0,0],[1,1],[1,0],[0,1]], "options": {options}}}"#);
        let input = read(&body).expect("valid");
        input.task(&Limits::default(), body.len(), Duration::from_secs_f64(spent)).expect("within the limits")
    }

    #[test]
    fn time_that_was_spent_on_the_body_is_part_of_the_limit() {
        for (spent, left) in [(0.0, 2000), (1.5, 500), (3.0, 0)] {
            assert_eq!(task(r#"{"seconds": 2}"#, spent).seconds, Duration::from_millis(left), "{spent} s spent");
        }
    }

    #[test]
    fn requests_whose_bodies_took_equally_long_are_solved_together() {
        let key = |spent: f64| task(r#"{"search": "greedy", "seconds": 3}"#, spent).key();
        assert!(key(0.0).is_some() && key(0.05) == key(0.0), "{:?}", key(0.0));
        assert_eq!(key(1.5), None);
    }

    #[test]
    fn what_exceeds_a_limit_is_refused_with_the_limit() {
        let limits = Limits { size: 3, seconds: 5.0, ..Limits::default() };
        let refuse = |body: &str, limits: &Limits| match Input::read(body.as_bytes(), Options::default(), limits) {
            Ok(input) => input.task(limits, body.len(), Duration::ZERO).map(drop).expect_err(body).message,
            Err(problem) => problem.message,
        };
        assert_eq!(refuse(SQUARE, &limits), "the instance has 4 nodes; this server takes at most 3");
        let with = |options: &str| format!(r#"{{"coordinates": [[0,0],[1,1]], "options": {options}}}"#);
        for (options, message) in [
            (r#"{"seconds": 6}"#, "seconds = 6: expected a number above zero, at most 5"),
            (r#"{"seconds": 0}"#, "seconds = 0: expected a number above zero, at most 5"),
            (r#"{"model": "/etc", "search": "greedy"}"#, "no network is called `/etc`; the networks are tsp,"),
            (r#"{"model": "tsp"}"#, "`model` and `ends` need the search greedy,"),
            (r#"{"ends": "left"}"#, "options: ends = \"left\": expected one or both"),
            (r#"{"search": "external"}"#, "search `external`: expected auto,"),
            (r#"{"second": 6}"#, "options: `second` is no option; the options are"),
        ] {
            let message_found = refuse(&with(options), &limits);
            assert!(message_found.starts_with(message), "{options}: {message_found}");
        }
        let tight = Limits { memory: 1 << 20, ..Limits::default() };
        assert!(refuse(&with("{}"), &tight).starts_with("this may need"), "memory");
    }

    #[test]
    fn parts_that_are_out_of_place_are_refused_by_name() {
        let square = r#""coordinates": [[0,0],[1,1],[1,0],[0,1]]"#;
        for (body, message) in [
            (
                format!(r#"{{{square}, "seconds": 1}}"#),
                r#"`seconds` is an option, no field of an instance; write "options": {"seconds": ...}"#,
            ),
            (r#"{"instance": 5}"#.into(), "`instance` is 5: expected an object, or the text of a file"),
            (r#"{"instance": [[0,0]]}"#.into(), "`instance` is [[0,0]]: expected an object, or the text of a file"),
            (
                format!(r#"{{"instance": {{{square}}}, "solution": 5}}"#),
                "`solution` is 5: expected a list of numbers from 0, or the text of a file",
            ),
            (
                format!(r#"{{"instance": {{{square}}}, "seconds": 1}}"#),
                "unknown key `seconds` beside `instance`; expected `solution` or `options`",
            ),
        ] {
            assert_eq!(read(&body).map(drop).expect_err(&body).message, message, "{body}");
        }
        let named = format!(r#"{{{square}, "name": "mine"}}"#);
        assert!(read(&named).is_ok(), "a name is a field of an instance");
    }
}
