//! Names, variables and arrays that the text of a kernel can read at a place, functions that it can
//! call, and open blocks.

mod name_repeats;

use super::launch::Launch;
use super::plausibility::{self, is_name_like};
use super::range::{self, KnownRanges, Range};
use crate::ast::{Expr, FLOAT, Function, Name, Stmt, Struct, Ty};
use crate::identifiers::{self, Role};
use crate::input::ArgumentInput;
use crate::random::Random;
use crate::spell;
use gbxcule_ir::Scalar;
use std::collections::HashSet;

/// The least number that divides, and has a logarithm, without a guard.
const MIN_POSITIVE: f64 = 0.1;

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

/// Index of a variable, or of an array of which an element is read.
#[derive(Clone, Copy)]
enum ReadSource {
    Var(usize),
    Array(usize),
}

/// A function of the text.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) name: Name,
    pub(super) params: Vec<Ty>,
    pub(super) results: Vec<Ty>,
    used: bool,
}

/// Names and definitions of a kernel being written.
pub(crate) struct Scope {
    random: Random,
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
    signatures: Vec<Signature>,
    /// Ranges of variables, each valid until its variable is assigned.
    known: KnownRanges,
    /// Variables that have the same value in all threads.
    uniform: HashSet<Name>,
    launch: Launch,
}

/// State of a kernel before an expression, restored if the expression is rejected.
pub(super) struct Mark {
    stmts: usize,
    constants: usize,
    taken: usize,
    vars: Vec<bool>,
    arrays: Vec<bool>,
    signatures: Vec<bool>,
}

/// The part of a scope that the body of a function doesn't see.
pub(super) struct OuterScope {
    vars: Vec<Var>,
    arrays: Vec<Readable>,
    blocks: Vec<Vec<Stmt>>,
    taken: Vec<Name>,
    known: KnownRanges,
}

/// The parts of a finished kernel.
pub(super) struct Finished {
    pub(super) constants: Vec<(Name, Expr)>,
    pub(super) structs: Vec<Struct>,
    pub(super) kernel: Function,
    pub(super) inputs: Vec<ArgumentInput>,
    pub(super) dims: Vec<u32>,
}

impl Scope {
    pub(super) fn new(mut random: Random) -> Self {
        let real = if random.chance(8) { Scalar::F64 } else { Scalar::F32 };
        let theme = random.below(identifiers::THEMES);
        let reserved = [
            "wp", "float", "int", "bool", "range", "i", "l", "n", "lambda", "if", "in", "is",
            "min", "max", "abs", "pow", "round", "len", "print", "map", "sum", "all", "any",
            "type", "id", "step",
        ];
        Self {
            random,
            real,
            theme,
            taken: reserved.into_iter().map(Name::from).collect(),
            vars: Vec::new(),
            arrays: Vec::new(),
            blocks: vec![Vec::new()],
            constants: Vec::new(),
            structs: Vec::new(),
            signatures: Vec::new(),
            known: KnownRanges::new(),
            uniform: HashSet::new(),
            launch: Launch::default(),
        }
    }

