//! Training runs: a recipe, a folder, events.

mod data;
mod history;
mod plan;
mod stored;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bqnco_kernels::best_path;
use bqnco_net::{Provenance, device};
use bqnco_plot::{Chart, Picture, Scale};
use bqnco_train::{Communicator, Folder, Imitation, MetricsRow, Outcome, SingleProcess, TrainEvent};

use self::data::{DataSet, Parts, Unlabelled};
use self::history::begin_session;
pub use self::plan::Plan;
use crate::deadline::Deadline;
use crate::lock::lock_folder;
use crate::{Builtin, CancelToken, GeneratedSet, Recipe, Result};

/// Where a recipe is trained and with which resources.
#[derive(Clone)]
pub struct TrainOptions<'a> {
    /// The run's folder: checkpoints `best` and `last`, metrics, saved state. An existing run is resumed.
    pub folder: PathBuf,
    /// Where the network runs: `cpu`, or a device of the build's features.
    pub device: String,
    /// Saves and stops after this time; the run can then be resumed.
    pub time_limit: Option<Duration>,
    /// Saves and stops when cancelled; the run can then be resumed.
    pub cancel: CancelToken,
    /// The processes that train together.
    pub communicator: &'a dyn Communicator,
    /// Additional metadata for the checkpoints and `run.json`, besides seed, threads, processes, CPU path,
    /// device and version.
    pub provenance: Provenance,
}

impl fmt::Debug for TrainOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TrainOptions { folder, device, time_limit, provenance, .. } = self;
        let mut debug = f.debug_struct("TrainOptions");
        debug.field("folder", folder).field("device", device).field("time_limit", time_limit);
        debug.field("provenance", provenance).finish_non_exhaustive()
    }
}

impl TrainOptions<'_> {
    /// On the CPU, with this process only, until all steps are done.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        TrainOptions {
            folder: folder.into(),
            device: "cpu".into(),
            time_limit: None,
            cancel: CancelToken::new(),
            communicator: &SingleProcess,
            provenance: Provenance::new(),
        }
    }
}

/// An event of a run. Of several processes only the first reports events.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunEvent<'a> {
    /// The resumed run has more steps than before.
    Extended {
        /// Steps of the stored recipe.
        from: u64,
        /// Steps of the new recipe.
        to: u64,
    },
    /// The resumed run goes on under other circumstances than before.
    Changed {
        /// What changed, from what: "cpu avx2 instead of avx512".
        what: &'a str,
        /// Whether the final weights are still those of a run without the change, bit by bit.
        bit_equal: bool,
    },
    /// A set of the recipe does not exist yet and is being generated.
    MakingData {
        /// The set.
        set: &'a GeneratedSet,
        /// Whether the expert labels it.
        expert: bool,
        /// Its file.
        path: &'a Path,
    },
    /// The expert has labelled some instances of a set.
    Labelled {
        /// How many.
        done: usize,
        /// Of how many.
        total: usize,
    },
    /// An event of the training loop.
    Train(TrainEvent<'a>),
}

