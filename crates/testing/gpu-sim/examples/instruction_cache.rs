//! Counts the misses of instruction caches of several sizes for the warps of a traced launch:
//!
//! ```sh
//! make gpu-cache ROM=PEARL_DRIFT
//! cargo run -p gbxcule-gpu-sim --example instruction_cache -- FOLDER KERNEL
//! ```
//! `FOLDER` has the files `KERNEL.WARP.trace`, which a launch writes with `HOST_GPU_COUNTS` and
//! `HOST_GPU_TRACE` set.

use gbxcule_gpu_sim::sass::instruction_cache::InstructionCache;
use std::path::Path;

/// Sizes in KiB.
const SIZES: [usize; 8] = [8, 16, 32, 48, 64, 96, 128, 256];
/// Number of warps that share a cache: one, those of a scheduler, those of a multiprocessor.
const WARPS: [usize; 3] = [1, 3, 12];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, kernel] = args.as_slice() else {
        return Err("a folder with traces and the name of a kernel".into());
    };
    let mut traces = Vec::new();
    loop {
        let path = Path::new(folder).join(format!("{kernel}.{}.trace", traces.len()));
        if !path.exists() {
            break;
        }
        let words = std::fs::read(path)?;
        let words = words.chunks_exact(4);
        let numbers = words.map(|it| u32::from_le_bytes([it[0], it[1], it[2], it[3]]));
        traces.push(numbers.collect::<Vec<u32>>());
    }
    if traces.is_empty() {
        return Err(format!("{folder} has no {kernel}.0.trace").into());
    }
    println!("{}", shares(&traces));
    println!("| warps | {} |", SIZES.map(|size| format!("{size} KiB")).join(" | "));
    println!("|---:|{}", "---:|".repeat(SIZES.len()));
    for warps in WARPS.into_iter().filter(|warps| *warps <= traces.len()) {
        let row = SIZES.map(|size| {
            let counts = InstructionCache::new(size << 10).misses(&traces[..warps]);
            format!("{:.2}", counts.misses as f64 * 1000.0 / counts.issues as f64)
        });
        println!("| {warps} | {} |", row.join(" | "));
    }
    Ok(())
}

/// Returns the amounts of code that cover some shares of all issues.
fn shares(traces: &[Vec<u32>]) -> String {
    let last = traces.iter().flatten().max().map_or(0, |last| *last as usize);
    let mut counts = vec![0_u64; last + 1];
    for instruction in traces.iter().flatten() {
        counts[*instruction as usize] += 1;
    }
    counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
    let all: u64 = counts.iter().sum();
    let parts = [0.5, 0.9, 0.99, 1.0].map(|share| {
        let mut sum = 0;
        let enough = counts.iter().position(|count| {
            sum += count;
            sum as f64 >= share * all as f64
        });
        let bytes = enough.map_or(0, |at| (at + 1) * 16);
        format!("{:.0} % in {:.1} KiB", share * 100.0, bytes as f64 / 1024.0)
    });
    format!("{} warps, {all} issues: {}", traces.len(), parts.join(", "))
}
