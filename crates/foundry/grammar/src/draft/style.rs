//! Differences between kernels that compute the same: the order of parameters, guards of threads
//! beyond the data, words.
//!
//! Frequencies are those of NVIDIA Warp's examples and sources (`gbxcule synth constructs`).

use super::{KernelBuilder, Var};
use crate::ast::{Expr, FLOAT, Function, Name, Stmt, Ty};
use crate::identifiers;
use std::collections::HashSet;

impl KernelBuilder {
    /// Returns the order of the parameters: three of four kernels write their last one.
    pub(super) fn parameter_order(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.params.len()).collect();
        let [number, written] = match self.random.weighted([55, 15, 15, 15]) {
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
        order
    }

    /// Makes some kernels launch more threads than there are data; the additional threads return.
    pub(super) fn guard(&mut self, kernel: &mut Function) {
        if !self.random.chance(12) {
            return;
        }
        let covers = |at: &usize| self.params[*at].dims > 0 && self.inputs[*at].shape == self.dims;
        let whole: Vec<usize> = (0..self.params.len()).filter(covers).collect();
        let is_launch = |stmt: &Stmt| matches!(stmt, Stmt::Assign(_, Expr::Call(name, _)) if &**name == "wp.tid");
        let Some(first) = kernel.body.iter().position(is_launch).filter(|_| !whole.is_empty())
        else {
            return;
        };
        let array: Name = self.params[self.random.pick(&whole)].name.clone();
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
            *extent += 1 + self.random.below(3) as u32;
        }
        if self.random.chance(30) {
            kernel.comments.push((first + 1, "more threads than elements".into()));
        }
    }

    /// Returns a word for the kernel's result, in the singular: a name of its text if one fits.
    pub(super) fn subject(&mut self) -> String {
        let written = self.inputs.iter().position(|given| given.written);
        let ty = written.map_or(FLOAT, |at| self.params[at].ty);
        if let Ty::Struct(at) = ty {
            return self.structs[at].name.to_lowercase();
        }
        let words = identifiers::variable(ty, self.theme);
        let is_own = |word: &&&str| {
            let many = identifiers::plural(word);
            let is_it = |name: &Name| **name == ***word || **name == *many;
            let is_var = |var: &Var| matches!(&var.expr, Expr::Name(name) if is_it(name));
            self.params.iter().any(|param| is_it(&param.name)) || self.vars.iter().any(is_var)
        };
        let own: Vec<&str> = words.iter().filter(is_own).copied().collect();
        self.random.pick(if own.is_empty() { words } else { &own }).to_owned()
    }

    /// Adds comments to some kernels: what the kernel reads and writes, and the reasons of
    /// statements.
    pub(super) fn comment(&mut self, kernel: &mut Function, verb: &str, noun: &str) {
        if self.random.chance(22) {
            kernel.docstring = Some(self.summary(verb, noun));
        }
        if !self.random.chance(50) {
            return;
        }
        let count = kernel.body.len();
        let mut already = HashSet::new();
        for (at, stmt) in kernel.body.iter().enumerate() {
            let is_last = at + 1 == count;
            if let Some(choices) = self.reasons(stmt, is_last)
                && already.insert(choices)
            {
                kernel.comments.push((at, self.random.pick(choices).to_owned()));
            }
        }
    }

    /// Returns words for the reason of a statement, if its form suggests one.
    fn reasons(&mut self, stmt: &Stmt, is_last: bool) -> Option<&'static [&'static str]> {
        Some(match stmt {
            Stmt::Assign(_, Expr::Call(name, _)) if &**name == "wp.tid" => match self.dims.len() {
                1 if self.random.chance(30) => {
                    &["one thread per element", "element of this thread"]
                }
                2.. if self.random.chance(30) => &["one thread per cell", "thread indices"],
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
                [Expr::Index(..)] => &["loop over the row", "accumulate", "loop over all entries"],
                [Expr::Int(_)] => &["constant trip count", "a few fixed steps"],
                [Expr::Name(_)] => &["accumulate over the terms", "number of terms is dynamic"],
                [Expr::Int(_), ..] => return None,
                _ => &["accumulate over the window", "window around this element"],
            },
            Stmt::While(..) => &["iterate until small enough", "iterate until it has settled"],
            Stmt::Do(Expr::Call(name, _)) if name.starts_with("wp.atomic") => {
                &["threads may share a slot", "several threads write to one element"]
            }
            Stmt::If(arms, rest) if rest.is_empty() && arms.len() == 1 => {
                match arms[0].1.as_slice() {
                    [Stmt::Assign(..), Stmt::Return(_)] => &["early out", "nothing else to do"],
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// Returns a sentence about what the kernel reads and writes.
    fn summary(&mut self, verb: &str, noun: &str) -> String {
        let names = |written: bool| {
            let own = self.params.iter().zip(&self.inputs);
            let own = own.filter(|(param, given)| param.dims > 0 && given.written == written);
            let mut names: Vec<String> =
                own.map(|(param, _)| format!("``{}``", param.name)).collect();
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
        match self.random.below(4) {
            0 if in_place => format!("{verb} {nouns}, updating {written} in place."),
            0 if !read.is_empty() => format!("{verb} {nouns} from {read}."),
            1 => format!("{verb} {nouns} and store them in {written}."),
            2 if !read.is_empty() => format!("Compute {written} from {read}."),
            _ => format!("{verb} the {nouns}."),
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
