//! Answers files: JSON lines in gbxcule's own form, in the form of HumanEval's samples, or as
//! replies of the APIs for chats, completions and `responses`, single or in batches.
//!
//! ```json
//! {"row": 17, "task": "python-to-cuda", "answer": "..."}
//! {"task_id": "python-to-cuda/17", "completion": "..."}
//! {"custom_id": "python-to-cuda/17",
//!  "response": {"body": {"choices": [{"message": {"content": "..."}}]}}}
//! ```
//! Several lines or choices for one row and task are samples of one problem. A reply without text,
//! or one that was cut off, counts as wrong.

use crate::code_block::{code, word};
use crate::task::{Language, Task};
use gbxcule_rows::error::SynthError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Greatest number of bytes of an answers file.
const MAX_FILE_BYTES: u64 = 1 << 32;
/// Maximum of bad lines that an error lists.
const TOLD: usize = 10;

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Number of the row.
    pub row: u64,
    /// Task.
    pub task: Task,
    /// The whole text that the model wrote.
    pub text: String,
    /// Line of the file, from 1 on; 0 for an answer that the file does not contain.
    pub line: usize,
    /// Reason why the answer is absent or incomplete; it then counts as wrong.
    pub missing: Option<String>,
}

/// A line in any form.
#[derive(Deserialize)]
#[serde(expecting = "an answer as an object")]
struct Line {
    row: Option<u64>,
    task: Option<String>,
    answer: Option<Value>,
    custom_id: Option<String>,
    task_id: Option<String>,
    completion: Option<Value>,
    response: Option<Value>,
    error: Option<Value>,
    /// Fields of a response at the top level of the line.
    #[serde(flatten)]
    body: serde_json::Map<String, Value>,
}

/// The text of a reply, or the reason why it is missing.
type Reply = Result<String, String>;

/// Returns the text of a `content`: a string, or a list of parts with texts.
fn reply(content: &Value) -> Reply {
    match content {
        Value::String(text) => said(text.clone()),
        Value::Array(parts) => {
            said(parts.iter().filter_map(|part| part["text"].as_str()).collect())
        }
        _ => said(String::new()),
    }
}

/// Returns a text, if it is more than spaces.
fn said(text: String) -> Reply {
    if text.trim().is_empty() { Err("the reply has no text".into()) } else { Ok(text) }
}

/// Returns the replies in a body of one of the three APIs. An item of another shape counts as a
/// reply without a text.
fn replies(body: &Value) -> Vec<Reply> {
    let list = |name: &str| body[name].as_array().map_or(&[][..], Vec::as_slice);
    let of_choice = |it: &Value| match &it["text"] {
        _ if it["finish_reason"] == "length" => {
            Err("the reply was cut off (`finish_reason` is `length`)".into())
        }
        Value::String(text) if it["message"].is_null() => said(text.clone()),
        _ => reply(&it["message"]["content"]),
    };
    let mut replies: Vec<Reply> = list("choices").iter().map(of_choice).collect();
    if body["status"] == "incomplete" {
        replies.push(Err("the reply was cut off (`status` is `incomplete`)".into()));
    } else if body["stop_reason"] == "max_tokens" {
        replies.push(Err("the reply was cut off (`stop_reason` is `max_tokens`)".into()));
    } else if body["type"] == "message" {
        replies.push(reply(&body["content"]));
    } else if !list("output").is_empty() {
        // Items without a `content` are reasoning and tool calls.
        replies.push(said(list("output").iter().flat_map(|it| reply(&it["content"])).collect()));
    }
    replies
}

impl Line {
    /// Returns the task and the row that the line names; the error has a column and a message.
    fn question(&self, wanted: Option<Task>) -> Result<(Task, u64), (usize, String)> {
        let wrong = |reason: &str| (1, reason.to_owned());
        let id = self.custom_id.as_deref().or(self.task_id.as_deref()).and_then(|id| {
            let (task, row) = id.rsplit_once('/')?;
            Some((task, row.parse::<u64>().ok()?))
        });
        if let Some((task, row)) = id
            && (self.row.is_some_and(|it| it != row)
                || self.task.as_deref().is_some_and(|it| it != task))
        {
            return Err(wrong(
                "two questions: `row` and `task` differ from `custom_id` or `task_id`",
            ));
        }
        let row = self.row.or(id.map(|id| id.1)).ok_or_else(|| {
            wrong("no row: a line has `row`, or a `custom_id` or `task_id` such as `python-to-cuda/17`")
        })?;
        let task = match self.task.as_deref().or(id.map(|id| id.0)) {
            Some(name) => name.parse().map_err(|reason| (1, reason))?,
            None => wanted.ok_or_else(|| wrong("no `task`: name it here, or for all by --task"))?,
        };
        Ok((task, row))
    }

