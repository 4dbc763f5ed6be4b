//! Tasks: the prompts about a row, as chat messages and as plain text.

use crate::question::bug::SeededBug;
use crate::question::race::RaceQuestion;
use crate::question::value::ValueQuestion;
use crate::raw_form;
use gbxcule_back_cxx::Dialect;
use gbxcule_rows::row::{Row, Texts};
use gbxcule_rows::row_program::RowProgram;
use gbxcule_rows::tensor;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::str::FromStr;

/// A task: the given text and the wanted answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Task {
    /// The source to CUDA C++.
    PythonToCuda,
    /// The source to C++.
    PythonToCpp,
    /// The source to the compiler's IR.
    PythonToIr,
    /// CUDA C++ to Python.
    CudaToPython,
    /// CUDA C++ to the CUDA C++ of the kernel that computes gradients.
    ForwardToBackward,
    /// The description of an algorithm to Python.
    DescriptionToPython,
    /// The description of an algorithm to CUDA C++.
    DescriptionToCuda,
    /// Python with a bug, and a wrong result, to Python without the bug.
    RepairPython,
    /// CUDA C++ with a bug, and a wrong result, to CUDA C++ without the bug.
    RepairCuda,
    /// Right CUDA C++ and wrong Python to the number of the wrong line.
    FindBug,
    /// CUDA C++ to the line of its race, or `no`.
    FindRace,
    /// Python and its inputs to one number of its results.
    PredictValue,
}

/// Language of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// NVIDIA Warp's dialect.
    Python,
    /// Printed IR.
    Ir,
    /// C++17 for the CPU.
    Cpp,
    /// CUDA C++.
    Cuda,
    /// A last line with a word: a number, or `no`.
    Word,
}

impl Language {
    /// Returns the words after a fence that mark a block of this language; prompts use the first.
    pub fn fences(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["python", "py", "python3"],
            Self::Ir => &["ir", "text", "llvm", "mlir"],
            Self::Cpp => &["cpp", "c++", "cxx", "cc", "c"],
            Self::Cuda => &["cuda", "cu", "cpp", "c++", "cuda-cpp", "c"],
            Self::Word => &["text"],
        }
    }

    /// Returns a text that occurs in a kernel's definition and not in code that only calls the
    /// kernel.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Self::Python => ".kernel",
            Self::Ir => "kernel",
            Self::Cpp => "gbx::Grid",
            Self::Cuda => "__global__",
            Self::Word => "answer:",
        }
    }
}

impl Task {
    /// All tasks.
    pub const ALL: [Self; 12] = [
        Self::PythonToCuda,
        Self::PythonToCpp,
        Self::PythonToIr,
        Self::CudaToPython,
        Self::ForwardToBackward,
        Self::DescriptionToPython,
        Self::DescriptionToCuda,
        Self::RepairPython,
        Self::RepairCuda,
        Self::FindBug,
        Self::FindRace,
        Self::PredictValue,
    ];

