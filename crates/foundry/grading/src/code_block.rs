//! Finds the code in an answer: removes reasoning, tags, fences and the text around the code.
//! `docs/grading.md` states the rules.

use crate::task::Language;

/// Tags around a model's reasoning.
const THOUGHTS: [&str; 3] = ["think", "thinking", "reasoning"];
/// Tags around code in answers without a fence.
const TAGS: [&str; 8] = ["code", "answer", "solution", "kernel", "cuda", "cpp", "python", "ir"];

/// Beginning of the line that gives a word as the answer.
const ANSWER: &str = "answer:";
/// Characters that may surround a word: spaces and Markdown's.
const DECORATION: &[char] = &[' ', '\t', '\r', '\n', '*', '`', '$', '#'];

/// Returns the code of an answer in a language.
pub(crate) fn code(answer: &str, language: Language) -> String {
    let text = without_thoughts(answer);
    let blocks = blocks(&text);
    let is_in_language =
        |block: &&Block<'_>| language.fences().contains(&&*block.language.to_ascii_lowercase());
    let defines = |block: &&Block<'_>| block.text.contains(language.mark());
    // A later block that only calls the kernel is not the answer.
    let chosen = blocks
        .iter()
        .rev()
        .find(|it| is_in_language(it) && defines(it))
        .or(blocks.iter().rev().find(is_in_language))
        .or(blocks.iter().rev().find(defines))
        .or(blocks.last());
    match chosen {
        Some(block) => block.text.to_owned(),
        None => tagged(&text).unwrap_or(&text).to_owned(),
    }
}

/// Returns the word, line or number that an answer gives: the text after the last `answer:` at the
/// beginning of a line, else the text between tags, else the whole answer.
pub(crate) fn word(answer: &str) -> String {
    let text = without_thoughts(answer);
    let said = |line: &str| {
        let line = line.trim_matches(DECORATION);
        let (mark, word) = (line.get(..ANSWER.len())?, line.get(ANSWER.len()..)?);
        mark.eq_ignore_ascii_case(ANSWER).then(|| word.to_owned())
    };
    let word = text.lines().rev().find_map(said);
    let word = word.as_deref().or_else(|| tagged(&text)).unwrap_or(&text);
    // A trailing point ends a sentence; a leading point may belong to a number.
    let word = word.trim_matches(DECORATION).trim_end_matches('.');
    word.trim_matches(DECORATION).to_owned()
}

/// Removes the reasoning between tags. Without a closing tag, all text after the opening tag is
/// removed. Without an opening tag, which some models' prompts end with, all text before the
/// closing tag is removed.
fn without_thoughts(answer: &str) -> String {
    THOUGHTS.iter().fold(answer.to_owned(), |text, tag| without_thoughts_of(tag, &text))
}

/// Removes the reasoning between tags of one name, in a single pass, because a text may have
/// 100,000 tags.
fn without_thoughts_of(tag: &str, text: &str) -> String {
    let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
    let (mut words, mut from, mut is_thought) = (String::new(), 0, false);
    for (at, _) in text.match_indices('<') {
        if text[at..].starts_with(&end) {
            if !is_thought {
                words.clear();
            }
            (from, is_thought) = (at + end.len(), false);
        } else if !is_thought && text[at..].starts_with(&begin) {
            words += &text[from..at];
            is_thought = true;
        }
    }
    if !is_thought {
        words += &text[from..];
    }
    words
}

/// Returns the text between the last pair of tags around code.
fn tagged(text: &str) -> Option<&str> {
    let pair = |tag: &&str| {
        let from = text.rfind(&format!("<{tag}>"))? + tag.len() + 2;
        let to = text[from..].find(&format!("</{tag}>"))? + from;
        Some((from, to))
    };
    let (from, to) = TAGS.iter().filter_map(pair).max_by_key(|pair| pair.0)?;
    Some(text[from..to].trim_start_matches('\n'))
}

/// A fenced block.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

/// Returns the character and the length of a fence, and the text after the fence.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let line = line.trim_start();
    let sign = line.chars().next().filter(|it| "`~".contains(*it))?;
    let behind = line.trim_start_matches(sign);
    let length = line.len() - behind.len();
    (length >= 3).then_some((sign, length, behind))
}

