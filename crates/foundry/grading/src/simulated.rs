//! Answers in CUDA, compiled by NVRTC and run on the simulator: in blocks of several sizes, with
//! more threads than points, in an order that a seed says. A race, a barrier in divergent code, a
//! read of shared memory that nobody wrote and an access outside of an array are wrong.

use crate::graded_row::{DrawKind, FreshInputs, GradedRow};
use crate::raw_form::RawLaunch;
use crate::{Grade, backward_memory};
use gbxcule_back_cxx::Dialect;
use gbxcule_gpu_check::compiler::{CudaCompiler, Refusal};
use gbxcule_gpu_check::cost::Cost;
use gbxcule_gpu_check::launch::{self, LaunchLimits, Launched};
use gbxcule_gpu_check::launch_line::LaunchLine;
use gbxcule_gpu_sim::sass::count::Totals;
use gbxcule_gpu_sim::sass::fault::FaultKind;
use gbxcule_gpu_sim::sass::module::LoadedCubin;
use gbxcule_gpu_sim::sass::schedule::{Extents, Shape};
use gbxcule_ir::abi::Grid;
use gbxcule_rows::execute::ArgumentBytes;
use gbxcule_rows::row_program;

/// Threads of a block, of the launches on one draw and on the next.
const THREADS: [[u32; 2]; 4] = [[128, 32], [256, 1], [1024, 64], [32, 256]];
/// Number of the draw with many points.
const LARGE: usize = 2;
/// Threads of a launch in blocks of one, at most: others make as much of fewer blocks.
const MAX_SINGLES: u32 = 600;
/// Bytes of shared memory of a block, declared and dynamic.
const MAX_SHARED_BYTES: usize = 48 << 10;
/// Instructions of a launch, at most.
const BUDGET: u64 = 20_000_000;

/// An answer ready to be launched.
struct Loaded<'a> {
    cubin: LoadedCubin,
    kernel: String,
    line: Option<LaunchLine>,
    has_header: bool,
    problem: &'a GradedRow,
    backward: bool,
    /// Points of the largest launch, and the least that one of so many costs.
    cost: Option<(u64, Cost)>,
}

/// Grades a text that is to compute results, or gradients; a right one has a cost.
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
            // Few answers come so far, and the last draw is dear.
            let large = || problem.large_draw().filter(|_| !backward);
            let wrong = wrong.or_else(|| loaded.run(LARGE, large()?).err());
            match wrong {
                Some(wrong) => (wrong, None),
                None => (Grade::Right, loaded.cost.map(|(_, cost)| cost)),
            }
        }
        Err(grade) => (grade, None),
    }
}

