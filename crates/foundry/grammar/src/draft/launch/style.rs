//! Differences between kernels that compute the same: the order of parameters, guards of threads
//! beyond the data, words.
//!
//! Frequencies are those of NVIDIA Warp's examples and sources (`gbxcule synth constructs`).

use super::Launch;
use crate::ast::{Expr, Function, Name, Param, Stmt};
use crate::identifiers;
use crate::input::ArgumentInput;
use crate::random::Random;
use std::collections::HashSet;

impl Launch {
    /// Returns the parameters and inputs in their order: three of four kernels write their last
    /// parameter.
    pub(in crate::draft) fn ordered(
        &self,
        random: &mut Random,
    ) -> (Vec<Param>, Vec<ArgumentInput>) {
        let mut order: Vec<usize> = (0..self.params.len()).collect();
        let [number, written] = match random.weighted([55, 15, 15, 15]) {
            0 => [1, 2],
            1 => [0, 2],
            2 => [3, 2],
            _ => [1, 0],
        };
        // Arrays that are read have the middle place.
        order.sort_by_key(|&at| match (self.inputs[at].written, self.params[at].dims) {
            (true, _) => 2 * written,
            (false, 0) => 2 * number,
            (false, _) => {
                if number == 0 || written == 0 {
                    1
                } else {
                    0
                }
            }
        });
        let both = |&at: &usize| (self.params[at].clone(), self.inputs[at].clone());
        order.iter().map(both).unzip()
    }

    /// Makes some kernels launch more threads than there are data; the additional threads return.
    pub(in crate::draft) fn guard(&mut self, random: &mut Random, kernel: &mut Function) {
        if !random.chance(12) {
            return;
        }
        let covers = |at: &usize| self.params[*at].dims > 0 && self.inputs[*at].shape == self.dims;
        let whole: Vec<usize> = (0..self.params.len()).filter(covers).collect();
        let is_launch = |stmt: &Stmt| matches!(stmt, Stmt::Assign(_, Expr::Call(name, _)) if &**name == "wp.tid");
        let Some(first) = kernel.body.iter().position(is_launch).filter(|_| !whole.is_empty())
        else {
            return;
        };
        let array: Name = self.params[random.pick(&whole)].name.clone();
        let beyond = (0..self.dims.len()).map(|dim| {
            let extent = Expr::from(&array).attr("shape").index(vec![Expr::Int(dim as i64)]);
            Expr::binary(Expr::from(&self.index[dim]), ">=", extent)
        });
        let Some(beyond) = beyond.reduce(|one, other| Expr::binary(one, "or", other)) else {
            return;
        };
        let leave = Stmt::If(vec![(beyond, vec![Stmt::Return(vec![])])], vec![]);
        kernel.body.insert(first + 1, leave);
        for extent in &mut self.dims {
            *extent += 1 + random.below(3) as u32;
        }
        if random.chance(30) {
            kernel.comments.push((first + 1, "more threads than elements".into()));
        }
    }

    /// Adds comments to some kernels: what the kernel reads and writes, and the reasons of
    /// statements.
    pub(in crate::draft) fn comment(
        &self,
        random: &mut Random,
        kernel: &mut Function,
        verb: &str,
        noun: &str,
    ) {
        if random.chance(22) {
            kernel.docstring = Some(self.summary(random, verb, noun));
        }
        if !random.chance(50) {
            return;
        }
        let count = kernel.body.len();
        let mut already = HashSet::new();
        for (at, stmt) in kernel.body.iter().enumerate() {
            let is_last = at + 1 == count;
            if let Some(choices) = self.reasons(random, stmt, is_last)
                && already.insert(choices)
            {
                kernel.comments.push((at, random.pick(choices).to_owned()));
            }
        }
    }

    /// Returns words for the reason of a statement, if its form suggests one.
    fn reasons(
        &self,
        random: &mut Random,
        stmt: &Stmt,
        is_last: bool,
    ) -> Option<&'static [&'static str]> {
        Some(match stmt {
            Stmt::Assign(_, Expr::Call(name, _)) if &**name == "wp.tid" => match self.dims.len() {
                1 if random.chance(30) => &["one thread per element"],
                2.. if random.chance(30) => &["one thread per cell"],
                _ => return None,
            },
            Stmt::Assign(targets, Expr::Index(_, place)) if is_neighbour(&targets[0]) => {
                match place.iter().find(|place| !matches!(place, Expr::Name(_)))? {
                    Expr::Call(..) => &["neighbors, clamped at the border", "clamp at the border"],
                    Expr::Binary(_, "%", _) => &["periodic border", "neighbors wrap around"],
                    _ => return None,
                }
            }
            Stmt::If(arms, _) if is_last && is_border(&arms[0].0) => {
                &["interior only", "the border has no neighbors on one side", "skip the border"]
            }
            Stmt::For(_, range, _) => match range.as_slice() {
                [Expr::Index(..)] => {
                    &["each thread walks its own row", "the length is known at run time"]
                }
                [Expr::Int(_)] => &["few enough steps to unroll", "the number of steps is fixed"],
                [Expr::Name(_)] => &["the caller chooses the number of terms"],
                [Expr::Int(_), ..] => return None,
                _ => &["window around this element"],
            },
            Stmt::While(..) => &["iterate until small enough", "iterate until it has settled"],
            Stmt::Do(Expr::Call(name, _)) if name.starts_with("wp.atomic") => {
                &["threads may share a slot", "several threads write to one element"]
            }
            Stmt::If(arms, rest) if rest.is_empty() && arms.len() == 1 => {
                match arms[0].1.as_slice() {
                    [Stmt::Assign(..), Stmt::Return(_)] => &["early out"],
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// Returns a sentence about what the kernel reads and writes.
    fn summary(&self, random: &mut Random, verb: &str, noun: &str) -> String {
        let names = |written: bool| {
            let arrays = self.params.iter().zip(&self.inputs);
            let arrays = arrays.filter(|(param, given)| param.dims > 0 && given.written == written);
            let mut names: Vec<String> =
                arrays.map(|(param, _)| format!("``{}``", param.name)).collect();
            match names.pop() {
                Some(last) if names.is_empty() => last,
                Some(last) => format!("{} and {last}", names.join(", ")),
                None => String::new(),
            }
        };
        let (written, read) = (names(true), names(false));
        let in_place = self.inputs.iter().any(|given| given.written && !given.zero);
        let initial = verb.chars().next().map(|first| first.to_ascii_uppercase());
        let verb: String = initial.into_iter().chain(verb.chars().skip(1)).collect();
        let nouns = identifiers::plural(noun).replace('_', " ");
        match random.below(3) {
            0 if in_place => format!("{verb} {nouns}, updating {written} in place."),
            0 if !read.is_empty() => format!("{verb} {nouns} from {read}."),
            1 if !read.is_empty() => format!("Compute {written} from {read}."),
            _ => format!("{verb} {nouns} and store them in {written}."),
        }
    }
}

/// Returns true for the name of an element beside the thread's own.
fn is_neighbour(target: &Expr) -> bool {
    let names = ["left", "right", "below", "above", "back", "front"];
    matches!(target, Expr::Name(name) if names.contains(&&**name))
}

/// Returns true for a condition that compares a launch index to an extent.
fn is_border(condition: &Expr) -> bool {
    match condition {
        Expr::Binary(left, "and", _) => is_border(left),
        Expr::Binary(left, ">", right) => {
            matches!((&**left, &**right), (Expr::Name(_), Expr::Int(0)))
        }
        _ => false,
    }
}
