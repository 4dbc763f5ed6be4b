//! Every row of the builtin table as a program: one kernel that calls it on many random operands.

use super::actual::image;
use super::random::Random;
use super::{Actual, RandomProgram};
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::{self, Bindings, BuiltinId, Dim, Pattern, Signature};
use gbxcule_ir::check;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::Param;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Value};
use gbxcule_ir::ty::{Scalar, Shape, Type, Types};

/// Number of calls in a program.
pub const CALLS: u32 = 64;
/// Number of elements of an array that is passed whole.
const SORTED: u32 = 16;

/// A signature of a builtin's row, with types for its type variables.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The row of the table.
    pub row: BuiltinId,
    /// Position of the signature in the row.
    pub signature: u16,
    scalar: Scalar,
    dims: [u16; 3],
    whole: WholeType,
}

/// The type for a type variable that stands for a whole type.
#[derive(Clone, Copy, Debug)]
enum WholeType {
    Scalar(Scalar),
    Vector(u16, Scalar),
    Matrix(u16, Scalar),
    Quaternion(Scalar),
}

/// Returns all rows with all scalars that they take, in a few sizes.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (row, data) in builtin::rows() {
        for (position, signature) in data.signatures.iter().enumerate() {
            for scalar in scalars(signature) {
                for dims in sizes(signature, scalar) {
                    for whole in wholes(signature) {
                        cases.push(Case { row, signature: position as u16, scalar, dims, whole });
                    }
                }
            }
        }
    }
    cases
}

fn mentions(signature: &Signature, test: fn(&Pattern) -> bool) -> bool {
    signature.params.iter().any(|pattern| match pattern {
        Pattern::Place(inner) => test(inner),
        pattern => test(pattern),
    })
}

fn scalars(signature: &Signature) -> Vec<Scalar> {
    let used = mentions(signature, |pattern| {
        matches!(
            pattern,
            Pattern::T
                | Pattern::Vector(_)
                | Pattern::Matrix(..)
                | Pattern::Quaternion
                | Pattern::Transform
                | Pattern::Array(_)
        )
    });
    if !used {
        return vec![Scalar::F32];
    }
    // Quaternions and transforms have floats, whatever scalars the other parameters would take.
    let floats = mentions(signature, |p| matches!(p, Pattern::Quaternion | Pattern::Transform));
    let fits =
        |scalar: &Scalar| signature.domain.contains(*scalar) && (!floats || scalar.is_float());
    Scalar::ALL.into_iter().filter(fits).collect()
}

fn sizes(signature: &Signature, scalar: Scalar) -> Vec<[u16; 3]> {
    let variable = |dim: &Dim| !matches!(dim, Dim::Is(_));
    let used = signature.params.iter().any(|pattern| match pattern {
        Pattern::Vector(n) | Pattern::VectorOf(n, _) => variable(n),
        Pattern::Matrix(n, m) => variable(n) || variable(m),
        _ => false,
    });
    match scalar {
        _ if !used => vec![[2, 3, 4]],
        Scalar::F32 | Scalar::I32 => vec![[2, 3, 4], [3, 3, 3], [4, 2, 3]],
        _ => vec![[3, 2, 4]],
    }
}

fn wholes(signature: &Signature) -> Vec<WholeType> {
    if !mentions(signature, |pattern| matches!(pattern, Pattern::A | Pattern::ReferenceA)) {
        return vec![WholeType::Scalar(Scalar::F32)];
    }
    vec![
        WholeType::Scalar(Scalar::F32),
        WholeType::Scalar(Scalar::U8),
        WholeType::Scalar(Scalar::F64),
        WholeType::Vector(3, Scalar::F32),
        WholeType::Vector(2, Scalar::I32),
        WholeType::Matrix(2, Scalar::F32),
        WholeType::Quaternion(Scalar::F32),
    ]
}

impl Case {
    /// Returns the row's name and the types of its arguments.
    pub fn name(&self) -> String {
        let mut module = Module::default();
        let types: Vec<String> = self
            .arguments(&mut module.types)
            .into_iter()
            .map(|ty| module.types.display(ty).to_string())
            .collect();
        format!("{}({})", builtin::row(self.row).name, types.join(", "))
    }

