//! First failures where some campaigns found nothing: Kaplan and Meier's estimate (JASA 1958) of the
//! probability that nothing has been found after so many runs, or so much time.

use super::{normal, Interval};

/// How one campaign went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Runs or seconds until the first failure, or until the campaign ended without one.
    pub at: f64,
    /// Whether there was a failure.
    pub failed: bool,
}

/// A step of the curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// When.
    pub at: f64,
    /// The campaigns that had neither failed nor ended before.
    pub at_risk: u64,
    /// Those of them that failed now.
    pub failed: u64,
    /// The estimated probability that a campaign has found nothing up to now, now included.
    pub survival: f64,
    /// Greenwood's sum, from which the variance follows.
    greenwood: f64,
}

/// The survival curve of several campaigns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survival {
    /// Where the curve goes down, in order.
    pub steps: Vec<Step>,
    /// How far the longest campaign went.
    pub end: f64,
}

impl Survival {
    /// The curve of these campaigns. One that ended without a failure at the time of another's failure counts
    /// as having been there still.
    pub fn new(observations: &[Observation]) -> Survival {
        let mut sorted: Vec<Observation> = observations.iter().copied().filter(|o| !o.at.is_nan()).collect();
        sorted.sort_by(|a, b| a.at.total_cmp(&b.at).then(b.failed.cmp(&a.failed)));
        let mut steps: Vec<Step> = Vec::new();
        let (mut survival, mut greenwood) = (1.0, 0.0);
        let mut i = 0;
        while i < sorted.len() {
            let at = sorted[i].at;
            let same = sorted[i..].iter().take_while(|o| o.at == at).count();
            let failed = sorted[i..i + same].iter().filter(|o| o.failed).count() as u64;
            let at_risk = (sorted.len() - i) as u64;
            if failed > 0 {
                // Whole numbers, so that a curve that ends at zero ends there exactly.
                survival *= (at_risk - failed) as f64 / at_risk as f64;
                greenwood += failed as f64 / (at_risk as f64 * (at_risk - failed) as f64);
                steps.push(Step { at, at_risk, failed, survival, greenwood });
            }
            i += same;
        }
        Survival { steps, end: sorted.last().map_or(0.0, |o| o.at) }
    }

    fn step(&self, at: f64) -> Option<&Step> {
        self.steps.iter().take_while(|step| step.at <= at).last()
    }

    /// The probability that nothing has been found up to here.
    pub fn at(&self, at: f64) -> f64 {
        self.step(at).map_or(1.0, |step| step.survival)
    }

    /// When a share of all campaigns has found something; `None`: fewer ever did.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.steps.iter().find(|step| step.survival <= 1.0 - share + 1e-12).map(|step| step.at)
    }

    /// Half of the campaigns have found something by then.
    pub fn median(&self) -> Option<f64> {
        self.quantile(0.5)
    }

    /// The interval of the curve at a point: Greenwood's variance on the scale of log(−log), which keeps it
    /// within 0 and 1. Where the curve is 1 or 0 there is no variance to go by, and all is possible.
    pub fn interval(&self, at: f64, confidence: f64) -> Interval {
        let Some(step) = self.step(at).filter(|step| step.survival > 0.0) else {
            return Interval { low: 0.0, high: 1.0 };
        };
        let z = normal::quantile(0.5 + confidence / 2.0);
        let log = step.survival.ln();
        let error = z * step.greenwood.sqrt() / log.abs();
        Interval { low: (log * error.exp()).exp(), high: (log * (-error).exp()).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observations(failed: &[f64], ended: &[f64]) -> Vec<Observation> {
        let failed = failed.iter().map(|&at| Observation { at, failed: true });
        failed.chain(ended.iter().map(|&at| Observation { at, failed: false })).collect()
    }

    #[test]
    fn a_published_curve() {
        // Freireich et al., Blood 1963: weeks of remission of 21 patients with 6-mercaptopurine, the example of
        // most textbooks, with the values that they print.
        let curve = Survival::new(&observations(
            &[6., 6., 6., 7., 10., 13., 16., 22., 23.],
            &[6., 9., 10., 11., 17., 19., 20., 25., 32., 32., 34., 35.],
        ));
        let steps: Vec<_> = curve.steps.iter().map(|s| (s.at, s.at_risk, (s.survival * 1e4).round())).collect();
        assert_eq!(
            steps,
            [
                (6., 21, 8571.),
                (7., 17, 8067.),
                (10., 15, 7529.),
                (13., 12, 6902.),
                (16., 11, 6275.),
                (22., 7, 5378.),
                (23., 6, 4482.)
            ]
        );
        assert_eq!((curve.median(), curve.quantile(0.25), curve.quantile(0.75)), (Some(23.), Some(13.), None));
        // The variance of the last value is 0.0181 in the same books: s² · Greenwood's sum.
        let last = curve.steps.last().expect("steps");
        assert!((last.survival.powi(2) * last.greenwood - 0.0181).abs() < 1e-4);
        let interval = curve.interval(23.0, 0.95);
        assert!((interval.low - 0.188).abs() < 1e-3 && (interval.high - 0.680).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn without_losses_it_is_the_plain_share() {
        let curve = Survival::new(&observations(&[1., 2., 2., 5.], &[]));
        assert_eq!([0.0, 1.0, 2.0, 4.9, 5.0].map(|at| curve.at(at)), [1.0, 0.75, 0.25, 0.25, 0.0]);
        assert_eq!((curve.median(), curve.quantile(1.0)), (Some(2.0), Some(5.0)));
    }

    #[test]
    fn nothing_found_says_nothing() {
        let curve = Survival::new(&observations(&[], &[100., 100.]));
        assert_eq!((curve.median(), curve.at(1e9), curve.end), (None, 1.0, 100.0));
        assert_eq!(curve.interval(50.0, 0.95), Interval { low: 0.0, high: 1.0 });
        assert_eq!(Survival::new(&[]).median(), None);
    }
}
