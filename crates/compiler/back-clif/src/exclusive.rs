//! Finds atomic operations of a kernel that no other thread can meet.
//!
//! An array is *exclusive* if every access to it, in the whole kernel, takes the launch index of
//! each dimension that the kernel asks for as an index of the same dimension of the array, plus the
//! same constant: then no two threads ever touch one element. This holds for elements; that these
//! have memory of their own must be checked of the arrays at a launch ([`ExclusiveArray`]). No
//! array is exclusive in a kernel with handles that can't be traced to its parameters, or with
//! callees that touch arrays.

use gbxcule_ir::check::Valid;
use gbxcule_ir::walk::{Step, walk};
use gbxcule_ir::{
    Arg, BinaryOp, Body, FunctionId, Module, Op, PlaceId, Projection, Root, Selector, StmtKind,
    Value,
};

/// Constants in indices go up to this, for launches of grids with extents up to this: no sum wraps.
pub const MAX_SMALL: i64 = 1 << 30;

/// An array among a kernel's parameters: its elements, or its gradient.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExclusiveArray {
    /// Position of the parameter.
    pub param: u32,
    /// The fields on the way from there.
    pub fields: Vec<u32>,
    /// True if the gradient is meant.
    pub gradient: bool,
}

/// Arrays of a kernel whose elements each belong to one thread.
#[derive(Clone, Default, Debug)]
pub(super) struct Exclusivity {
    /// Indexed by value: true for an atomic operation on a thread's own element.
    atomics: Vec<bool>,
    /// The arrays of these operations: if each has its elements, and memory, for itself, no thread
    /// meets another.
    pub(super) arrays: Vec<ExclusiveArray>,
}

impl Exclusivity {
    pub(super) fn is_exclusive(&self, value: Value) -> bool {
        self.atomics.get(value.index()).copied().unwrap_or(false)
    }

    /// Looks at a kernel that asks for `dims` dimensions of the grid.
    pub(super) fn new(module: &Valid<Module>, kernel: FunctionId, dims: u8) -> Self {
        let body = &module.functions[kernel].body;
        let atomic = |op: &Op| matches!(op, Op::Atomic { .. });
        if dims == 0 || !body.values.iter().any(|(_, data)| atomic(&data.op)) {
            return Self::default();
        }
        let tracer = Tracer::new(body);
        let Some(accesses) = tracer.accesses(module) else { return Self::default() };
        let mut exclusivity = Self { atomics: vec![false; body.values.len()], arrays: Vec::new() };
        for access in &accesses {
            let Some(value) = access.atomic else { continue };
            let same = accesses.iter().filter(|other| other.array == access.array);
            let same: Vec<&[Index]> = same.map(|other| &other.indices[..]).collect();
            if (0..dims).all(|dim| (0..same[0].len()).any(|at| is_distinct(&same, at, dim))) {
                exclusivity.atomics[value.index()] = true;
                if !exclusivity.arrays.contains(&access.array) {
                    exclusivity.arrays.push(access.array.clone());
                }
            }
        }
        exclusivity
    }
}

/// Returns true if the index of one dimension is a launch index, plus one constant, in all
/// accesses.
fn is_distinct(accesses: &[&[Index]], at: usize, dim: u8) -> bool {
    let first = accesses[0].get(at).copied().flatten();
    first.is_some_and(|(of, _)| of == dim)
        && accesses.iter().all(|indices| indices.get(at).copied().flatten() == first)
}

/// A launch index and what is added to it, if an index is that.
type Index = Option<(u8, i64)>;

/// An access to an element, with what is known of its indices in the dimensions of the array.
struct Access {
    array: ExclusiveArray,
    indices: Vec<Index>,
    atomic: Option<Value>,
}

/// A handle: the array, and what was said of its dimensions. `None` is one still open.
#[derive(Clone)]
struct TracedHandle {
    array: ExclusiveArray,
    taken: Vec<Option<Index>>,
}

