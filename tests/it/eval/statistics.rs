//! Compared with scipy 1.17.1 and statsmodels 0.15.0, whose calls stand beside their values, and
//! with simulations of a known truth.

use super::drift::Chance;
use ctxc::internals::eval::statistics::{
    Outlook, clopper_pearson_interval, clustered, combined_outlook, paired_interval, sign_test,
    stage_outlook, upper_tail, wilson_interval,
};
use ctxc::internals::eval::trials::{TrialDecision, TrialOutcome, confirm_rule, decide_trials};
use ctxc::internals::scenario::model::{SequentialRule, TrialRule};

fn close(found: f64, expected: f64, how: &str) {
    assert!(
        (found - expected).abs() < 1e-9,
        "{how}: {found} in place of {expected}"
    );
}

#[test]
fn intervals_are_those_of_statsmodels() {
    // statsmodels.stats.proportion.proportion_confint(passed, trials, method="wilson"), then
    // method="beta"
    for (passed, trials, first, second) in [
        (
            0,
            3,
            (0.0, 0.561_497_031_755_045_5),
            (0.0, 0.707_598_226_178_713_4),
        ),
        (
            2,
            3,
            (0.207_659_600_802_047_7, 0.938_508_055_279_603_7),
            (0.094_299_324_050_246_09, 0.991_596_241_340_387_4),
        ),
        (
            3,
            3,
            (0.438_502_968_244_954_44, 1.0),
            (0.292_401_773_821_286_6, 1.0),
        ),
        (
            7,
            10,
            (0.396_778_147_461_145_37, 0.892_208_732_593_699),
            (0.347_547_149_940_002_7, 0.933_260_488_822_265_5),
        ),
        (
            45,
            50,
            (0.786_397_685_625_203_4, 0.956_524_235_068_109_5),
            (0.781_864_633_565_797_7, 0.966_724_906_410_977_5),
        ),
        (0, 1, (0.0, 0.793_450_685_622_762_7), (0.0, 0.975)),
        (
            950,
            1000,
            (0.934_686_179_755_749_2, 0.961_869_737_607_251_3),
            (0.934_609_512_084_506_4, 0.962_664_602_395_338_2),
        ),
    ] {
        for (found, expected, how) in [
            (wilson_interval(passed, trials), first, "wilson"),
            (clopper_pearson_interval(passed, trials), second, "beta"),
        ] {
            let found = found.unwrap();
            close(found.0, expected.0, &format!("{how} {passed} of {trials}"));
            close(found.1, expected.1, &format!("{how} {passed} of {trials}"));
        }
    }
    assert_eq!(
        (wilson_interval(0, 0), clopper_pearson_interval(0, 0)),
        (None, None)
    );
}

#[test]
fn tails_and_sign_tests_are_those_of_scipy() {
    // scipy.stats.binom.sf(successes - 1, trials, rate)
    for (successes, trials, rate, expected) in [
        (2, 3, 0.9, 0.972),
        (7, 10, 0.9, 0.987_204_801_6),
        (7, 10, 0.3, 0.010_592_078_4),
        (800, 1000, 0.8, 0.518_911_435_558_744_7),
        (0, 4, 0.2, 1.0),
    ] {
        close(
            upper_tail(successes, trials, rate),
            expected,
            &format!("{successes} of {trials} at {rate}"),
        );
    }
    assert_eq!(
        (
            upper_tail(1, 3, 0.0),
            upper_tail(3, 3, 1.0),
            upper_tail(4, 3, 1.0)
        ),
        (0.0, 1.0, 0.0)
    );
    // scipy.stats.binomtest(worse, worse + better, 0.5, alternative="greater").pvalue
    for (worse, better, expected) in [
        (5, 0, 0.031_25),
        (4, 0, 0.0625),
        (7, 2, 0.089_843_75),
        (10, 5, 0.150_878_906_25),
        (0, 5, 1.0),
        (60, 40, 0.028_443_966_820_490_444),
    ] {
        close(
            sign_test(worse, better),
            expected,
            &format!("{worse} and {better}"),
        );
    }
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    for trials in [3_u32, 10, 30, 100] {
        let mut wilsons = Vec::new();
        for step in 1..100 {
            let rate = f64::from(step) / 100.0;
            let exactly = |passed: u32| {
                upper_tail(passed, trials, rate) - upper_tail(passed + 1, trials, rate)
            };
            let covered = |interval: fn(u32, u32) -> Option<(f64, f64)>| -> f64 {
                let holds = |passed: &u32| {
                    interval(*passed, trials).is_some_and(|(low, high)| low <= rate && rate <= high)
                };
                (0..=trials).filter(holds).map(exactly).sum()
            };
            assert!(
                covered(clopper_pearson_interval) >= 0.95 - 1e-9,
                "{trials} {rate}"
            );
            wilsons.push(covered(wilson_interval));
        }
        let mean = wilsons.iter().sum::<f64>() / 99.0;
        let least = wilsons.iter().copied().fold(1.0, f64::min);
        assert!(
            (0.945..=0.975).contains(&mean) && least > 0.80,
            "{trials}: {mean} {least}"
        );
    }
}