    /// Name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::PythonToCuda => "python-to-cuda",
            Self::PythonToCpp => "python-to-cpp",
            Self::PythonToIr => "python-to-ir",
            Self::CudaToPython => "cuda-to-python",
            Self::ForwardToBackward => "forward-to-backward",
            Self::DescriptionToPython => "description-to-python",
            Self::DescriptionToCuda => "description-to-cuda",
            Self::RepairPython => "repair-python",
            Self::RepairCuda => "repair-cuda",
            Self::FindBug => "find-bug",
            Self::FindRace => "find-race",
            Self::PredictValue => "predict-value",
        }
    }

    /// Language of the answers.
    pub fn answered_in(self) -> Language {
        match self {
            Self::PythonToCuda
            | Self::ForwardToBackward
            | Self::DescriptionToCuda
            | Self::RepairCuda => Language::Cuda,
            Self::PythonToCpp => Language::Cpp,
            Self::PythonToIr => Language::Ir,
            Self::CudaToPython | Self::DescriptionToPython | Self::RepairPython => Language::Python,
            Self::FindBug | Self::FindRace | Self::PredictValue => Language::Word,
        }
    }

    /// Returns true if answers need NVRTC and the simulator.
    pub(crate) fn needs_cuda(self) -> bool {
        self.answered_in() == Language::Cuda || self == Self::FindRace
    }

    /// Returns true if the task exists for a row.
    pub fn is_of(self, row: &Row) -> bool {
        match self {
            Self::FindRace => row.launches_json.is_none() && RaceQuestion::of(row).is_some(),
            _ => self.stored(row).is_some(),
        }
    }

    /// Returns true if the task can be about several kernels.
    fn takes_several(self) -> bool {
        matches!(
            self,
            Self::PythonToCuda
                | Self::PythonToIr
                | Self::CudaToPython
                | Self::ForwardToBackward
                | Self::DescriptionToCuda
        )
    }

    /// Returns the right answer that the row holds; `None` if the task doesn't exist for the row,
    /// or only a run shows the answer.
    pub fn stored(self, row: &Row) -> Option<Cow<'_, str>> {
        if row.launches_json.is_some() && !self.takes_several() {
            return None;
        }
        let cuda = || row.cuda.as_deref();
        let text = match self {
            Self::PythonToCuda => cuda(),
            Self::PythonToCpp => row.cpp.as_deref(),
            Self::PythonToIr => Some(&*row.ir),
            Self::CudaToPython => cuda().map(|_| &*row.source),
            Self::ForwardToBackward => row.cuda_backward.as_deref(),
            Self::DescriptionToPython => specification(row).map(|_| &*row.source),
            Self::DescriptionToCuda => specification(row).and(cuda()),
            Self::RepairPython => SeededBug::of(row).map(|_| &*row.source),
            Self::RepairCuda => SeededBug::of(row).and(cuda()),
            Self::FindBug => {
                return Some(said(SeededBug::of(row).filter(|_| row.cuda.is_some())?.line));
            }
            Self::FindRace => return Some(said(RaceQuestion::of(row)?.answer?)),
            Self::PredictValue => {
                return Some(said(tensor::spelled(ValueQuestion::of(row)?.value)));
            }
        };
        text.map(Cow::Borrowed)
    }

    /// Returns the id of a row's task, by which an answer may refer to the task.
    pub fn custom_id(self, row: u64) -> String {
        format!("{}/{row}", self.name())
    }

    /// Returns the task of a row as a line of JSON, or `None` if it doesn't exist for the row.
    pub fn prompt(self, row: &Row) -> Option<Value> {
        if !self.is_of(row) {
            return None;
        }
        let program = RowProgram::read(&row.source).ok()?;
        let mut question = format!("{}\n\n{}", self.request(row)?, self.interface(&program, row)?);
        if program.host.is_some() {
            question += &self.host_interface(row)?;
        }
        let (system, end) = match self.answered_in() {
            Language::Word => (
                "You read kernels for GPUs. End your reply with one line `answer: `, the answer behind it.",
                String::new(),
            ),
            language => (
                "You translate kernels for GPUs. Answer with one fenced code block that holds the whole text, and \
                 nothing else.",
                format!("\n\n```{}\n", language.fences()[0]),
            ),
        };
        Some(json!({
            "custom_id": self.custom_id(row.id),
            "row": row.id,
            "task": self.name(),
            "family": row.family,
            "split": row.split,
            "messages": [
                { "role": "system", "content": system },
                { "role": "user", "content": question },
            ],
            "prompt": format!("{question}{end}"),
        }))
    }

    /// Returns the question to the model, with the given text.
    fn request(self, row: &Row) -> Option<String> {
        let kernel = &row.kernel;
        let (kernels, which) = match row.launches_json {
            Some(_) if row.kernels.len() > 1 => {
                ("these kernels", format!("the kernels `{}`", row.kernels.join("`, `")))
            }
            Some(_) => ("this kernel", format!("the kernel `{}`", row.kernels[0])),
            None => ("this kernel", format!("the kernel `{kernel}`")),
        };
        let python = || fenced(Language::Python, &row.source);
        let cuda = || Some(fenced(Language::Cuda, row.cuda.as_deref()?));
        Some(match self {
            Self::PythonToCuda => {
                format!("Translate {which}, written in {DIALECT}, to CUDA C++.\n\n{}", python())
            }
            Self::PythonToCpp => {
                format!("Translate {which}, written in {DIALECT}, to C++17.\n\n{}", python())
            }
            Self::PythonToIr => format!(
                "Translate {which}, written in {DIALECT}, to the intermediate representation shown \
                 below.\n\n{}",
                python()
            ),
            Self::CudaToPython => {
                format!("Translate {which} from CUDA C++ to {DIALECT}.\n\n{}", cuda()?)
            }
            Self::ForwardToBackward => format!(
                "Write in CUDA C++ what computes the gradients of {which} in reverse mode.\n\n{}",
                cuda()?
            ),
            Self::DescriptionToPython => {
                format!("Write this kernel in {DIALECT}.\n\n{}", specification(row)?)
            }
            Self::DescriptionToCuda => {
                format!("Write {kernels} in CUDA C++.\n\n{}", specification(row)?)
            }
            Self::RepairPython | Self::RepairCuda | Self::FindBug => {
                self.request_about(&SeededBug::of(row)?, row)?
            }
            Self::FindRace => format!(
                "Do two threads of the kernel `{kernel}` touch one place in memory, one of them writing, and nothing \
                 orders them? In which line?\n\n{}",
                fenced(Language::Cuda, &RaceQuestion::of(row)?.numbered())
            ),
            Self::PredictValue => {
                let question = ValueQuestion::of(row)?;
                format!(
                    "The kernel `{kernel}`, written in {DIALECT}, is launched on a grid of {:?} threads with these \
                     inputs; arrays are row-major.\n\n{}\n\n{}\n\nWhich number is {}?",
                    row.launch_dims,
                    python(),
                    fenced(Language::Word, &question.inputs),
                    question.place
                )
            }
        })
    }

    /// Describes how the kernels of a row with host code are launched.
    fn host_interface(self, row: &Row) -> Option<String> {
        let host = row.source.find(&format!("\ndef {}(", row.kernel))?;
        let host = fenced(Language::Python, row.source[host..].trim_start());
        let order = match self {
            Self::ForwardToBackward => {
                " The reverses run in its place, from the last launch to the first, each on the memory that its \
                 launch left, with the kernel's arguments and their gradients."
            }
            _ => "",
        };
        let lines = match self.answered_in() {
            Language::Cuda => {
                " A kernel's line `// launch:` stands between its head and the head of the kernel before it."
            }
            _ => "",
        };
        Some(format!(
            "\n\nAnswer with all kernels and without the host code, which is given: it launches them by these names \
             with these arguments.{order}{lines}\n\n{host}"
        ))
    }

    /// Returns the question about a wrong kernel.
    fn request_about(self, bug: &SeededBug, row: &Row) -> Option<String> {
        let reason = &bug.counterexample;
        if self == Self::FindBug {
            return Some(format!(
                "This CUDA C++ kernel is right.\n\n{}\n\nThe same kernel in {DIALECT} has one operator, function or \
                 number that is wrong: on one input {reason}. In which line?\n\n{}",
                fenced(Language::Cuda, row.cuda.as_deref()?),
                fenced(Language::Python, &bug.numbered())
            ));
        }
        let given = match self.answered_in() {
            Language::Cuda => fenced(Language::Cuda, &bug.cuda(row)?),
            language => fenced(language, &bug.source),
        };
        Some(format!(
            "The kernel `{}` computes something wrong: on one input {reason}. One operator, function or number is not \
             what it should be. Write the right kernel.\n\n{given}",
            row.kernel
        ))
    }

    /// Returns the rules that an answer's code must keep so that it can be called.
    fn interface(self, program: &RowProgram, row: &Row) -> Option<String> {
        Some(match self {
            Self::PythonToCuda | Self::DescriptionToCuda | Self::RepairCuda => {
                cuda_interface(program, row, false)?
            }
            Self::PythonToCpp => {
                let text = signature(program, Dialect::Host, false)?;
                format!(
                    "Begin with `#include \"gbxcule.h\"` and put everything into `namespace program`. The kernel runs \
                     all threads of its launch: loop with\n\
                     `for (gbx::Thread thread(grid); thread.runs(); thread.next())` and ask `thread.index(0)` for what \
                     `wp.tid()` is.\n{ARRAYS}Export exactly these two functions, and define structs with these fields \
                     in this order:\n\n```cpp\n{text}\n```"
                )
            }
            Self::PythonToIr => format!(
                "The representation is a list of `struct`, `func` and `kernel`. A value is defined once, by \
                 `name = operation operands`; literals carry their types, as in `2.0f32` and `0i32`. Variables are \
                 declared first (`var x: f32`), read by `load`, written by `place = value`. For example,\n\n\
                 ```python\n{EXAMPLE}```\n\nis\n\n```ir\n{}```",
                RowProgram::read_forward(EXAMPLE).ok()?.emit(Texts::Cpu, 1).ir
            ),
            Self::CudaToPython | Self::RepairPython => PYTHON.into(),
            Self::DescriptionToPython => format!(
                "{PYTHON} Parameters have the order in which they are listed; `vec3f`, `vec2i` and the like are \
                 `wp.vec3f`, `wp.vec2i`."
            ),
            Self::ForwardToBackward => format!(
                "The gradients of what the kernel writes hold the gradients of the result with respect to it; add to \
                 the gradients of what it reads. A gradient of an array that it only reads may be absent: its pointer \
                 is null. {}",
                cuda_interface(program, row, true)?
            ),
            Self::FindBug => "End with one line, `answer: ` and the number of the line, as in `answer: 7`.".into(),
            Self::FindRace => "End with one line, `answer: no`, or `answer: ` and the number of the line of one of the \
                               two accesses, as in `answer: 7`."
                .into(),
            Self::PredictValue => "End with one line, `answer: ` and the number, as in `answer: 0.25`. A float may be \
                                   off by one part in a hundred, an integer by nothing; a bool is 0 or 1."
                .into(),
        })
    }
}

