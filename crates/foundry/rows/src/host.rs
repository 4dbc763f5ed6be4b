//! Host code of a row with several kernels: a function of the text that launches them.
//!
//! NVIDIA Warp runs such a function unchanged. This module reads the function and never runs it as
//! Python: the function may launch kernels, repeat launches a constant number of times, and
//! exchange buffers. So the list of a row's launches is known in advance ([`Host::launches`]); the
//! launches are executed in order and differentiated in reverse order.

use crate::execute::{ArgumentBytes, LaunchInputs};
use crate::part::Composite;
use gbxcule_grammar::input::{ArgumentInput, is_small, rank};
use gbxcule_ir::layout::leaves;
use gbxcule_ir::source::Span;
use gbxcule_ir::{FunctionId, Literal, Module, Param, PassMode, Scalar, Shape, Type};
use gbxcule_python_names::syntax::{
    self, Expr, ExprCall, Number, Operator, Stmt, StmtFunctionDef, UnaryOp, argument, integer,
};
use std::borrow::Cow;

/// Greatest number of launches of a row.
const MAX_LAUNCHES: usize = 256;

/// A function that launches kernels.
#[derive(Clone, PartialEq, Debug)]
pub struct Host {
    /// Name of the function.
    pub name: String,
    /// Parameters, with the types that the kernels give them.
    pub params: Vec<Param>,
    statements: Vec<Statement>,
}

#[derive(Clone, PartialEq, Debug)]
enum Statement {
    /// `wp.launch(kernel, dim=.., inputs=[..], outputs=[..])`
    Launch { kernel: FunctionId, dims: Dims, arguments: Vec<Formula> },
    /// `for name in range(count):`
    Loop { name: String, count: Formula, body: Vec<Self> },
    /// `a, b = b, a`
    Exchange { targets: Vec<String>, values: Vec<String> },
}

/// Extents of a launch.
#[derive(Clone, PartialEq, Debug)]
enum Dims {
    /// `x.shape`
    Shape(String),
    /// Numbers.
    Extents(Vec<Formula>),
}

/// A number, or the name of a parameter.
#[derive(Clone, PartialEq, Debug)]
enum Formula {
    Number(i64),
    Float(f64),
    Name(String),
    /// `x.shape[axis]`
    Extent(String, usize),
    Binary(Box<Self>, Operator, Box<Self>),
}

/// A launch of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: FunctionId,
    /// The grid.
    pub dims: Vec<u32>,
    /// An argument for each [part](crate::part) of the kernel's arguments.
    pub arguments: Vec<LaunchArgument>,
}

/// An argument of a launch.
#[derive(Clone, PartialEq, Debug)]
pub enum LaunchArgument {
    /// The row's argument with this number.
    Own(usize),
    /// Bytes of a number that the host code computes.
    Number(Vec<u8>),
}

impl LaunchArgument {
    /// Returns the number of the row's argument, or `None` for a computed number.
    pub(crate) fn own(&self) -> Option<usize> {
        match self {
            Self::Own(at) => Some(*at),
            Self::Number(_) => None,
        }
    }

    /// Returns the number that the host code computes for a parameter of a type, or 0 for an
    /// argument of the row.
    pub(crate) fn number(&self, module: &Module, ty: Type) -> Literal {
        match (self, leaves(&module.types, ty).first()) {
            (Self::Number(bytes), Some(leaf)) => leaf.read(bytes),
            _ => Literal::int(Scalar::I32, 0),
        }
    }
}

impl Launch {
    /// Makes the launch of a kernel with all arguments of a row.
    pub fn whole(kernel: FunctionId, grid: LaunchInputs<'_>) -> Self {
        let arguments = (0..grid.inputs.len()).map(LaunchArgument::Own).collect();
        Self { kernel, dims: grid.dims.to_vec(), arguments }
    }

