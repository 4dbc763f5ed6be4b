//! Refusals: everything without a meaning here, by its name and line, all at once.

use super::host::kernel;
use gbxcule_gpu_sim::ptx::translate;

fn refused(before: &str, body: &str) -> String {
    let text = format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n{before}{}",
        kernel("only", 1, body)
    );
    translate(&text).expect_err("a refusal").to_string()
}

#[test]
fn instructions_and_modifiers_without_a_row_are_refused_by_name() {
    for mnemonic in [
        "add.sat.s32",
        "min.NaN.f32",
        "cvt.rn.satfinite.f16.f32",
        "shf.l.b32",
        "prmt.b32.f4e",
        "mul24.lo.s32",
        "bar.sync",
        "setp.lt.and.s32",
        "ld.global.L1::no_allocate.u32",
        "fma.rn.ftz.f32",
        "add.f32",
        "vote.sync.any.pred",
    ] {
        let said = refused("", &format!("{mnemonic} %r1, %r2, %r3;\n"));
        assert!(said.contains(&format!("`{mnemonic}`: no form in the table of forms")), "{said}");
    }
}

#[test]
fn everything_that_is_refused_is_said_with_its_line() {
    let said = refused(
        "",
        "add.sat.s32 %r1, %r2, %r3;\nadd.s32 %r1, %r2, %r3;\nmul24.lo.s32 %r1, %r2, %r3;\n",
    );
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    let line = |text: &str| {
        text["PTX line ".len()..].split(':').next().map(|it| it.parse::<usize>().expect("a line"))
    };
    assert_eq!(line(lines[0]).map(|it| it + 2), line(lines[1]), "{said}");
}

#[test]
fn operands_must_fit_their_instruction() {
    for (body, message) in [
        ("add.s32 %r1, %rd2, %r3;", "`%rd2` has 64 bits where 32 are used"),
        ("add.s32 %r1, %r2;", "2 operands instead of 3"),
        ("add.s32 %r1, %r2, %r99;", "`%r99` is no register"),
        ("and.pred %p1, %p2, %r3;", "`%r3` has 32 bits where 1 are used"),
        ("@%r1 add.s32 %r1, %r2, %r3;", "`%r1` has 32 bits where 1 are used"),
        ("ld.global.u32 %rs1, [%rd1];", "`%rs1` has 16 bits where 32 are used"),
        ("ld.global.u32 %r1, [%r2];", "`%r2` has 32 bits where 64 are used"),
        ("ld.global.v2.u32 %r1, [%rd1];", "1 values where 2 are moved"),
        ("ld.param.u64 %rd2, [only_1+4];", "bytes 4 and on of `only_1`, which has 8"),
        ("mul.rn.f64 %rd2, %rd3, 0f3F800000;", "is no value of 64 bits"),
        ("mov.u64 %rd2, %tid.x;", "`%tid.x` has 32 bits where 64 are used"),
        ("mov.u32 %r2, %clock;", "`%clock` is no register"),
        ("bar.red.or.pred %p1, 1, %p2;", "Integer(1) where barrier 0 alone is known"),
        ("bar.red.or.pred %p1, 0, %r2;", "`%r2` has 32 bits where 1 are used"),
        ("call.uni missing;", "`missing` is not in this text"),
        ("brx.idx %r1, nothing;", "`nothing` is no list of labels"),
    ] {
        let said = refused("", &format!("{body}\n"));
        assert!(said.contains(message), "{body} {said}");
    }
    let said = refused(".func f(.param .b32 a)\n{\nret;\n}\n", "call.uni f, (only_1);\n");
    assert!(said.contains("`only_1` is no parameter of 4 bytes"), "{said}");
}

#[test]
fn directives_that_are_not_known_are_refused() {
    for (before, found) in [
        (".shared .align 4 .b8 all[4];\n", "`.shared`"),
        (".extern .global .u32 there;\n", "`.global`"),
        (".global .align 8 .u64 place = generic(other);\n", "`generic`"),
        (".visible .func f() .abi_preserve 4 { ret; }\n", "`.abi_preserve`"),
    ] {
        let said = refused(before, "");
        assert!(said.starts_with("PTX line 4") && said.contains(found), "{said}");
    }
}
