//! The progress of a training run on standard error.

use bqnco::RunEvent;
use bqnco::train::{ImprovementRound, MetricsRow, TrainEvent, WarmStart};
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::say;
use crate::progress::LabelBar;

pub struct Progress {
    labels: LabelBar,
    bar: ProgressBar,
    last_gap: Option<f64>,
}

impl Progress {
    pub fn new(steps: u64) -> Self {
        let style = ProgressStyle::with_template("{elapsed_precise} {bar:24} {pos}/{len} steps, {eta} left  {msg}");
        let bar = ProgressBar::new(steps).with_style(style.expect("the template is valid"));
        Progress { labels: LabelBar::new(false), bar, last_gap: None }
    }

    pub fn show(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::Extended { from, to } => say!("the run continues to {to} steps instead of {from}"),
            RunEvent::Changed { what, bit_equal: true } => say!("resuming with {what}: the results stay the same"),
            RunEvent::Changed { what, bit_equal: false } => {
                say!("resuming with {what}: the weights will differ from those of a run without this change");
            }
            RunEvent::MakingData { set, expert, path } => {
                let who = if expert { "the expert solves" } else { "generating" };
                say!("{who} {} instances of {} {} for {}", set.count, set.problem, set.size, path.display());
            }
            RunEvent::Labelled { done, total } => self.labels.show(done, total),
            RunEvent::Train(TrainEvent::Resumed { step }) => say!("resuming at step {step}"),
            RunEvent::Train(TrainEvent::BestRemoved { gap }) => {
                say!("note: the checkpoint of the best network so far (gap {gap:.3} %) was removed");
            }
            RunEvent::Train(TrainEvent::Metrics(row)) => self.show_row(row),
            RunEvent::Train(TrainEvent::LabelsImproved(round)) => {
                let ImprovementRound { step, tried, improved, before, after } = round;
                self.bar.suspend(|| {
                    say!("step {step:>8}  {improved} of {tried} labels improved, mean cost {before:.4} to {after:.4}");
                });
            }
            RunEvent::Train(TrainEvent::WarmStart(WarmStart { folder, problem, taken, fresh })) => {
                let all = taken.len() + fresh.len();
                let fresh = if fresh.is_empty() { String::new() } else { format!("; new: {}", fresh.join(", ")) };
                self.bar.suspend(|| {
                    say!("{} of {all} tensors from {} ({problem}){fresh}", taken.len(), folder.display());
                });
            }
            _ => {}
        }
    }

    fn show_row(&mut self, row: &MetricsRow) {
        let bar = &self.bar;
        self.last_gap = row.gap.or(self.last_gap);
        if bar.position() == 0 && row.step > 1 {
            bar.set_position(row.step); // a resumed run
            bar.reset_eta();
        }
        bar.set_position(row.step);
        let gap = self.last_gap.map(|gap| format!(", gap {gap:.2} %")).unwrap_or_default();
        bar.set_message(format!("loss {:.4}{gap}, {:.0} samples/s", row.loss, row.samples_per_second));
        if let Some(gap) = row.gap {
            let seconds = row.seconds;
            bar.suspend(|| {
                say!("step {:>8}  {seconds:>7.0} s  loss {:.4}  greedy gap {gap:.3} %", row.step, row.loss);
            });
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
