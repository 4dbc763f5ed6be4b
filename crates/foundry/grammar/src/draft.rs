//! Typed grammars: kernels that are well-typed by construction, in which every input and variable
//! is used.
//!
//! A [`KernelBuilder`] holds a kernel while it is written: the variables in scope, the definitions
//! that are still unused, and the open blocks. `leaf`, `scalar` and `composite` write expressions
//! of a wanted type, `motif` and `function` write statements; each family under `family` is a
//! recipe of such parts. A definition is *pending* until it is read, and the last store of a kernel
//! absorbs all pending definitions, so there is no dead code. `plausibility` rejects expressions
//! that a person wouldn't write, also by their `range`, and they are drawn again; `name_repeats`
//! improves the finished kernel.

mod ablation;
mod composite;
mod family;
mod function;
mod leaf;
mod motif;
mod name_repeats;
mod plausibility;
mod range;
mod scalar;
mod style;

use crate::ast::{Expr, Function, INT, Name, Param, Stmt, Struct, Text, Ty};
use crate::identifiers::{self, Role};
use crate::input::ArgumentInput;
use crate::random::Random;
use crate::spell;
use ablation::ablations;
pub use family::Family;
use gbxcule_ir::Scalar;
use range::KnownRanges;
use std::collections::HashSet;

/// A kernel with its launch.
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// The main subject.
    pub family: Family,
    /// Extents of the launch's grid.
    pub dims: Vec<u32>,
    /// One input for each parameter.
    pub inputs: Vec<ArgumentInput>,
    pub(crate) text: Text,
}

impl Draft {
    /// Returns the kernel as Python.
    pub fn source(&self) -> String {
        spell::text(&self.text)
    }

    /// Returns the names of its functions and of the kernel.
    pub fn functions(&self) -> Vec<&str> {
        let all = self.text.functions.iter().chain([&self.text.kernel]);
        all.map(|function| &*function.name).collect()
    }

    /// Returns one source for each statement that isn't the definition of a name; that statement is
    /// left out.
    pub fn ablations(&self) -> impl Iterator<Item = String> {
        ablations(&self.text).into_iter().map(|text| spell::text(&text))
    }
}

/// An expression that others may read.
#[derive(Clone, Debug)]
struct Var {
    expr: Expr,
    ty: Ty,
    used: bool,
}

/// An array that is read at indices.
#[derive(Clone, Debug)]
struct Readable {
    name: Name,
    ty: Ty,
    shape: Vec<u32>,
    used: bool,
}

/// A function of the text.
#[derive(Clone, Debug)]
struct Signature {
    name: Name,
    params: Vec<Ty>,
    results: Vec<Ty>,
    used: bool,
}

/// Weights of a family: how often it draws each kind of expression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// Weight of transcendental functions.
    math: u32,
    /// Weight of `a if c else b` and `wp.where`.
    select: u32,
    /// Weight of vectors, matrices, quaternions and numbers made of them.
    geometry: u32,
    /// Weight of bit operations and integer division.
    bits: u32,
    /// Maximum of levels in an expression.
    depth: usize,
}

/// A kernel being written.
pub(crate) struct KernelBuilder {
    random: Random,
    weights: Weights,
    /// The float type of this kernel.
    real: Scalar,
    /// Theme of the names of this kernel's floats.
    theme: usize,
    /// Names that are already used, in order.
    taken: Vec<Name>,
    vars: Vec<Var>,
    arrays: Vec<Readable>,
    blocks: Vec<Vec<Stmt>>,
    constants: Vec<(Name, Expr)>,
    structs: Vec<Struct>,
    functions: Vec<Function>,
    signatures: Vec<Signature>,
    /// Ranges of variables, each valid until its variable is assigned.
    known: KnownRanges,
    /// Variables that have the same value in all threads.
    uniform: HashSet<Name>,
    /// Number of expressions that may still be rejected and drawn again.
    redraws: u32,
    params: Vec<Param>,
    inputs: Vec<ArgumentInput>,
    dims: Vec<u32>,
    /// Names of the launch indices.
    index: Vec<Name>,
}

