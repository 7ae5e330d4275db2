//! Output files of solutions: determined and tested for writing before any search starts.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use bqnco::Instance;
use bqnco::io::{Format, create_folder};

use super::results::Solved;
use crate::failure::Failure;
use crate::output::{self, is_folder};

/// The files that a command will write.
pub struct Targets {
    plot: Option<PathBuf>,
    solutions: Vec<(PathBuf, Format)>, // per instance, or empty
}

impl Targets {
    /// Determines the files of all instances. Rejects paths that cannot be written or would overwrite one of the
    /// inputs.
    pub fn new(
        output: Option<&Path>,
        plot: Option<&Path>,
        instances: &[Instance],
        inputs: &[PathBuf],
    ) -> Result<Self, Failure> {
        plot.map_or(Ok(()), output::check_picture_name)?;
        if instances.len() > 1 && plot.is_some() {
            return Err(anyhow!("--plot draws one instance, {} were given", instances.len()).into());
        }
        let solutions = output.map_or(Ok(Vec::new()), |output| solutions(output, instances))?;
        let targets = Targets { plot: plot.map(Path::to_path_buf), solutions };
        targets.check_inputs(inputs)?;
        if let Some(folder) = output.filter(|output| is_folder(output)) {
            create_folder(folder).with_context(|| format!("cannot create folder {}", folder.display()))?;
        }
        // Testing one file of a folder is enough.
        let first = targets.solutions.first().map(|(path, _)| path).filter(|path| path.as_path() != Path::new("-"));
        first.into_iter().chain(&targets.plot).try_for_each(|path| output::check_writable(path))?;
        Ok(targets)
    }

    fn check_inputs(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        let inputs: HashSet<PathBuf> = inputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
        let is_input = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| inputs.contains(&path));
        if let Some(input) = self.solutions.iter().map(|(path, _)| path).chain(&self.plot).find(is_input) {
            let path = input.display();
            return Err(anyhow!("{path} is an input instance: choose another file for the output").into());
        }
        Ok(())
    }

    /// Whether there are files to be written, whoever reads the printed results.
    pub fn has_files(&self) -> bool {
        self.plot.is_some() || self.solutions.iter().any(|(path, _)| path != Path::new("-"))
    }

    /// Writes and draws the solution of the instance with this index.
    pub fn write(&self, index: usize, solved: &Solved<'_>) -> Result<(), Failure> {
        if let Some((path, format)) = self.solutions.get(index) {
            output::write(path, &solved.solution.to_bytes(*format)?)?;
        }
        let Some(path) = &self.plot else { return Ok(()) };
        output::write_picture(path, &solved.solution.draw().caption(solved.caption()))
    }
}

/// File and format of every instance's solution.
fn solutions(output: &Path, instances: &[Instance]) -> Result<Vec<(PathBuf, Format)>, Failure> {
    let (count, shown) = (instances.len(), output.display());
    if count > 1 && !is_folder(output) && output != Path::new("-") {
        return Err(anyhow!("-o {shown}: {count} instances need a folder for their solutions, such as {shown}/").into());
    }
    let (mut names, mut paths) = (HashSet::new(), HashSet::new());
    let mut solutions = Vec::with_capacity(count);
    for instance in instances {
        let name = instance.name();
        if !names.insert((instance.problem(), name)) {
            return Err(anyhow!("two instances are called {name}: -o would write both solutions to one file").into());
        }
        let path = match is_folder(output) {
            true => output.join(format!("{}.{}", output::file_name(name), instance.native_solution_format().1)),
            false => output.to_path_buf(),
        };
        let format = instance.solution_format(&path).context("-o")?;
        if path != Path::new("-") && !paths.insert(path.clone()) {
            return Err(anyhow!("two solutions would be written to {}", path.display()).into());
        }
        solutions.push((path, format));
    }
    Ok(solutions)
}
