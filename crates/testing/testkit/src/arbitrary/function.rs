//! A function under construction: the values in scope, and the types and functions that it may use.

use super::Options;
use super::random::Random;
use super::smooth::Smooth;
use gbxcule_ir::build::Builder;
use gbxcule_ir::function::{FunctionId, Param};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Field, Scalar, Shape, Struct, Type};

/// The state of generation.
pub(super) struct Generator<'m, 'r> {
    pub(super) random: &'r mut Random,
    pub(super) b: Builder<'m>,
    /// Types that values may have.
    pub(super) palette: &'r [Type],
    /// Functions that may be called.
    pub(super) callees: &'r [FunctionId],
    /// Values in scope.
    pub(super) scope: Vec<Value>,
    /// Places of variables and parameters that may be written as a whole.
    pub(super) variables: Vec<PlaceId>,
    /// Places that may be read: `variables`, and elements of arrays.
    pub(super) readable: Vec<PlaceId>,
    /// Number of statements that are still to be written.
    pub(super) fuel: u32,
    /// Number of loops around the current statement.
    pub(super) loops: u32,
    /// Number of blocks around the current statement.
    pub(super) depth: u32,
    /// Set if the program computes smooth functions alone.
    pub(super) smooth: Option<Smooth>,
}

/// Returns the types for a program.
pub(super) fn palette(random: &mut Random, module: &mut Module, options: Options) -> Vec<Type> {
    let scalars: Vec<Scalar> = Scalar::ALL
        .into_iter()
        .filter(|scalar| options.floats || !scalar.is_float())
        .filter(|scalar| options.halves || !matches!(scalar, Scalar::F16 | Scalar::Bf16))
        .collect();
    let numbers: Vec<Scalar> =
        scalars.iter().copied().filter(|&scalar| scalar != Scalar::Bool).collect();
    let floats: Vec<Scalar> = scalars.iter().copied().filter(|scalar| scalar.is_float()).collect();
    let mut types = vec![Type::BOOL, Type::I32, Type::I32, Type::U32];
    types.extend((0..4).map(|_| Type::scalar(random.pick(&numbers))));
    for _ in 0..2 {
        let of = random.pick(&numbers);
        types.push(module.types.vector(random.below(4) as u16 + 1, of));
        let (rows, cols) = (random.below(3) as u16 + 1, random.below(3) as u16 + 1);
        // The palette holds the type of a matrix's row too, because places lead through rows.
        let of = random.pick(&numbers);
        types.push(module.types.vector(cols, of));
        types.push(module.types.matrix(rows, cols, of));
    }
    if let Some(&of) = random.find(&floats) {
        types.extend([module.types.vector(3, of), module.types.quaternion(of)]);
        types.push(module.types.transform(of));
    }
    let part = |random: &mut Random, types: &[Type]| random.pick(types);
    let of = part(random, &types);
    types.push(module.types.fixed(of, random.below(4) + 1));
    let names = ["first", "second", "third"];
    let fields =
        names.map(|name| Field { name: name.into(), ty: part(random, &types), span: Span::NONE });
    let definition = Struct { name: "Record".into(), fields: fields.into(), span: Span::NONE };
    types.push(module.types.define_struct(definition));
    types
}

/// Declares and fills a function that may call the functions before it.
pub(super) fn callable(
    random: &mut Random,
    module: &mut Module,
    palette: &[Type],
    callees: &[FunctionId],
    smooth: Option<Smooth>,
) -> FunctionId {
    let result = if random.chance(25) {
        let parts = [random.pick(palette), random.pick(palette)];
        module.types.tuple(&parts)
    } else {
        random.pick(palette)
    };
    let mut params = vec![Param::value("x", random.pick(palette))];
    if random.chance(70) {
        params.push(Param::value("y", random.pick(palette)));
    }
    if random.chance(40) {
        params.push(Param::mutable("state", random.pick(palette)));
    }
    if random.chance(30) {
        params.push(Param::shared("table", random.pick(palette)));
    }
    let name = format!("f{}", callees.len());
    let function = module.declare(name, params.clone(), result);
    let mut maker = Generator::new(random, module, function, palette, callees);
    maker.smooth = smooth;
    for (position, param) in params.iter().enumerate() {
        let place = maker.b.param_place(position as u32);
        maker.readable.push(place);
        if param.mode == gbxcule_ir::function::PassMode::Mutable {
            maker.variables.push(place);
        }
    }
    maker.fuel = 3 + maker.random.below(8);
    maker.variables();
    maker.statements();
    if !maker.b.diverged() {
        let value = maker.result();
        maker.b.ret(Some(value));
    }
    maker.b.finish()
}

impl<'m, 'r> Generator<'m, 'r> {
    pub(super) fn new(
        random: &'r mut Random,
        module: &'m mut Module,
        function: FunctionId,
        palette: &'r [Type],
        callees: &'r [FunctionId],
    ) -> Self {
        Self {
            random,
            b: Builder::new(module, function),
            palette,
            callees,
            scope: Vec::new(),
            variables: Vec::new(),
            readable: Vec::new(),
            fuel: 0,
            loops: 0,
            depth: 0,
            smooth: None,
        }
    }

    /// Declares a few variables.
    pub(super) fn variables(&mut self) {
        for number in 0..2 + self.random.below(4) {
            let ty = self.random.pick(self.palette);
            let local = self.b.local(format!("v{number}"), ty);
            let place = self.b.local_place(local);
            if self.smooth.is_some() {
                let value = self.expression(ty, 1);
                self.b.store(place, value);
            }
            self.variables.push(place);
            self.readable.push(place);
        }
    }

    /// Returns a value of the function's result type.
    pub(super) fn result(&mut self) -> Value {
        let ty = self.b.function().result;
        match self.b.module.types[ty].clone() {
            Shape::Tuple(of) => {
                let parts: Vec<Value> = of.iter().map(|&ty| self.expression(ty, 2)).collect();
                self.b.tuple(&parts)
            }
            _ => self.expression(ty, 2),
        }
    }
}
