//! Kernels in a device's memory: shared memory and its atomic operations, generic addresses, and
//! every kind of fault, on machine code for sm_80.

use super::machine::{assemble, note_seen};
use gbxcule_gpu_sim::sass::device_memory::DeviceMemory;
use gbxcule_gpu_sim::sass::fault::{Fault, FaultKind};
use gbxcule_gpu_sim::sass::schedule::{Extents, Shape};
use gbxcule_gpu_sim::sass::suspect::{Replacement, VALUES};

/// Arrays of a launch: words.
type Words = Vec<Vec<u32>>;

/// Runs a kernel whose parameters are arrays: `%rd1` and on have their addresses, `%r1` the thread.
fn run(body: &str, shape: (u32, u32), arrays: &[Vec<u32>]) -> Result<Words, Fault> {
    run_with("", body, shape, arrays)
}

/// Runs such a kernel behind functions.
fn run_with(
    functions: &str,
    body: &str,
    shape: (u32, u32),
    arrays: &[Vec<u32>],
) -> Result<Words, Fault> {
    let memory = memory_after((functions, str::to_owned), body, shape, arrays, None)?;
    if let Some(fault) = memory.suspects.first() {
        return Err(fault.clone());
    }
    Ok((0..arrays.len()).map(|array| words(array, &memory)).collect())
}

fn words(array: usize, memory: &DeviceMemory) -> Vec<u32> {
    let four = memory.bytes(array).chunks_exact(4);
    four.map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]])).collect()
}

/// Returns the memory behind such a kernel, which may find other values for suspect words. Its
/// listing may be edited.
fn memory_after(
    (functions, edit): (&str, fn(&str) -> String),
    body: &str,
    shape: (u32, u32),
    arrays: &[Vec<u32>],
    replacement: Option<Replacement>,
) -> Result<DeviceMemory, Fault> {
    let params: Vec<String> = (1..=arrays.len()).map(|at| format!(".param .u64 p{at}")).collect();
    let loads: String = (1..=arrays.len())
        .map(|at| format!("ld.param.u64 %rd{at}, [p{at}];\ncvta.to.global.u64 %rd{at}, %rd{at};\n"))
        .collect();
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{functions}.visible .entry only({}) {{\n\
         .reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<40>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<40>;\n\
         .reg .f64 %d<9>;\n.shared .align 16 .b8 s[512];\n{loads}mov.u32 %r1, %tid.x;\n{body}ret;\n}}\n",
        params.join(", ")
    );
    let mut module = assemble(&text, "sm_80", edit);
    let mut memory = DeviceMemory::new();
    (memory.budget, memory.replacement) = (1 << 20, replacement);
    let bytes = |words: &Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let addresses: Vec<[u8; 8]> = arrays
        .iter()
        .enumerate()
        .map(|(at, words)| memory.add(&format!("a{}", at + 1), 4, bytes(words)).to_le_bytes())
        .collect();
    let parameters: Vec<&[u8]> = addresses.iter().map(|it| &it[..]).collect();
    let (blocks, threads) = (Extents::line(shape.0), Extents::line(shape.1));
    let shape = Shape { blocks, threads, shared_bytes: 0, seed: 3 };
    let ran = module.launch_on("only", shape, &parameters, memory);
    note_seen(&module, "only");
    // A fault too leaves what was counted before it.
    let issued: u64 = module.kernels["only"].counts.each.iter().map(|each| each.0).sum();
    assert!(issued > 0 && issued == module.kernels["only"].counts.issues, "{issued}");
    ran.map_err(|stopped| stopped.fault)
}

fn kind(body: &str, threads: u32) -> FaultKind {
    let arrays = [vec![1; 64], vec![0; 64]];
    run(body, (2, threads), &arrays).expect_err("a fault").kind
}

