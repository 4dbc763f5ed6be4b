//! Answers files: JSON lines, in the form of this program or in that of OpenAI's batches.
//!
//! ```json
//! {"row": 17, "task": "python-to-cuda", "answer": "..."}
//! {"custom_id": "python-to-cuda/17",
//!  "response": {"body": {"choices": [{"message": {"content": "..."}}]}}}
//! ```
//! Several lines, or choices, about one row and task are samples of one problem.

use crate::task::Task;
use gbxcule_rows::error::SynthError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeSet;
use std::path::Path;

/// Bytes of an answers file, at most.
const MAX_FILE_BYTES: u64 = 1 << 32;
/// Bad lines that one error tells of.
const TOLD: usize = 10;

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Number of the row.
    pub row: u64,
    /// Task.
    pub task: Task,
    /// Everything that the model wrote.
    pub text: String,
    /// Line of the file, from 1.
    pub line: usize,
}

/// A line in either form.
#[derive(Deserialize)]
#[serde(expecting = "an answer as an object")]
struct Line {
    row: Option<u64>,
    task: Option<String>,
    answer: Option<String>,
    custom_id: Option<String>,
    response: Option<Response>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Response {
    body: Body,
}

#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Option<Message>,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

/// Lines that are no answers. A file may hold a billion: the first are kept, the others counted.
#[derive(Default)]
struct BadLines {
    first: Vec<(usize, usize, String)>,
    more: usize,
}

impl BadLines {
    fn add(&mut self, line: usize, column: usize, reason: String) {
        if self.first.len() < TOLD {
            self.first.push((line, column, reason));
        } else {
            self.more += 1;
        }
    }

    fn error(self, path: &Path) -> Option<SynthError> {
        let mut lines = self.first.into_iter();
        let (line, column, mut reason) = lines.next()?;
        for (line, column, other) in lines {
            reason += &format!("\n{}:{line}:{column}: {other}", path.display());
        }
        if self.more > 0 {
            reason += &format!("\nand {} lines more", self.more);
        }
        Some(SynthError::Line { path: path.into(), line, column, reason })
    }
}

/// Reads a file. Lines without a task are about `task`; if there is one, lines about another are
/// left out.
pub fn read(
    path: &Path,
    task: Option<Task>,
    rows: &BTreeSet<u64>,
) -> Result<Vec<Answer>, SynthError> {
    let bytes = gbxcule_files::read(path, MAX_FILE_BYTES).map_err(SynthError::file(path))?;
    let (mut answers, mut bad) = (Vec::new(), BadLines::default());
    for (line, bytes) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match parse(bytes, task, line) {
            Ok(found) => match found.first().filter(|it| !rows.contains(&it.row)) {
                Some(answer) => bad.add(line, 1, format!("the dataset has no row {}", answer.row)),
                None => answers.extend(found),
            },
            Err((column, reason)) => bad.add(line, column, reason),
        }
    }
    if let Some(error) = bad.error(path) {
        return Err(error);
    }
    if answers.is_empty() {
        return Err(SynthError::data(path, "there is no answer to these tasks in it"));
    }
    Ok(answers)
}

/// The answers of a line, or a column and what is wrong there.
fn parse(bytes: &[u8], wanted: Option<Task>, line: usize) -> Result<Vec<Answer>, (usize, String)> {
    let found: Line = serde_json::from_slice(bytes).map_err(|error| {
        let message = error.to_string();
        let at = format!(" at line {} column {}", error.line(), error.column());
        (error.column().max(1), message.strip_suffix(&at).unwrap_or(&message).to_owned())
    })?;
    let wrong = |reason: &str| (1, reason.to_owned());
    let id = found.custom_id.as_deref().and_then(|id| {
        let (task, row) = id.rsplit_once('/')?;
        Some((task.to_owned(), row.parse::<u64>().ok()?))
    });
    let row = found.row.or(id.as_ref().map(|id| id.1));
    let row = row.ok_or_else(|| {
        wrong("no row: a line has `row`, or a `custom_id` such as `python-to-cuda/17`")
    })?;
    let task = match found.task.or(id.map(|id| id.0)) {
        Some(name) => name.parse().map_err(|reason| (1, reason))?,
        None => wanted.ok_or_else(|| wrong("no `task`: name it here, or for all by --task"))?,
    };
    if wanted.is_some_and(|wanted| wanted != task) {
        return Ok(Vec::new());
    }
    let texts: Vec<String> = match (found.answer, found.response) {
        (Some(answer), _) => vec![answer],
        (None, Some(response)) => response
            .body
            .choices
            .into_iter()
            .filter_map(|it| it.message.and_then(|message| message.content).or(it.text))
            .collect(),
        (None, None) if found.error.is_some() => {
            return Err(wrong("the request failed, and there is no answer: ask again"));
        }
        (None, None) => Vec::new(),
    };
    if texts.is_empty() {
        return Err(wrong("no `answer`, and no `response` with a choice that has a content"));
    }
    Ok(texts.into_iter().map(|text| Answer { row, task, text, line }).collect())
}

