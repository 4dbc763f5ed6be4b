//! Finds atomic operations of a kernel that no other thread can interfere with.
//!
//! An array is *exclusive* if every access in the whole kernel uses, for each dimension of the grid
//! that the kernel asks for, the same dimension of the array, with the launch index plus one
//! constant as its index: then no two threads ever touch one element. This holds for elements;
//! whether the arrays of a launch have memory of their own must be checked at the launch
//! ([`ParamArray`]). No array is exclusive in a kernel with handles that can't be traced to its
//! parameters.

use super::access::{Accesses, ParamArray, Purpose};
use super::sum::{Atom, Sum};
use gbxcule_ir::{FunctionId, Module, Value};

/// Largest constant in an index, and largest extent of a grid, for which no sum wraps.
pub const MAX_SMALL: i64 = 1 << 30;

/// Arrays of a kernel of which each element belongs to one thread.
#[derive(Clone, Default, Debug)]
pub(super) struct Exclusivity {
    /// True, by value, for an atomic operation on a thread's own element.
    atomics: Vec<bool>,
    /// The arrays of these operations. If no two of their elements share memory, and no other array
    /// shares memory with them, no thread meets another.
    pub(super) arrays: Vec<ParamArray>,
}

impl Exclusivity {
    pub(super) fn is_exclusive(&self, value: Value) -> bool {
        self.atomics.get(value.index()).copied().unwrap_or(false)
    }

    /// Analyses a kernel that asks for `dims` dimensions of the grid.
    pub(super) fn new(module: &Module, kernel: FunctionId, dims: u8, accesses: &Accesses) -> Self {
        let values = module.functions[kernel].body.values.len();
        let mut exclusivity = Self::default();
        if dims == 0 {
            return exclusivity;
        }
        for access in &accesses.all {
            let Purpose::Atomic { value: Some(value), .. } = access.purpose else { continue };
            let same = accesses.all.iter().filter(|other| other.array == access.array);
            let same: Vec<&[Option<Sum>]> = same.map(|other| &other.indices[..]).collect();
            if (0..dims)
                .all(|dim| (0..same[0].len()).any(|array_dim| is_distinct(&same, array_dim, dim)))
            {
                exclusivity.atomics.resize(values, false);
                exclusivity.atomics[value.index()] = true;
                if !exclusivity.arrays.contains(&access.array) {
                    exclusivity.arrays.push(access.array.clone());
                }
            }
        }
        exclusivity
    }
}

/// Returns true if the index of a dimension is a launch index plus the same constant in all
/// accesses.
fn is_distinct(accesses: &[&[Option<Sum>]], array_dim: usize, dim: u8) -> bool {
    let index = |indices: &[Option<Sum>]| {
        let added_sum = indices.get(array_dim)?.as_ref()?.minus(&Sum::atom(Atom::Launch(dim)))?;
        added_sum.as_constant().filter(|added| (0..MAX_SMALL).contains(added))
    };
    let first = index(accesses[0]);
    first.is_some() && accesses.iter().all(|indices| index(indices) == first)
}

#[cfg(test)]
mod tests {
    use gbxcule_front_warp::Program;
    use gbxcule_ir::abi::Checks;
    use gbxcule_ir::check;
    use gbxcule_ir::source::SourceMap;
    use gbxcule_ir::{FunctionId, Op};
    use gbxcule_passes::grad::reverses;

    /// Lists the exclusive arrays of a kernel's reverse, `x'` for the gradient of `x`, and how many
    /// of the atomic operations on arrays are on these.
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
            // One of two accesses uses another index, so no element belongs to one thread.
            ("    i = wp.tid()\n    o[i] = x[i] + x[i + 1]\n", " 0/2"),
            ("    i = wp.tid()\n    o[i] = x[i] + x[n]\n", " 0/2"),
            ("    i, j = wp.tid()\n    o[i] = m[i, j] + m[j, i]\n", " 0/2"),
            // A dimension of the grid is missing, or an index may count from the end or equal
            // another thread's.
            ("    i, j = wp.tid()\n    m[i, j] = x[i]\n", " 0/1"),
            ("    i = wp.tid()\n    o[i] = x[i - 1]\n", " 0/1"),
            ("    i = wp.tid()\n    o[i] = x[i / 2]\n", " 0/1"),
            ("    i = wp.tid()\n    o[i] = x[i * n]\n", " 0/1"),
            ("    i = wp.tid()\n    wp.atomic_add(o, 0, x[i])\n", "x' 1/1"),
            ("    i = wp.tid()\n    o[i] = m[i, n] + x[0]\n", "m' 1/2"),
            ("    o[0] = x[0]\n", " 0/1"),
            // The function is lowered in place, and its index is the caller's own.
            ("    i = wp.tid()\n    o[i] = f(x, i) * 2.0\n", "x' 1/1"),
        ] {
            assert_eq!(owned(body), expected, "{body}");
        }
    }
}
