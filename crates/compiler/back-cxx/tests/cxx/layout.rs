//! Checks that `gbxcule.h` and `gbxcule_ir::abi` have the same records and numbers of faults.

use gbxcule_back_cxx::{HEADER_NAME, HOST_CUDA_NAME};
use gbxcule_ir::abi::{FaultKind, FaultRecord, Grid};
use gbxcule_ir::layout::descriptor;
use gbxcule_testkit::host;
use std::mem::offset_of;

/// Writes assertions for a C++ compiler: sizes, offsets and numbers as Rust has them.
fn assertions(header: &str, fault_bytes: usize, thread: Option<usize>) -> String {
    let mut text = format!("#include \"{header}\"\n#include <cstddef>\n");
    let mut hold = |claim: String| text += &format!("static_assert({claim}, \"as abi says\");\n");
    let mut record = |name: &str, bytes: usize, fields: &[(&str, usize)]| {
        hold(format!("sizeof({name}) == {bytes}"));
        fields.iter().for_each(|(field, at)| hold(format!("offsetof({name}, {field}) == {at}")));
    };
    record(
        "gbx::Grid",
        size_of::<Grid>(),
        &[
            ("begin", offset_of!(Grid, begin)),
            ("end", offset_of!(Grid, end)),
            ("extents", offset_of!(Grid, extents)),
            ("dims", offset_of!(Grid, dims)),
            ("lanes", offset_of!(Grid, lanes)),
        ],
    );
    let mut fields = vec![
        ("kind", offset_of!(FaultRecord, kind)),
        ("line", offset_of!(FaultRecord, line)),
        ("index", offset_of!(FaultRecord, index)),
        ("extent", offset_of!(FaultRecord, extent)),
    ];
    fields.extend(thread.map(|at| ("thread", at)));
    record("gbx::Fault", fault_bytes, &fields);
    text += "typedef Array<float, 1> Handle;\n";
    let mut record = |field: &str, at: u32| {
        text += &format!("static_assert(offsetof(Handle, {field}) == {at}, \"as layout says\");\n");
    };
    record("data", descriptor::DATA);
    record("grad", descriptor::GRAD);
    record("shape", descriptor::SHAPE);
    record("strides", descriptor::STRIDES);
    record("ndim", descriptor::NDIM);
    record("flags", descriptor::FLAGS);
    text += &format!("static_assert(sizeof(Handle) == {}, \"\");\n", descriptor::LAYOUT.size);
    for (kind, name) in FaultKind::ALL {
        text += &format!("static_assert(gbx::{name} == {}, \"as abi says\");\n", kind.number());
    }
    text + "int main() {}\n"
}

#[test]
fn the_header_lays_records_out_as_the_runtime_reads_them() {
    let folder = host::folder("layout");
    let thread = Some(offset_of!(FaultRecord, thread));
    for (name, text) in [
        ("host", assertions(HEADER_NAME, FaultRecord::HOST_BYTES, None)),
        ("cuda", assertions(HOST_CUDA_NAME, FaultRecord::BYTES, thread)),
    ] {
        let source = folder.join(name).with_extension("cpp");
        host::write(&source, &text);
        host::compile(&source, &folder.join(name));
    }
}