/// Returns the text of an answer that is a word.
fn said(word: impl std::fmt::Display) -> Cow<'static, str> {
    Cow::Owned(format!("answer: {word}"))
}

/// Returns the specification of a row, if it determines the results. A row that draws random
/// numbers depends on the generator as well.
fn specification(row: &Row) -> Option<&str> {
    row.specification.as_deref().filter(|_| !row.source.contains("wp.rand"))
}

/// Returns a fenced block of code.
fn fenced(language: Language, text: &str) -> String {
    format!("```{}\n{}\n```", language.fences()[0], text.trim_end())
}

impl FromStr for Task {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|task| task.name() == text).ok_or_else(|| {
            format!(
                "there is no task `{text}`: choose from {}",
                Self::ALL.map(Self::name).join(", ")
            )
        })
    }
}

const DIALECT: &str = "NVIDIA Warp's Python dialect";

const PYTHON: &str = "Write `import warp as wp`, each kernel as a `@wp.kernel` with the same parameters in the same order, `@wp.func` \
    for functions and `@wp.struct` for structs. `wp.tid()` gives the thread's index.";

const ARRAYS: &str = "Elements of `Array<T, N>` are `x(i, j)`, its extents `x.shape[0]`; atomic operations are \
                      `gbx::atomic_add(x(i), value)` and the like; `gbx::` has Warp's mathematics.\n";