    /// Returns the line's replies, one for each sample.
    fn replies(&self) -> Vec<Reply> {
        if let Some(plain) = self.answer.as_ref().or(self.completion.as_ref()) {
            return vec![reply(plain)];
        }
        let whole_body = Value::Object(self.body.clone());
        let response = self.response.as_ref().unwrap_or(&whole_body);
        let body = if response["body"].is_null() { response } else { &response["body"] };
        let error = self.error.as_ref().or(body.get("error")).filter(|it| !it.is_null());
        let replies = replies(body);
        match error {
            Some(error) => vec![Err(format!("the request failed: {error}"))],
            None if replies.is_empty() => vec![Err("the line has no reply".into())],
            None => replies,
        }
    }
}

/// Errors of lines. Only the first errors are kept, and all are counted, because a file may have a
/// billion.
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

/// Reads a file. With a `task`, lines without a task count for this task, and lines of other tasks
/// are left out.
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
        return Err(SynthError::data(
            path,
            "there is no answer to these tasks in it: ask a model what `gbxcule synth tasks` writes",
        ));
    }
    Ok(answers)
}

/// Replaces lone surrogates in a line by U+FFFD. Programs that count in UTF-16 may cut a reply
/// within a character, and JSON allows such halves.
fn without_halves(line: &[u8]) -> Vec<u8> {
    let half = |at: usize| {
        let digits = line.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
        let number = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        matches!(number, 0xD800..=0xDFFF).then_some(number < 0xDC00)
    };
    let (mut whole, mut at) = (Vec::with_capacity(line.len()), 0);
    while at < line.len() {
        let (length, is_lone) = match (half(at), half(at + 6)) {
            (Some(true), Some(false)) => (12, false),
            (Some(_), _) => (6, true),
            // A backslash and the next byte belong together.
            (None, _) => (if line[at] == b'\\' { 2 } else { 1 }, false),
        };
        let end = (at + length).min(line.len());
        whole.extend_from_slice(if is_lone { b"\\uFFFD" } else { &line[at..end] });
        at = end;
    }
    whole
}

/// Returns the answers of a line; the error has a column and a message.
fn parse(bytes: &[u8], wanted: Option<Task>, line: usize) -> Result<Vec<Answer>, (usize, String)> {
    let found = serde_json::from_slice(bytes);
    let found: Result<Line, _> =
        found.or_else(|error| serde_json::from_slice(&without_halves(bytes)).map_err(|_| error));
    let found = found.map_err(|error| {
        let message = error.to_string();
        let at = format!(" at line {} column {}", error.line(), error.column());
        let message = message.strip_suffix(&at).unwrap_or(&message);
        let wanted =
            r#"a line is an object such as {"row": 3, "task": "python-to-ir", "answer": ".."}"#;
        (error.column().max(1), format!("{message}: {wanted}"))
    })?;
    let (task, row) = found.question(wanted)?;
    if wanted.is_some_and(|wanted| wanted != task) {
        return Ok(Vec::new());
    }
    let answer = |reply: Reply| match reply {
        Ok(text) => Answer::new(row, task, text, line),
        Err(reason) => {
            Answer { missing: Some(reason), ..Answer::new(row, task, String::new(), line) }
        }
    };
    Ok(found.replies().into_iter().map(answer).collect())
}

impl Answer {
    /// Makes an answer that has a text.
    pub fn new(row: u64, task: Task, text: String, line: usize) -> Self {
        Self { row, task, text, line, missing: None }
    }

    /// Returns the code or the word that the answer gives.
    pub fn code(&self) -> String {
        match self.task.answered_in() {
            Language::Word => word(&self.text),
            language => code(&self.text, language),
        }
    }
}

/// Reads the questions that were asked from a file that `tasks` wrote.
pub fn questions(path: &Path) -> Result<BTreeSet<(Task, u64)>, SynthError> {
    let text = gbxcule_files::read_text(path, MAX_FILE_BYTES).map_err(SynthError::file(path))?;
    let mut asked = BTreeSet::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        let question = serde_json::from_str(text)
            .map_err(|error| (error.column(), error.to_string()))
            .and_then(|line: Line| line.question(None));
        asked.insert(question.map_err(|(column, reason)| SynthError::Line {
            path: path.into(),
            line,
            column,
            reason,
        })?);
    }
    Ok(asked)
}