/// Cost of the compiler's own text, if it runs to its end.
pub(crate) fn own_cost(
    problem: &GradedRow,
    backward: bool,
    compiler: &CudaCompiler,
) -> Option<Cost> {
    let own = &problem.program;
    let text = match (backward, &own.reverse) {
        (false, _) => row_program::write(&own.forward, own.kernel, Dialect::Cuda),
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
    let own = &problem.program;
    let (module, kernel) = match (backward, &own.reverse) {
        (false, _) => (&own.forward, own.kernel),
        (true, Ok(reverse)) => (&reverse.module, reverse.kernel),
        (true, Err(code)) => {
            return Err(Grade::NotGraded(format!("the row has no gradient: {code}")));
        }
    };
    let line = LaunchLine::find(text).transpose().map_err(Grade::DoesNotCompile)?;
    let cubin = compiler.compile(text).map_err(|refusal| match refusal {
        Refusal::Text(log) => Grade::DoesNotCompile(log),
        Refusal::Limit(reason) => Grade::DoesNotCompile(reason),
        Refusal::Unknown(reason) => Grade::UnknownForm(reason),
        Refusal::Machine(reason) => Grade::NotGraded(reason),
    })?;
    let written = row_program::write(module, kernel, Dialect::Cuda);
    let symbol = written.kernels.first().map_or(own.name(), |it| &it.symbol);
    let named = launch::kernel(&cubin, symbol).or_else(|| launch::kernel(&cubin, own.name()));
    let Some(kernel) = named.map(str::to_owned) else {
        let name = own.name();
        return Err(Grade::DoesNotCompile(format!("error: there is no kernel `{name}`")));
    };
    let first = launch::parameter_sizes(&cubin, &kernel).first().copied();
    let has_header = first == Some(size_of::<Grid>());
    Ok(Loaded { cubin, kernel, line, has_header, problem, backward, cost: None })
}

impl Loaded<'_> {
    /// Runs all launches on a draw; the error is the grade of a wrong answer.
    fn run(&mut self, number: usize, draw: &FreshInputs) -> Result<(), Grade> {
        let absent = self.backward.then(|| self.problem.absent_gradient(number)).flatten();
        let mut memory = match self.backward {
            true => backward_memory(self.problem, draw),
            false => ArgumentBytes { data: draw.data.clone(), gradients: Vec::new() },
        };
        if let Some(absent) = absent {
            memory.gradients[absent].clear();
        }
        let mut done = None;
        for (at, threads) in THREADS[number % THREADS.len()].into_iter().enumerate() {
            let raw = RawLaunch::new(&self.problem.program, draw.grid(), &memory, self.has_header);
            let shape = self.shape(&raw, draw, threads, (2 * number + at) as u64)?;
            // A stated launch is the same each time, but for the order.
            if done == Some((shape.blocks, shape.threads)) && at > 1 {
                continue;
            }
            done = Some((shape.blocks, shape.threads));
            let Some(launched) = self.launch(&raw, shape, draw)? else { continue };
            self.cubin.keep_variables(&launched.memory);
            let after = raw.memory_after(&memory, &launched.arrays);
            let wrong = match self.backward {
                true => self.problem.backward_difference(draw, &after),
                false => self.problem.forward_difference(draw, &after),
            };
            if let Some(wrong) = wrong {
                let (blocks, threads) = (shape.blocks, shape.threads);
                let reason = format!("{wrong}, <<<{blocks}, {threads}>>>");
                return Err(Grade::WrongResult(reason));
            }
        }
        Ok(())
    }

    /// Launches the kernel; nothing comes back if many points take too many instructions.
    fn launch(
        &mut self,
        raw: &RawLaunch<'_>,
        shape: Shape,
        draw: &FreshInputs,
    ) -> Result<Option<Launched>, Grade> {
        let wanted: Vec<usize> = raw.parameters.iter().map(|it| it.bytes.len()).collect();
        let sizes = launch::parameter_sizes(&self.cubin, &self.kernel);
        if sizes != wanted {
            return Err(Grade::DoesNotCompile(format!(
                "error: the parameters of `{}` have {sizes:?} bytes, asked for are {wanted:?}",
                self.kernel
            )));
        }
        let place = format!("on {}, <<<{}, {}>>>", draw.described(), shape.blocks, shape.threads);
        // Other draws show a race sooner.
        let finds_races = draw.kind != DrawKind::ManyPoints;
        let before = self.cubin.kernels[&self.kernel].counts.totals();
        let ran = launch::launch(
            &mut self.cubin,
            &self.kernel,
            shape,
            &raw.arrays,
            &raw.parameters,
            LaunchLimits { instructions: BUDGET, finds_races },
        );
        self.note_cost(before, shape, draw, ran.is_ok());
        let is_cut_off = matches!(&ran, Err(fault) if fault.kind == FaultKind::NoEnd);
        // A right answer may take long for so many points.
        if is_cut_off && !finds_races {
            return Ok(None);
        }
        let launched = ran.map_err(|fault| match fault.kind {
            FaultKind::Unknown => Grade::UnknownForm(format!("the simulator: {}", fault.message)),
            _ => Grade::WrongResult(format!("{fault}, {place}")),
        })?;
        let faults =
            launched.own_fault.as_ref().is_some_and(|it| it.iter().take(4).any(|it| *it != 0));
        match faults {
            true => Err(Grade::WrongResult(format!("it faults, {place}"))),
            false => Ok(Some(launched)),
        }
    }

    /// Keeps the cost of a launch if no other one of as many points is cheaper.
    fn note_cost(&mut self, before: Totals, shape: Shape, draw: &FreshInputs, is_whole: bool) {
        let points = draw.dims.iter().map(|it| u64::from(*it)).product();
        let cost = Cost::since(before, &self.cubin.kernels[&self.kernel], shape, is_whole);
        let is_better = self.cost.is_none_or(|(most, least)| {
            let is_cheaper = (!cost.is_whole, cost.cycles()) < (!least.is_whole, least.cycles());
            points > most || points == most && is_cheaper
        });
        if is_better {
            self.cost = Some((points, cost));
        }
    }

    /// Shape of a launch: that which the text states, else blocks of so many threads for all
    /// points, and one block more every other time.
    fn shape(
        &self,
        raw: &RawLaunch<'_>,
        draw: &FreshInputs,
        threads: u32,
        seed: u64,
    ) -> Result<Shape, Grade> {
        let most = self.cubin.kernels[&self.kernel].kernel.max_threads.unwrap_or(1024);
        let seed = seed ^ draw.seed;
        if let Some(line) = &self.line {
            let stated = line.with(&raw.names).map_err(Grade::DoesNotCompile)?;
            let shared = self.cubin.kernels[&self.kernel].shared_bytes + stated.shared_bytes;
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
        let count: u32 = draw.dims.iter().product();
        let threads = match threads {
            1 if count > MAX_SINGLES => 96,
            threads => threads,
        };
        let threads = threads.min(most);
        let blocks = count.div_ceil(threads) + (seed & 1) as u32;
        let (blocks, threads) = (Extents::line(blocks.max(1)), Extents::line(threads));
        Ok(Shape { blocks, threads, shared_bytes: 0, seed })
    }
}
