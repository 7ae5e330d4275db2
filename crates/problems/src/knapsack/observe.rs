//! What a network sees of a knapsack.

use bqnco_core::{Frame, Observe, Relations};

use super::{Instance, Knapsack, Tail};

impl Observe for Knapsack {
    const FEATURES: usize = 3; // value, weight, capacity left

    fn tokens(_: &Instance, tail: &Tail) -> usize {
        tail.rest.len()
    }

    fn observe_into(instance: &Instance, tail: &Tail, frame: Frame, features: &mut [f32]) -> Relations {
        let largest = |numbers: &[f64]| tail.rest.iter().map(|&item| numbers[item as usize]).fold(0.0, f64::max);
        let (value_unit, weight_unit) = match frame {
            Frame::Instance => instance.units,
            Frame::Subproblem | Frame::Origin => (largest(&instance.values), largest(&instance.weights)),
        };
        let scaled = |number: f64, unit: f64| if unit > 0.0 { (number / unit) as f32 } else { number as f32 };
        let left = scaled(tail.left, weight_unit);
        for (token, &item) in features.as_chunks_mut().0.iter_mut().zip(&tail.rest) {
            let item = item as usize;
            *token = [scaled(instance.values[item], value_unit), scaled(instance.weights[item], weight_unit), left];
        }
        Relations::NONE
    }
}
