//! Random differentiable kernels against central differences.

use crate::oracle::{Verdict, compare};
use crate::shrink::shrink;
use gbxcule_testkit::arbitrary::differentiable;
use std::collections::BTreeMap;

/// Draws kernels and compares them; returns how often each verdict came. Panics with the shortest
/// wrong kernel, if there is one.
pub(crate) fn draw(seeds: std::ops::Range<u64>) -> BTreeMap<&'static str, u32> {
    let mut verdicts = BTreeMap::new();
    let mut shortest: Option<String> = None;
    for seed in seeds {
        let drawn = differentiable(seed);
        let name = match compare(&drawn) {
            Verdict::Right => "right",
            Verdict::Rough => "rough",
            Verdict::Refused(diagnostics) => diagnostics[0].code.name(),
            Verdict::Wrong(what) => {
                println!("seed {seed}: {}", what.lines().next().unwrap_or_default());
                let small = shrink(drawn);
                let Verdict::Wrong(what) = compare(&small) else { unreachable!() };
                let source = gbxcule_ir::print::module(&small.module);
                let text = format!("seed {seed}: {source}\n{what}");
                if shortest.as_ref().is_none_or(|shortest| text.len() < shortest.len()) {
                    shortest = Some(text);
                }
                "wrong"
            }
        };
        *verdicts.entry(name).or_insert(0) += 1;
    }
    if let Some(text) = shortest {
        panic!("{verdicts:?}\n{text}");
    }
    verdicts
}

#[test]
fn random_kernels_agree_with_central_differences() {
    let verdicts = draw(0..25);
    println!("{verdicts:?}");
    assert!(verdicts["right"] > 15, "{verdicts:?}");
}

/// `GRADIENT_DRAWS=from..to` chooses the seeds.
#[test]
#[ignore = "takes minutes: run by name with GRADIENT_DRAWS=from..to"]
fn many_random_kernels_agree_with_central_differences() {
    let range = std::env::var("GRADIENT_DRAWS").unwrap_or_else(|_| "0..3000".into());
    let (from, to) = range.split_once("..").expect("from..to");
    let seeds = from.parse().expect("a seed")..to.parse().expect("a seed");
    println!("{:?}", draw(seeds));
}
