//! Linear and logarithmic axes with round ticks.

use crate::text::trim;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Scale {
    /// Equal differences are equally far apart.
    #[default]
    Linear,
    /// Equal ratios are equally far apart; values must be positive.
    Log,
}

impl Scale {
    /// The value's coordinate. `None` if it has none or would overflow intermediate results.
    fn coordinate(self, value: f64) -> Option<f64> {
        match self {
            Scale::Linear => (value.abs() < 1e300).then_some(value),
            Scale::Log => (value > 0.0 && value < f64::INFINITY).then(|| value.log10()),
        }
    }
}

/// An axis that covers a range of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What is measured along it, with the unit.
    pub label: String,
    scale: Scale,
    low: f64, // coordinates, low < high
    high: f64,
}

/// A labelled position on an axis.
pub(crate) struct Tick {
    pub fraction: f64, // of the axis
    pub label: String,
}

impl Axis {
    /// An axis that covers all these values; those that the scale cannot show are ignored.
    pub fn covering(label: impl Into<String>, scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for at in values.filter_map(|value| scale.coordinate(value)) {
            (low, high) = (low.min(at), high.max(at));
        }
        if low > high {
            (low, high) = (0.0, 1.0); // nothing to show
        }
        let flat = high - low <= 1e-9 * low.abs().max(high.abs());
        let margin = match scale {
            _ if !flat => 0.04 * (high - low),
            Scale::Linear if low == 0.0 => 1.0,
            Scale::Linear => 0.1 * low.abs(),
            Scale::Log => 0.3,
        };
        // Non-negative values start at zero, not slightly below it.
        let floor = if scale == Scale::Linear && low >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
        Axis { label: label.into(), scale, low: (low - margin).max(floor), high: high + margin }
    }

    /// The position of a value between the ends (0 and 1), if the scale can show it.
    pub fn fraction(&self, value: f64) -> Option<f64> {
        self.scale.coordinate(value).map(|at| (at - self.low) / (self.high - self.low))
    }

    /// The largest value on the axis.
    pub fn end(&self) -> f64 {
        match self.scale {
            Scale::Linear => self.high,
            Scale::Log => 10f64.powf(self.high),
        }
    }

    /// Round values along the axis, at most about eight.
    pub(crate) fn ticks(&self) -> Vec<Tick> {
        let values = match self.scale {
            Scale::Linear => round_values(self.low, self.high),
            Scale::Log => round_ratios(self.low, self.high),
        };
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let step = if values.len() > 1 { values[1] - values[0] } else { largest };
        let label = |value: f64| match self.scale {
            Scale::Linear => short(value, largest, step),
            Scale::Log => short(value, value, step.min(value)),
        };
        let ticks =
            values.iter().filter_map(|&value| Some(Tick { fraction: self.fraction(value)?, label: label(value) }));
        ticks.collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn round_values(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 7.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|&step| step >= rough).unwrap_or(rough);
    let first = (low / step).ceil();
    let values = (0..10).map(|k| (first + f64::from(k)) * step);
    values.take_while(|&value| value <= high * (1.0 + 1e-12)).collect()
}

/// Powers of ten; if these are too few, also 2 and 5 times them, or linear values.
fn round_ratios(low: f64, high: f64) -> Vec<f64> {
    let decades = (low.floor() as i32)..=(high.ceil() as i32);
    let between = |multiples: &[f64], stride: usize| -> Vec<f64> {
        let powers = decades.clone().step_by(stride).map(|decade| 10f64.powi(decade));
        let values = powers.flat_map(|power| multiples.iter().map(move |multiple| multiple * power));
        values.filter(|value| (low - 1e-9..=high + 1e-9).contains(&value.log10())).collect()
    };
    match high - low {
        span if span > 2.5 => between(&[1.0], (span / 8.0).ceil() as usize),
        span if span > 0.9 => between(&[1.0, 2.0, 5.0], 1),
        _ => round_values(10f64.powf(low), 10f64.powf(high)),
    }
}

/// A tick's label: thousands as k, millions as M and so on, with as many decimals as the steps need.
fn short(value: f64, largest: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let units = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"), (1e-4, "")];
    let unit = units.iter().find(|(unit, _)| largest >= *unit * (1.0 - 1e-9));
    let Some(&(unit, letter)) = unit.filter(|_| largest < 1e16) else {
        return format!("{value:.2e}").replace(".00e", "e");
    };
    let unit = match letter {
        "k" => 1e3,
        "" => 1.0,
        _ => unit,
    };
    let decimals = (-((step / unit).abs().log10() + 1e-9).floor()).clamp(0.0, 12.0) as usize;
    trim(format!("{:.decimals$}", value / unit)) + letter
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, values: &[f64]) -> Vec<String> {
        Axis::covering("", scale, values.iter().copied()).ticks().into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(Scale::Linear, &[0.0, 1.0]), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(labels(Scale::Linear, &[0.0, 120_000.0]), ["0", "20k", "40k", "60k", "80k", "100k", "120k"]);
        assert_eq!(labels(Scale::Linear, &[-3.0, 3.0]), ["-3", "-2", "-1", "0", "1", "2", "3"]);
        assert_eq!(labels(Scale::Log, &[0.01, 100.0]), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(labels(Scale::Log, &[1_000.0, 20_000.0]), ["1000", "2000", "5000", "10k", "20k"]);
        assert_eq!(labels(Scale::Log, &[0.2, 0.4]), ["0.2", "0.25", "0.3", "0.35", "0.4"]);
    }

    #[test]
    fn any_values_give_few_finite_ticks() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e-300, 1e299, 5e-324, 1e308, f64::MAX, 1e16, 1e16 + 2.0];
        for scale in [Scale::Linear, Scale::Log] {
            for a in odd {
                for b in odd {
                    let axis = Axis::covering("", scale, [a, b].into_iter());
                    let ticks = axis.ticks();
                    assert!(ticks.len() <= 12, "{a} {b}: {} ticks", ticks.len());
                    assert!(ticks.iter().all(|tick| tick.fraction.is_finite()), "{a} {b}");
                }
            }
        }
    }
}
