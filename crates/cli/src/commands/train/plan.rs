//! What `bqnco train --dry-run` prints.

use bqnco::{Plan, Recipe};

/// Numbers of processes whose time is told.
const PROCESSES: [usize; 2] = [8, 64];

/// A line per fact.
pub fn describe(recipe: &Recipe, plan: &Plan) -> String {
    let threads = rayon::current_num_threads();
    let labels = match plan.labels {
        0 => "none to make".to_string(),
        count => {
            let each = plan.label_seconds / count as f64;
            let all = duration(plan.label_seconds / threads as f64);
            format!("{count}, {each:.3} s each on one thread: {all} here on {threads} threads")
        }
    };
    let epochs = plan.epochs.map_or(String::new(), |epochs| format!(", {epochs:.1} epochs"));
    let [steps, batch] = [recipe.training.steps, recipe.training.batch as u64];
    let several = PROCESSES.map(|processes| {
        let time = duration(plan.training_seconds(processes));
        format!("{processes} processes like this one: {time}")
    });
    let lines = [
        ("labels", labels),
        ("disk", format!("{} in {} files", bytes(plan.bytes), plan.files)),
        ("network", format!("{} weights", plan.parameters)),
        ("samples", format!("{} in {steps} updates of {batch}{epochs}", plan.samples)),
        (
            "work",
            format!(
                "{:.2e} FLOP, {:.2e} per sample (forward and backward)",
                plan.flop,
                plan.flop / plan.samples as f64
            ),
        ),
        ("speed", format!("{:.1} samples/s here on {threads} threads", plan.samples_per_second)),
        (
            "training",
            format!("{} here; if nothing is lost, {}", duration(plan.training_seconds(1)), several.join(", ")),
        ),
    ];
    lines.iter().map(|(name, text)| format!("{name:<9} {text}\n")).collect()
}

/// Minutes up to two hours, hours up to four days, else days.
fn duration(seconds: f64) -> String {
    match seconds / 3600.0 {
        hours if hours < 2.0 => format!("{:.1} min", seconds / 60.0),
        hours if hours < 96.0 => format!("{hours:.1} h"),
        hours => format!("{:.0} days", hours / 24.0),
    }
}

fn bytes(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e9 => format!("{:.1} MB", bytes * 1e-6),
        bytes => format!("{:.1} GB", bytes * 1e-9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_fitting_units() {
        assert_eq!([90.0, 36_000.0, 8_640_000.0].map(duration), ["1.5 min", "10.0 h", "100 days"]);
        assert_eq!([2.5e6, 8e10].map(bytes), ["2.5 MB", "80.0 GB"]);
    }
}
