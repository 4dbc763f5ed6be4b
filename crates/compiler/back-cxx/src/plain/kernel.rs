//! A kernel: its launch, the index of a thread, the guard, and the sums of a block.

use super::super::function::Writer;
use super::super::literal::literal;
use super::super::statement::Statements;
use super::super::ty::scalar as spell;
use super::team::{self, Role, Sum, Team};
use gbxcule_ir::arena::Handle;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{FunctionKind, LocalId, PassMode};
use gbxcule_ir::op::Op;
use gbxcule_ir::stmt::BlockId;
use gbxcule_ir::ty::{Shape, Type};

/// Names of indices that the kernel's author gave none.
const INDICES: [&str; 4] = ["i", "j", "k", "l"];

/// Threads of a block.
const BLOCK: u32 = 256;

/// Threads of a block that makes tiles.
const TEAM: u32 = 64;

/// Writes a kernel.
pub(in super::super) fn write(writer: &mut Writer<'_, '_>) {
    let (body, uses) = (writer.body, &writer.uses);
    let team = Team::of(writer.module, body, &writer.declarations, uses);
    let is_team = team.is_some();
    let sums = if is_team { Vec::new() } else { team::sums(body, uses) };
    let Some(plain) = &mut writer.unit.plain else { return };
    plain.team = team;
    let dims = plain.dims;
    let extents: Vec<String> =
        (0..dims).map(|dim| writer.unit.names.local(&format!("dim{dim}"))).collect();
    let count = extents.join(" * ");
    let mut params: Vec<String> = extents.iter().map(|extent| format!("int {extent}")).collect();
    params.extend(writer.plain_parameters());
    let symbol = writer.unit.function_name(writer.id).to_owned();
    let points = if dims == 1 { count.clone() } else { format!("({count})") };
    let launch = if is_team {
        format!("{count}, {TEAM}")
    } else {
        format!("({points} + {}) / {BLOCK}, {BLOCK}", BLOCK - 1)
    };
    writer.unit.put(&format!("// launch: <<<{launch}>>>\n"));
    writer.head(&format!("extern \"C\" __global__ void {symbol}"), &params);
    let reductions = writer.begin_sums(&sums);
    writer.indices(&extents, is_team, !sums.is_empty());
    writer.depth = if sums.is_empty() { 1 } else { 2 };
    writer.top_locals();
    Statements::new(writer, false).root(body.root);
    writer.depth = 0;
    if !sums.is_empty() {
        writer.unit.put("    }\n");
        writer.end_sums(&reductions);
    }
    writer.unit.put("}\n");
}

/// Names of a sum: the array's element, the thread's variable, the memory of the block.
struct Reduction {
    element: String,
    own: String,
    shared: String,
}

/// Name that the kernel's author gives an index of the launch.
fn index_name<'a>(writer: &Writer<'_, 'a>, dim: usize) -> &'a str {
    let own = |op: &Op| matches!(op, Op::LaunchIndex(found) if usize::from(*found) == dim);
    let mut all = writer.body.values.iter().filter(|(_, data)| own(&data.op));
    let named = all.find_map(|(_, data)| data.name);
    named.map_or(INDICES[dim & 3], |name| writer.module.text(name))
}

impl Writer<'_, '_> {
    /// Writes the index of the thread, or of its block, and the guard.
    fn indices(&mut self, extents: &[String], is_team: bool, is_nested: bool) {
        let (dims, count) = (extents.len(), extents.join(" * "));
        let indices: Vec<String> =
            (0..dims).map(|dim| self.unit.names.local(index_name(self, dim))).collect();
        let thread = match indices.as_slice() {
            [index] => index.clone(),
            _ => self.unit.names.local(if is_team { "block" } else { "thread" }),
        };
        let number = if is_team { "blockIdx.x" } else { "blockIdx.x * blockDim.x + threadIdx.x" };
        let guard = if is_nested {
            format!("    if ({thread} < {count}) {{\n")
        } else {
            format!("    if ({thread} >= {count})\n        return;\n")
        };
        self.unit.put(&format!("    const int {thread} = {number};\n{guard}"));
        let margin = if is_nested { "        " } else { "    " };
        for (dim, index) in indices.iter().enumerate().filter(|_| dims > 1) {
            let inner = extents[dim + 1..].join(" * ");
            let inner = if dim + 2 < dims { format!("({inner})") } else { inner };
            let quotient =
                if inner.is_empty() { thread.clone() } else { format!("{thread} / {inner}") };
            let wraps = if dim > 0 { format!(" % {}", extents[dim]) } else { String::new() };
            self.unit.put(&format!("{margin}const int {index} = {quotient}{wraps};\n"));
        }
        if let Some(plain) = &mut self.unit.plain {
            plain.indices = indices;
        }
    }

