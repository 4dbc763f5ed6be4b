//! Answers in CUDA, which NVRTC compiles and the simulator runs: in blocks of several sizes, with
//! more threads than points, in thread orders that a seed chooses. An answer is wrong if it has a
//! race, a barrier in divergent code, a read of unwritten shared memory or an access outside of an
//! array.

use crate::Grade;
use crate::fresh_inputs::{DrawKind, FreshInputs};
use crate::graded_row::GradedRow;
use crate::module_state::{ModuleState, advanced};
use crate::raw_form::RawLaunch;
use gbxcule_back_cxx::Dialect;
use gbxcule_gpu_check::compiler::{CudaCompiler, Refusal};
use gbxcule_gpu_check::cost::Cost;
use gbxcule_gpu_check::launch::{self, LaunchLimits, Launched};
use gbxcule_gpu_check::launch_line::LaunchLine;
use gbxcule_gpu_sim::sass::count::Totals;
use gbxcule_gpu_sim::sass::fault::FaultKind;
use gbxcule_gpu_sim::sass::module::LoadedCubin;
use gbxcule_gpu_sim::sass::schedule::{Extents, Shape};
use gbxcule_ir::FunctionId;
use gbxcule_ir::abi::Grid;
use gbxcule_rows::execute::{self, ArgumentBytes, LaunchInputs, Variation};
use gbxcule_rows::host::Launch;
use gbxcule_rows::row_program;

/// Block sizes of the two launches on a draw; draw n uses entry n modulo 4. Draws of special values
/// and of many points look for wrong numbers, not for races, so each has one of the two launches.
const THREADS: [[u32; 2]; 4] = [[128, 32], [256, 1], [1024, 64], [32, 256]];
/// Entry with the largest blocks.
const LARGEST: usize = 2;
/// Number of the draw with many points.
const LARGE: usize = 2;
/// Greatest number of threads of a launch with blocks of one thread.
const MAX_SINGLES: u32 = 600;
/// Bytes of shared memory of a block, declared and dynamic.
const MAX_SHARED_BYTES: usize = 48 << 10;
/// Greatest number of instructions of a launch.
const BUDGET: u64 = 20_000_000;
/// Number of times that an answer whose module keeps numbers is launched on one draw.
const REPEATS: usize = 100;

/// A kernel of an answer.
struct LoadedKernel {
    /// The kernel of the row that this kernel replaces.
    own: FunctionId,
    symbol: String,
    line: Option<LaunchLine>,
    has_header: bool,
}

/// A launch that an answer makes.
#[derive(Clone, Copy)]
struct Launching<'d> {
    draw: &'d FreshInputs,
    /// Block size, if the text states none.
    threads: u32,
    seed: u64,
}

/// An answer ready to be launched.
struct Loaded<'a> {
    cubin: LoadedCubin,
    kernels: Vec<LoadedKernel>,
    problem: &'a GradedRow,
    backward: bool,
    /// Points of the largest launch, and the least cost of launches with that number of points.
    cost: Option<(u64, Cost)>,
    /// Name and shape of the last launch, for messages.
    last: String,
    /// The module's variables before the first launch.
    before: ModuleState,
    /// Number of the plain draw with the most points, which has the largest blocks.
    widest: Option<usize>,
}

/// Grades a text that should compute results, or gradients, and returns a right text's cost.
pub(crate) fn grade(
    problem: &GradedRow,
    text: &str,
    backward: bool,
    compiler: &CudaCompiler,
) -> (Grade, Option<Cost>) {
    match loaded(problem, text, backward, compiler) {
        Ok(mut loaded) => {
            let draws = problem.draws(backward).enumerate();
            let wrong = draws.map(|(number, draw)| loaded.run(number, draw)).find_map(Result::err);
            // The largest draw is expensive, so it comes last, after most wrong answers were
            // refused.
            let large = || problem.large_draw().filter(|_| !backward);
            let wrong = wrong.or_else(|| loaded.run(LARGE, large()?).err());
            let wrong = wrong.or_else(|| loaded.run_on().err());
            match wrong {
                Some(wrong) => (wrong, None),
                None => (Grade::Right, loaded.cost.map(|(_, cost)| cost)),
            }
        }
        Err(grade) => (grade, None),
    }
}

/// Returns the cost of our compiler's text, if the text runs to its end.
pub(crate) fn own_cost(
    problem: &GradedRow,
    backward: bool,
    compiler: &CudaCompiler,
) -> Option<Cost> {
    let reference = &problem.program;
    if reference.host.is_some() {
        return None;
    }
    let text = match (backward, &reference.reverse) {
        (false, _) => row_program::write(&reference.forward, reference.kernel, Dialect::Cuda),
        (true, Ok(reverse)) => row_program::write(&reverse.module, reverse.kernel, Dialect::Cuda),
        (true, Err(_)) => return None,
    };
    let (_, cost) = grade(problem, &text.source, backward, compiler);
    cost.filter(|cost| cost.is_whole)
}

