//! Learning rates over a run.

use serde::{Deserialize, Serialize};

use crate::{TrainError, Training};

/// How the learning rate changes after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Not at all.
    Constant,
    /// In a straight line to zero at the last step.
    Linear,
    /// In half a cosine to zero at the last step.
    Cosine,
    /// Constant for three quarters of the steps, then in a straight line to zero: what is learned at a high rate can be
    /// continued from any point, and the last quarter settles it (warm-up, stable, decay).
    Trapezoid,
    /// Times `factor` every so many steps.
    Step {
        /// Steps between changes.
        every: u64,
        /// What the rate is multiplied by.
        factor: f64,
    },
}

impl Schedule {
    pub(crate) fn check(self) -> Result<(), TrainError> {
        match self {
            Schedule::Step { every: 0, .. } => {
                Err(TrainError::BadSetting { field: "schedule.step.every", expected: "at least 1", found: 0.0 })
            }
            Schedule::Step { factor, .. } if !(factor > 0.0 && factor.is_finite()) => {
                Err(TrainError::BadSetting { field: "schedule.step.factor", expected: "above 0", found: factor })
            }
            _ => Ok(()),
        }
    }
}

impl Training {
    /// The learning rate of the update that follows after `step` updates.
    pub fn rate_at(&self, step: u64) -> f64 {
        if step < self.warm_up {
            return self.rate * (step + 1) as f64 / (self.warm_up + 1) as f64;
        }
        let (done, all) = ((step - self.warm_up) as f64, self.steps.saturating_sub(self.warm_up).max(1) as f64);
        self.rate
            * match self.schedule {
                Schedule::Constant => 1.0,
                Schedule::Linear => (1.0 - done / all).max(0.0),
                Schedule::Cosine => 0.5 + 0.5 * (std::f64::consts::PI * (done / all).min(1.0)).cos(),
                Schedule::Trapezoid => (4.0 * (1.0 - done / all)).clamp(0.0, 1.0),
                Schedule::Step { every, factor } => factor.powf(((step - self.warm_up) / every) as f64),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_rise_and_fall_as_their_names_say() {
        let run = |schedule| Training { steps: 110, warm_up: 10, rate: 2.0, schedule, ..Training::default() };
        for schedule in [Schedule::Constant, Schedule::Linear, Schedule::Cosine, Schedule::Trapezoid] {
            assert!((run(schedule).rate_at(4) - 2.0 * 5.0 / 11.0).abs() < 1e-12);
            assert_eq!(run(schedule).rate_at(10), 2.0);
        }
        assert_eq!(run(Schedule::Constant).rate_at(109), 2.0);
        assert_eq!(run(Schedule::Linear).rate_at(60), 1.0);
        assert!((run(Schedule::Cosine).rate_at(60) - 1.0).abs() < 1e-12);
        assert!((run(Schedule::Cosine).rate_at(35) - (1.0 + 0.5f64.sqrt())).abs() < 1e-12);
        let trapezoid = run(Schedule::Trapezoid);
        assert_eq!([trapezoid.rate_at(85), trapezoid.rate_at(97)], [2.0, 2.0 * 4.0 * 0.13]);
        let stairs = run(Schedule::Step { every: 50, factor: 0.5 });
        assert_eq!([stairs.rate_at(59), stairs.rate_at(60), stairs.rate_at(109)], [2.0, 1.0, 1.0]);
    }
}