    /// Declares the sums of a thread, and the memory in which they are reduced.
    fn begin_sums(&mut self, sums: &[Sum]) -> Vec<Reduction> {
        let mut reductions = Vec::new();
        for sum in sums {
            let array = self.params[sum.param as usize].clone();
            let shared = self.unit.names.local(&format!("{array}_shared"));
            let own = self.unit.names.local(&format!("{array}_sum"));
            let (of, zero) = (spell(sum.of), literal(Literal::from_bits(sum.of, 0)).text);
            self.unit.put(&format!(
                "    __shared__ {of} {shared}[{BLOCK}];\n    {of} {own} = {zero};\n"
            ));
            let element = self.literal_element(sum);
            if let Some(plain) = &mut self.unit.plain {
                plain.sums.extend(sum.places.iter().map(|&place| (place, own.clone())));
            }
            reductions.push(Reduction { element, own, shared });
        }
        reductions
    }

    /// Adds the sums of a block's threads, and those of the block to the arrays.
    fn end_sums(&mut self, reductions: &[Reduction]) {
        for Reduction { own, shared, .. } in reductions {
            self.unit.put(&format!("    {shared}[threadIdx.x] = {own};\n"));
        }
        self.unit.put(&format!(
            "    __syncthreads();\n    for (int stride = {}; stride > 0; stride /= 2) {{\n        \
             if (threadIdx.x < stride) {{\n",
            BLOCK / 2
        ));
        for Reduction { shared, .. } in reductions {
            self.unit.put(&format!(
                "            {shared}[threadIdx.x] += {shared}[threadIdx.x + stride];\n"
            ));
        }
        self.unit.put("        }\n        __syncthreads();\n    }\n    if (threadIdx.x == 0) {\n");
        for Reduction { element, shared, .. } in reductions {
            self.unit.put(&format!("        atomicAdd(&{element}, {shared}[0]);\n"));
        }
        self.unit.put("    }\n");
    }

    fn role(&self, block: BlockId, position: usize) -> Option<Role> {
        let team = self.unit.plain.as_ref()?.team.as_ref()?;
        if self.is_kernel() { team.role(block, position) } else { None }
    }

    /// Returns true for a loop that the threads of a block divide.
    pub(in super::super) fn is_divided(&self, block: BlockId, position: usize) -> bool {
        self.role(block, position) == Some(Role::Divided)
    }

    /// Returns true for a tile in shared memory.
    pub(in super::super) fn is_tile(&self, local: LocalId) -> bool {
        let team = self.unit.plain.as_ref().and_then(|plain| plain.team.as_ref());
        self.is_kernel() && team.is_some_and(|team| team.tiles[Handle::index(local)])
    }

    /// Begins a statement of a block's threads: what writes waits for those that read.
    pub(in super::super) fn begin_role(&mut self, block: BlockId, position: usize) -> Option<Role> {
        let role = self.role(block, position);
        let is_read = self.unit.plain.as_ref().is_some_and(|plain| plain.is_read);
        if matches!(role, Some(Role::Divided | Role::First)) {
            self.name_all_waiting();
            if is_read {
                self.synchronise();
            }
        }
        if role == Some(Role::First) {
            self.line("if (threadIdx.x == 0) {");
            self.depth += 1;
        }
        role
    }

    /// Ends a statement of a block's threads: those that follow see what it wrote.
    pub(in super::super) fn end_role(&mut self, role: Option<Role>, is_last: bool) {
        if role == Some(Role::First) {
            self.depth -= 1;
            self.line("}");
        }
        match role {
            Some(Role::Divided | Role::First) if !is_last => self.synchronise(),
            Some(Role::Read) => self.set_read(true),
            _ => {}
        }
    }

    /// Notes before a loop that threads may be reading what its next round writes.
    pub(in super::super) fn begin_rounds(&mut self, body: BlockId) {
        let team = self.unit.plain.as_ref().and_then(|plain| plain.team.as_ref());
        if self.is_kernel() && team.is_some_and(|team| team.reads_in(body)) {
            self.set_read(true);
        }
    }

    fn synchronise(&mut self) {
        self.line("__syncthreads();");
        self.set_read(false);
    }

    fn set_read(&mut self, is_read: bool) {
        if let Some(plain) = &mut self.unit.plain {
            plain.is_read = is_read;
        }
    }

    pub(super) fn is_kernel(&self) -> bool {
        self.function.kind == FunctionKind::Kernel
    }

    /// A parameter that is no array.
    pub(super) fn plain_parameter(&self, ty: Type, mode: PassMode, name: &str) -> String {
        let word = if mode == PassMode::Shared { "const " } else { "" };
        if let Shape::Fixed { of, len } = *self.shape(ty) {
            return format!("{word}{} (&{name})[{len}]", self.ty(of));
        }
        let reference = if mode == PassMode::Value { "" } else { "&" };
        format!("{word}{}{reference} {name}", self.ty(ty))
    }
}