/// Adds missing answers, which count as wrong, until all questions of a task have the same number
/// of answers. So a file can't gain by leaving answers out.
pub fn complete(answers: &mut Vec<Answer>, asked: &BTreeSet<(Task, u64)>) {
    let mut counts: BTreeMap<(Task, u64), usize> = asked.iter().map(|it| (*it, 0)).collect();
    for answer in answers.iter() {
        *counts.entry((answer.task, answer.row)).or_default() += 1;
    }
    let mut most: BTreeMap<Task, usize> = BTreeMap::new();
    for ((task, _), count) in &counts {
        let most = most.entry(*task).or_insert(1);
        *most = (*most).max(*count);
    }
    for ((task, row), count) in counts {
        let missing = Some("the file has no answer to it".to_owned());
        let answer = Answer { missing, ..Answer::new(row, task, String::new(), 0) };
        answers.extend(std::iter::repeat_n(answer, most[&task] - count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("[1]", ":2:1: invalid type: sequence, expected an answer as an object"),
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
            (
                r#"{"custom_id": "python-to-ir/1", "row": 2, "answer": "a"}"#,
                ":2:1: two questions: ",
            ),
        ] {
            let said = said(&format!("{ours}\n{line}\n"));
            assert!(said.starts_with(reason), "{line}: {said}");
        }
        let many = said(&"nonsense\n".repeat(14));
        assert!(many.contains("\n:10:") && many.ends_with("\nand 4 lines more"), "{many}");
        // Only the listed errors are kept, however many there are.
        let mut bad = BadLines::default();
        (1..=1_000_000).for_each(|line| bad.add(line, 1, "no row".to_owned()));
        assert_eq!((bad.first.len(), bad.more), (TOLD, 1_000_000 - TOLD));
        assert!(said("\n").contains("there is no answer to these tasks in it"));
    }

    #[test]
    fn replies_of_every_form_are_read_and_what_is_missing_is_an_answer() {
        let of = |rest: &str| {
            let line = format!("{{\"custom_id\": \"python-to-ir/1\", {rest}}}");
            let answers = parse(line.as_bytes(), None, 1).expect("an answer");
            let all = answers.into_iter().map(|it| it.missing.map_or(Ok(it.text), Err));
            all.collect::<Vec<Reply>>()
        };
        let a = [Ok("a".to_owned())];
        let output = r#"{"output": [{"type": "reasoning"}, {"content": [{"text": "a"}]}]}"#;
        assert_eq!(of(r#""completion": "a""#), a);
        assert_eq!(of(r#""choices": [{"message": {"content": "a"}}]"#), a);
        assert_eq!(of(&format!(r#""response": {output}"#)), a);
        assert_eq!(of(&format!(r#""response": {{"status_code": 200, "body": {output}}}"#)), a);
        assert_eq!(of(r#""choices": [{"message": {"content": [{"text": "a"}]}}]"#), a);
        assert_eq!(of(r#""type": "message", "content": [{"type": "text", "text": "a"}]"#), a);
        for (written, read) in [
            (r"\ud83d", "\u{FFFD}"),
            (r"a\uDE00b\ud83d\ude00", "a\u{FFFD}b\u{1F600}"),
            (r"\\\ud83d\ud83d\\ud83d", "\\\u{FFFD}\u{FFFD}\\ud83d"),
        ] {
            assert_eq!(of(&format!("\"answer\": \"{written}\"")), [Ok(read.to_owned())]);
        }
        for (rest, reason) in [
            (r#""answer": 7"#, "no text"),
            (r#""answer": " \n""#, "no text"),
            (r#""type": "message", "content": []"#, "no text"),
            (
                r#""type": "message", "stop_reason": "max_tokens", "content": [{"text": "a"}]"#,
                "cut off",
            ),
            (r#""choices": [{"message": {"content": null}}]"#, "no text"),
            (r#""choices": [{"finish_reason": "length", "message": {"content": "a"}}]"#, "cut off"),
            (r#""response": {"body": {"status": "incomplete", "output": []}}"#, "cut off"),
            (r#""response": null, "error": {"code": "x"}"#, "the request failed: {\"code\""),
            (r#""response": {"body": {"error": {"code": "x"}}}"#, "the request failed"),
            (r#""response": {"body": {"choices": []}}"#, "no reply"),
            (r#""choices": null"#, "no reply"),
            (r#""output": null"#, "no reply"),
            (r#""choices": "a""#, "no reply"),
            (r#""choices": [null]"#, "no text"),
            (r#""choices": [{"message": "a"}]"#, "no text"),
            (r#""choices": [{"text": 7, "finish_reason": 7}]"#, "no text"),
            (r#""response": {"body": {"choices": null}}"#, "no reply"),
            (r#""response": "a""#, "no reply"),
            (r#""output": ["a", null]"#, "no text"),
            (r#""row": 1"#, "no reply"),
        ] {
            let said = of(rest);
            let is_told = matches!(&said[..], [Err(said)] if said.contains(reason));
            assert!(is_told, "{rest}: {said:?}");
        }
    }

    #[test]
    fn a_question_without_an_answer_has_a_missing_one_for_each_sample() {
        let answer = |row| Answer::new(row, Task::PythonToIr, "a".into(), 1);
        let mut answers = vec![answer(1), answer(1), answer(2)];
        complete(&mut answers, &[(Task::PythonToIr, 1), (Task::PythonToIr, 3)].into());
        let missing: Vec<u64> =
            answers.iter().filter(|it| it.missing.is_some()).map(|it| it.row).collect();
        assert_eq!(missing, [2, 3, 3]);
    }
}
