//! Takes any bytes as a state of another emulator: it is refused, or gives a machine that runs. The
//! first byte chooses between the bytes themselves, a BESS state of ours with some of its bytes
//! replaced, and a PyBoy state's opening before the bytes.
#![no_main]

use std::cell::RefCell;

use gbxcule_swarm::{NativeSwarm, Rom, SwarmConfig};
use libfuzzer_sys::fuzz_target;

fn swarm() -> NativeSwarm {
    let rom = gbxcule_assembler::by_name("MBC3_RTC").expect("a ROM of the suite");
    let rom = Rom::new(rom.bytes()).expect("a header");
    let threads = std::num::NonZeroUsize::new(1);
    NativeSwarm::new(rom, SwarmConfig { threads, ..SwarmConfig::new(1) }).expect("a swarm")
}

thread_local! {
    /// One swarm for all inputs, because making a swarm takes far longer than an input; the swarm's
    /// first state, and that state as BESS.
    static SWARM: RefCell<(NativeSwarm, Vec<u8>, Vec<u8>)> = {
        let swarm = swarm();
        let own = swarm.save_state(0).expect("an env");
        let bess = swarm.export_bess(0).expect("an env");
        RefCell::new((swarm, own, bess))
    };
}

/// The least length of a PyBoy state.
const PYBOY_BYTES: usize = 170_000;
const PYBOY_VERSION: u8 = 29;

fn replaced(mut state: Vec<u8>, changes: &[u8]) -> Vec<u8> {
    for change in changes.chunks_exact(4) {
        let at =
            usize::from(u16::from_le_bytes([change[0], change[1]])) | usize::from(change[2]) << 16;
        let len = state.len();
        state[at % len] = change[3];
    }
    state
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    SWARM.with_borrow_mut(|(swarm, own, bess)| {
        let state = match first % 3 {
            0 => rest.to_vec(),
            1 => replaced(bess.clone(), rest),
            _ => {
                let mut state = vec![0; PYBOY_BYTES + usize::from(first)];
                state[0] = PYBOY_VERSION;
                replaced(state, rest)
            }
        };
        if swarm.import_state(0, &state).is_ok() {
            for _ in 0..3 {
                swarm.step(&[first % 9]).expect("good actions");
            }
            // Each input begins with the first state, so that it doesn't depend on earlier inputs.
            swarm.resume_state(0, own).expect("its own state");
        }
    });
});