/// The two stages of a run without `strict`.
fn usual() -> (TrialRule, TrialRule) {
    let rule = TrialRule::default();
    (rule, confirm_rule(&rule).unwrap())
}

#[test]
fn the_default_rule_treats_cases_as_designed() {
    let (rule, confirm) = usual();
    let of = |rate: f64| combined_outlook(&rule, Some(&confirm), rate);
    // The share of caught cases that fell to 30, 50, 70 and 10 %.
    let caught = |rate: f64| format!("{:.1}", of(rate).fail * 100.0);
    assert_eq!(
        [0.3, 0.5, 0.7, 0.1].map(caught),
        ["77.6", "41.4", "7.6", "97.2"]
    );
    // Twenty cases of 90 %: red by chance in less than 1 %, with one stage in 43 %.
    let green = |outlook: Outlook| outlook.pass.powi(20);
    assert!(
        green(of(0.9)) > 0.99 && green(stage_outlook(&rule, 0.9)) < 0.57,
        "{:?}",
        of(0.9)
    );
    assert!(of(0.9).trials <= 2.5, "{:?}", of(0.9));
    assert_eq!(
        confirm_rule(&TrialRule {
            strict: true,
            ..rule
        }),
        None
    );
}

/// Tries a case that passes at a rate, as a run does: returns its verdict and the number of trials.
fn tried(chance: &mut Chance, rules: &[TrialRule], rate: f64) -> (bool, u32) {
    let mut trials = 0;
    for rule in rules {
        let mut row = Vec::new();
        let decision = loop {
            match decide_trials(rule, &row) {
                TrialDecision::Open => {
                    row.push(if chance.even() < rate {
                        TrialOutcome::Passed
                    } else {
                        TrialOutcome::Failed
                    });
                    trials += 1;
                }
                decision @ (TrialDecision::Pass
                | TrialDecision::Fail
                | TrialDecision::Inconclusive) => {
                    break decision;
                }
            }
        };
        if decision != TrialDecision::Fail {
            return (decision == TrialDecision::Pass, trials);
        }
    }
    (false, trials)
}

#[test]
fn simulated_runs_are_red_and_caught_as_often_as_computed() {
    let (rule, confirm) = usual();
    let rules = [rule, confirm];
    let mut chance = Chance(7);
    let (suites, cases) = (5_000, 20);
    let (mut red, mut trials) = (0, 0);
    for _ in 0..suites {
        let results: Vec<(bool, u32)> = (0..cases)
            .map(|_| tried(&mut chance, &rules, 0.9))
            .collect();
        red += u32::from(results.iter().any(|(passed, _)| !passed));
        trials += results.iter().map(|(_, trials)| trials).sum::<u32>();
    }
    assert!(
        f64::from(red) / f64::from(suites) <= 0.01,
        "{red} of {suites}"
    );
    assert!(
        f64::from(trials) / f64::from(suites * cases) <= 2.5,
        "{trials}"
    );
    let sprt = TrialRule {
        sequential: Some(SequentialRule {
            p0: 0.6,
            p1: 0.9,
            alpha: 0.05,
            beta: 0.1,
            max: 40,
        }),
        ..rule
    };
    for (rules, rate) in [
        (&rules[..], 0.3),
        (&rules[..], 0.5),
        (&rules[..], 0.7),
        (&rules[..], 0.1),
        (&[sprt][..], 0.6),
        (&[sprt][..], 0.9),
    ] {
        let expected = combined_outlook(&rules[0], rules.get(1), rate);
        let results: Vec<(bool, u32)> = (0..20_000)
            .map(|_| tried(&mut chance, rules, rate))
            .collect();
        let share = results
            .iter()
            .map(|(passed, _)| f64::from(*passed))
            .sum::<f64>()
            / 20_000.0;
        let mean = results
            .iter()
            .map(|(_, trials)| f64::from(*trials))
            .sum::<f64>()
            / 20_000.0;
        assert!(
            (share - expected.pass).abs() < 0.012,
            "{rate}: {share} in place of {expected:?}"
        );
        assert!(
            (mean - expected.trials).abs() < 0.1,
            "{rate}: {mean} in place of {expected:?}"
        );
    }
    // A fall to 30 % is caught in three of four runs.
    assert!(combined_outlook(&rule, Some(&confirm), 0.3).fail >= 0.75);
}

