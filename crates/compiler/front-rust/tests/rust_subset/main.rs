//! Checks that the subset of Rust means the same in IR as to rustc.

#[allow(clippy::all, missing_docs, unreachable_pub, unused, reason = "for compilers to read")]
mod constants;
#[allow(clippy::all, missing_docs, unreachable_pub, unused, reason = "for compilers to read")]
mod construct;
#[allow(clippy::all, missing_docs, unreachable_pub, unused, reason = "for compilers to read")]
mod control;
mod refusal;
mod shape;

use gbxcule_interp::{Argument, Array, Interpreter};
use gbxcule_ir::Module;
use gbxcule_ir::check::{self, Valid};
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

const TEXTS: &[(&str, &str)] = &[
    ("src/construct.rs", include_str!("construct.rs")),
    ("src/control.rs", include_str!("control.rs")),
    ("src/constants.rs", include_str!("constants.rs")),
];

fn lowered(entries: &[&str]) -> Valid<Module> {
    let mut sources = SourceMap::new();
    let module = gbxcule_front_rust::lower(TEXTS, entries, &mut sources).and_then(check::module);
    module.unwrap_or_else(|faults| panic!("{}", render(&faults, &sources)))
}

/// A number that a test passes to both, or gets from both.
trait Number: Copy {
    fn from_bits(bits: u64) -> Self;
    fn image(self) -> Vec<u8>;
}

macro_rules! numbers {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }

            fn image(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )*};
}

numbers!(u8, u16, u32, u64, i8, i16, i32, i64);

impl Number for bool {
    fn from_bits(bits: u64) -> Self {
        bits & 1 != 0
    }

    fn image(self) -> Vec<u8> {
        vec![u8::from(self)]
    }
}

/// The functions that rustc and the front end read.
mod written {
    pub(super) use crate::construct::*;
    pub(super) use crate::control::*;
}

/// One of these functions, with its result from rustc.
struct Case {
    name: &'static str,
    native: fn(&[u64]) -> Call,
}

/// The memory images of arguments and result.
struct Call {
    args: Vec<Vec<u8>>,
    result: Vec<u8>,
}

macro_rules! cases {
    ($($name:ident($($ty:ty),*) -> $result:ty;)*) => {
        const CASES: &[Case] = &[$(Case {
            name: stringify!($name),
            native: |bits| {
                let mut bits = bits.iter().copied().cycle();
                let mut args = Vec::new();
                let result: $result = written::$name($({
                    let argument = <$ty>::from_bits(bits.next().unwrap_or(0));
                    args.push(argument.image());
                    argument
                }),*);
                Call { args, result: result.image() }
            },
        }),*];
    };
}

cases! {
    arithmetic(u8, u8, i32) -> i32;
    unsigned_division(u64, u32) -> u64;
    bits(u16, u16) -> u16;
    signed_shift(i16, u8) -> i64;
    casts(i16, bool, u64) -> u64;
    literal_types(u8, u64, u32) -> u64;
    untyped_count(u8) -> u64;
    cast_of_shift(u8) -> u64;
    cast_of_literal(u8) -> u64;
    methods(u8, u8, u32) -> u32;
    wide_methods(u64, u64, u32) -> u64;
    signed_methods(i16, i16, u32) -> i32;
    word_methods(u32, u32) -> u32;
    comparisons(i8, i8, u8, bool) -> u8;
    short_circuit(u32, u32) -> u32;
    tuples(u8, bool) -> u32;
    structs(i16, i32) -> i64;
    by_reference(u32, u32) -> u32;
    arrays(u16, u8) -> u32;
    constants(u8) -> u64;
    constants_of_every_kind(u8) -> u64;
    modules(u32) -> u32;
    evaluation_order(u8) -> u32;
    branches_that_move_their_target(u8, u8) -> u32;
    guarded_division(u8, u8, u8) -> u8;
    untyped_signed(u8) -> i64;
    bool_logic(bool, bool, u8) -> u8;
    compound(u32, u8) -> u32;
    branches_with_effects(u8, u8) -> u32;
    references_from_blocks(u32) -> u32;
    never(u8) -> u8;
    nothing_returned(u32, u8) -> u32;
    if_values(u8, u8) -> u16;
    early(u32) -> u32;
    match_ranges(u8) -> u32;
    match_signed(i16) -> i16;
    match_all_bytes(u8) -> u8;
    match_flag(bool, u8) -> u8;
    match_wide(u64) -> u8;
    match_before_the_type(u64) -> u8;
    match_statements(u8, u8) -> u32;
    enums(u8) -> u32;
    loops(u8, u8) -> u32;
    inclusive_to_the_end(u8) -> u32;
    signed_range(i8) -> i32;
    loop_values(u32) -> u32;
    return_in_loops(u8) -> u8;
    shadowing(u8) -> u32;
    late_values(bool, u8) -> u8;
}

/// Numbers near which results change.
#[rustfmt::skip]
const EDGES: [u64; 22] = [
    0, 1, 2, 3, 7, 8, 15, 31, 32, 63, 64, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff,
    0x8000_0000, 0xffff_ffff, u64::MAX >> 1, u64::MAX,
];

fn bits() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..300u64, proptest::sample::select(&EDGES)]
}

#[test]
fn every_construct_has_its_row() {
    let lines = TEXTS[..2].iter().flat_map(|(_, text)| text.lines());
    let written = lines.filter_map(|line| line.strip_prefix("pub fn ")?.split_once('('));
    // These take slices and have a test of their own.
    let numbers =
        written.map(|(name, _)| name).filter(|name| !["sum_of", "scramble"].contains(name));
    let rows: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    assert_eq!(numbers.collect::<Vec<_>>(), rows);
}

#[test]
fn every_construct_means_what_rustc_says() {
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    let module = lowered(&names);
    for case in CASES {
        let function = module.find(case.name).expect("an entry point");
        let compare = |bits: &[u64]| {
            let Call { args, result } = (case.native)(bits);
            let args: Vec<Argument> = args.into_iter().map(Argument::Bytes).collect();
            let interpreted = Interpreter::new(&module).call(function, &args);
            prop_assert_eq!(interpreted, Ok(result), "{}", case.name);
            Ok(())
        };
        for byte in 0..256u64 {
            let bits = [byte, byte * 7 + 3, byte ^ byte >> 3, !byte];
            compare(&bits).unwrap_or_else(|error| panic!("{bits:?}: {error}"));
        }
        // A runner counts its successes over all that it ever ran, so each case needs its own.
        let mut runner = TestRunner::new(ProptestConfig {
            cases: 200,
            failure_persistence: None,
            ..ProptestConfig::default()
        });
        let outcome = runner.run(&proptest::collection::vec(bits(), 4), |bits| compare(&bits));
        outcome.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slices_are_arrays_of_the_host(from: Vec<u8>, to: Vec<u8>, key: u8) {
        let module = lowered(&["scramble"]);
        let function = module.find("scramble").expect("an entry point");
        let mut interpreter = Interpreter::new(&module);
        let (a, b) = (interpreter.memory.add(from.clone()), interpreter.memory.add(to.clone()));
        let args: [Argument; 3] = [
            Array::dense(a, 1, &[from.len() as u32]).into(),
            Array::dense(b, 1, &[to.len() as u32]).into(),
            key.into(),
        ];
        let interpreted = interpreter.call(function, &args);
        let mut expected = to;
        let sum = construct::scramble(&from, &mut expected, key);
        prop_assert_eq!(interpreted, Ok(sum.to_le_bytes().to_vec()));
        prop_assert_eq!(interpreter.memory.bytes(b), expected);
    }
}
