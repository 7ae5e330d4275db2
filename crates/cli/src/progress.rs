//! Progress of labelling, for `generate` and `train`.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar of labelled instances; visible while there are instances to label.
pub struct LabelBar {
    quiet: bool,
    bar: Option<ProgressBar>,
}

impl LabelBar {
    pub fn new(quiet: bool) -> Self {
        LabelBar { quiet, bar: None }
    }

    pub fn show(&mut self, done: usize, total: usize) {
        if self.quiet {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let template = "{elapsed_precise} {bar:24} {pos}/{len} instances, {per_sec}, {eta} left";
            let style = ProgressStyle::with_template(template).expect("the template is valid");
            let bar = ProgressBar::new(total as u64).with_style(style).with_position(done as u64);
            bar.reset_eta();
            bar
        });
        bar.set_position(done as u64);
        if done == total {
            bar.finish_and_clear();
            self.bar = None;
        }
    }
}
