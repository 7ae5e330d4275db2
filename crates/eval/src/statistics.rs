//! Paired differences: how large, how sure.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// Mean, its 95 % interval (Student's t) and the two-sided p-value of Wilcoxon's signed-rank test.
#[derive(Clone, Debug, PartialEq)]
pub struct Paired {
    /// How many differences.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// Half the width of the interval; none of fewer than two differences.
    pub margin: Option<f64>,
    /// Of Wilcoxon's test: [`wilcoxon`].
    pub p_value: f64,
}

impl Paired {
    /// Of these differences.
    pub fn of(differences: &[f64]) -> Self {
        let count = differences.len();
        let mean = differences.iter().sum::<f64>() / (count.max(1) as f64);
        Paired { count, mean, margin: margin(differences), p_value: wilcoxon(differences) }
    }
}

/// Half the width of the 95 % interval of a mean (Student's t); none of fewer than two values.
pub(crate) fn margin(values: &[f64]) -> Option<f64> {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (count > 1).then(|| quantile(count - 1) * (squares / (count - 1) as f64).sqrt() / (count as f64).sqrt())
}

/// The 97.5 % quantile of Student's t.
fn quantile(freedom: usize) -> f64 {
    let student = StudentsT::new(0.0, 1.0, freedom as f64).expect("there is at least one degree of freedom");
    student.inverse_cdf(0.975)
}

/// Differences up to which the p-value is exact.
const EXACT: usize = 50;

/// Wilcoxon's signed-rank test, two-sided: the probability of ranks at least as uneven if signs were a matter of chance.
/// Zeros are left out, ties share their ranks; exact up to 50 differences, else normal with the correction for ties.
///
/// ```
/// assert_eq!(bqnco_eval::wilcoxon(&[1.0, 1.0, 2.0, 0.0]), 0.25); // two of eight sign patterns are as uneven
/// ```
pub fn wilcoxon(differences: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if sorted.is_empty() {
        return 1.0;
    }
    sorted.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    // Twice the ranks, so that shared ones are integers: the mean of first..=last, twice, is first + last.
    let mut ranks: Vec<usize> = Vec::with_capacity(sorted.len());
    for tied in sorted.chunk_by(|a, b| a.abs() == b.abs()) {
        let first = ranks.len() + 1;
        ranks.extend(std::iter::repeat_n(2 * first + tied.len() - 1, tied.len()));
    }
    let positive: usize =
        sorted.iter().zip(&ranks).filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| rank).sum();
    let total: usize = ranks.iter().sum();
    let smaller = positive.min(total - positive);
    if ranks.len() <= EXACT { exact(&ranks, smaller) } else { normal(&ranks, smaller) }
}

/// Twice the share of all signs whose sum of (doubled) ranks is at most `smaller`.
fn exact(ranks: &[usize], smaller: usize) -> f64 {
    let mut ways = vec![0.0; smaller + 1]; // by sum
    ways[0] = 1.0;
    for &rank in ranks {
        for sum in (rank..=smaller).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    (2.0 * ways.iter().sum::<f64>() / 2f64.powi(ranks.len() as i32)).min(1.0)
}

/// By the normal distribution of the sum, whose variance is a quarter of the sum of squared ranks.
fn normal(ranks: &[usize], smaller: usize) -> f64 {
    let rank = |&rank: &usize| rank as f64 / 2.0;
    let mean = ranks.iter().map(rank).sum::<f64>() / 2.0;
    let deviation = (ranks.iter().map(|r| rank(r).powi(2)).sum::<f64>() / 4.0).sqrt();
    let continuity = 0.5;
    let z = ((mean - smaller as f64 / 2.0 - continuity) / deviation).max(0.0);
    (2.0 * Normal::standard().sf(z)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Depression scores before and after therapy (Hollander and Wolfe 1973), the example of R's `wilcox.test`, which
    /// gives V = 40 and p = 0.01953 on one side.
    #[test]
    #[allow(clippy::approx_constant)] // 3.14 is a measurement
    fn the_textbook_example_has_its_p_value() {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let differences: Vec<f64> = before.iter().zip(after).map(|(before, after)| before - after).collect();
        assert!((wilcoxon(&differences) - 2.0 * 0.019_531_25).abs() < 1e-12);
    }

    #[test]
    fn ties_and_zeros_are_counted_by_hand() {
        // Ranks 1.5, 1.5, 3; the smaller side is 0 in one of eight sign patterns.
        assert_eq!(wilcoxon(&[1.0, 1.0, 2.0, 0.0]), 0.25);
        // The smaller side is 1.5: patterns with sums 0, 1.5, 1.5.
        assert_eq!(wilcoxon(&[-1.0, 1.0, 2.0]), 0.75);
        assert_eq!(wilcoxon(&[0.0, 0.0]), 1.0);
        assert_eq!(wilcoxon(&[]), 1.0);
    }

    #[test]
    fn the_normal_distribution_takes_over_smoothly() {
        let differences: Vec<f64> = (1..=50).map(|k| if k % 3 == 0 { -f64::from(k) } else { f64::from(k) }).collect();
        let exactly = wilcoxon(&differences);
        let ranks: Vec<usize> = (1..=50).map(|k| 2 * k).collect();
        let smaller: usize = 2 * (1..=50).filter(|k| k % 3 == 0).sum::<usize>();
        assert!((normal(&ranks, smaller) - exactly).abs() < 0.002, "{exactly}");
    }

    #[test]
    fn the_interval_is_that_of_student() {
        // Mean 2, deviation 1, n = 3: 4.302653 / sqrt(3).
        let paired = Paired::of(&[1.0, 2.0, 3.0]);
        assert_eq!((paired.mean, paired.count), (2.0, 3));
        assert!((paired.margin.expect("three differences") - 4.302_652_73 / 3f64.sqrt()).abs() < 1e-8);
        assert_eq!(Paired::of(&[1.0]).margin, None);
        // Of R's `qt`.
        for (freedom, expected) in [(1, 12.706_204_736), (10, 2.228_138_852), (100, 1.983_971_519)] {
            assert!((quantile(freedom) - expected).abs() < 1e-8, "{freedom}: {}", quantile(freedom));
        }
    }
}
