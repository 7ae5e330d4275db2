//! Where solutions go: decided, and tried out, before any search begins.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use bqnco::Builtin;
use bqnco::io::{Format, write_solution};

use super::results::{self, Solved};
use crate::failure::Failure;
use crate::output;

/// The files that a command will write.
pub struct Targets {
    output: Option<PathBuf>,
    plot: Option<PathBuf>,
    folder: bool,                                                // whether the output is a folder
    planned: HashMap<(&'static str, String), (PathBuf, Format)>, // by problem and instance
    count: usize,
}

impl Targets {
    pub fn new(output: Option<&Path>, plot: Option<&Path>) -> Result<Self, Failure> {
        plot.map_or(Ok(()), output::check_picture_name)?;
        let folder = output.is_some_and(|path| {
            let ends_in_slash = path.as_os_str().to_string_lossy().ends_with(['/', '\\']);
            path != Path::new("-") && (path.is_dir() || ends_in_slash)
        });
        let (output, plot) = (output.map(Path::to_path_buf), plot.map(Path::to_path_buf));
        Ok(Targets { output, plot, folder, planned: HashMap::new(), count: 0 })
    }

    /// Plans the file of one more instance.
    pub fn add<P: Builtin>(&mut self, name: &str) -> Result<(), Failure> {
        self.count += 1;
        let Some(output) = &self.output else { return Ok(()) };
        let (native, extension) = P::NATIVE.solution;
        let path = match self.folder {
            true => output.join(format!("{}.{extension}", output::file_name(name))),
            false => output.clone(),
        };
        let is_native = path.extension().is_none_or(|given| given == extension);
        let format = if is_native { native } else { Format::Json };
        if !is_native && Format::of_name(&path) != Some(Format::Json) {
            let (path, problem) = (path.display(), P::NAME);
            return Err(anyhow!("-o {path}: solutions of {problem} are written as .{extension} or .json").into());
        }
        if self.planned.insert((P::NAME, name.to_string()), (path, format)).is_some() {
            return Err(anyhow!("two instances are called {name}: -o would write both solutions to one file").into());
        }
        Ok(())
    }

    /// Refuses what cannot be written, or would overwrite one of the inputs, before any work is done.
    pub fn check(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        if self.count > 1 && self.plot.is_some() {
            return Err(anyhow!("--plot draws one instance, {} were given", self.count).into());
        }
        if self.count > 1 && !self.folder && self.output.as_deref().is_some_and(|path| path != Path::new("-")) {
            let path = self.output.as_deref().unwrap_or(Path::new("")).display();
            let count = self.count;
            return Err(
                anyhow!("-o {path}: {count} instances need a folder for their solutions, such as {path}/").into()
            );
        }
        let inputs: HashSet<PathBuf> = inputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let is_input = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| inputs.contains(&path));
        if let Some(input) = self.planned.values().map(|(path, _)| path).chain(&self.plot).find(is_input) {
            let path = input.display();
            return Err(anyhow!("{path} is an instance that is read: choose another file for what is written").into());
        }
        let mut paths = HashSet::new();
        let files = self.planned.values().map(|(path, _)| path).filter(|path| path.as_path() != Path::new("-"));
        if let Some(twice) = files.clone().find(|path| !paths.insert(path.as_path())) {
            return Err(anyhow!("two solutions would be written to {}", twice.display()).into());
        }
        if let (true, Some(folder)) = (self.folder, &self.output) {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create folder {}", folder.display()))?;
        }
        // One file tells for all of a folder.
        files.take(1).chain(&self.plot).try_for_each(|path| output::check_writable(path))
    }

    /// Writes and draws a solution.
    pub fn write<P: Builtin>(&self, solved: &Solved<'_, P>) -> Result<(), Failure> {
        let (name, instance) = (solved.name(), solved.instance());
        if let Some((path, format)) = self.planned.get(&(P::NAME, name.to_string())) {
            output::write(path, &write_solution::<P>(name, instance, &solved.solution.steps, *format)?)?;
        }
        let Some(path) = &self.plot else { return Ok(()) };
        let picture = P::draw(instance, Some(&solved.solution.steps)).title(name).caption(results::caption(solved));
        output::write_picture(path, &picture)
    }
}