    fn pattern(&self) -> &'static Signature {
        &builtin::row(self.row).signatures[usize::from(self.signature)]
    }

    /// Returns the types of the row's arguments.
    pub fn arguments(&self, types: &mut Types) -> Vec<Type> {
        let whole_type = match self.whole {
            WholeType::Scalar(of) => Type::scalar(of),
            WholeType::Vector(len, of) => types.vector(len, of),
            WholeType::Matrix(rows, of) => types.matrix(rows, rows, of),
            WholeType::Quaternion(of) => types.quaternion(of),
        };
        let bindings = Bindings::new(self.scalar, whole_type, self.dims);
        let params = self.pattern().params.iter();
        params
            .map(|&pattern| {
                let ty = bindings.apply(pattern, types);
                ty.unwrap_or_else(|| types.array(Type::F32, 1))
            })
            .collect()
    }

    /// Returns a kernel of [`CALLS`] calls with random operands. Its parameters are an array for
    /// each argument and for each result. An argument that is an array itself is passed whole.
    pub fn program(&self, seed: u64) -> RandomProgram {
        let random = &mut Random::new(seed);
        let mut module = Module::new("row");
        let types = self.arguments(&mut module.types);
        let signature = self.pattern();
        let (mut params, mut args, mut buffers) = (Vec::new(), Vec::new(), Vec::new());
        for (position, &ty) in types.iter().enumerate() {
            let (of, count) = match module.types[ty] {
                Shape::Array { of, .. } => (of, SORTED),
                _ => (ty, CALLS),
            };
            let array = module.types.array(of, 1);
            params.push(Param::value(format!("x{position}"), array));
            args.push(Actual::dense(&module.types, buffers.len(), of, &[count]));
            let inputs =
                Inputs { row: builtin::row(self.row).name, name: signature.names[position] };
            buffers.push(inputs.buffer(random, &module.types, of, count));
        }
        let result = builtin::resolve(self.row, &types, &mut module.types)
            .map_or(Type::INVALID, |(_, result)| result);
        let results = match module.types[result].clone() {
            Shape::Tuple(of) => of.to_vec(),
            _ => vec![result],
        };
        for (position, &of) in results.iter().enumerate() {
            let array = module.types.array(of, 1);
            params.push(Param::value(format!("y{position}"), array));
            args.push(Actual::dense(&module.types, buffers.len(), of, &[CALLS]));
            let size = module.types.layout(of).map_or(0, |layout| layout.size);
            buffers.push(vec![0; size as usize * CALLS as usize]);
        }
        let kernel = module.declare_kernel("kernel", params);
        let mut b = Builder::new(&mut module, kernel);
        self.body(&mut b, &types, &results);
        b.finish();
        let module = check::module(module)
            .unwrap_or_else(|faults| unreachable!("{}: {faults:#?}", self.name()));
        RandomProgram { module, kernel, dims: vec![CALLS], buffers, args }
    }

    fn body(&self, b: &mut Builder<'_>, types: &[Type], results: &[Type]) {
        let i = b.launch_index(0);
        let mut args = Vec::new();
        let mut changed = Vec::new();
        for (position, (&ty, pattern)) in types.iter().zip(self.pattern().params).enumerate() {
            let array = b.param_place(position as u32);
            if matches!(b.module.types[ty], Shape::Array { .. }) {
                args.push(Arg::Value(b.load(array)));
                continue;
            }
            let cell = b.element(array, &[i]);
            let value = b.load(cell);
            if pattern.is_reference() {
                let local = b.local("x", ty);
                let place = b.local_place(local);
                b.store(place, value);
                args.push(Arg::Place(place));
                changed.push((place, cell));
            } else {
                args.push(Arg::Value(value));
            }
        }
        let Some(result) = b.builtin(self.row, &args) else { return };
        for (place, cell) in changed {
            let value = b.load(place);
            b.store(cell, value);
        }
        let result_ty = b.body().type_of(result);
        let parts: Vec<Value> = match b.module.types[result_ty].clone() {
            Shape::Tuple(of) => (0..of.len()).map(|part| b.extract(result, part as u32)).collect(),
            _ => vec![result],
        };
        for (position, (part, _)) in parts.into_iter().zip(results).enumerate() {
            let array = b.param_place((types.len() + position) as u32);
            let cell = b.element(array, &[i]);
            b.store(cell, part);
        }
    }
}

