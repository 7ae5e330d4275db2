//! The laws hold for two tiny problems. Broken problems are in the tests of `bqnco-problems`.

use crate::common::{Path, Sack};
use bqnco_core::laws::{self, Verdict};
use bqnco_core::{Generate, random};

/// Neither problem can be built from its end.
const ENDS: &str = "steps at both ends build solutions";

/// All laws hold, and all but the given ones have something to compare.
fn assert_holds(verdicts: &[Verdict], vacuous: &[&str]) {
    for verdict in verdicts {
        assert_eq!(verdict.counterexample, None, "{}", verdict.claim);
        assert_eq!(verdict.facts == 0, vacuous.contains(&verdict.claim), "{}", verdict.claim);
    }
}

#[test]
fn all_laws_hold() {
    assert_holds(&laws::verify::<Path>(8, 4, 1), &[ENDS]);
    let vacuous = [ENDS, "equal tails are indistinguishable", "symmetric images have the same solutions"];
    assert_holds(&laws::verify::<Sack>(8, 5, 1), &vacuous);
}

#[test]
fn a_problem_is_checked_by_the_laws_of_the_roles_it_has() {
    let instances: Vec<_> = (2..5).map(|size| Path::generate(size, &mut random(2, &[size as u64]))).collect();
    let roles = [laws::of_mdp::<Path>(), laws::of_observations(), laws::of_fragments()];
    let counts = roles.map(|laws| {
        let verdicts = laws::judge(&laws, &instances);
        assert_holds(&verdicts, if verdicts.iter().any(|verdict| verdict.claim == ENDS) { &[ENDS] } else { &[] });
        verdicts.len()
    });
    assert_eq!(counts.iter().sum::<usize>(), laws::all::<Path>().len());
}
