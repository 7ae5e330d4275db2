//! Which problem a file holds.

use crate::{Field, InstanceIo, RawInstance, problem_hint};

/// A problem as far as [`decode`](crate::decode) must know it to recognise its files.
#[derive(Clone, Copy, Debug)]
pub struct Recogniser {
    /// `Problem::NAME`.
    pub name: &'static str,
    /// [`InstanceIo::FIELDS`].
    pub fields: &'static [Field],
    /// [`InstanceIo::recognises`].
    pub recognises: fn(&RawInstance) -> bool,
}

impl Recogniser {
    /// The recogniser of a problem.
    pub const fn of<P: InstanceIo>() -> Self {
        Recogniser { name: P::NAME, fields: P::FIELDS, recognises: P::recognises }
    }

    /// Whether instances of the problem may have a field of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }
}

/// The problem that an instance names; else, of those that recognise it, the first that has most of its fields.
///
/// # Errors
/// What was expected and what was found, in words.
pub(crate) fn identify(raw: &RawInstance, problems: &[Recogniser]) -> Result<&'static str, (String, String)> {
    let names = || problems.iter().map(|problem| problem.name);
    match &raw.problem {
        Some(problem) => names().find(|name| name == problem).ok_or_else(|| {
            let expected = format!("one of the problems {}", names().collect::<Vec<_>>().join(", "));
            (expected, format!("`{problem}`{}", problem_hint(problem, names())))
        }),
        None => recognise(raw, problems).map(|problem| problem.name).ok_or_else(|| {
            let found: Vec<_> = raw.names().map(|name| format!("`{name}`")).collect();
            let found = if found.is_empty() { "nothing".to_string() } else { found.join(", ") };
            ("the numbers of a known problem".to_string(), found)
        }),
    }
}

fn recognise<'a>(raw: &RawInstance, problems: &'a [Recogniser]) -> Option<&'a Recogniser> {
    let candidates = problems.iter().filter(|problem| (problem.recognises)(raw));
    let shared = |problem: &&Recogniser| raw.names().filter(|name| problem.has(name)).count();
    candidates.rev().max_by_key(shared) // the last maximum in reverse order: the first one
}
