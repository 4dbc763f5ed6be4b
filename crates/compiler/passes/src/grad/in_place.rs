//! Kernels that overwrite numbers which their reverse needs, such as `x[i] = x[i] * x[i]`.
//!
//! If each thread reads only elements that no other thread writes, and reads an element before it
//! writes it, then all numbers that it reads are those from before the launch. A caller that kept a
//! copy of the array can pass it to the reverse: for a parameter that is only read, in its place;
//! for one that is also written, in a parameter that [`with_copies`] adds. `gbxcule.warp`'s tapes
//! do this.

use super::origin::launch_index_and_number;
use super::scan::Scan;
use super::sequence::loops;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{Function, FunctionId, Param};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::place::{Place, PlaceId, Projection, Root};
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::ty::Shape;
use gbxcule_ir::walk::{Use, stmt_uses};

/// Parameters of a kernel whose elements each belong to one thread, which reads before it writes.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ReadsBeforeWrites {
    /// Number of leading dimensions of the grid that tell threads apart.
    pub dims: u8,
    /// Pairs of parameters, the one that is read and the one that is written. If both are one
    /// array, the reads give the numbers from before the launch. A parameter may be paired with
    /// itself: then this holds for those of its reads that [`with_copies`] redirects.
    pub pairs: Vec<(u32, u32)>,
}

/// Access to an element by a statement, with the statement's position.
struct ElementAccess {
    place: PlaceId,
    position: usize,
    /// The value that is loaded; `None` for a store.
    loaded: Option<Value>,
}

/// Accesses to the elements of a parameter's array; `None` if the array has other uses.
type ParamAccesses = Option<Vec<ElementAccess>>;

/// Finds the pairs of parameters of a kernel.
pub fn reads_before_writes(source: &Valid<Module>, kernel: FunctionId) -> ReadsBeforeWrites {
    let function = &source.functions[kernel];
    let scan = Scan::new(&function.body);
    let Some(dims) = launch_dims(source, function) else { return ReadsBeforeWrites::default() };
    let accesses = accesses(source, function, &scan);
    let mut pairs = Vec::new();
    for (read, from) in accesses.iter().enumerate() {
        for (written, to) in accesses.iter().enumerate() {
            if function.params[read].ty == function.params[written].ty
                && let (Some(from), Some(to)) = (from, to)
                && is_pair(&scan, dims, (from, to), read == written)
            {
                pairs.push((read as u32, written as u32));
            }
        }
    }
    ReadsBeforeWrites { dims, pairs }
}

/// Returns the module in which a kernel has one more parameter for each of `params`: reads before
/// all writes go to that parameter. Its array is a copy from before the launch.
pub fn with_copies(source: &Valid<Module>, kernel: FunctionId, params: &[u32]) -> Module {
    let scan = Scan::new(&source.functions[kernel].body);
    let accesses = accesses(source, &source.functions[kernel], &scan);
    let mut module = (**source).clone();
    let function = &mut module.functions[kernel];
    for &param in params {
        let Some(all) = &accesses[param as usize] else { continue };
        let Param { name, ty, mode, span } = function.params[param as usize].clone();
        let name = format!("{name}_before_launch");
        let copy = Root::Param(function.params.len() as u32);
        function.params.push(Param { name, ty, mode, span });
        for (value, place) in early_loads(&scan, all) {
            let Place { path, ty, .. } = function.body.places[place];
            let place = function.body.places.push(Place { root: copy, path, ty });
            function.body.values[value].op = Op::Load(place);
        }
    }
    module
}

/// Returns the number of dimensions of the grid that a kernel asks for; `None` if none, or if a
/// function that it calls asks.
fn launch_dims(source: &Valid<Module>, function: &Function) -> Option<u8> {
    let mut dims = 0;
    for (_, data) in function.body.values.iter() {
        match data.op {
            Op::LaunchIndex(dim) => dims = dims.max(dim + 1),
            Op::Call { function, .. } if source.facts(function).launch_dims > 0 => return None,
            _ => {}
        }
    }
    (dims > 0).then_some(dims)
}