    /// Returns the row's inputs that the kernel gets.
    pub(crate) fn inputs<'a>(&self, all: &'a [ArgumentInput]) -> Cow<'a, [ArgumentInput]> {
        let mut arguments = self.arguments.iter().enumerate();
        let is_all = self.arguments.len() == all.len()
            && arguments.all(|(at, it)| *it == LaunchArgument::Own(at));
        if is_all {
            return Cow::Borrowed(all);
        }
        let input = |argument: &LaunchArgument| match argument {
            LaunchArgument::Own(at) => all[*at].clone(),
            LaunchArgument::Number(_) => ArgumentInput::integers(Vec::new(), 0, 0),
        };
        Cow::Owned(self.arguments.iter().map(input).collect())
    }

    /// Returns the memory that the kernel gets.
    pub(crate) fn memory(&self, data: &[Vec<u8>], gradients: &[Vec<u8>]) -> ArgumentBytes {
        let bytes = |argument: &LaunchArgument| match argument {
            LaunchArgument::Own(at) => data[*at].clone(),
            LaunchArgument::Number(bytes) => bytes.clone(),
        };
        let gradient = |argument: &LaunchArgument| match argument {
            LaunchArgument::Own(at) => gradients[*at].clone(),
            LaunchArgument::Number(_) => Vec::new(),
        };
        ArgumentBytes {
            data: self.arguments.iter().map(bytes).collect(),
            gradients: match gradients {
                [] => Vec::new(),
                _ => self.arguments.iter().map(gradient).collect(),
            },
        }
    }

    /// Copies the memory after the launch into the row's memory.
    pub(crate) fn put_back(&self, after: Vec<Vec<u8>>, all: &mut [Vec<u8>]) {
        for (argument, bytes) in self.arguments.iter().zip(after) {
            if let LaunchArgument::Own(at) = argument {
                all[*at] = bytes;
            }
        }
    }
}

impl Host {
    /// Reads the host code of a text; `None` if the text has no host code, or host code of another
    /// form.
    pub(crate) fn read(source: &str, module: &Module) -> Option<Self> {
        if !source.contains("wp.launch(") {
            return None;
        }
        let tree = syntax::parse(source, 0, |_, _| Span::NONE).ok()?;
        let is_host = |def: &&StmtFunctionDef| def.decorator_list.is_empty();
        let mut functions = tree.body.iter().filter_map(|stmt| match stmt {
            Stmt::FunctionDef(def) => Some(def),
            _ => None,
        });
        let def = functions.find(is_host)?;
        let reader = Reader { module };
        let statements = reader.block(&def.body)?;
        let names = def.parameters.args.iter().map(|it| it.parameter.name.to_string());
        let param = |name: String| {
            let ty = bound_type(&statements, &name, module)?;
            let (mode, span) = (PassMode::Value, Span::NONE);
            Some(Param { name, ty, mode, span })
        };
        let params = names.map(param).collect::<Option<Vec<_>>>()?;
        Some(Self { name: def.name.to_string(), params, statements })
    }

    /// Returns this host code for a module whose kernels have other types.
    pub(crate) fn of_module(&self, module: &Module) -> Option<Self> {
        let param = |own: &Param| {
            let ty = bound_type(&self.statements, &own.name, module)?;
            Some(Param { ty, ..own.clone() })
        };
        let params = self.params.iter().map(param).collect::<Option<_>>()?;
        Some(Self { params, ..self.clone() })
    }

    /// Returns the number of dimensions of the grids on which a kernel is launched, if it is always
    /// the same.
    pub(crate) fn rank(&self, module: &Module, kernel: FunctionId) -> Option<usize> {
        let mut ranks = Vec::new();
        self.add_ranks(&self.statements, module, kernel, &mut ranks);
        ranks.dedup();
        match ranks[..] {
            [rank] => Some(rank),
            _ => None,
        }
    }

    fn add_ranks(
        &self,
        statements: &[Statement],
        module: &Module,
        wanted: FunctionId,
        ranks: &mut Vec<usize>,
    ) {
        for statement in statements {
            match statement {
                Statement::Launch { kernel, dims, .. } if *kernel == wanted => match dims {
                    Dims::Extents(all) => ranks.push(all.len()),
                    Dims::Shape(name) => {
                        let param = self.params.iter().find(|param| param.name == *name);
                        ranks.extend(param.map(|param| rank(&module.types, param.ty)));
                    }
                },
                Statement::Loop { body, .. } => self.add_ranks(body, module, wanted, ranks),
                Statement::Launch { .. } | Statement::Exchange { .. } => {}
            }
        }
    }

    /// Returns the launches for arguments of these shapes; `None` if the host code can't be
    /// executed on them.
    pub fn launches(&self, module: &Module, inputs: &[ArgumentInput]) -> Option<Vec<Launch>> {
        let names = self.params.iter().enumerate().map(|(at, it)| (it.name.clone(), at));
        let mut runner = Runner {
            host: self,
            module,
            inputs,
            buffers: names.collect(),
            numbers: Vec::new(),
            launches: Vec::new(),
        };
        runner.run(&self.statements)?;
        Some(runner.launches)
    }
}

