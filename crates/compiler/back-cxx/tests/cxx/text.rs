//! The text of a module: the same each time, with lines that lead back to the source, and checks
//! where they are asked for. The samples of the testkit hold the text itself.

use gbxcule_back_cxx::{self as cxx, Dialect, Options};
use gbxcule_front_warp::Program;
use gbxcule_ir::abi::Checks;
use gbxcule_ir::check;
use gbxcule_ir::source::SourceMap;
use gbxcule_testkit::sample;

#[test]
fn the_same_module_gives_the_same_bytes() {
    for (sample, module) in sample::modules() {
        for dialect in [Dialect::Host, Dialect::Cuda] {
            let text = || cxx::write(&module, &Options::new(dialect)).source;
            assert_eq!(text(), text(), "{}", sample.name);
        }
    }
}

#[test]
fn a_line_that_may_fault_leads_back_to_the_source() {
    let mut sources = SourceMap::new();
    let module = sample::of("saxpy.py").lower(&mut sources).expect("lowered");
    let text =
        cxx::write(&module, &Options { sources: Some(&sources), ..Options::new(Dialect::Cuda) });
    let line = 1 + text.source.lines().position(|line| line.contains("y(i) =")).expect("the store");
    let site = text.site(line as u32).expect("a site");
    assert_eq!(sources.text(site.span).trim(), "y[i] = a * x[i] + y[i]");
    assert_eq!(text.site(1), None);
}

#[test]
fn only_calls_of_trusted_functions_do_without_checks() {
    let mut module = sample::of("faults.ir").module().into_inner();
    let kernel = module.find("faults").expect("the kernel");
    for (trusted, checks, vouched) in [
        (true, Checks::Untrusted, true),
        (false, Checks::Untrusted, false),
        (true, Checks::All, false),
        (true, Checks::None, false),
    ] {
        module.functions[kernel].trusted = trusted;
        let valid = check::module(module.clone()).expect("valid");
        let source = cxx::write(&valid, &Options { checks, ..Options::new(Dialect::Host) }).source;
        assert_eq!(source.contains("out(n, gbx::trusted())"), vouched);
        assert_eq!(source.contains("gbx::div(1, n, gbx::trusted())"), vouched);
        assert_eq!(source.contains("#define GBX_UNCHECKED"), checks == Checks::None);
    }
}

#[test]
fn arrays_in_structs_have_no_text_without_the_header() {
    for (field, has_text) in [("wp.array(dtype=float)", false), ("float", true)] {
        let mut sources = SourceMap::new();
        let text = format!(
            "import warp as wp\n\n@wp.struct\nclass Pair:\n    a: {field}\n    b: float\n\n\
             @wp.kernel\ndef double(pair: Pair, out: wp.array(dtype=float)):\n    \
             out[wp.tid()] = pair.b * 2.0\n"
        );
        let id = sources.add("double.py", text);
        let program = Program::parse(&sources, id).expect("Python");
        let module = check::module(program.compile("double").expect("a kernel")).expect("valid");
        let kernel = module.find("double").expect("the kernel");
        assert_eq!(cxx::write_plain(&module, &[(kernel, 1)]).is_some(), has_text, "{field}");
    }
}