/// Address of a thread's own word of `s` in `%r2`, of a global array in `%rd10` and `%rd11`.
const PLACES: &str = "mov.u32 %r3, s;\nmad.lo.u32 %r2, %r1, 4, %r3;\nmul.wide.u32 %rd9, %r1, 4;\n\
    add.s64 %rd10, %rd1, %rd9;\nadd.s64 %rd11, %rd2, %rd9;\n";

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn words_of_a_block_are_exchanged_in_shared_memory() {
    let body = format!(
        "{PLACES}ld.global.u32 %r4, [%rd10];\nst.shared.u32 [%r2], %r4;\nbar.sync 0;\n\
         xor.b32 %r5, %r1, 63;\nmad.lo.u32 %r6, %r5, 4, %r3;\nld.shared.u32 %r7, [%r6];\n\
         st.global.u32 [%rd11], %r7;\n"
    );
    let from: Vec<u32> = (0..64).map(|at| at * 7).collect();
    let found = run(&body, (1, 64), &[from.clone(), vec![0; 64]]).expect("no fault");
    assert_eq!(found[1], from.into_iter().rev().collect::<Vec<_>>());
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn atomic_operations_of_a_block_meet_in_shared_memory() {
    let body = format!(
        "{PLACES}setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L_zeroed;\nst.shared.v4.u32 [%r3], {{0, 0, 0, 0}};\n\
         st.shared.v2.u64 [%r3+16], {{0, 0}};\n$L_zeroed:\nbar.sync 0;\nred.shared.add.u32 [%r3], 1;\n\
         add.u32 %r8, %r1, 5;\natom.shared.max.u32 %r9, [%r3+4], %r8;\nmov.b32 %f1, 0f3F000000;\n\
         atom.shared.add.f32 %f2, [%r3+8], %f1;\natom.shared.cas.b32 %r10, [%r3+12], 0, %r8;\n\
         atom.shared.add.u64 %rd12, [%r3+16], 3;\nbar.sync 0;\nsetp.gt.u32 %p2, %r1, 7;\n@%p2 bra $L_end;\n\
         ld.shared.u32 %r11, [%r2];\nst.global.u32 [%rd11], %r11;\n$L_end:\n"
    );
    let found = run(&body, (1, 64), &[vec![0; 64], vec![0; 64]]).expect("no fault");
    assert_eq!(found[1][..2], [64, 68]);
    assert_eq!(f32::from_bits(found[1][2]), 32.0);
    assert!((5..=68).contains(&found[1][3]), "{}", found[1][3]);
    assert_eq!(found[1][4..6], [192, 0]);
}

/// For sm_100 a predicate says whether `ATOMS.CAST.SPIN` has exchanged, in place of a register
/// whose number is compared with 1.
#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_predicate_says_whether_an_exchange_took_place() {
    fn edit(listing: &str) -> String {
        const SPIN: &str = "ATOMS.CAST.SPIN R";
        let (_, behind) = listing.split_once(SPIN).expect("a loop of exchanges");
        let (register, _) = behind.split_once(',').expect("a register");
        let compared = format!(", PT, R{register}, 0x1, PT ;");
        let (before, behind) = listing.split_once(&compared).expect("a comparison with 1");
        let (before, predicate) = before.rsplit_once("ISETP.EQ.U32.AND ").expect("a comparison");
        let before = before.replacen(
            &format!("{SPIN}{register}"),
            &format!("ATOMS.CAST.SPIN {predicate}"),
            1,
        );
        format!("{before}YIELD ;{behind}")
    }
    let body = format!(
        "{PLACES}setp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L_zeroed;\nst.shared.u32 [%r3], 0;\n\
         $L_zeroed:\nbar.sync 0;\nmov.b32 %f1, 0f3F000000;\natom.shared.add.f32 %f2, [%r3], %f1;\n\
         bar.sync 0;\nld.shared.u32 %r11, [%r3];\nst.global.u32 [%rd11], %r11;\n"
    );
    let arrays = [vec![0; 64], vec![0; 64]];
    let memory = memory_after(("", edit), &body, (1, 64), &arrays, None).expect("no fault");
    assert_eq!(words(1, &memory), [32.0_f32.to_bits(); 64]);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn generic_addresses_reach_shared_memory_and_halves_are_added() {
    let body = format!(
        "{PLACES}st.shared.u32 [%r2], 0;\ncvt.u64.u32 %rd12, %r2;\ncvta.shared.u64 %rd13, %rd12;\n\
         ld.global.u32 %r4, [%rd10];\nsetp.eq.u32 %p1, %r4, 0;\nselp.b64 %rd14, %rd13, %rd11, %p1;\n\
         mov.b32 %r5, 0x3C004000;\natom.add.noftz.f16x2 %r6, [%rd14], %r5;\n\
         red.global.add.noftz.f16x2 [%rd11], %r5;\nmembar.gl;\nnanosleep.u32 5;\nbar.warp.sync -1;\n\
         prefetch.global.L1 [%rd11];\nprefetch.global.L2 [%rd11];\n\
         ld.u32 %r7, [%rd14];\nst.global.u32 [%rd10], %r7;\n"
    );
    let from: Vec<u32> = (0..32).map(|at| at % 2).collect();
    let found = run(&body, (1, 32), &[from.clone(), vec![0; 32]]).expect("no fault");
    // 1.0 and 2.0; twice that.
    let (once, twice) = (0x3C00_4000, 0x4000_4400);
    let wanted: Vec<u32> = from.iter().map(|it| if *it == 0 { once } else { twice }).collect();
    assert_eq!(found[0], wanted);
    assert_eq!(found[1], wanted);
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn every_kind_of_fault_has_a_name() {
    let of = |lines: &str, threads| kind(&format!("{PLACES}{lines}"), threads);
    let of_block = |lines: &str| {
        let arrays = [vec![1; 64], vec![0; 64]];
        run(&format!("{PLACES}{lines}"), (1, 32), &arrays).expect_err("a fault").kind
    };
    let race = "st.shared.u32 [%r2], %r1;\nxor.b32 %r5, %r1, 1;\nmad.lo.u32 %r6, %r5, 4, %r3;\n\
                ld.shared.u32 %r7, [%r6];\nst.global.u32 [%rd11], %r7;\n";
    assert_eq!(of_block(race), FaultKind::Race);
    assert_eq!(of("st.global.u32 [%rd2], 5;\n", 32), FaultKind::SameValueRace);
    assert_eq!(
        of_block("ld.shared.u32 %r7, [%r2];\nst.global.u32 [%rd11], %r7;\n"),
        FaultKind::UninitialisedShared
    );
    assert_eq!(of("st.global.u32 [%rd11+4], %r1;\n", 64), FaultKind::OutsideArray);
    assert_eq!(of("st.global.u32 [%rd11+2], %r1;\n", 1), FaultKind::Misaligned);
    assert_eq!(of("trap;\n", 1), FaultKind::Trap);
    assert_eq!(of("$L_again:\nbar.sync 0;\nbra.uni $L_again;\n", 32), FaultKind::NoEnd);
    let halves = "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $L_one;\nbar.sync 0;\nst.global.u32 [%rd11], 1;\n\
                  bra.uni $L_end;\n$L_one:\nbar.sync 0;\nst.global.u32 [%rd11], 2;\n$L_end:\n";
    assert_eq!(of(halves, 64), FaultKind::DivergentBarrier);
    let exchange = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra $L_end;\n\
                    shfl.sync.bfly.b32 %r5, %r1, 1, 31, -1;\nst.global.u32 [%rd11], %r5;\n\
                    $L_end:\nbar.warp.sync -1;\n";
    assert_eq!(of(exchange, 32), FaultKind::DivergentBarrier);
    let launch = |body: &str, blocks| {
        run(&format!("{PLACES}{body}"), (blocks, 32), &[vec![1; 64], vec![0; 64]])
    };
    // Volatile writes of two blocks, and atomic operations that are one block's.
    let volatile = "ld.volatile.global.u32 %r4, [%rd11];\nadd.u32 %r4, %r4, 1;\n\
                    st.volatile.global.u32 [%rd11], %r4;\n";
    for body in [volatile, "red.cta.global.add.u32 [%rd2], 1;\n"] {
        assert_eq!(launch(body, 2).expect_err("a fault").kind, FaultKind::Race);
        assert!(launch(body, 1).is_ok());
    }
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn words_of_a_load_that_mean_nothing_are_put_aside() {
    let wide = "bar.sync 0;\nld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [s];\nadd.u32 %r4, %r4, %r5;\n\
                add.u32 %r4, %r4, %r6;\nst.global.u32 [%rd10], %r4;\nst.global.u32 [%rd11], %r7;\n";
    let memory_of = |body: &str, replacement| {
        let body = format!("{PLACES}add.u32 %r8, %r1, 40;\n{body}");
        memory_after(("", str::to_owned), &body, (1, 32), &[vec![1; 32], vec![1; 32]], replacement)
    };
    let launch = |stores: &str, replacement| memory_of(&format!("{stores}{wide}"), replacement);
    let first = |memory: &DeviceMemory| memory.suspects.first().map(|fault| fault.kind);
    let three = "setp.lt.u32 %p1, %r1, 3;\n@%p1 st.shared.u32 [%r2], %r8;\n";
    let memory = launch(three, None).expect("no fault");
    assert_eq!(first(&memory), Some(FaultKind::UninitialisedShared));
    // Another value in its place shows where the word goes, and the others stay.
    for value in VALUES {
        let again = launch(three, Some(memory.suspects.replaced_by(value))).expect("no fault");
        assert_eq!([words(0, &again), words(1, &again)], [vec![40 + 41 + 42; 32], vec![value; 32]]);
        assert!(!again.is_same(&memory));
    }
    // The compiler also loads single words that the source doesn't read. The block's number is 0.
    let narrow = "ld.shared.u32 %r4, [s];\nmov.u32 %r9, %ctaid.x;\nand.b32 %r4, %r4, %r9;\n\
                  st.global.u32 [%rd10], %r4;\n";
    let memory = memory_of(narrow, None).expect("no fault");
    assert_eq!(first(&memory), Some(FaultKind::UninitialisedShared));
    let again = memory_of(narrow, Some(memory.suspects.replaced_by(VALUES[0])));
    assert!(again.expect("no fault").is_same(&memory));
    // A thread that writes a loaded word without a barrier between makes a race.
    let race =
        format!("{three}{wide}setp.eq.u32 %p2, %r1, 31;\n@%p2 st.shared.u32 [%r3+4], %r1;\n");
    let memory = launch(&race, None).expect("no fault at once");
    let kinds = [FaultKind::UninitialisedShared, FaultKind::Race];
    assert!(first(&memory).is_some_and(|kind| kinds.contains(&kind)));
    let is_kept = launch(&race, Some(memory.suspects.replaced_by(VALUES[0])))
        .is_ok_and(|it| it.is_same(&memory));
    assert!(!is_kept, "the sum uses the word that races");
}

#[test]
#[ignore = "needs ptxas and nvdisasm: run by `make gpu-sim`"]
fn a_table_says_which_function_is_called() {
    let function = |name: &str, line: &str| {
        format!(
            ".func (.param .b32 to) {name}(.param .b32 from) {{\n.reg .b32 %r<3>;\n\
             ld.param.b32 %r1, [from];\n{line}\nst.param.b32 [to], %r2;\nret;\n}}\n"
        )
    };
    let functions = function("triple", "mul.lo.u32 %r2, %r1, 3;")
        + &function("seven", "add.u32 %r2, %r1, 7;")
        + ".global .align 8 .u64 table[2] = {triple, seven};\n";
    let body = format!(
        "{PLACES}ld.global.u32 %r4, [%rd10];\nmov.u64 %rd12, table;\nmul.wide.u32 %rd13, %r4, 8;\n\
         add.s64 %rd13, %rd12, %rd13;\nld.global.u64 %rd14, [%rd13];\n{{\n.param .b32 from;\n\
         .param .b32 to;\nst.param.b32 [from], %r1;\nproto: .callprototype (.param .b32 _) _ (.param .b32 _);\n\
         call (to), %rd14, (from), proto;\nld.param.b32 %r5, [to];\n}}\nst.global.u32 [%rd11], %r5;\n"
    );
    let which: Vec<u32> = (0..32).map(|at| at / 3 % 2).collect();
    let found = run_with(&functions, &body, (1, 32), &[which.clone(), vec![0; 32]]);
    let found = found.expect("no fault");
    let wanted: Vec<u32> =
        (0..).zip(which).map(|(at, which)| if which == 0 { 3 * at } else { at + 7 }).collect();
    assert_eq!(found[1], wanted);
}
