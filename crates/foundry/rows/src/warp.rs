//! NVIDIA Warp in a child process, `python -m gbxcule.oracle warp`, which compiles rows and returns
//! its results and gradients.
//!
//! Several rows share a text, because each text costs a run of clang: the row's number is added to
//! each name that a row defines. If a text is refused, its rows are halved until the refused row is
//! found.

use crate::error::SynthError;
use crate::structure::{Token, tokens};
use gbxcule_files::TemporaryFolder;
use gbxcule_oracle::{OracleError, Python, RestartingOracle};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// Greatest time until a child with Warp answers. The child itself ends a command after 300 s.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(330);

/// A question to Warp about a row.
pub(crate) struct Question<'a> {
    pub(crate) source: &'a str,
    pub(crate) kernel: &'a str,
    pub(crate) dims: &'a [u32],
    /// Bytes and, for an array, shape and gradient of each argument.
    pub(crate) arguments: Vec<WarpArgument<'a>>,
}

/// An argument of a question.
pub(crate) struct WarpArgument<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) array: Option<(&'a [u32], &'a [u8])>,
    /// Number of the parameter and names of its fields, if this is a part of a struct with arrays.
    pub(crate) part: Option<(usize, Vec<String>)>,
}

/// Contents of the arrays after Warp's run, in order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WarpAnswer {
    pub(crate) data: Vec<Vec<u8>>,
    pub(crate) gradients: Vec<Vec<u8>>,
}

/// Returns one answer, or error, for each question.
pub(crate) fn ask(
    python: &Python,
    questions: &[Question<'_>],
) -> Result<Vec<Result<WarpAnswer, String>>, SynthError> {
    // Warp executes a row's source as Python, so it runs in the sandbox.
    let parent = std::env::temp_dir();
    let folder = TemporaryFolder::inside(&parent).map_err(SynthError::file(&parent))?;
    let mut warp = Warp(RestartingOracle::confined("warp", python.clone(), folder.path()));
    warp.0.call(&json!({"command": "hello"}), b"", ANSWER_LIMIT)?;
    Ok(questions.chunks(12).flat_map(|part| warp.ask(part)).collect())
}

struct Warp(RestartingOracle);

impl Warp {
    fn ask(&mut self, questions: &[Question<'_>]) -> Vec<Result<WarpAnswer, String>> {
        let error = match self.answers(questions) {
            Ok(answers) => return answers.into_iter().map(Ok).collect(),
            Err(error) => error,
        };
        if questions.len() == 1 {
            return vec![Err(error)];
        }
        let (left, right) = questions.split_at(questions.len() / 2);
        let mut answers = self.ask(left);
        answers.extend(self.ask(right));
        answers
    }

    fn answers(&mut self, questions: &[Question<'_>]) -> Result<Vec<WarpAnswer>, String> {
        let source = together(questions);
        let data = self.launches("run", &source, questions)?;
        let gradients = self.launches("backward", &source, questions)?;
        Ok(data
            .into_iter()
            .zip(gradients)
            .map(|(data, gradients)| WarpAnswer { data, gradients })
            .collect())
    }

    /// Returns the arrays of each question after its launch, or their gradients.
    fn launches(
        &mut self,
        command: &str,
        source: &str,
        questions: &[Question<'_>],
    ) -> Result<Vec<Vec<Vec<u8>>>, String> {
        let backward = command == "backward";
        let mut payload = Vec::new();
        let launches: Vec<Value> = questions
            .iter()
            .enumerate()
            .map(|(number, question)| {
                let arguments: Vec<Value> = question
                    .arguments
                    .iter()
                    .map(|argument| {
                        payload.extend(argument.bytes);
                        let mut described = json!({"bytes": argument.bytes.len()});
                        if let Some((of, path)) = &argument.part {
                            described["of"] = json!(of);
                            described["path"] = json!(path);
                        }
                        if let Some((shape, gradient)) = argument.array {
                            described["shape"] = json!(shape);
                            payload.extend(gradient.iter().filter(|_| backward));
                        }
                        described
                    })
                    .collect();
                let kernel = numbered(question.kernel, number);
                json!({"kernel": kernel, "dims": question.dims, "arguments": arguments})
            })
            .collect();
        // Both commands compile the same text, so Warp compiles it once.
        let header =
            json!({"command": command, "source": source, "backward": true, "launches": launches});
        let described = |error: OracleError| match error {
            OracleError::Refused { message, .. } => message,
            other => other.to_string(),
        };
        let answer = self.0.call(&header, &payload, ANSWER_LIMIT).map_err(described)?;
        let problems =
            answer.header["errors"].as_array().into_iter().flatten().filter_map(Value::as_str);
        if let Some(problem) = problems.into_iter().find(|problem| !problem.is_empty()) {
            return Err(problem.to_owned());
        }
        let mut unread = answer.payload.as_slice();
        let arrays = questions.iter().map(|question| {
            let arrays = question.arguments.iter().filter(|argument| argument.array.is_some());
            arrays
                .map(|argument| take(&mut unread, argument.bytes.len()))
                .collect::<Option<Vec<_>>>()
        });
        arrays.collect::<Option<Vec<_>>>().ok_or_else(|| "Warp's answer is short".to_owned())
    }
}

fn take(unread: &mut &[u8], len: usize) -> Option<Vec<u8>> {
    let (taken, left) = unread.split_at_checked(len)?;
    *unread = left;
    Some(taken.to_vec())
}

fn numbered(name: &str, number: usize) -> String {
    format!("{name}_row{number}")
}

/// Returns one text with the kernels of all questions. Products are rounded before they are added,
/// as in all other runs.
fn together(questions: &[Question<'_>]) -> String {
    let mut text =
        String::from("import warp as wp\n\nwp.set_module_options({\"fuse_fp\": False})\n");
    for (number, question) in questions.iter().enumerate() {
        text += &renamed(question.source, number).replace("import warp as wp\n", "");
    }
    text
}

/// Returns the text with a number after every name that it defines at its top level.
fn renamed(source: &str, number: usize) -> String {
    let all = tokens(source);
    let mut defined: HashSet<&str> = HashSet::new();
    for at in 1..all.len() {
        let Token::Name(name, false) = all[at].1 else { continue };
        let margin = matches!(all[at - 1].1, Token::Line(0));
        let defines = at >= 2
            && matches!(all[at - 1].1, Token::Name("def" | "class", false))
            && matches!(all[at - 2].1, Token::Line(0));
        let is_constant = margin && matches!(all.get(at + 1), Some((_, Token::Mark("="))));
        if defines || is_constant {
            defined.insert(name);
        }
    }
    let (mut text, mut end) = (String::with_capacity(source.len()), 0);
    for &(at, token) in &all {
        if let Token::Name(name, false) = token
            && defined.contains(name)
        {
            text += &source[end..at];
            text += &numbered(name, number);
            end = at + name.len();
        }
    }
    text + &source[end..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_text_defines_are_renamed_and_no_others() {
        let source = "LIMIT = wp.constant(0.5)\n@wp.func\ndef f(x: float):\n    return x * LIMIT\n@wp.kernel\ndef k(f_in: wp.array(dtype=float)):\n    f_in[0] = f(f_in[1]) + wp.f\n";
        let wanted = source
            .replace("LIMIT", "LIMIT_row3")
            .replace("def f(", "def f_row3(")
            .replace("= f(", "= f_row3(")
            .replace("def k(", "def k_row3(");
        assert_eq!(renamed(source, 3), wanted);
    }
}