impl Recipe {
    /// Trains the recipe's network, from scratch or from where the run in the folder was interrupted. Sets are labelled
    /// on first use. Never prints.
    ///
    /// # Errors
    /// Invalid settings, missing data, a folder of another run or in use by another process, a diverged loss, and
    /// [`Error::Cancelled`](crate::Error::Cancelled) during labelling. A run that is stopped later returns an
    /// [`Outcome`] that is not finished.
    pub fn train(&self, options: &TrainOptions<'_>, on_event: &mut dyn FnMut(RunEvent<'_>)) -> Result<Outcome> {
        let is_root = options.communicator.is_root();
        let mut on_event = |event: RunEvent<'_>| {
            if is_root {
                on_event(event);
            }
        };
        dispatch!(self.problem, P => self.train_problem::<P>(options, &mut on_event))
    }

    fn train_problem<P: Builtin>(
        &self,
        options: &TrainOptions<'_>,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<Outcome> {
        let deadline = Deadline::after(options.time_limit, &options.cancel);
        let (config, device, communicator) = (self.config()?, device(&options.device)?, options.communicator);
        self.training.check()?;
        self.training.order_of::<P>()?;
        let [train, validation_set] = self.data_sets();
        [train, validation_set].iter().try_for_each(DataSet::check)?;
        let folder = Folder::open(&options.folder)?;
        let provenance = self.provenance(options);
        let _lock = if communicator.is_root() { Some(lock_folder(folder.path())?) } else { None };
        if communicator.is_root() {
            folder.clear()?;
            self.prepare(options, &folder, on_event)?;
            if let Some(change) = begin_session(&folder, &provenance)? {
                on_event(RunEvent::Changed { what: &change.what, bit_equal: change.bit_equal });
            }
        }
        communicator.barrier(); // the files exist now
        let mut validation = Vec::new();
        for path in validation_set.files(folder.path()) {
            validation.extend(data::examples::<P>(&path, validation_set.unlabelled)?);
        }
        let task = Imitation {
            config: &config,
            training: &self.training,
            examples: &Parts { files: train.files(folder.path()), unlabelled: train.unlabelled },
            validation: &validation,
            device: &device,
            provenance: &provenance,
            improvement: self.self_improvement,
            communicator,
        };
        let mut on_train_event = |event: TrainEvent<'_>| on_event(RunEvent::Train(event));
        let outcome = bqnco_train::train::<P>(&task, &folder, &mut on_train_event, &|| deadline.has_passed())?;
        if communicator.is_root() {
            folder.write("curves.svg", curves::<P>(&outcome).to_svg().as_bytes())?;
        }
        Ok(outcome)
    }

    /// Stores recipe and data of a new run, and compares them with those of a resumed run.
    fn prepare(
        &self,
        options: &TrainOptions<'_>,
        folder: &Folder,
        on_event: &mut dyn FnMut(RunEvent<'_>),
    ) -> Result<()> {
        stored::settle_recipe(folder, self, on_event)?;
        let mut checksums = serde_json::Map::new();
        for set in self.data_sets() {
            set.make(folder.path(), &options.cancel, on_event)?;
            checksums.insert(set.name.into(), set.checksums(folder.path())?);
        }
        stored::settle_data(folder, &checksums.into())
    }

    /// The training set and the validation set.
    fn data_sets(&self) -> [DataSet<'_>; 2] {
        let unlabelled = if self.self_improvement.is_some() { Unlabelled::Heuristic } else { Unlabelled::Refused };
        [("train", &self.data), ("validation", &self.validation)].map(|(name, data)| DataSet {
            problem: self.problem,
            name,
            data,
            unlabelled,
        })
    }

    fn provenance(&self, options: &TrainOptions<'_>) -> Provenance {
        let facts = [
            ("seed", self.training.seed.to_string()),
            ("threads", rayon::current_num_threads().to_string()),
            ("processes", options.communicator.size().to_string()),
            ("cpu", best_path().to_string()),
            ("device", options.device.clone()),
            ("bqnco", env!("CARGO_PKG_VERSION").to_string()),
        ];
        let mut provenance = options.provenance.clone();
        provenance.extend(facts.map(|(key, value)| (key.to_string(), value)));
        provenance
    }
}

/// Loss and gap on one logarithmic axis.
fn curves<P: Builtin>(outcome: &Outcome) -> Picture {
    let points = |value: fn(&MetricsRow) -> Option<f64>| {
        let rows = outcome.rows.iter();
        rows.filter_map(|row| value(row).map(|value| [row.samples as f64, value])).collect::<Vec<_>>()
    };
    let chart = Chart::new(format!("Training on {}", P::NAME)).x("samples", Scale::Linear).y("", Scale::Log);
    chart.line("loss", points(|row| Some(row.loss))).line("greedy gap in %", points(|row| row.gap)).draw()
}