/// Lists the accesses to the array of each parameter.
fn accesses(source: &Valid<Module>, function: &Function, scan: &Scan<'_>) -> Vec<ParamAccesses> {
    let body = scan.body;
    let is_array = |param: &Param| matches!(source.types[param.ty], Shape::Array { .. });
    let mut accesses: Vec<ParamAccesses> =
        function.params.iter().map(|param| is_array(param).then(Vec::new)).collect();
    // Values that are the handle of a parameter's array.
    let mut handles = vec![None; body.values.len()];
    for (value, data) in body.values.iter() {
        if let Op::Load(place) = data.op
            && let (Root::Param(param), []) = (body.places[place].root, body.path(place))
        {
            handles[value.index()] = Some(param as usize);
        }
    }
    for (position, site) in scan.stmts.iter().enumerate() {
        let stmt = &site.stmt.kind;
        let op = match *stmt {
            StmtKind::Let(value) => Some((value, body.values[value].op)),
            _ => None,
        };
        stmt_uses(
            body,
            stmt,
            |_| true,
            |used| {
                let place = match used {
                    Use::Value(value) => {
                        let asks = matches!(op, Some((_, Op::Extent { .. } | Op::Present(_))));
                        if let (Some(param), false) = (handles[value.index()], asks) {
                            accesses[param] = None;
                        }
                        return;
                    }
                    Use::Read(place)
                    | Use::Write(place)
                    | Use::Change(place)
                    | Use::Expose(place) => place,
                };
                let param = match body.places[place].root {
                    Root::Param(param) => param as usize,
                    Root::Array(value) => {
                        handles[value.index()].into_iter().for_each(|param| accesses[param] = None);
                        return;
                    }
                    _ => return,
                };
                let loaded = op.filter(|(_, op)| matches!(op, Op::Load(_))).map(|(value, _)| value);
                let is_store = matches!(stmt, StmtKind::Store { .. });
                match (body.path(place), scan.handle_steps(place)) {
                    ([], _) if loaded.is_some() => {}
                    (_, Some(0)) if loaded.is_some() || is_store => {
                        if let Some(all) = &mut accesses[param] {
                            all.push(ElementAccess { place, position, loaded });
                        }
                    }
                    _ => accesses[param] = None,
                }
            },
        );
    }
    accesses
}

fn is_pair(
    scan: &Scan<'_>,
    dims: u8,
    (from, to): (&[ElementAccess], &[ElementAccess]),
    is_one: bool,
) -> bool {
    let is_read = from.iter().any(|access| access.loaded.is_some());
    let is_written = to.iter().any(|access| access.loaded.is_none());
    let is_ordered = match is_one {
        true => early_loads(scan, from).next().is_some(),
        false => from.iter().all(|read| read.loaded.is_some() && is_before_writes(scan, read, to)),
    };
    let indices = |access: &ElementAccess| match scan.body.path(access.place)[0] {
        Projection::Element(indices) => {
            let indices = scan.body.value_lists[indices].iter();
            indices.map(|&index| launch_index_and_number(scan, index)).collect()
        }
        _ => Vec::new(),
    };
    let all: Vec<Vec<_>> = from.iter().chain(to).map(indices).collect();
    // For each dimension of the grid, one index of all accesses is the launch index plus a number.
    let is_own = |dim: u8| {
        (0..all[0].len()).any(|at| {
            matches!(all[0][at], Some((Some(of), _)) if of == dim)
                && all.iter().all(|indices| indices.get(at) == Some(&all[0][at]))
        })
    };
    is_read && is_written && is_ordered && (0..dims).all(is_own)
}

/// Returns the loads that no write by the same thread precedes, with their places.
fn early_loads<'a>(
    scan: &'a Scan<'_>,
    all: &'a [ElementAccess],
) -> impl Iterator<Item = (Value, PlaceId)> + 'a {
    let early = all.iter().filter(|read| is_before_writes(scan, read, all));
    early.filter_map(|read| Some((read.loaded?, read.place)))
}

fn is_before_writes(scan: &Scan<'_>, read: &ElementAccess, all: &[ElementAccess]) -> bool {
    let around = loops(scan, read.position);
    all.iter().filter(|access| access.loaded.is_none()).all(|write| {
        let shared = loops(scan, write.position);
        read.position < write.position
            && !around.iter().any(|stmt| shared.iter().any(|other| std::ptr::eq(*stmt, *other)))
    })
}