const EXAMPLE: &str = "import warp as wp\n\n\n@wp.kernel\ndef scale(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
     i = wp.tid()\n    total = float(0.0)\n    for j in range(3):\n        total += x[i] * 2.0\n    if total > 1.0:\n        \
     y[i] = wp.sin(total)\n";

/// Describes everything that an answer in CUDA may use, and how it is launched.
fn cuda_interface(program: &RowProgram, row: &Row, backward: bool) -> Option<String> {
    let signature_text = signature(program, Dialect::Cuda, backward)?;
    let kernels = program.ranks(row.launch_dims.len());
    let mut parts = Vec::new();
    if let Some(head) =
        kernels.and_then(|kernels| raw_form::heads(&program.forward, &kernels, backward))
    {
        let gradients = if backward { "`grad_x` is the gradient of `x`. " } else { "" };
        parts.push(format!(
            "Kernels must have exactly the heads given here, with these structs:\n\n```cuda\n{head}\n```\n\n`dim0`, `dim1`, .. are \
             the extents of the launch: it computes what a thread of the given kernel does for each of its points, \
             the last extent fastest. Arrays are dense and row-major, `x_dim0`, .. are the extents of `x`. {gradients}\
             Extents differ from launch to launch, and may be 1 or 0."
        ));
    }
    let header = format!(
        "Begin with `#include \"gbxcule.h\"` and put everything into `namespace program`. Loop over the threads of \
         the launch with\n`for (gbx::Thread thread(grid); thread.runs(); thread.next())` and ask `thread.index(0)` for \
         what `wp.tid()` is.\n{ARRAYS}The gradient of an array `x` is the array `gbx::gradient(x)`, whose `data` is \
         null if there is none. Kernels must have exactly these heads, and structs have these fields in this \
         order:\n\n```cuda\n{signature_text}\n```"
    );
    parts.push(match parts.is_empty() {
        true => header,
        false => format!("Or use the header of the given text's language. {header}"),
    });
    parts.push(LAUNCH.into());
    Some(parts.join("\n\n"))
}