impl TracedHandle {
    /// The next dimensions that are open get these indices; further ones stay open.
    fn take(&mut self, indices: impl IntoIterator<Item = Option<Index>>) {
        let mut at = 0;
        for index in indices {
            while self.taken.get(at).is_some_and(Option::is_some) {
                at += 1;
            }
            if at == self.taken.len() {
                self.taken.push(None);
            }
            self.taken[at] = index;
            at += 1;
        }
    }
}

struct Tracer<'a> {
    body: &'a Body,
    /// Value of each variable that is stored once, as a whole, and never in part.
    stored: Vec<Option<Value>>,
}

impl<'a> Tracer<'a> {
    fn new(body: &'a Body) -> Self {
        let mut stores = vec![(0, None); body.locals.len()];
        walk(body, body.root, |step| {
            let Step::Stmt(stmt) = step else { return };
            if let StmtKind::Store { place, value } = stmt.kind
                && let Root::Local(local) = body.places[place].root
                && !is_memory(body, place)
                && body.values[value].op != Op::Zero
            {
                let (count, stored) = &mut stores[local.index()];
                *count += 1;
                *stored = body.path(place).is_empty().then_some(value);
            }
        });
        let only = |(count, stored)| if count == 1 { stored } else { None };
        Self { body, stored: stores.into_iter().map(only).collect() }
    }

    /// All accesses to array memory; `None` if any can't be told.
    fn accesses(&self, module: &Valid<Module>) -> Option<Vec<Access>> {
        let mut accesses = Vec::new();
        let mut whole = true;
        walk(self.body, self.body.root, |step| {
            let Step::Stmt(stmt) = step else { return };
            whole &= match stmt.kind {
                StmtKind::Store { place, .. } => self.place(place, None, &mut accesses),
                StmtKind::Let(value) => match self.body.values[value].op {
                    Op::Load(place) => self.place(place, None, &mut accesses),
                    Op::Atomic { place, .. } => self.place(place, Some(value), &mut accesses),
                    Op::AsArray(_) => false,
                    Op::Call { function, args } => {
                        let mut params = module.functions[function].params.iter();
                        let memory = |arg: &Arg| match *arg {
                            Arg::Value(_) => false,
                            Arg::Place(place) => is_memory(self.body, place),
                        };
                        !params.any(|param| module.types.holds_array(param.ty))
                            && !self.body.arg_lists[args].iter().any(memory)
                    }
                    _ => true,
                },
                _ => true,
            };
        });
        whole.then_some(accesses)
    }

    /// Adds the access that a place is, if it is one.
    fn place(&self, place: PlaceId, atomic: Option<Value>, accesses: &mut Vec<Access>) -> bool {
        let path = self.body.path(place);
        let elements = |step: &&Projection| matches!(step, Projection::Element(_));
        if path.iter().filter(elements).count() == 0 {
            return true;
        }
        let Some((fields, rest)) = fields(path) else { return false };
        // A handle that itself lies in an array could be any.
        let [Projection::Element(indices), rest @ ..] = rest else { return false };
        if rest.iter().any(|step| matches!(step, Projection::Element(_))) {
            return false;
        }
        let Some(mut handle) = self.root(self.body.places[place].root, fields) else {
            return false;
        };
        let indices = self.body.value_lists[*indices].iter();
        handle.take(indices.map(|&index| Some(self.index(index))));
        let indices = handle.taken.into_iter().map(Option::flatten).collect();
        accesses.push(Access { array: handle.array, indices, atomic });
        true
    }

    fn root(&self, root: Root, fields: Vec<u32>) -> Option<TracedHandle> {
        match root {
            Root::Param(param) => {
                let array = ExclusiveArray { param, fields, gradient: false };
                Some(TracedHandle { array, taken: Vec::new() })
            }
            Root::Array(value) => self.value(value, fields),
            Root::Local(local) => self.value(self.stored[local.index()]?, fields),
            Root::Table(_) => None,
        }
    }