/// Choice of the values that a parameter of a row may have.
struct Inputs {
    row: &'static str,
    name: &'static str,
}

impl Inputs {
    fn buffer(&self, random: &mut Random, types: &Types, of: Type, count: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        for at in 0..count {
            let mut image = image(random, types, of);
            let leaves = gbxcule_ir::layout::leaves(types, of);
            let mut direction = Vec::new();
            for leaf in &leaves {
                let literal = self.number(random, leaf.scalar, at, leaves.len());
                direction.push(literal);
                leaf.write(&mut image, literal);
            }
            if self.row == "eig3" {
                // The builtin is defined for symmetric matrices only.
                for (place, leaf) in leaves.iter().enumerate() {
                    let (low, high) = ((place / 3).min(place % 3), (place / 3).max(place % 3));
                    leaf.write(&mut image, direction[low * 3 + high]);
                }
            }
            if self.row.starts_with("inverse") {
                // A large diagonal keeps the matrix far from singular ones.
                let width = leaves.len().isqrt();
                for (leaf, part) in leaves.iter().zip(&direction).step_by(width + 1) {
                    leaf.write(&mut image, Literal::float(leaf.scalar, part.as_f64() + 12.0));
                }
            }
            if self.is_rotation(types, of) {
                let norm = direction.iter().map(|part| part.as_f64().powi(2)).sum::<f64>().sqrt();
                for (leaf, part) in leaves.iter().zip(&direction) {
                    leaf.write(&mut image, Literal::float(leaf.scalar, part.as_f64() / norm));
                }
            }
            bytes.extend(image);
        }
        bytes
    }

    fn is_rotation(&self, types: &Types, of: Type) -> bool {
        let turned = self.row.starts_with("quat_") || self.row.starts_with("transform_");
        turned && matches!(types[of], Shape::Quaternion(_))
    }

    fn number(&self, random: &mut Random, scalar: Scalar, at: u32, components: usize) -> Literal {
        const ORDERS: [[u32; 3]; 6] =
            [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let int = |value: u32| Literal::int(scalar, i128::from(value));
        let order = ORDERS[at as usize % 6];
        match (self.row, self.name) {
            (_, "i") => return int(order[0]),
            (_, "j") => return int(order[1]),
            (_, "k") => return int(order[2]),
            // Outside of 0 to 1 the error of every implementation grows without bound.
            (_, "t") if scalar.is_float() => {
                return Literal::float(scalar, f64::from(random.below(1025)) / 1024.0);
            }
            (_, "octaves") => return int(1 + random.below(4)),
            (_, "px" | "py" | "pz" | "pt") => return int(1 + random.below(5)),
            (_, "lam") => return Literal::float(scalar, f64::from(random.below(300)) / 10.0),
            ("lshift" | "rshift", "b") => return int(random.below(scalar.bits())),
            (_, "begin") => return int(random.below(4)),
            (_, "end") => return int(5 + random.below(11)),
            ("lower_bound", "array") => return int(at * 3),
            ("sample_cdf", "cdf") => return Literal::float(scalar, f64::from(at + 1) / 16.0),
            ("randi" | "randu", "low") => return int(random.below(10)),
            ("randi" | "randu", "high") => return int(11 + random.below(1000)),
            (_, "state") if scalar == Scalar::U32 => return int(random.bits() as u32),
            _ => {}
        }
        let divides = matches!(self.row, "div" | "div_approx" | "mod" | "floordiv" | "cw_div");
        if scalar.is_int() && divides {
            let size = 1 + random.below(100);
            let minus = scalar.is_signed_int() && random.chance(50);
            return Literal::int(scalar, if minus { -i128::from(size) } else { size.into() });
        }
        if scalar.is_float() && self.row.starts_with("is") {
            let one = random.below(4 * components as u32);
            let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
            return Literal::float(scalar, odd.get(one as usize).copied().unwrap_or(1.0));
        }
        if scalar.is_float() && (components > 1 || self.row.ends_with("noise")) {
            // Edge cases in composites would only hide the errors of the row itself.
            let fraction = f64::from(random.below(1 << 24)) / f64::from(1 << 21) - 4.0;
            return Literal::float(scalar, fraction);
        }
        super::actual::number(random, scalar)
    }
}