    /// Names the kernel after a verb, and gives it its guard and comments.
    pub(super) fn finish(mut self, verbs: &[&str], functions: &[Function]) -> Finished {
        let verb = self.random.pick(verbs);
        let noun = self.subject();
        let (params, inputs) = self.launch.ordered(&mut self.random);
        let body = self.with_repeats_named();
        self.drop_constants(functions, &body);
        let name = format!("{verb}_{}", identifiers::plural(&noun)).into();
        let mut kernel = Function::new(name, params, body);
        self.launch.guard(&mut self.random, &mut kernel);
        self.launch.comment(&mut self.random, &mut kernel, verb, &noun);
        let dims = self.launch.dims().to_vec();
        Finished { constants: self.constants, structs: self.structs, kernel, inputs, dims }
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    pub(super) fn real(&self) -> Scalar {
        self.real
    }

    pub(super) fn set_real(&mut self, real: Scalar) {
        self.real = real;
    }

    /// Returns the type of the kernel's floats.
    pub(super) fn float_type(&self) -> Ty {
        Ty::Scalar(self.real)
    }

    /// Returns the extents of the launch's grid.
    pub(super) fn dims(&self) -> Vec<u32> {
        self.launch.dims().to_vec()
    }

    /// Returns the launch index of a dimension.
    pub(super) fn index(&self, dim: usize) -> Expr {
        self.launch.index(dim)
    }

    /// Returns the launch indices as an index of an array.
    pub(super) fn here(&self) -> Vec<Expr> {
        self.launch.here()
    }

    /// Returns a mark for the variables that are defined from now on.
    pub(super) fn next_var(&self) -> usize {
        self.vars.len()
    }

    /// Declares a struct, and returns its position.
    pub(super) fn declare(&mut self, declared: Struct) -> usize {
        self.structs.push(declared);
        self.structs.len() - 1
    }

    pub(super) fn declared(&self, at: usize) -> Struct {
        self.structs[at].clone()
    }

    /// Begins a launch over a grid of `dims` dimensions, with `i = wp.tid()`.
    pub(super) fn launch(&mut self, dims: usize) {
        self.launch = Launch::draw(&mut self.random, dims);
        let targets = self.launch.here();
        self.taken.extend(self.launch.names().iter().cloned());
        self.push(Stmt::Assign(targets, Expr::wp("tid", vec![])));
    }

    /// Makes all extents at least `least`, also of the arrays so far, and returns the extents.
    pub(super) fn widen(&mut self, least: u32) -> Vec<u32> {
        let shape = self.launch.widen(least);
        self.arrays.iter_mut().for_each(|array| array.shape.clone_from(&shape));
        shape
    }

    pub(super) fn param(&mut self, name: Name, ty: Ty, dims: u8, given: ArgumentInput) -> Name {
        self.launch.param(name, ty, dims, given)
    }

    /// Adds a number or a small composite as a parameter, and returns its name.
    pub(super) fn value(&mut self, ty: Ty) -> Name {
        let name = self.name_for(ty);
        let given = ArgumentInput::spread(&mut self.random, vec![]);
        let name = self.param(name, ty, 0, given);
        self.uniform.insert(name.clone());
        self.reveal(&name, ty);
        name
    }

    /// Lets expressions read a name or an element, which is then pending.
    pub(super) fn reveal(&mut self, expr: impl Into<Expr>, ty: Ty) {
        self.vars.push(Var { expr: expr.into(), ty, used: false });
    }

    /// Lets expressions read a variable that may also stay unread.
    pub(super) fn offer(&mut self, name: &Name, ty: Ty) {
        self.vars.push(Var { expr: Expr::from(name), ty, used: true });
    }

    /// Lets expressions read an array at the launch indices; it is then pending.
    pub(super) fn reveal_array(&mut self, name: &Name, ty: Ty, shape: Vec<u32>) {
        self.arrays.push(Readable { name: name.clone(), ty, shape, used: false });
    }

    /// Takes an expression out of the scope.
    pub(super) fn hide(&mut self, expr: &Expr) {
        self.vars.retain(|var| var.expr != *expr);
    }

    /// Takes all values of a type out of the scope.
    pub(super) fn hide_all(&mut self, ty: Ty) {
        self.vars.retain(|var| var.ty != ty);
        self.arrays.retain(|array| array.ty != ty);
    }

    /// Returns the first pending definition from variable `since` on, and counts it as read.
    pub(super) fn pending(&mut self, since: usize) -> Option<(Expr, Ty)> {
        if let Some(var) = self.vars[since..].iter_mut().find(|var| !var.used) {
            var.used = true;
            return Some((var.expr.clone(), var.ty));
        }
        let at = self.arrays.iter().position(|array| since == 0 && !array.used)?;
        Some((self.element(at), self.arrays[at].ty))
    }

    /// Defines a variable that counts as read.
    pub(super) fn define_read(&mut self, ty: Ty, value: Expr) -> Expr {
        let name = self.define(ty, value);
        if let Some(var) = self.vars.last_mut() {
            var.used = true;
        }
        Expr::from(&name)
    }

    /// Forgets what is known of a variable's value.
    pub(super) fn forget(&mut self, name: &Name) {
        self.known.remove(name);
        self.uniform.remove(name);
    }

    /// Returns the range of an expression.
    pub(super) fn range_of(&self, expr: &Expr) -> Range {
        range::range(expr, &self.known)
    }

    pub(super) fn open_block(&mut self) {
        self.blocks.push(Vec::new());
    }

    /// Returns the statements of the innermost block. Variables from `since` on are out of scope
    /// then.
    pub(super) fn close_block(&mut self, since: usize) -> Vec<Stmt> {
        self.vars.truncate(since);
        match self.blocks.pop() {
            Some(block) => block,
            None => unreachable!("each block is opened before it is closed"),
        }
    }

    /// Begins a function, which sees its parameters only.
    pub(super) fn enter_function(&mut self) -> OuterScope {
        OuterScope {
            vars: std::mem::take(&mut self.vars),
            arrays: std::mem::take(&mut self.arrays),
            blocks: std::mem::replace(&mut self.blocks, vec![Vec::new()]),
            taken: self.taken.clone(),
            known: std::mem::take(&mut self.known),
        }
    }

    /// Ends a function, which can be called then, and returns its body.
    pub(super) fn leave_function(
        &mut self,
        outer: OuterScope,
        name: Name,
        params: Vec<Ty>,
        results: Vec<Ty>,
    ) -> Vec<Stmt> {
        let body = self.blocks.swap_remove(0);
        let OuterScope { vars, arrays, blocks, taken, known } = outer;
        (self.vars, self.arrays, self.blocks) = (vars, arrays, blocks);
        (self.taken, self.known) = (taken, known);
        self.taken.push(name.clone());
        self.taken.extend(self.constants.iter().map(|(name, _)| name.clone()));
        self.signatures.push(Signature { name, params, results, used: false });
        body
    }

    /// Returns true if some function of the text returns one value of that type.
    pub(super) fn callable(&self, ty: Ty) -> bool {
        self.signatures.iter().any(|signature| signature.results == [ty])
    }

    /// Returns a function of the text that returns a value of a type, and counts it as called;
    /// first one without a call.
    pub(super) fn function_for(&mut self, ty: Ty) -> Option<Signature> {
        let fitting: Vec<usize> =
            (0..self.signatures.len()).filter(|&at| self.signatures[at].results == [ty]).collect();
        if fitting.is_empty() {
            return None;
        }
        let unused = fitting.iter().copied().find(|&at| !self.signatures[at].used);
        let at = unused.unwrap_or_else(|| self.random.pick(&fitting));
        self.signatures[at].used = true;
        Some(self.signatures[at].clone())
    }

    /// Returns a function that has no call yet, and counts it as called.
    pub(super) fn uncalled_function(&mut self) -> Option<Signature> {
        let signature = self.signatures.iter_mut().find(|signature| !signature.used)?;
        signature.used = true;
        Some(signature.clone())
    }

    /// Returns true if an expression has the same value in all threads.
    pub(super) fn is_uniform(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => self.uniform.contains(name) || !plausibility::reads(expr),
            Expr::Index(..) => false,
            _ => expr.parts().into_iter().all(|part| self.is_uniform(part)),
        }
    }

