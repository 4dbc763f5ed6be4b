//! A step allocates nothing, on any thread. Alone in its file: the counting allocator counts the
//! whole process.

use std::alloc::System;
use std::num::NonZeroUsize;

use gbxcule_swarm::{NativeSwarm, Recompile, Rom, SwarmConfig};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn a_step_allocates_nothing() {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    for threads in [1, 4] {
        let config = SwarmConfig {
            threads: NonZeroUsize::new(threads),
            draw_last: true,
            // A frame that is watched for hot code counts it.
            recompile: Recompile::Off,
            ..SwarmConfig::new(100)
        };
        let rom = Rom::new(rom.bytes()).expect("a good header");
        let mut swarm = NativeSwarm::new(rom, config).expect("a swarm");
        let actions = [4; 100];
        // The first step wakes the threads, which set themselves up once.
        swarm.step(&actions).expect("good actions");
        let region = Region::new(ALLOCATOR);
        for _ in 0..50 {
            swarm.step(&actions).expect("good actions");
        }
        let change = region.change();
        assert_eq!((change.allocations, change.reallocations), (0, 0), "{threads} threads");
    }
}
