//! Order statistics of a sample. No averages: one hiccup of the disk must not move a result.

use std::time::Duration;

/// A sample, sorted.
#[derive(Debug, Clone)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    /// Of plain numbers.
    pub(crate) fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// Of durations, in milliseconds.
    pub(crate) fn of_millis(durations: &[Duration]) -> Self {
        Self::new(durations.iter().map(|duration| duration.as_secs_f64() * 1e3).collect())
    }

    /// The value that this share (hundredths) of the sample does not exceed; 0 of an empty sample.
    pub(crate) fn percentile(&self, hundredths: usize) -> f64 {
        let rank = (self.0.len() * hundredths).div_ceil(100).max(1) - 1;
        self.0.get(rank).copied().unwrap_or(0.0)
    }

    /// The middle; of an even number the mean of the two in the middle.
    pub(crate) fn median(&self) -> f64 {
        let half = self.0.len() / 2;
        match (self.0.get(half), self.0.len() % 2) {
            (None, _) => 0.0,
            (Some(upper), 0) => f64::midpoint(self.0[half - 1], *upper),
            (Some(middle), _) => *middle,
        }
    }

    /// Smallest, quartiles, largest, in words.
    pub(crate) fn spread(&self) -> String {
        let at = |hundredths| self.percentile(hundredths);
        let (min, max) = (at(0), at(100));
        format!(
            "min {min:.3}  p25 {:.3}  median {:.3}  p75 {:.3}  p95 {:.3}  max {max:.3}  (n = {})",
            at(25),
            self.median(),
            at(75),
            at(95),
            self.0.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[f64], median: f64, p95: f64) {
        let sample = Sample::new(values.to_vec());
        assert!((sample.median() - median).abs() < 1e-9, "{sample:?}");
        assert!((sample.percentile(95) - p95).abs() < 1e-9, "{sample:?}");
    }

    #[test]
    fn order_statistics() {
        check(&[], 0.0, 0.0);
        check(&[7.0], 7.0, 7.0);
        check(&[3.0, 1.0], 2.0, 3.0);
        check(&[9.0, 1.0, 5.0], 5.0, 9.0);
        check(&(1..=100).rev().map(f64::from).collect::<Vec<_>>(), 50.5, 95.0);
    }
}