fn loaded<'a>(
    problem: &'a GradedRow,
    text: &str,
    backward: bool,
    compiler: &CudaCompiler,
) -> Result<Loaded<'a>, Grade> {
    let reference = &problem.program;
    let (module, kernel) = reference
        .first_kernel(backward)
        .map_err(|code| Grade::NotGraded(format!("the row has no gradient: {code}")))?;
    let cubin = compiler.compile(text).map_err(|refusal| match refusal {
        Refusal::Text(log) => Grade::DoesNotCompile(log),
        Refusal::Limit(reason) => Grade::DoesNotCompile(reason),
        Refusal::Unknown(reason) => Grade::UnknownForm(reason),
        Refusal::Machine(reason) => Grade::NotGraded(reason),
    })?;
    let written = reference.write(module, kernel, Dialect::Cuda);
    let kernel = |own_kernel: FunctionId| {
        let name = &reference.forward.functions[own_kernel].name;
        let of = match &reference.reverse {
            Ok(reverse) if backward => reference.reverse_of(reverse, own_kernel),
            _ => own_kernel,
        };
        let entry = written.kernels.iter().find(|it| it.kernel == of);
        let symbol = entry.map_or(name, |it| &it.symbol);
        let named = launch::kernel(&cubin, symbol).or_else(|| launch::kernel(&cubin, name));
        let Some(symbol) = named.map(str::to_owned) else {
            return Err(Grade::DoesNotCompile(format!("error: there is no kernel `{name}`")));
        };
        let line = match &reference.host {
            None => LaunchLine::find(text),
            Some(_) => [entry.map_or(name, |it| &it.symbol), name]
                .into_iter()
                .find_map(|name| LaunchLine::of_kernel(text, name)),
        };
        let line = line.transpose().map_err(Grade::DoesNotCompile)?;
        let first = launch::parameter_sizes(&cubin, &symbol).first().copied();
        let has_header = first == Some(size_of::<Grid>());
        Ok(LoadedKernel { own: own_kernel, symbol, line, has_header })
    };
    let kernels = reference.kernels().into_iter().map(kernel).collect::<Result<_, _>>()?;
    let (before, last) = (cubin.variable_bytes(), String::new());
    let points = |it: &FreshInputs| it.dims.iter().map(|it| u64::from(*it)).product::<u64>();
    let plain = problem.draws(backward).enumerate().filter(|(_, it)| it.kind == DrawKind::Plain);
    let widest = plain.max_by_key(|(_, it)| points(it)).map(|(number, _)| number);
    Ok(Loaded { cubin, kernels, problem, backward, cost: None, last, before, widest })
}

