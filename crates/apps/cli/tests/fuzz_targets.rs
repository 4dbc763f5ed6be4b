//! Compiles the fuzz targets, which are a workspace of their own, and gives them a few inputs.
//! `make fuzz` gives them many more.

// The targets' library, of which only the macro is here.
extern crate self as libfuzzer_sys;

use message::{pad, watch};

macro_rules! targets {
    ($($name:ident, $path:literal, $inputs:literal;)*) => {
        $(
            #[path = $path]
            #[allow(unused_attributes, reason = "`no_main` is for the target's own program")]
            mod $name;

            #[test]
            fn $name() {
                inputs($inputs).iter().for_each(|input| $name::run(input));
            }
        )*
    };
}

targets! {
    bundle, "../../../../fuzz/fuzz_targets/bundle.rs", 8;
    dialect, "../../../../fuzz/fuzz_targets/dialect.rs", 40;
    foreign_state, "../../../../fuzz/fuzz_targets/foreign_state.rs", 8;
    import, "../../../../fuzz/fuzz_targets/import.rs", 40;
    message, "../../../../fuzz/fuzz_targets/message.rs", 200;
    rom, "../../../../fuzz/fuzz_targets/rom.rs", 40;
    row, "../../../../fuzz/fuzz_targets/row.rs", 8;
    state, "../../../../fuzz/fuzz_targets/state.rs", 8;
}

#[path = "../../../../fuzz/seeds.rs"]
#[allow(dead_code, reason = "it is a program: nothing here calls its `main`")]
mod seeds;

/// Makes inputs of growing lengths from one number: the first is empty, the others are ASCII.
fn inputs(count: usize) -> Vec<Vec<u8>> {
    let mut state = 1_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 & 0x7f
    };
    (0..count).map(|length| (0..length * 3).map(|_| byte()).collect()).collect()
}

/// Makes a function of a target. The macro stands behind the targets, which import it by its path.
#[macro_export]
macro_rules! fuzz_target {
    (|$bytes:ident: &[u8]| $body:block) => {
        pub(crate) fn run($bytes: &[u8]) $body
    };
}