impl Answer {
    /// The code of the answer: the last fenced block in the task's language, else the last block,
    /// else everything. A text that only ends with a fence goes on where a prompt's fence began it.
    pub fn code(&self) -> &str {
        let fences = self.task.answered_in().fences();
        let blocks = blocks(&self.text);
        let own = |block: &&Block<'_>| fences.contains(&&*block.language.to_ascii_lowercase());
        blocks.iter().rev().find(own).or(blocks.last()).map_or(&self.text, |block| block.text)
    }
}

/// A fenced block.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

/// The fenced blocks of a text; the last may have no end.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut at) = (Vec::new(), None, 0);
    let mut first_fence = None;
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let Some(behind) = line.trim_start().strip_prefix("```") else { continue };
        match open {
            None => {
                let language = behind.split_whitespace().next().unwrap_or_default();
                first_fence.get_or_insert((begin, language));
                open = Some((language, at));
            }
            Some((language, from)) if behind.trim_end().is_empty() => {
                blocks.push(Block { language, text: &text[from..begin] });
                open = None;
            }
            // A block that begins inside of another one is part of it.
            Some(_) => {}
        }
    }
    match (open, first_fence) {
        // The answer to a prompt that ends with an open fence.
        (Some(_), Some((begin, ""))) if blocks.is_empty() && !text[..begin].trim().is_empty() => {
            blocks.push(Block { language: "", text: &text[..begin] });
        }
        (Some((language, from)), _) => blocks.push(Block { language, text: &text[from..] }),
        (None, _) => {}
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let answer = Answer { row: 0, task: Task::PythonToCuda, text: text.into(), line: 1 };
        answer.code().to_owned()
    }

    #[test]
    fn the_code_is_what_the_fences_hold() {
        assert_eq!(code("int x;\n"), "int x;\n");
        assert_eq!(code("Here:\n```cuda\nint x;\n```\nDone."), "int x;\n");
        assert_eq!(code("```python\nx\n```\n```CUDA\nint y;\n```\n```bash\nmake\n```"), "int y;\n");
        assert_eq!(code("```\na\n```\nno, better\n```\nb\n```"), "b\n");
        assert_eq!(code("```cuda\nint cut_off"), "int cut_off");
        assert_eq!(code("int x;\n```\nThat's it."), "int x;\n");
        assert_eq!(code("  ```cu\n  int x;\n  ```"), "  int x;\n");
        assert_eq!(code(""), "");
    }

    fn said(text: &str) -> String {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("its bytes");
        let name = file.path().display().to_string();
        match read(file.path(), None, &BTreeSet::from([1, 2])) {
            Ok(answers) => {
                format!("{:?}", answers.iter().map(|it| (it.row, &*it.text)).collect::<Vec<_>>())
            }
            Err(error) => error.to_string().replace(&name, ""),
        }
    }

    #[test]
    fn both_forms_of_lines_are_read_and_bad_ones_are_named() {
        let ours = r#"{"row": 1, "task": "python-to-ir", "answer": "a"}"#;
        let theirs = r#"{"id": "x", "custom_id": "python-to-ir/2", "response": {"status_code": 200, "body": {"choices": [{"message": {"role": "assistant", "content": "b"}}, {"text": "c"}]}}, "error": null}"#;
        assert_eq!(said(&format!("{ours}\n\n{theirs}\n")), r#"[(1, "a"), (2, "b"), (2, "c")]"#);
        for (line, reason) in [
            ("{", ":2:1: EOF while parsing an object"),
            ("[1]", ":2:3: invalid length 1, expected an answer as an object"),
            (r#"{"row": "1"}"#, ":2:11: invalid type: string \"1\", expected u64"),
            (
                r#"{"row": 3, "task": "python-to-ir", "answer": ""}"#,
                ":2:1: the dataset has no row 3",
            ),
            (
                r#"{"row": 1, "task": "to-cuda", "answer": ""}"#,
                ":2:1: there is no task `to-cuda`: choose",
            ),
            (r#"{"row": 1, "answer": ""}"#, ":2:1: no `task`: name it here"),
            (r#"{"task": "python-to-ir", "answer": ""}"#, ":2:1: no row: "),
            (r#"{"row": 1, "task": "python-to-ir"}"#, ":2:1: no `answer`, and no `response`"),
            (
                r#"{"custom_id": "python-to-ir/1", "response": null, "error": {"code": "x"}}"#,
                ":2:1: the request failed",
            ),
        ] {
            let said = said(&format!("{ours}\n{line}\n"));
            assert!(said.starts_with(reason), "{line}: {said}");
        }
        let many = said(&"nonsense\n".repeat(14));
        assert!(many.contains("\n:10:") && many.ends_with("\nand 4 lines more"), "{many}");
        // Of a billion bad lines as many are kept as are told.
        let mut bad = BadLines::default();
        (1..=1_000_000).for_each(|line| bad.add(line, 1, "no row".to_owned()));
        assert_eq!((bad.first.len(), bad.more), (TOLD, 1_000_000 - TOLD));
        assert!(said("\n").ends_with("there is no answer to these tasks in it"));
    }
}
