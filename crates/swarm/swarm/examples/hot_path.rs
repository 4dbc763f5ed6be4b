//! Says whether the way from one opcode to the next touches local memory, from machine code as
//! `nvdisasm -c` shows it: of `Machine::run_until_deadline` it takes the instructions that lie on a
//! circle which makes no call, and counts.
//!
//! ```sh
//! cargo run -p gbxcule-swarm --example step_text -- runs/cuda full_step sm_90
//! nvdisasm -c runs/cuda/full_step.sm_90.cubin | cargo run -p gbxcule-swarm --example hot_path
//! ```

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

const FUNCTION: &str = "Machine_run_until_deadline";
/// Loads and stores of local and of other memory.
const COUNTED: [&str; 6] = ["LDL", "STL", "LD", "LDG", "ST", "STG"];

/// An instruction and those that may follow it, by their places.
struct Step<'t> {
    opcode: &'t str,
    next: Vec<usize>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let steps = read(&text).ok_or("no such function: is it the output of `nvdisasm -c`?")?;
    let hot = circle(&steps);
    let counts = |places: &mut dyn Iterator<Item = usize>| {
        let mut counts: BTreeMap<&str, usize> = COUNTED.iter().map(|name| (*name, 0)).collect();
        let kinds = places.filter_map(|at| steps[at].opcode.split('.').next());
        kinds.for_each(|kind| _ = counts.get_mut(kind).map(|count| *count += 1));
        counts
    };
    println!("{FUNCTION}: {} instructions, {:?}", steps.len(), counts(&mut (0..steps.len())));
    println!("without calls: {} instructions, {:?}", hot.len(), counts(&mut hot.iter().copied()));
    Ok(())
}

/// The function's instructions.
fn read(text: &str) -> Option<Vec<Step<'_>>> {
    let is_label = |line: &str| line.ends_with(':') && !line.starts_with([' ', '\t', '/']);
    let mut lines = text.lines().map(str::trim_end);
    lines.find(|line| is_label(line) && line.contains(FUNCTION))?;
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut code = Vec::new();
    for line in lines.take_while(|line| !is_label(line) || line.starts_with(".L")) {
        if is_label(line) {
            places.insert(line.trim_end_matches(':'), code.len());
        } else if let Some((_, instruction)) = line.split_once("*/") {
            code.push(instruction.trim());
        }
    }
    Some((0..code.len()).map(|at| step(at, &code, &places)).collect())
}

fn step<'t>(at: usize, code: &[&'t str], places: &HashMap<&str, usize>) -> Step<'t> {
    let (is_conditional, rest) = match code[at].strip_prefix('@') {
        Some(rest) => (true, rest.split_once(' ').map_or("", |(_, rest)| rest.trim())),
        None => (false, code[at]),
    };
    let opcode = rest.split([' ', ';']).next().unwrap_or_default();
    let target = rest.split_once("`(").and_then(|(_, rest)| rest.split_once(')'));
    let target = target.and_then(|(label, _)| places.get(label)).copied();
    let leaves = ["BRA", "RET", "EXIT", "BRX"].iter().any(|name| opcode.starts_with(name));
    // A call of a label inside the function is a jump: it never returns.
    let is_far = opcode.starts_with("CALL") && target.is_none();
    let is_jump = opcode.starts_with("CALL") && !is_far;
    let jumps = opcode.starts_with("BRA") || opcode.starts_with("BREAK") || is_jump;
    let goes_on = is_conditional || !(leaves || is_jump);
    let mut next: Vec<usize> = target.filter(|_| jumps).into_iter().collect();
    // A table of labels.
    let table = rest.split_once("BRANCH_TARGETS ").and_then(|(_, rest)| rest.split_once('"'));
    let labels = table.into_iter().flat_map(|(labels, _)| labels.split(','));
    next.extend(labels.filter_map(|label| places.get(label.trim())));
    next.extend(Some(at + 1).filter(|next| goes_on && *next < code.len()));
    next.sort_unstable();
    next.dedup();
    Step { opcode: if is_jump { "BRA" } else { opcode }, next }
}

/// Places at which most ways meet, of which one is the loop's.
const CANDIDATES: usize = 8;

/// The instructions that lead to where many ways meet, and back from there, without a call.
fn circle(steps: &[Step<'_>]) -> Vec<usize> {
    let is_call = |at: &usize| steps[*at].opcode.starts_with("CALL");
    let mut before = vec![Vec::new(); steps.len()];
    for (at, step) in steps.iter().enumerate().filter(|(at, _)| !is_call(at)) {
        step.next.iter().for_each(|next| before[*next].push(at));
    }
    let through = |head: usize| -> Vec<usize> {
        let reached = |ways: &dyn Fn(usize) -> Vec<usize>| {
            let (mut seen, mut open) = (vec![false; steps.len()], vec![head]);
            while let Some(at) = open.pop() {
                if !std::mem::replace(&mut seen[at], true) {
                    open.extend(ways(at).into_iter().filter(|next| !is_call(next)));
                }
            }
            seen
        };
        let forth = reached(&|at| steps[at].next.clone());
        let back = reached(&|at| before[at].clone());
        (0..steps.len()).filter(|&at| forth[at] && back[at]).collect()
    };
    let mut heads: Vec<usize> = (0..steps.len()).collect();
    heads.sort_by_key(|&at| std::cmp::Reverse(before[at].len()));
    let circles = heads.into_iter().take(CANDIDATES).map(through);
    circles.max_by_key(Vec::len).unwrap_or_default()
}
