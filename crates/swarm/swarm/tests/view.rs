//! Views compared with a debugger's reads of memory.

use std::num::NonZeroUsize;
use std::ops::Range;

use gbxcule_swarm::{Grays, NativeSwarm, OBS_V0_DIM, Picture, Rom, Schedule, SwarmConfig, View};

fn swarm(num_envs: usize, threads: usize) -> NativeSwarm {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let config = SwarmConfig {
        schedule: Schedule::new(4, 2).expect("a schedule"),
        draw_last: true,
        threads: NonZeroUsize::new(threads),
        ..SwarmConfig::new(num_envs)
    };
    let mut swarm =
        NativeSwarm::new(Rom::new(rom.bytes()).expect("a header"), config).expect("a swarm");
    for step in 0..6 {
        let actions: Vec<u8> = (0..num_envs).map(|env| ((env + step) % 9) as u8).collect();
        swarm.step(&actions).expect("good actions");
    }
    swarm
}

fn memory(range: Range<u32>) -> View {
    View::Memory([range].into())
}

fn bits_of(range: Range<u32>) -> View {
    View::Bits([range].into())
}

fn shown(swarm: &NativeSwarm, view: &View) -> Vec<u8> {
    let mut out = vec![0xEE; swarm.config().num_envs * view.bytes_per_env()];
    swarm.fill_view(view, None, &mut out).expect("a fitting buffer");
    out
}

#[test]
fn memory_is_what_a_debugger_reads_range_after_range() {
    let swarm = swarm(7, 3);
    let (screen, score, io) = (0x9800..0x9820, 0xC000..0xC010, 0xFF40..0xFF4C);
    let out = shown(&swarm, &View::Memory(vec![screen.clone(), score.clone(), io.clone()]));
    for (env, row) in out.chunks_exact(0x20 + 0x10 + 0x0C).enumerate() {
        let mut expected = Vec::new();
        for range in [&screen, &score, &io] {
            expected.extend(swarm.read_memory(env, range.clone()).expect("memory"));
        }
        assert_eq!(row, expected, "env {env}");
    }
}

#[test]
fn bits_are_those_of_the_bytes_lowest_first() {
    let swarm = swarm(3, 1);
    let bytes = shown(&swarm, &memory(0xC000..0xC020));
    let bits = shown(&swarm, &bits_of(0xC000..0xC020));
    assert!(bits.iter().all(|&bit| bit <= 1));
    for (byte, bits) in bytes.iter().zip(bits.chunks_exact(8)) {
        let together = bits.iter().rev().fold(0_u8, |byte, bit| byte << 1 | bit);
        assert_eq!(together, *byte);
    }
    assert!(bits.contains(&1));
}

#[test]
fn pictures_are_of_the_frame_that_was_drawn() {
    let swarm = swarm(4, 2);
    let out = shown(&swarm, &View::Picture(Picture::Packed, Grays::Even));
    for (env, row) in out.chunks_exact(Picture::Packed.bytes()).enumerate() {
        assert_eq!(row, swarm.frame(env).expect("an env"));
        assert!(row.iter().any(|&byte| byte != row[0]), "env {env} shows something");
    }
}

#[test]
fn obs_v0_is_what_a_step_computes() {
    let swarm = swarm(5, 2);
    let out = shown(&swarm, &View::ObsV0);
    let numbers: Vec<f32> = out
        .chunks_exact(4)
        .map(|bytes| f32::from_ne_bytes(bytes.try_into().expect("four bytes")))
        .collect();
    assert_eq!(numbers.len(), 5 * OBS_V0_DIM);
    assert_eq!(numbers, swarm.observations());
}

#[test]
fn a_view_does_not_depend_on_the_number_of_threads() {
    let view = View::Picture(Picture::Mean, Grays::Pyboy);
    let one = shown(&swarm(11, 1), &view);
    for threads in [2, 5, 16] {
        assert_eq!(shown(&swarm(11, threads), &view), one, "{threads} threads");
    }
}

#[test]
fn only_marked_envs_are_shown() {
    let swarm = swarm(3, 2);
    let view = memory(0xC000..0xC004);
    let all = shown(&swarm, &view);
    let mut out = vec![0xEE; all.len()];
    swarm.fill_view(&view, Some(&[false, true, false]), &mut out).expect("a fitting buffer");
    assert_eq!(out[..4], [0xEE; 4]);
    assert_eq!(out[4..8], all[4..8]);
    assert_eq!(out[8..], [0xEE; 4]);
}

#[test]
fn wrong_buffers_masks_and_ranges_are_refused() {
    let swarm = swarm(2, 1);
    let view = memory(0xC000..0xC004);
    let refused = |view: &View, mask: Option<&[bool]>, bytes: usize| {
        swarm.fill_view(view, mask, &mut vec![0; bytes]).expect_err("a refusal").to_string()
    };
    assert_eq!(refused(&view, None, 7), "the buffer has 7 bytes, the view fills 8");
    assert!(refused(&view, Some(&[true]), 8).contains("expected one mask entry"));
    let outside = memory(0xFFFE..0x1_0001);
    assert!(refused(&outside, None, 6).contains("not inside"));
}