    /// Reads a variable or an element of any type, pending ones first.
    pub(super) fn read_any(&mut self) -> Option<(Expr, Ty)> {
        let vars = self.vars.iter().map(|var| (var.ty, var.used));
        let arrays = self.arrays.iter().map(|array| (array.ty, array.used));
        let types: Vec<(Ty, bool)> = vars.chain(arrays).collect();
        if types.is_empty() {
            return None;
        }
        let (ty, _) = types[self.random.weighted(types.iter().map(|it| if it.1 { 1 } else { 6 }))];
        self.read(ty).map(|expr| (expr, ty))
    }

    /// Returns a word for the kernel's result, in the singular: a name of its text if one fits.
    fn subject(&mut self) -> String {
        let ty = self.launch.written_type().unwrap_or(FLOAT);
        if let Ty::Struct(at) = ty {
            return self.structs[at].name.to_lowercase();
        }
        let words = identifiers::variable(ty, self.theme);
        let is_unused = |word: &&&str| {
            let many = identifiers::plural(word);
            let is_it = |name: &Name| **name == ***word || **name == *many;
            let is_var = |var: &Var| matches!(&var.expr, Expr::Name(name) if is_it(name));
            self.launch.has_param(is_it) || self.vars.iter().any(is_var)
        };
        let unused: Vec<&str> = words.iter().filter(is_unused).copied().collect();
        self.random.pick(if unused.is_empty() { words } else { &unused }).to_owned()
    }