    fn value(&self, value: Value, mut fields: Vec<u32>) -> Option<TracedHandle> {
        match self.body.values[value].op {
            Op::Load(place) => {
                let (mut all, []) = self::fields(self.body.path(place))? else { return None };
                all.extend(fields);
                self.root(self.body.places[place].root, all)
            }
            Op::Extract { from, index } => {
                fields.insert(0, index);
                self.value(from, fields)
            }
            Op::Gradient(array) => {
                let mut handle = self.value(array, fields)?;
                let first = !std::mem::replace(&mut handle.array.gradient, true);
                first.then_some(handle)
            }
            Op::View { array, selectors } => {
                let mut handle = self.value(array, fields)?;
                // Of a range the first index isn't known, so none is; but an index is still to
                // come.
                let selectors = &self.body.selector_lists[selectors];
                if selectors.iter().any(|selector| matches!(selector, Selector::Range { .. })) {
                    return None;
                }
                handle.take(selectors.iter().map(|selector| match *selector {
                    Selector::At(index) => Some(self.index(index)),
                    Selector::Range { .. } => None,
                }));
                Some(handle)
            }
            _ => None,
        }
    }

    fn index(&self, value: Value) -> Index {
        let wide = |value| {
            let of = self.body.type_of(value).as_scalar();
            of.is_some_and(|of| of.is_int() && of.bits() >= 32)
        };
        if !wide(value) {
            return None;
        }
        match self.body.values[value].op {
            Op::LaunchIndex(dim) => Some((dim, 0)),
            // From 0 to 2^31 all of these types hold the same.
            Op::Convert(of) => self.index(of),
            Op::Binary(BinaryOp::Add, left, right) => {
                let (found, number) = match (self.number(left), self.number(right)) {
                    (Some(number), None) => (right, number),
                    (None, Some(number)) => (left, number),
                    _ => return None,
                };
                let (dim, added) = self.index(found)?;
                let sum = added + number;
                (sum < MAX_SMALL).then_some((dim, sum))
            }
            _ => None,
        }
    }

    /// A constant that isn't negative.
    fn number(&self, value: Value) -> Option<i64> {
        let Op::Literal(literal) = self.body.values[value].op else { return None };
        let number = i64::try_from(literal.as_int()?).ok()?;
        (0..MAX_SMALL).contains(&number).then_some(number)
    }
}

fn is_memory(body: &Body, place: PlaceId) -> bool {
    body.path(place).iter().any(|step| matches!(step, Projection::Element(_)))
}