/// Facts that an answer in CUDA may rely on.
const LAUNCH: &str = "NVRTC compiles the text for sm_80 as C++17; no header is needed, and `cuda_fp16.h`, \
    `cuda_bf16.h`, `cooperative_groups.h`, `mma.h` and `cuda_pipeline.h` may be included. The kernel is launched as \
    `<<<blocks, threads>>>` of one dimension with any number of threads from 1 to 1024, or as many as \
    `__launch_bounds__` allow, and at least as many threads as points, often more. A text that needs another launch \
    says so in a comment of its own line, `// launch: <<<(dim0 + 255) / 256, 256>>>`, where each of the two may be \
    `dim3(x, y, z)`: integers, the kernel's integer parameters, `+ - * / %`, `min` and `max`; a third number is bytes \
    of dynamic shared memory. A block has 48 KiB of shared memory. Blocks run in any order, some to their end before others \
    begin. A race, a barrier in divergent code, a read of shared memory that no thread wrote, and an access outside \
    of an array are wrong, whatever the result.";

/// Returns the structs and heads of the functions that are called from outside, as the compiler
/// prints them.
fn signature(program: &RowProgram, dialect: Dialect, backward: bool) -> Option<String> {
    let (module, kernels) = match backward {
        false => (&program.forward, program.kernels()),
        true => {
            let reverse = program.reverse.as_ref().ok()?;
            (&reverse.module, reverse.kernels.clone())
        }
    };
    let text = program.write(module, *kernels.first()?, dialect);
    let mut parts: Vec<String> = module
        .types
        .structs()
        .iter()
        .filter_map(|(_, structure)| {
            cut(&text.source, &format!("struct {} {{", structure.name), "\n};\n")
        })
        .collect();
    let body = if dialect == Dialect::Host { ";" } else { " { .. }" };
    for entry in text.kernels.iter().filter(|it| kernels.contains(&it.kernel)) {
        let symbol = &entry.symbol;
        let head = match dialect {
            Dialect::Host => format!("static void {symbol}_range("),
            Dialect::Cuda => format!("extern \"C\" __global__ void {symbol}("),
        };
        let head = cut(&text.source, &head, ")\n{\n")?;
        parts.push(head.trim_end_matches("\n{\n").to_owned() + body);
    }
    if dialect == Dialect::Host {
        parts.push(cut(&text.source, "GBX_EXPORT", "\n}\n")?);
    }
    Some(parts.join("\n"))
}

/// Returns the part of a text from one mark to another, both included.
fn cut(text: &str, from: &str, to: &str) -> Option<String> {
    let begin = text.find(from)?;
    let end = text[begin..].find(to)?;
    Some(text[begin..begin + end + to.len()].to_owned())
}