/// State of a kernel before an expression, restored if the expression is rejected.
struct Mark {
    stmts: usize,
    constants: usize,
    taken: usize,
    vars: Vec<bool>,
    arrays: Vec<bool>,
    signatures: Vec<bool>,
}

/// Greatest number of draws of one expression. The last draw stays even if it is implausible, and
/// `draft` then rejects the kernel.
const MAX_DRAWS: usize = 12;
/// Greatest number of expressions that a kernel draws again. After that implausible expressions
/// stay, and `draft` then rejects the kernel.
const MAX_REDRAWS: u32 = 300;
/// The least size of an expression that is often given a name.
const MIN_NAMED_SIZE: usize = 7;

/// Draws a kernel: `row` decides the family, and `seed` everything else. Returns `None` if the
/// kernel is implausible.
pub fn draft(row: u64, seed: u64) -> Option<Draft> {
    let family = Family::draw(&mut Random::new(row));
    let mut maker = KernelBuilder::new(Random::new(seed), family.weights());
    family.build(&mut maker);
    let draft = maker.finish(family);
    plausibility::is_sound(&draft.text).then_some(draft)
}

impl KernelBuilder {
    fn new(mut random: Random, weights: Weights) -> Self {
        let real = if random.chance(8) { Scalar::F64 } else { Scalar::F32 };
        let theme = random.below(identifiers::THEMES);
        let reserved = [
            "wp", "float", "int", "bool", "range", "i", "l", "n", "lambda", "if", "in", "is",
            "min", "max", "abs", "pow", "round", "len", "print", "map", "sum", "all", "any",
            "type", "id", "step",
        ];
        Self {
            random,
            weights,
            real,
            theme,
            taken: reserved.into_iter().map(Name::from).collect(),
            vars: Vec::new(),
            arrays: Vec::new(),
            blocks: vec![Vec::new()],
            constants: Vec::new(),
            structs: Vec::new(),
            functions: Vec::new(),
            signatures: Vec::new(),
            known: KnownRanges::new(),
            uniform: HashSet::new(),
            redraws: MAX_REDRAWS,
            params: Vec::new(),
            inputs: Vec::new(),
            dims: Vec::new(),
            index: Vec::new(),
        }
    }

    fn finish(mut self, family: Family) -> Draft {
        let verb = self.random.pick(identifiers::verbs(family.name()));
        let noun = self.subject();
        let order = self.parameter_order();
        let params = order.iter().map(|&at| self.params[at].clone()).collect();
        let inputs = order.iter().map(|&at| self.inputs[at].clone()).collect();
        let body = self.with_repeats_named();
        self.drop_constants(&body);
        let name = format!("{verb}_{}", identifiers::plural(&noun)).into();
        let mut kernel = Function::new(name, params, body);
        self.guard(&mut kernel);
        self.comment(&mut kernel, verb, &noun);
        let (constants, structs, functions) = (self.constants, self.structs, self.functions);
        Draft {
            family,
            text: Text { constants, structs, functions, kernel },
            dims: self.dims,
            inputs,
        }
    }

    /// Returns the type of the kernel's floats.
    fn float_type(&self) -> Ty {
        Ty::Scalar(self.real)
    }

    fn mark(&self) -> Mark {
        Mark {
            stmts: self.blocks.last().map_or(0, Vec::len),
            constants: self.constants.len(),
            taken: self.taken.len(),
            vars: self.vars.iter().map(|it| it.used).collect(),
            arrays: self.arrays.iter().map(|it| it.used).collect(),
            signatures: self.signatures.iter().map(|it| it.used).collect(),
        }
    }

    /// Returns the kernel to the state that `mark` recorded.
    fn reset(&mut self, mark: &Mark) {
        if let Some(block) = self.blocks.last_mut() {
            block.truncate(mark.stmts);
        }
        self.constants.truncate(mark.constants);
        self.taken.truncate(mark.taken);
        self.vars.truncate(mark.vars.len());
        self.vars.iter_mut().zip(&mark.vars).for_each(|(it, &used)| it.used = used);
        self.arrays.iter_mut().zip(&mark.arrays).for_each(|(it, &used)| it.used = used);
        self.signatures.iter_mut().zip(&mark.signatures).for_each(|(it, &used)| it.used = used);
    }