/// Returns the type of the kernel's parameter to which the host code passes a name.
fn bound_type(statements: &[Statement], name: &str, module: &Module) -> Option<Type> {
    statements.iter().find_map(|statement| match statement {
        Statement::Launch { kernel, arguments, .. } => {
            let at = arguments.iter().position(|it| *it == Formula::Name(name.into()))?;
            module.functions[*kernel].params.get(at).map(|param| param.ty)
        }
        Statement::Loop { body, .. } => bound_type(body, name, module),
        Statement::Exchange { .. } => None,
    })
}

/// Reads statements of host code.
struct Reader<'a> {
    module: &'a Module,
}

impl Reader<'_> {
    fn block(&self, body: &[Stmt]) -> Option<Vec<Statement>> {
        let is_docstring = |stmt: &Stmt| match stmt {
            Stmt::Expr(it) => matches!(&*it.value, Expr::StringLiteral(_)),
            _ => false,
        };
        body.iter().filter(|it| !is_docstring(it)).map(|it| self.statement(it)).collect()
    }

    fn statement(&self, stmt: &Stmt) -> Option<Statement> {
        match stmt {
            Stmt::Expr(it) => match &*it.value {
                Expr::Call(call) => self.launch(call),
                _ => None,
            },
            Stmt::For(it) => {
                let Expr::Call(range) = &*it.iter else { return None };
                let [count] = &*range.arguments.args else { return None };
                if syntax::path(&range.func)? != ["range"] || !it.orelse.is_empty() {
                    return None;
                }
                let (name, count) = (name(&it.target)?, formula(count)?);
                Some(Statement::Loop { name, count, body: self.block(&it.body)? })
            }
            Stmt::Assign(it) => {
                let [Expr::Tuple(targets)] = &*it.targets else { return None };
                let Expr::Tuple(values) = &*it.value else { return None };
                let names = |all: &[Expr]| all.iter().map(name).collect::<Option<Vec<_>>>();
                let (targets, values) = (names(&targets.elts)?, names(&values.elts)?);
                let is_exchange = targets.len() == values.len()
                    && targets.iter().all(|name| values.contains(name));
                is_exchange.then_some(Statement::Exchange { targets, values })
            }
            _ => None,
        }
    }

    fn launch(&self, call: &ExprCall) -> Option<Statement> {
        if syntax::path(&call.func)? != ["wp", "launch"] {
            return None;
        }
        let kernel = name(argument(&call.arguments, "kernel", 0)?)?;
        let mut kernels = self.module.kernels();
        let kernel = kernels.find(|(_, function)| function.name == kernel)?.0;
        let dims = match argument(&call.arguments, "dim", 1)? {
            Expr::Tuple(all) => Dims::Extents(all.elts.iter().map(formula).collect::<Option<_>>()?),
            Expr::Attribute(it) if it.attr == *"shape" => Dims::Shape(name(&it.value)?),
            one => Dims::Extents(vec![formula(one)?]),
        };
        let mut arguments = Vec::new();
        for (key, position) in [("inputs", 2), ("outputs", 3)] {
            match argument(&call.arguments, key, position) {
                Some(Expr::List(all)) => {
                    arguments.extend(all.elts.iter().map(formula).collect::<Option<Vec<_>>>()?);
                }
                Some(_) => return None,
                None => {}
            }
        }
        let params = &self.module.functions[kernel].params;
        let is_one_part = |it| Composite::of(&self.module.types, it).is_none();
        let fits = arguments.len() == params.len() && params.iter().all(is_one_part);
        fits.then_some(Statement::Launch { kernel, dims, arguments })
    }
}

fn name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        _ => None,
    }
}

fn number(value: &Number) -> Option<i64> {
    integer(value)?.try_into().ok()
}

fn formula(expr: &Expr) -> Option<Formula> {
    Some(match expr {
        Expr::NumberLiteral(it) => match &it.value {
            Number::Float(value) => Formula::Float(*value),
            value => Formula::Number(number(value)?),
        },
        Expr::UnaryOp(it) if it.op == UnaryOp::USub => match formula(&it.operand)? {
            Formula::Number(number) => Formula::Number(-number),
            Formula::Float(number) => Formula::Float(-number),
            _ => return None,
        },
        Expr::Name(it) => Formula::Name(it.id.to_string()),
        Expr::Subscript(it) => {
            let (Expr::Attribute(of), Expr::NumberLiteral(axis)) = (&*it.value, &*it.slice) else {
                return None;
            };
            let axis = usize::try_from(number(&axis.value)?).ok()?;
            if of.attr != *"shape" {
                return None;
            }
            Formula::Extent(name(&of.value)?, axis)
        }
        Expr::BinOp(it) => {
            let (left, right) = (Box::new(formula(&it.left)?), Box::new(formula(&it.right)?));
            Formula::Binary(left, it.op, right)
        }
        _ => return None,
    })
}

