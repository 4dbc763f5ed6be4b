//! How many instructions of a GPU lie between an opcode and the next, from machine code as
//! `nvdisasm -c` shows it.
//!
//! From the head of the loop in `Machine::run_until_deadline`, the tests of the opcode are followed
//! with its value known. From the code for the opcode, the shortest way back to the head without a
//! call is taken or, where there is none, the shortest with one.

use std::collections::{BTreeMap, HashMap};

const FUNCTION: &str = "Machine_run_until_deadline";

struct Instruction<'t> {
    /// Predicate, and whether it must not hold.
    guard: Option<(&'t str, bool)>,
    name: &'t str,
    operands: Vec<&'t str>,
    target: Option<usize>,
    text: &'t str,
}

/// The function's instructions.
pub(crate) struct Code<'t> {
    instructions: Vec<Instruction<'t>>,
    head: usize,
    /// The registers that hold the opcode there.
    opcode: Vec<&'t str>,
}

/// The instructions of one opcode, by their places.
pub(crate) struct Path {
    /// Those that find out which opcode it is.
    pub(crate) choice: Vec<usize>,
    /// Those that do it, and read the next.
    pub(crate) work: Vec<usize>,
}

impl<'t> Code<'t> {
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let is_label = |line: &str| line.ends_with(':') && !line.starts_with([' ', '\t', '/']);
        let mut lines = text.lines().map(str::trim_end);
        lines.find(|line| is_label(line) && line.contains(FUNCTION))?;
        let (mut places, mut texts): (HashMap<&str, usize>, _) = (HashMap::new(), Vec::new());
        for line in lines.take_while(|line| !is_label(line) || line.starts_with(".L")) {
            if is_label(line) {
                places.insert(line.trim_end_matches(':'), texts.len());
            } else if let Some((_, instruction)) = line.split_once("*/") {
                texts.push(instruction.trim().trim_end_matches(';').trim_end());
            }
        }
        let instructions: Vec<_> =
            texts.into_iter().map(|text| Instruction::read(text, &places)).collect();
        let mut code = Self { instructions, head: 0, opcode: Vec::new() };
        code.opcode = code.find_opcode()?;
        let mut targets: Vec<usize> = code.instructions.iter().filter_map(|it| it.target).collect();
        targets.sort_unstable();
        targets.dedup();
        // The head is from where the opcode leads to the most places.
        let leaves = |head: &usize| {
            let leaves = (0..256).step_by(5).map(|opcode| code.choose(*head, opcode).1);
            leaves.collect::<std::collections::BTreeSet<_>>().len()
        };
        code.head = targets.into_iter().max_by_key(leaves)?;
        Some(code)
    }

    /// The registers that hold the opcode: the one that is compared with numbers most often, and
    /// what it is made of.
    fn find_opcode(&self) -> Option<Vec<&'t str>> {
        let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
        let tests = self.instructions.iter().filter(|it| it.name.starts_with("ISETP"));
        for test in tests.filter(|it| it.operands.get(3).is_some_and(|it| it.starts_with("0x"))) {
            *compared.entry(test.operands[2]).or_default() += 1;
        }
        let (opcode, _) = compared.into_iter().max_by_key(|(_, times)| *times)?;
        let masks = self.instructions.iter().filter(|it| {
            it.name == "LOP3.LUT"
                && it.operands.first() == Some(&opcode)
                && it.operands.get(2) == Some(&"0xff")
        });
        Some(masks.map(|it| it.operands[1]).chain([opcode]).collect())
    }

    /// The ways of all opcodes.
    pub(crate) fn paths(&self) -> Vec<Path> {
        let without_calls = self.distances(false);
        let with_calls = self.distances(true);
        (0..=255)
            .map(|opcode| {
                let (choice, leaf) = self.choose(self.head, opcode);
                let ways = [&without_calls, &with_calls];
                let ways =
                    ways.into_iter().find(|ways| ways[leaf].is_some()).unwrap_or(&with_calls);
                Path { choice, work: self.walk(leaf, ways) }
            })
            .collect()
    }

    /// Follows the tests that depend on the opcode alone; gives them and the first instruction that
    /// is not theirs.
    fn choose(&self, head: usize, opcode: i64) -> (Vec<usize>, usize) {
        let mut known: BTreeMap<&str, i64> = BTreeMap::from([("RZ", 0), ("PT", 1)]);
        known.extend(self.opcode.iter().map(|register| (*register, opcode)));
        let (mut at, mut seen) = (head, Vec::new());
        let (mut decided, mut leaf) = (0, head);
        while seen.len() < 400 {
            let it = &self.instructions[at];
            let value = |name: &str| known.get(name).map(|value| *value != 0);
            let holds = it.guard.map(|(name, not)| value(name).map(|value| value != not));
            seen.push(at);
            match (it.name, holds) {
                ("BRA", None | Some(Some(_))) => {
                    let taken = it.target.filter(|_| holds != Some(Some(false)));
                    at = taken.unwrap_or(at + 1);
                    if holds.is_some() {
                        (decided, leaf) = (seen.len(), at);
                    }
                }
                ("BRA" | "CALL" | "BRX" | "RET" | "EXIT", _) => break,
                _ => {
                    it.evaluate(&mut known, holds);
                    at += 1;
                }
            }
        }
        seen.truncate(decided);
        (seen, leaf)
    }

    /// An instruction as the listing has it.
    pub(crate) fn text(&self, at: usize) -> &'t str {
        self.instructions[at].text
    }

    fn next(&self, at: usize, calls: bool) -> impl Iterator<Item = usize> + '_ {
        let it = &self.instructions[at];
        let leaves = matches!(it.name, "BRA" | "RET" | "EXIT" | "BRX") && it.guard.is_none();
        let stops = leaves || it.name == "CALL" && !calls;
        let jumps = it.target.filter(|_| it.name == "BRA");
        let falls = (!stops && at + 1 < self.instructions.len()).then_some(at + 1);
        jumps.into_iter().chain(falls)
    }

    /// Instructions from each place to the head.
    fn distances(&self, calls: bool) -> Vec<Option<usize>> {
        let mut before = vec![Vec::new(); self.instructions.len()];
        for at in 0..self.instructions.len() {
            self.next(at, calls).for_each(|next| before[next].push(at));
        }
        let mut distances = vec![None; self.instructions.len()];
        let mut open = std::collections::VecDeque::from([(self.head, 0)]);
        while let Some((at, distance)) = open.pop_front() {
            if distances[at].is_none() {
                distances[at] = Some(distance);
                open.extend(before[at].iter().map(|before| (*before, distance + 1)));
            }
        }
        distances
    }

    fn walk(&self, leaf: usize, distances: &[Option<usize>]) -> Vec<usize> {
        let calls = distances[leaf].is_some();
        let mut way = Vec::new();
        let mut at = leaf;
        while at != self.head && calls && way.len() < 2000 {
            way.push(at);
            let next = self.next(at, true).filter(|next| distances[*next].is_some());
            let Some(next) = next.min_by_key(|next| distances[*next]) else { break };
            at = next;
        }
        way
    }
}