impl Loaded<'_> {
    /// Runs all launches on a draw; the error is the grade of a wrong answer.
    fn run(&mut self, number: usize, draw: &FreshInputs) -> Result<(), Grade> {
        let only = match draw.kind {
            DrawKind::SpecialValues => Some(number / THREADS.len() % 2),
            // Of many points the smaller blocks are more than a byte can count.
            DrawKind::ManyPoints => Some(1),
            DrawKind::Plain | DrawKind::ManyBlocks => None,
        };
        let entry = if self.widest == Some(number) { LARGEST } else { number % THREADS.len() };
        let launches = THREADS[entry].into_iter().enumerate();
        for (at, threads) in launches.filter(|(at, _)| only.is_none_or(|only| only == *at)) {
            let way = Launching { draw, threads, seed: (2 * number + at) as u64 };
            // The first launch has all gradients, so that each is compared on each draw.
            self.run_once(way, (at == 1).then_some(number))?;
        }
        Ok(())
    }

    /// Makes one run on a draw, backward with one absent gradient if the draw's number is given.
    fn run_once(&mut self, way: Launching<'_>, number: Option<usize>) -> Result<(), Grade> {
        let wrong = match self.backward {
            true => self.run_backward(way, number),
            false => self.run_forward(way),
        };
        match wrong {
            Ok(None) | Err(None) => Ok(()),
            Ok(Some(wrong)) => Err(Grade::WrongResult(format!("{wrong}, {}", self.last))),
            Err(Some(grade)) => Err(grade),
        }
    }

    /// Launches an answer again and again if its module's variables keep numbers from launch to
    /// launch, then as if it had been launched a million times.
    fn run_on(&mut self) -> Result<(), Grade> {
        if self.cubin.variable_bytes() == self.before {
            return Ok(());
        }
        let draws = self.problem.draws(self.backward);
        let points = |it: &&FreshInputs| it.dims.iter().map(|it| u64::from(*it)).product::<u64>();
        let plain = draws.filter(|it| it.kind == DrawKind::Plain && points(it) > 0);
        let Some(draw) = plain.min_by_key(points) else { return Ok(()) };
        let late = |grade| match grade {
            Grade::WrongResult(reason) => Grade::WrongResult(format!(
                "{reason}, after many launches, from which the module's variables keep numbers"
            )),
            other => other,
        };
        let way = Launching { draw, threads: THREADS[0][0], seed: 0 };
        let mut last_states: [ModuleState; 3] = Default::default();
        for _ in 0..REPEATS {
            self.run_once(way, None).map_err(late)?;
            last_states.rotate_left(1);
            last_states[2] = self.cubin.variable_bytes();
        }
        if let Some(state) = advanced(last_states.each_ref()) {
            self.cubin.set_variables(&state);
            self.run_once(way, None).map_err(late)?;
        }
        Ok(())
    }

    /// Makes the row's launches and describes the first wrong result. The error is a grade; `None`
    /// if the launches give no verdict.
    fn run_forward(&mut self, way: Launching<'_>) -> Result<Option<String>, Option<Grade>> {
        let draw = way.draw;
        let launches = self.launches(draw)?;
        let ran =
            execute::executed(&launches, &draw.inputs, draw.data.clone(), |each, grid, memory| {
                self.step(way, each, grid, memory)
            })?;
        let after = ArgumentBytes { data: ran.after, gradients: Vec::new() };
        Ok(self.problem.forward_difference(draw, &after))
    }

    /// Makes the reverse launches of the row's launches, each on the memory after the row's forward
    /// launch. If the number of a draw is given, one gradient is absent.
    fn run_backward(
        &mut self,
        way: Launching<'_>,
        number: Option<usize>,
    ) -> Result<Option<String>, Option<Grade>> {
        let (draw, program) = (way.draw, &self.problem.program);
        let launches = self.launches(draw)?;
        let ran = execute::states(Variation::default(), program, draw.grid(), &draw.data);
        let ran = ran.map_err(|reason| Some(Grade::NotGraded(reason)))?;
        let mut gradients = self.problem.gradients_before(draw);
        if let Some(absent) = number.and_then(|it| self.problem.absent_gradient(it)) {
            gradients[absent].clear();
        }
        let mut data = ran.after;
        let is_one = program.host.is_none();
        let gradients = execute::reversed(
            &launches,
            &draw.inputs,
            &ran.states,
            gradients,
            |each, grid, memory| {
                let after = self.step(way, each, grid, memory)?;
                if is_one {
                    data.clone_from(&after.data);
                } else if after.data != memory.data {
                    let reason = format!("an input or a result is changed, {}", self.last);
                    return Err(Some(Grade::WrongResult(reason)));
                }
                Ok(after)
            },
        )?;
        Ok(self.problem.backward_difference(draw, &ArgumentBytes { data, gradients }))
    }

    fn launches(&self, draw: &FreshInputs) -> Result<Vec<Launch>, Option<Grade>> {
        let launches = self.problem.program.launches(draw.grid());
        launches.map_err(|reason| Some(Grade::NotGraded(reason)))
    }

    /// Makes one launch and returns the memory after it.
    fn step(
        &mut self,
        way: Launching<'_>,
        each: &Launch,
        grid: LaunchInputs<'_>,
        memory: &ArgumentBytes,
    ) -> Result<ArgumentBytes, Option<Grade>> {
        let at = self.kernels.iter().position(|it| it.own == each.kernel).unwrap_or_default();
        let module = &self.problem.program.forward;
        let has_header = self.kernels[at].has_header;
        let raw = RawLaunch::new((module, each.kernel), grid, memory, has_header);
        let shape = self.shape(at, &raw, grid.dims, way)?;
        let (blocks, threads) = (shape.blocks, shape.threads);
        let name = match &self.problem.program.host {
            Some(_) => format!("`{}`", self.kernels[at].symbol),
            None => String::new(),
        };
        self.last = format!("{name}<<<{blocks}, {threads}>>>");
        let launched = self.launch(at, &raw, shape, way.draw)?;
        self.cubin.keep_variables(&launched.memory);
        let after = raw.memory_after(memory, &launched.arrays);
        // The arrays of a row of one kernel are compared after its only launch.
        if self.problem.program.host.is_some() && !self.backward {
            let is_written = &gbxcule_back_cxx::written(module)[each.kernel.index()];
            let is_changed = |at: &usize| !is_written[*at] && after.data[*at] != memory.data[*at];
            if let Some(array) = (0..is_written.len()).find(is_changed) {
                return Err(Some(Grade::WrongResult(format!(
                    "it changes `{}`, which the kernel only reads, {}",
                    grid.inputs[array].name, self.last
                ))));
            }
        }
        Ok(after)
    }

    /// Launches a kernel. A launch of many points that takes too many instructions gives no
    /// verdict.
    fn launch(
        &mut self,
        at: usize,
        raw: &RawLaunch<'_>,
        shape: Shape,
        draw: &FreshInputs,
    ) -> Result<Launched, Option<Grade>> {
        let kernel = &self.kernels[at].symbol;
        let wanted: Vec<usize> = raw.parameters.iter().map(|it| it.bytes.len()).collect();
        let sizes = launch::parameter_sizes(&self.cubin, kernel);
        if sizes != wanted {
            return Err(Some(Grade::DoesNotCompile(format!(
                "error: the parameters of `{kernel}` have {sizes:?} bytes, asked for are {wanted:?}"
            ))));
        }
        let place = format!("on {}, {}", draw.described(), self.last);
        // The other draws find races at less cost.
        let finds_races = draw.kind != DrawKind::ManyPoints;
        let before = self.cubin.kernels[kernel].counts.totals();
        let ran = launch::launch(
            &mut self.cubin,
            kernel,
            shape,
            &raw.arrays,
            &raw.parameters,
            LaunchLimits { instructions: BUDGET, finds_races },
        );
        if self.problem.program.host.is_none() {
            self.note_cost(before, shape, draw, ran.is_ok());
        }
        let is_cut_off = matches!(&ran, Err(fault) if fault.kind == FaultKind::NoEnd);
        // A right answer may take long for so many points.
        if is_cut_off && matches!(draw.kind, DrawKind::ManyPoints | DrawKind::ManyBlocks) {
            return Err(None);
        }
        let launched = ran.map_err(|fault| match fault.kind {
            FaultKind::Unknown => Grade::UnknownForm(format!("the simulator: {}", fault.message)),
            _ => Grade::WrongResult(format!("{fault}, {place}")),
        });
        let launched = launched.map_err(Some)?;
        let faults =
            launched.own_fault.as_ref().is_some_and(|it| it.iter().take(4).any(|it| *it != 0));
        match faults {
            true => Err(Some(Grade::WrongResult(format!("it faults, {place}")))),
            false => Ok(launched),
        }
    }

    /// Keeps the cost of a launch if no other launch with the same number of points is cheaper.
    fn note_cost(&mut self, before: Totals, shape: Shape, draw: &FreshInputs, is_whole: bool) {
        let points = draw.dims.iter().map(|it| u64::from(*it)).product();
        let kernel = &self.cubin.kernels[&self.kernels[0].symbol];
        let cost = Cost::since(before, kernel, shape, is_whole);
        let is_better = self.cost.is_none_or(|(most, least)| {
            let is_cheaper = (!cost.is_whole, cost.cycles()) < (!least.is_whole, least.cycles());
            points > most || points == most && is_cheaper
        });
        if is_better {
            self.cost = Some((points, cost));
        }
    }

    /// Returns the shape of a launch: the stated shape, or else as many blocks as the points need,
    /// in every second launch one more.
    fn shape(
        &self,
        at: usize,
        raw: &RawLaunch<'_>,
        dims: &[u32],
        way: Launching<'_>,
    ) -> Result<Shape, Grade> {
        let kernel = &self.cubin.kernels[&self.kernels[at].symbol];
        let most = kernel.kernel.max_threads.unwrap_or(1024);
        let seed = way.seed ^ way.draw.seed;
        if let Some(line) = &self.kernels[at].line {
            let stated = line.with(&raw.names).map_err(Grade::DoesNotCompile)?;
            let shared = kernel.shared_bytes + stated.shared_bytes;
            if shared > MAX_SHARED_BYTES {
                return Err(Grade::WrongResult(format!(
                    "it asks for {shared} bytes of shared memory, a block has {MAX_SHARED_BYTES}"
                )));
            }
            if stated.threads.count() > most {
                return Err(Grade::WrongResult(format!(
                    "it asks for blocks of {} threads, its `__launch_bounds__` allow {most}",
                    stated.threads.count()
                )));
            }
            let (blocks, threads) = (stated.blocks, stated.threads);
            return Ok(Shape { blocks, threads, shared_bytes: stated.shared_bytes, seed });
        }
        let count: u32 = dims.iter().product();
        let threads = match way.threads {
            1 if count > MAX_SINGLES => 96,
            threads => threads,
        };
        let threads = threads.min(most);
        let blocks = count.div_ceil(threads) + (seed & 1) as u32;
        let (blocks, threads) = (Extents::line(blocks.max(1)), Extents::line(threads));
        Ok(Shape { blocks, threads, shared_bytes: 0, seed })
    }
}