/// Returns the fenced blocks of a text; the last block may lack its closing fence.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let (mut blocks, mut open, mut at) = (Vec::new(), None, 0);
    let mut first_fence = None;
    for line in text.split_inclusive('\n') {
        let begin = at;
        at += line.len();
        let Some((sign, length, behind)) = fence(line) else { continue };
        match open {
            None => {
                let language = behind.split_whitespace().next().unwrap_or_default();
                first_fence.get_or_insert((begin, language));
                open = Some((language, sign, length, at));
            }
            Some((language, own, least, from))
                if behind.trim_end().is_empty() && sign == own && length >= least =>
            {
                blocks.push(Block { language, text: &text[from..begin] });
                open = None;
            }
            // A fence inside a block belongs to the block.
            Some(_) => {}
        }
    }
    match (open, first_fence) {
        // The prompt ended with an opening fence, so this fence closes the block.
        (Some(_), Some((begin, ""))) if blocks.is_empty() && !text[..begin].trim().is_empty() => {
            blocks.push(Block { language: "", text: &text[..begin] });
        }
        (Some((language, _, _, from)), _) => blocks.push(Block { language, text: &text[from..] }),
        (None, _) => {}
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cuda(text: &str) -> String {
        code(text, Language::Cuda)
    }

    #[test]
    fn the_code_is_what_the_fences_hold() {
        assert_eq!(cuda("int x;\n"), "int x;\n");
        assert_eq!(cuda("Here:\n```cuda\nint x;\n```\nDone."), "int x;\n");
        assert_eq!(cuda("```python\nx\n```\n```CUDA\nint y;\n```\n```bash\nmake\n```"), "int y;\n");
        assert_eq!(cuda("```\na\n```\nno, better\n```\nb\n```"), "b\n");
        assert_eq!(cuda("```cuda\nint cut_off"), "int cut_off");
        assert_eq!(cuda("int x;\n```\nThat's it."), "int x;\n");
        assert_eq!(cuda("  ```cu\n  int x;\n  ```"), "  int x;\n");
        assert_eq!(cuda("~~~cuda\nint x; // ```\n~~~\n"), "int x; // ```\n");
        assert_eq!(cuda("````cuda\nint x;\n```\ny\n````\n"), "int x;\n```\ny\n");
        assert_eq!(cuda(""), "");
    }

    #[test]
    fn thoughts_tags_and_uses_of_the_kernel_are_left_out() {
        let kernel = "__global__ void k() {}\n";
        let fenced = format!("```cuda\n{kernel}```\n");
        assert_eq!(cuda(&format!("<think>```cuda\nint wrong;\n```</think>\n{fenced}")), kernel);
        assert_eq!(cuda(&format!("so ```cuda\nno\n```</think>{fenced}")), kernel);
        assert_eq!(cuda(&format!("<think>I don't end. {fenced}")), "");
        assert_eq!(cuda(&format!("{fenced}Use it so:\n```cuda\nk<<<1, 32>>>();\n```\n")), kernel);
        let twice = format!("<think>a<think>b</think>{fenced}<think>c</think>");
        assert_eq!(cuda(&twice), kernel);
        let many = "<think>".repeat(50_000) + &"</think>".repeat(50_000);
        assert_eq!(cuda(&format!("{many}{fenced}")), kernel);
        assert_eq!(cuda(&format!("Well: <answer>\n{kernel}</answer> Done.")), kernel);
        assert_eq!(cuda(&format!("<answer>\n{fenced}</answer>")), kernel);
        let python = "@wp.kernel\ndef k(): pass\n";
        let used = format!("```python\n{python}```\n```python\nwp.launch(k, 1)\n```");
        assert_eq!(code(&used, Language::Python), python);
    }

    #[test]
    fn a_word_stands_in_the_last_line_that_says_answer() {
        for text in [
            "0.25",
            "answer: 0.25",
            "```python\nx\n```\n**Answer:** `0.25`.\n",
            "answer: 3\nNo:\n```text\nanswer: 0.25\n```",
            "<think>answer: 1</think>\nIt is <answer>0.25</answer>",
        ] {
            assert_eq!(word(text), "0.25", "{text}");
        }
        assert_eq!(word("answer: line 7"), "line 7");
        assert_eq!(word("answer: .5"), ".5");
        assert_eq!(word("answer: ünd"), "ünd");
    }
}