impl<'t> Instruction<'t> {
    fn read(text: &'t str, places: &HashMap<&str, usize>) -> Self {
        let (guard, rest) = match text.strip_prefix('@') {
            Some(rest) => {
                let (guard, rest) = rest.split_once(' ').unwrap_or((rest, ""));
                let name = guard.trim_start_matches('!');
                (Some((name, guard.starts_with('!'))), rest.trim_start())
            }
            None => (None, text),
        };
        let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
        let label = operands.split_once("`(").and_then(|(_, rest)| rest.split_once(')'));
        let is_jump = name.starts_with("BRA");
        let target = label.filter(|_| is_jump).and_then(|(label, _)| places.get(label).copied());
        let operands = operands.split(',').map(|it| it.trim().trim_end_matches(".reuse")).collect();
        let plain = ["BRA", "CALL", "BRX", "RET", "EXIT"];
        let name = plain.into_iter().find(|plain| name.starts_with(plain)).unwrap_or(name);
        Self { guard, name, operands, target, text }
    }

    /// Updates the known registers with the result of this instruction, if it can be computed.
    fn evaluate(&self, known: &mut BTreeMap<&'t str, i64>, holds: Option<Option<bool>>) {
        let number = |text: &str| {
            let (minus, digits) = match text.strip_prefix('-') {
                Some(digits) => (-1, digits),
                None => (1, text),
            };
            let digits = digits.strip_prefix("0x")?;
            i64::from_str_radix(digits, 16).ok().map(|value| minus * value)
        };
        let value = |at: usize| {
            let text = self.operands.get(at)?;
            number(text).or_else(|| known.get(text).copied())
        };
        let result = match self.name {
            "LOP3.LUT" if self.operands.get(4) == Some(&"0xc0") => {
                value(1).zip(value(2)).map(|(left, right)| left & right)
            }
            "VIADD" | "IMAD.IADD" if self.name == "VIADD" => {
                value(1).zip(value(2)).map(|(left, right)| left + right)
            }
            "MOV" => value(1),
            "PRMT" => match self.operands.get(2) {
                Some(&"0x9910" | &"0x7710") => value(1).map(|it| i64::from(it as i16)),
                Some(&"0x8880") => value(1).map(|it| i64::from(it as i8)),
                Some(&"0x7770") => value(1).map(|it| it & 0xff),
                _ => None,
            },
            name if name.starts_with("ISETP") => self.compare(value(2), value(3)),
            _ => None,
        };
        let Some(to) = self.operands.first() else { return };
        match (result, holds) {
            (_, Some(Some(false))) => {}
            (Some(result), None | Some(Some(true))) => _ = known.insert(to, result),
            _ => _ = known.remove(to),
        }
    }

    fn compare(&self, left: Option<i64>, right: Option<i64>) -> Option<i64> {
        // Only tests of one number against another, nothing beside them.
        if self.operands.last() != Some(&"PT") || self.name.contains(".EX") {
            return None;
        }
        let (left, right) = left.zip(right)?;
        let (left, right) = if self.name.contains(".U32") {
            (i64::from(left as u32), i64::from(right as u32))
        } else {
            (i64::from(left as i32), i64::from(right as i32))
        };
        let holds = match self.name.split('.').nth(1)? {
            "EQ" => left == right,
            "NE" => left != right,
            "LT" => left < right,
            "LE" => left <= right,
            "GT" => left > right,
            "GE" => left >= right,
            _ => return None,
        };
        Some(i64::from(holds))
    }
}