/// Host code at one of its statements.
struct Runner<'a> {
    host: &'a Host,
    module: &'a Module,
    inputs: &'a [ArgumentInput],
    /// Names of buffers and values, each with the number of the argument that the name now denotes.
    buffers: Vec<(String, usize)>,
    /// Loop variables, each with its present value.
    numbers: Vec<(String, i64)>,
    launches: Vec<Launch>,
}

impl Runner<'_> {
    fn run(&mut self, statements: &[Statement]) -> Option<()> {
        for statement in statements {
            match statement {
                Statement::Launch { kernel, dims, arguments } => {
                    let launch = self.launch(*kernel, dims, arguments)?;
                    self.launches.push(launch);
                    if self.launches.len() > MAX_LAUNCHES {
                        return None;
                    }
                }
                Statement::Loop { name, count, body } => {
                    for number in 0..self.number(count)?.min(MAX_LAUNCHES as i64 + 1) {
                        self.numbers.push((name.clone(), number));
                        self.run(body)?;
                        self.numbers.pop();
                    }
                }
                Statement::Exchange { targets, values } => {
                    let values: Vec<usize> =
                        values.iter().map(|it| self.buffer(it)).collect::<Option<_>>()?;
                    for (target, value) in targets.iter().zip(values) {
                        self.buffers.iter_mut().find(|(own, _)| own == target)?.1 = value;
                    }
                }
            }
        }
        Some(())
    }

    fn buffer(&self, name: &str) -> Option<usize> {
        self.buffers.iter().find(|(own, _)| own == name).map(|(_, at)| *at)
    }

    fn number(&self, formula: &Formula) -> Option<i64> {
        match formula {
            Formula::Number(number) => Some(*number),
            Formula::Float(_) => None,
            Formula::Name(name) => {
                self.numbers.iter().rev().find(|(own, _)| own == name).map(|(_, number)| *number)
            }
            Formula::Extent(name, axis) => {
                self.inputs.get(self.buffer(name)?)?.shape.get(*axis).map(|&it| it.into())
            }
            Formula::Binary(left, op, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                let exponent = || u32::try_from(right).ok();
                match op {
                    Operator::Add => left.checked_add(right),
                    Operator::Sub => left.checked_sub(right),
                    Operator::Mult => left.checked_mul(right),
                    Operator::FloorDiv if right > 0 => Some(left.div_euclid(right)),
                    Operator::Pow => left.checked_pow(exponent()?),
                    Operator::LShift => left.checked_mul(1_i64.checked_shl(exponent()?)?),
                    _ => None,
                }
            }
        }
    }

    fn launch(&self, kernel: FunctionId, dims: &Dims, arguments: &[Formula]) -> Option<Launch> {
        let dims: Vec<u32> = match dims {
            Dims::Shape(name) => self.inputs.get(self.buffer(name)?)?.shape.clone(),
            Dims::Extents(all) => {
                let extent = |it| self.number(it)?.try_into().ok();
                all.iter().map(extent).collect::<Option<_>>()?
            }
        };
        if !is_small(&dims) || dims.is_empty() {
            return None;
        }
        let params = &self.module.functions[kernel].params;
        let mut bound = Vec::new();
        for (param, argument) in params.iter().zip(arguments) {
            let buffer = match argument {
                Formula::Name(name) => self.buffer(name),
                _ => None,
            };
            bound.push(match buffer {
                Some(at) => {
                    let is_array = matches!(self.module.types[param.ty], Shape::Array { .. });
                    let is_twice = is_array && bound.contains(&LaunchArgument::Own(at));
                    if self.host.params[at].ty != param.ty || is_twice {
                        return None;
                    }
                    LaunchArgument::Own(at)
                }
                None => LaunchArgument::Number(self.number_bytes(param.ty, argument)?),
            });
        }
        Some(Launch { kernel, dims, arguments: bound })
    }

    /// Returns the bytes of a number that is passed to a parameter of this type.
    fn number_bytes(&self, ty: Type, argument: &Formula) -> Option<Vec<u8>> {
        let types = &self.module.types;
        let (scalar, 1) = types.components(ty)? else { return None };
        let literal = match argument {
            Formula::Float(number) if scalar.is_float() => Literal::float(scalar, *number),
            Formula::Float(_) => return None,
            _ if scalar.is_float() || scalar == Scalar::Bool => return None,
            formula => Literal::int(scalar, self.number(formula)?.into()),
        };
        let mut bytes = vec![0; types.layout(ty)?.size as usize];
        leaves(types, ty).first()?.write(&mut bytes, literal);
        Some(bytes)
    }
}