    /// Draws an expression of a type by `draw`, repeatedly until it is plausible. A long expression
    /// may get a name.
    fn sound(&mut self, ty: Ty, draw: impl Fn(&mut Self) -> Expr) -> Expr {
        self.drawn(&draw, Self::is_senseless).map_or_else(
            |expr| expr,
            |expr| {
                let long =
                    plausibility::size(&expr) >= MIN_NAMED_SIZE && plausibility::reads(&expr);
                if long && self.random.chance(60) { self.named(ty, expr) } else { expr }
            },
        )
    }

    /// Returns true if an expression has the same value in all threads.
    fn is_uniform(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => self.uniform.contains(name) || !plausibility::reads(expr),
            Expr::Index(..) => false,
            _ => expr.parts().into_iter().all(|part| self.is_uniform(part)),
        }
    }

    fn is_senseless(&self, expr: &Expr) -> bool {
        plausibility::is_senseless(expr, &self.known)
    }

    /// Returns the first draw without a fault as `Ok`, or else the last draw as `Err`.
    fn drawn(
        &mut self,
        draw: impl Fn(&mut Self) -> Expr,
        is_faulty: impl Fn(&Self, &Expr) -> bool,
    ) -> Result<Expr, Expr> {
        let mark = self.mark();
        for _ in 1..MAX_DRAWS {
            let expr = draw(self);
            if !is_faulty(self, &expr) {
                return Ok(expr);
            }
            if self.redraws == 0 {
                return Err(expr);
            }
            self.redraws -= 1;
            self.reset(&mark);
        }
        Err(draw(self))
    }

    /// Returns an expression's value as a name, which can be repeated; defines a new name unless
    /// the expression is one.
    fn named(&mut self, ty: Ty, expr: Expr) -> Expr {
        if plausibility::is_name_like(&expr) {
            return expr;
        }
        let name = self.define(ty, expr);
        if let Some(var) = self.vars.last_mut() {
            var.used = true;
        }
        Expr::from(&name)
    }

    fn push(&mut self, stmt: Stmt) {
        match self.blocks.last_mut() {
            Some(block) => block.push(stmt),
            None => unreachable!("the body stays open"),
        }
    }

    /// Takes a name; returns false if it was taken already.
    fn take(&mut self, name: &str) -> bool {
        let is_new = self.taken.iter().all(|taken| **taken != *name);
        if is_new {
            self.taken.push(name.into());
        }
        is_new
    }

    /// Returns a new name, after one of some words.
    fn name_from(&mut self, words: &[&str]) -> Name {
        let first = self.random.below(words.len());
        let turned = words[first..].iter().chain(&words[..first]);
        for word in turned {
            if self.take(word) {
                return (*word).into();
            }
        }
        let word = self.random.pick(words);
        for number in 2.. {
            let name = format!("{word}_{number}");
            if self.take(&name) {
                return name.into();
            }
        }
        unreachable!("numbers don't end")
    }

    fn name_of(&mut self, role: Role) -> Name {
        self.name_from(identifiers::role(role))
    }

    fn name_for(&mut self, ty: Ty) -> Name {
        if let Ty::Scalar(of) = ty
            && of.is_float()
            && self.random.chance(12)
        {
            return self.name_from(&["a", "b", "c", "d", "r", "s", "t", "u", "v", "w", "h", "q"]);
        }
        if let Ty::Struct(at) = ty {
            let name = self.structs[at].name.to_lowercase();
            return self.name_from(&[&name]);
        }
        self.name_from(identifiers::variable(ty, self.theme))
    }

    /// Begins a launch over a grid of `dims` dimensions, with `i = wp.tid()`.
    fn launch(&mut self, dims: usize) {
        let extents: &[(i64, i64)] = match dims {
            1 => match self.random.weighted([80, 14, 6]) {
                0 => &[(6, 20)],
                1 => &[(24, 64)],
                _ => &[(96, 160)],
            },
            2 => match self.random.weighted([80, 20]) {
                0 => &[(3, 6), (3, 6)],
                _ => &[(6, 12), (5, 12)],
            },
            3 => &[(2, 4), (2, 4), (2, 4)],
            _ => &[(2, 3), (1, 2), (2, 3), (2, 2)],
        };
        self.dims =
            extents.iter().map(|&(low, high)| self.random.between(low, high) as u32).collect();
        let sets: &[[&str; 4]] = &[
            ["i", "j", "k", "l"],
            ["i", "j", "k", "l"],
            ["row", "col", "layer", "batch"],
            ["x", "y", "z", "w"],
        ];
        let set = if dims == 1 { self.random.pick(&["i", "i", "tid", "idx", "gid"]) } else { "" };
        let chosen = self.random.pick(sets);
        self.index =
            (0..dims).map(|at| if dims == 1 { set.into() } else { chosen[at].into() }).collect();
        self.taken.extend(self.index.iter().cloned());
        let targets = self.index.iter().map(Expr::from).collect();
        self.push(Stmt::Assign(targets, Expr::wp("tid", vec![])));
    }

    /// Returns the launch indices as an index of an array.
    fn here(&self) -> Vec<Expr> {
        self.index.iter().map(Expr::from).collect()
    }

    fn param(&mut self, name: Name, ty: Ty, dims: u8, given: ArgumentInput) -> Name {
        self.params.push(Param { name: name.clone(), ty, dims });
        self.inputs.push(ArgumentInput { name: name.to_string(), ..given });
        name
    }

    /// Adds an array that is read at the launch indices, and returns its name.
    fn input(&mut self, ty: Ty) -> Name {
        let shape = self.dims.clone();
        self.input_of(ty, shape)
    }

    fn input_of(&mut self, ty: Ty, shape: Vec<u32>) -> Name {
        let name = self.array_name(ty);
        let given = ArgumentInput::spread(&mut self.random, shape.clone());
        let name = self.param(name, ty, shape.len() as u8, given);
        self.arrays.push(Readable { name: name.clone(), ty, shape, used: false });
        name
    }

    fn array_name(&mut self, ty: Ty) -> Name {
        let single = if self.random.chance(12) {
            self.name_from(&["x", "a", "b", "c", "src", "data", "values"])
        } else {
            self.name_for(ty)
        };
        if single.len() < 4 || matches!(&*single, "data" | "values") {
            return single;
        }
        let plural = identifiers::plural(&single);
        if self.random.chance(70) && self.take(&plural) { plural.into() } else { single }
    }

    /// Adds an array whose elements are read at indices that the family chooses, and returns its
    /// name.
    fn side_input(&mut self, ty: Ty, shape: Vec<u32>, given: ArgumentInput) -> Name {
        let name = self.array_name(ty);
        self.param(name, ty, shape.len() as u8, ArgumentInput { shape, ..given })
    }

    /// Adds an array of zeros that the kernel writes, and returns its name.
    fn output(&mut self, ty: Ty, shape: Vec<u32>) -> Name {
        let name = self.name_of(Role::Output);
        let dims = shape.len() as u8;
        self.param(name, ty, dims, ArgumentInput::zeros(shape))
    }

    /// Adds a number or a small composite as a parameter, and returns its name.
    fn value(&mut self, ty: Ty) -> Name {
        let name = self.name_for(ty);
        let given = ArgumentInput::spread(&mut self.random, vec![]);
        let name = self.param(name, ty, 0, given);
        self.uniform.insert(name.clone());
        self.vars.push(Var { expr: Expr::from(&name), ty, used: false });
        name
    }

    /// Adds a parameter that counts from `low` to `high`, and returns its name.
    fn count(&mut self, low: i64, high: i64) -> Name {
        let name = self.name_from(&[
            "n",
            "count",
            "iterations",
            "steps",
            "num_terms",
            "rounds",
            "limit",
            "order",
        ]);
        let given = ArgumentInput::integers(vec![], low, high);
        self.param(name, INT, 0, given)
    }

    /// Writes `name = value`; the name is then pending.
    fn define(&mut self, ty: Ty, value: Expr) -> Name {
        let name = self.name_for(ty);
        self.define_as(name, ty, value)
    }

    fn define_as(&mut self, name: Name, ty: Ty, value: Expr) -> Name {
        if matches!(ty, Ty::Scalar(_)) {
            self.known.insert(name.clone(), range::range(&value, &self.known));
        }
        if self.is_uniform(&value) {
            self.uniform.insert(name.clone());
        }
        self.push(Stmt::Assign(vec![Expr::from(&name)], value));
        self.vars.push(Var { expr: Expr::from(&name), ty, used: false });
        name
    }

    /// Defines a variable that begins with a number, written so that the dialect doesn't take the
    /// variable for a constant.
    fn accumulator(&mut self, ty: Ty, start: f64) -> Name {
        let name = self.name_of(Role::Accumulator);
        let value = match ty {
            Ty::Scalar(of) if of.is_float() => {
                Expr::call(spell::plain(ty), vec![Expr::Float(start)])
            }
            Ty::Scalar(_) => Expr::call(spell::plain(ty), vec![Expr::Int(start as i64)]),
            _ => Expr::call(spell::plain(ty), vec![]),
        };
        self.push(Stmt::Assign(vec![Expr::from(&name)], value));
        name
    }

    /// Lets expressions read a name, which is then pending.
    fn reveal(&mut self, name: &Name, ty: Ty) {
        self.vars.push(Var { expr: Expr::from(name), ty, used: false });
    }

    /// Lets expressions read a variable that may also stay unread.
    fn offer(&mut self, name: &Name, ty: Ty) {
        self.vars.push(Var { expr: Expr::from(name), ty, used: true });
    }

    /// Returns the statements that `build` writes as a block. The block's variables are out of
    /// scope after it.
    fn block(&mut self, build: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        self.blocks.push(Vec::new());
        let known = self.vars.len();
        build(self);
        self.vars.truncate(known);
        match self.blocks.pop() {
            Some(block) => block,
            None => unreachable!("it was pushed above"),
        }
    }

    /// Stores an expression that absorbs all pending definitions, at the launch indices of a new
    /// output or of an array that is updated in place.
    fn store(&mut self, ty: Ty) {
        if self.random.chance(9) {
            return self.update(ty);
        }
        let shape = self.dims.clone();
        let out = self.output(ty, shape);
        let value = self.closing(ty);
        let at = self.here();
        self.push(Stmt::Assign(vec![Expr::from(&out).index(at)], value));
    }

    /// Writes an array that the kernel updates in place, by replacing elements or by adding to
    /// them. The gradient of a row is refused if it needs an element that was replaced.
    fn update(&mut self, ty: Ty) {
        let given = ArgumentInput {
            written: true,
            ..ArgumentInput::spread(&mut self.random, self.dims.clone())
        };
        let shape = self.dims.clone();
        let name = self.side_input(ty, shape, given);
        let place = Expr::from(&name).index(self.here());
        let adds = !matches!(ty, Ty::Quat | Ty::Transform) && self.random.chance(40);
        if adds {
            let value = self.closing(ty);
            let op = self.random.pick(&["+", "-"]);
            return self.push(Stmt::Augment(place, op, value));
        }
        self.vars.push(Var { expr: place.clone(), ty, used: false });
        let value = self.closing(ty);
        self.vars.retain(|var| var.expr != place);
        self.push(Stmt::Assign(vec![place], value));
    }

    /// Returns an expression of a type that absorbs all pending definitions.
    fn closing(&mut self, ty: Ty) -> Expr {
        let depth = self.weights.depth;
        let draw = |m: &mut Self| {
            let value = m.expr(ty, depth);
            m.absorb_pending(value, ty, 0)
        };
        let plain =
            |m: &Self, expr: &Expr| plausibility::is_name_like(expr) || m.is_senseless(expr);
        self.drawn(draw, plain).unwrap_or_else(|expr| expr)
    }
}