/// The fields that a path begins with, and the rest of it.
fn fields(path: &[Projection]) -> Option<(Vec<u32>, &[Projection])> {
    let count = path.iter().take_while(|step| matches!(step, Projection::Field(_))).count();
    let (begin, rest) = path.split_at(count);
    let fields = begin.iter().map(|step| match *step {
        Projection::Field(field) => Some(field),
        _ => None,
    });
    Some((fields.collect::<Option<_>>()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_front_warp::Program;
    use gbxcule_ir::FunctionId;
    use gbxcule_ir::abi::Checks;
    use gbxcule_ir::check;
    use gbxcule_ir::source::SourceMap;
    use gbxcule_passes::grad::reverses;

    /// The own arrays of a kernel's reverse, `x'` for the gradient of `x`, with how many atomic
    /// operations on them of how many.
    fn owned(body: &str) -> String {
        let text = format!(
            "import warp as wp\n\n@wp.func\ndef f(a: wp.array(dtype=float), i: int):\n    return a[i]\n\n@wp.kernel\n\
             def k(x: wp.array(dtype=float), m: wp.array2d(dtype=float), o: wp.array(dtype=float), n: int):\n{body}"
        );
        let mut sources = SourceMap::new();
        let id = sources.add("k.py", text);
        let module = Program::parse(&sources, id).and_then(|program| program.compile("k"));
        let module = module.and_then(check::module).expect("a kernel");
        let kernels: Vec<FunctionId> = module.kernels().map(|(id, _)| id).collect();
        let (reversed, reverses) = reverses(&module, &kernels).expect("differentiable");
        let reversed = check::module(reversed).expect("valid");
        let plan = super::super::plan::Plan::new(
            &reversed,
            &super::super::shape::Flats::new(&reversed),
            Default::default(),
            Checks::All,
        );
        let exclusivity = &plan.of(reverses[0]).exclusivity;
        let function = &reversed.functions[reverses[0]];
        let names = exclusivity.arrays.iter().map(|array| {
            let name = &function.params[array.param as usize].name;
            format!("{name}{}", if array.gradient { "'" } else { "" })
        });
        let values = &function.body.values;
        let atomics = values.iter().filter(|(_, data)| matches!(data.op, Op::Atomic { .. }));
        let count = exclusivity.atomics.iter().filter(|&&exclusive| exclusive).count();
        format!("{} {count}/{}", names.collect::<Vec<_>>().join(" "), atomics.count())
    }

    #[test]
    fn elements_are_a_threads_own_where_its_launch_index_leads() {
        for (body, expected) in [
            (
                "    i = wp.tid()\n    v = x[i]\n    for _step in range(n):\n        v = wp.sin(v) + 0.5\n    o[i] = v\n",
                "x' 1/1",
            ),
            ("    i = wp.tid()\n    o[i] = x[i] * x[i]\n", "x' 2/2"),
            ("    i = wp.tid()\n    o[i] = x[i] + o[i]\n", "o' x' 2/2"),
            ("    i = wp.tid()\n    o[i] = x[i + 3]\n", "x' 1/1"),
            ("    i = wp.tid()\n    o[i] = x[wp.int64(i) + wp.int64(3)]\n", "x' 1/1"),
            ("    i, j = wp.tid()\n    o[i] = m[i, j]\n", "m' 1/1"),
            ("    i, j = wp.tid()\n    o[i] = m[j, i]\n", "m' 1/1"),
            (
                "    i = wp.tid()\n    s = float(0.0)\n    for j in range(n):\n        s += m[i, j]\n    o[i] = s\n",
                "m' 1/1",
            ),
            ("    i = wp.tid()\n    row = m[i]\n    o[i] = row[n] * row[0]\n", "m' 2/2"),
            ("    i = wp.tid()\n    o[i] = x[i] * m[n, i]\n", "m' x' 2/2"),
            // One of two accesses goes elsewhere: none is alone.
            ("    i = wp.tid()\n    o[i] = x[i] + x[i + 1]\n", " 0/2"),
            ("    i = wp.tid()\n    o[i] = x[i] + x[n]\n", " 0/2"),
            ("    i, j = wp.tid()\n    o[i] = m[i, j] + m[j, i]\n", " 0/2"),
            // A dimension of the grid is missing, or an index may count from the end or meet
            // another's.
            ("    i, j = wp.tid()\n    m[i, j] = x[i]\n", " 0/1"),
            ("    i = wp.tid()\n    o[i] = x[i - 1]\n", " 0/1"),
            ("    i = wp.tid()\n    o[i] = x[i / 2]\n", " 0/1"),
            ("    i = wp.tid()\n    o[i] = x[i * n]\n", " 0/1"),
            ("    i = wp.tid()\n    wp.atomic_add(o, 0, x[i])\n", "x' 1/1"),
            ("    i = wp.tid()\n    o[i] = m[i, n] + x[0]\n", "m' 1/2"),
            ("    o[0] = x[0]\n", " 0/1"),
            // In place, by the caller's own index.
            ("    i = wp.tid()\n    o[i] = f(x, i) * 2.0\n", "x' 1/1"),
        ] {
            assert_eq!(owned(body), expected, "{body}");
        }
    }
}