#[test]
fn the_interval_of_a_suite_holds_its_mean_and_needs_ten_templates() {
    let names: Vec<String> = (0..30).map(|at| format!("t{at:02}")).collect();
    let few: Vec<(&str, f64)> = names
        .iter()
        .take(9)
        .map(|name| (name.as_str(), 1.0))
        .collect();
    assert_eq!(clustered(&few), None);
    let same: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 0.5)).collect();
    assert_eq!(clustered(&same), Some((0.5, 0.5)));
    // Four cases of each template that share its truth: an interval that treated each as
    // independent would be half as wide.
    let mut chance = Chance(3);
    let (mut held, rounds) = (0, 100);
    for _ in 0..rounds {
        let rates: Vec<(&str, f64)> = names
            .iter()
            .flat_map(|name| {
                let rate = if chance.even() < 0.7 { 1.0 } else { 0.0 };
                [(name.as_str(), rate); 4]
            })
            .collect();
        let (low, high) = clustered(&rates).unwrap();
        held += u32::from(low <= 0.7 && 0.7 <= high);
        assert_eq!(clustered(&rates), Some((low, high)));
    }
    assert!((88..=100).contains(&held), "{held} of {rounds}");
    // Rates that are all 1 leave room for others.
    let best: Vec<(&str, f64)> = names
        .iter()
        .take(12)
        .map(|name| (name.as_str(), 1.0))
        .collect();
    let (low, high) = clustered(&best).unwrap();
    assert!(
        (0.70..0.73).contains(&low) && high > 0.999_999,
        "{low} to {high}"
    );
}

/// Resampling twelve templates held the true rate in 86 to 89 % of rounds.
#[test]
fn the_interval_of_few_templates_holds_the_true_rate() {
    let names: Vec<String> = (0..12).map(|at| format!("t{at:02}")).collect();
    for (truth, least) in [(0.5, 0.93), (0.8, 0.91)] {
        let mut chance = Chance(11);
        let (mut held, rounds) = (0, 2_000);
        for _ in 0..rounds {
            // Each template has a rate of its own around the true one, and one to eight cases.
            let mut rates: Vec<(&str, f64)> = Vec::new();
            for name in &names {
                let own = (truth + (chance.even() - 0.5) * 0.4_f64).clamp(0.0, 1.0);
                for _ in 0..=(0..7).filter(|_| chance.even() < 0.5).count() {
                    let passed: u32 = (0..5).map(|_| u32::from(chance.even() < own)).sum();
                    rates.push((name, f64::from(passed) / 5.0));
                }
            }
            let (low, high) = clustered(&rates).unwrap();
            held += u32::from(low <= truth && truth <= high);
        }
        let share = f64::from(held) / f64::from(rounds);
        assert!(share >= least, "{share} at {truth}");
    }
}

#[test]
fn paired_differences_have_an_interval_by_cluster() {
    // By scipy 1.17.1: 2.776445 (t, 4 degrees of freedom) times √8.
    let (low, high) = paired_interval(3.0, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    assert!((high - low - 2.0 * 7.8530).abs() < 0.1, "{low} to {high}");
    assert!((low + high - 6.0).abs() < 1e-12);
    assert_eq!(paired_interval(1.0, &[1.0; 6]), Some((1.0, 1.0)));
    assert_eq!(paired_interval(1.0, &[1.0; 4]), None);
}