    pub(super) fn mark(&self) -> Mark {
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
    pub(super) fn reset(&mut self, mark: &Mark) {
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

    pub(super) fn is_senseless(&self, expr: &Expr) -> bool {
        plausibility::is_senseless(expr, &self.known)
    }

    pub(super) fn push(&mut self, stmt: Stmt) {
        match self.blocks.last_mut() {
            Some(block) => block.push(stmt),
            None => unreachable!("the body stays open"),
        }
    }

    /// Takes a name; returns false if it was taken already.
    pub(super) fn take(&mut self, name: &str) -> bool {
        let is_new = self.taken.iter().all(|taken| **taken != *name);
        if is_new {
            self.taken.push(name.into());
        }
        is_new
    }

    /// Returns a new name, after one of some words.
    pub(super) fn name_from(&mut self, words: &[&str]) -> Name {
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

    pub(super) fn name_of(&mut self, role: Role) -> Name {
        self.name_from(identifiers::role(role))
    }

    pub(super) fn name_for(&mut self, ty: Ty) -> Name {
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

    /// Writes `name = value`; the name is then pending.
    pub(super) fn define(&mut self, ty: Ty, value: Expr) -> Name {
        let name = self.name_for(ty);
        self.define_as(name, ty, value)
    }

    pub(super) fn define_as(&mut self, name: Name, ty: Ty, value: Expr) -> Name {
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
    pub(super) fn accumulator(&mut self, ty: Ty, start: f64) -> Name {
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

    /// Defines a number with a name above the kernel, and returns the name.
    pub(super) fn constant(&mut self, value: f64) -> Expr {
        let name = self.name_of(Role::Constant);
        self.constants.push((name.clone(), Expr::Float(value)));
        Expr::from(&name)
    }

    /// Returns true if some variable or array of that type can be read.
    pub(super) fn has(&self, ty: Ty) -> bool {
        self.has_var(ty) || self.arrays.iter().any(|array| array.ty == ty)
    }

    pub(super) fn has_var(&self, ty: Ty) -> bool {
        self.vars.iter().any(|var| var.ty == ty)
    }

    /// Returns a variable or element of that type, preferably one that has not been read yet.
    pub(super) fn read(&mut self, ty: Ty) -> Option<Expr> {
        let weigh = |used: bool| if used { 2 } else { 9 };
        // An expression without a name is read only once, so that it is not computed twice.
        let readable = |var: &Var| var.ty == ty && (!var.used || is_name_like(&var.expr));
        let vars = self.vars.iter().enumerate().filter(|(_, var)| readable(var));
        let mut sources: Vec<(ReadSource, u32)> =
            vars.map(|(at, var)| (ReadSource::Var(at), weigh(var.used))).collect();
        let arrays = self.arrays.iter().enumerate().filter(|(_, array)| array.ty == ty);
        sources.extend(arrays.map(|(at, array)| (ReadSource::Array(at), weigh(array.used))));
        if sources.is_empty() {
            return None;
        }
        let (source, _) = sources[self.random.weighted(sources.iter().map(|it| it.1))];
        Some(self.read_from(source))
    }

    /// Returns the expression that reads a source, and marks the source as read.
    fn read_from(&mut self, source: ReadSource) -> Expr {
        match source {
            ReadSource::Var(at) => {
                self.vars[at].used = true;
                self.vars[at].expr.clone()
            }
            ReadSource::Array(at) => self.element(at),
        }
    }

    /// Returns an element of an array at the launch indices.
    pub(super) fn element(&mut self, at: usize) -> Expr {
        self.arrays[at].used = true;
        let array = &self.arrays[at];
        let mut indices = self.launch.here();
        if array.shape.len() < indices.len() {
            // A vector beside a matrix is read by row or by column, whichever fits its length.
            let fits = self.launch.dims().iter().position(|&extent| extent == array.shape[0]);
            indices = vec![self.launch.index(fits.unwrap_or(0))];
        }
        Expr::from(&array.name).index(indices)
    }

    /// Returns a variable or an element that is positive for all inputs, if there is one.
    pub(super) fn positive_leaf(&mut self, of: Scalar) -> Option<Expr> {
        let ty = Ty::Scalar(of);
        let is_given = |name: &str| {
            let given = self.launch.input(name);
            given.is_some_and(|it| it.low >= MIN_POSITIVE && !it.zero && !it.written)
        };
        let is_positive = |expr: &Expr| {
            matches!(expr, Expr::Name(name) if is_given(name))
                || is_name_like(expr) && self.range_of(expr).least >= MIN_POSITIVE
        };
        let vars = self.vars.iter().enumerate();
        let vars = vars.filter(|(_, var)| var.ty == ty && is_positive(&var.expr));
        let mut sources: Vec<ReadSource> = vars.map(|(at, _)| ReadSource::Var(at)).collect();
        let arrays = self.arrays.iter().enumerate();
        let arrays = arrays.filter(|(_, array)| array.ty == ty && is_given(&array.name));
        sources.extend(arrays.map(|(at, _)| ReadSource::Array(at)));
        if sources.is_empty() {
            return None;
        }
        let source = self.random.pick(&sources);
        Some(self.read_from(source))
    }

    /// Returns the middle of an array's range, for an expression that is an element of it.
    pub(super) fn middle(&self, element: &Expr) -> Option<f64> {
        let Expr::Index(of, _) = element else { return None };
        let Expr::Name(name) = &**of else { return None };
        let given = self.launch.input(name)?;
        Some(((given.low + given.high) * 2.0).round() / 4.0)
    }

    /// Returns the names that were defined since a variable.
    pub(super) fn names_since(&self, since: usize) -> Vec<Expr> {
        self.vars[since..].iter().map(|var| var.expr.clone()).collect()
    }

    /// Marks a changed variable as unread.
    pub(super) fn touch(&mut self, name: &Name) {
        let variable = Expr::from(name);
        self.vars.iter_mut().filter(|var| var.expr == variable).for_each(|var| var.used = false);
    }
}
