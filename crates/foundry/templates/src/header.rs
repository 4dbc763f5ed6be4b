//! Headers of the library's files: the facts that templates and compositions share.

use crate::expression::Expression;
use crate::parameter::Parameter;
use crate::style::Style;
use gbxcule_grammar::random::seed;

/// A word that is chosen for each instance.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) key: String,
    pub(crate) words: Vec<String>,
}

/// A size: its value in the row's launch, and in real use.
#[derive(Clone, Debug)]
pub(crate) struct Size {
    pub(crate) name: String,
    pub(crate) small: Expression,
    pub(crate) real: Expression,
}

/// Facts of a template or a composition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Header {
    pub(crate) title: String,
    pub(crate) about: String,
    /// Choices that change the text's structure: each combination gives another kernel.
    pub(crate) choices: Vec<Choice>,
    pub(crate) sizes: Vec<Size>,
    /// Parameters; those of a composition replace its templates' parameters.
    pub(crate) parameters: Vec<Parameter>,
}

/// Key, name and value of a line such as `vary steps: 3 5`.
type Fact<'a> = (&'a str, &'a str, &'a str);

impl Header {
    /// Reads a line, or returns its fact if only templates or only compositions have its key.
    pub(crate) fn read<'a>(&mut self, line: &'a str) -> Result<Option<Fact<'a>>, String> {
        let first = line.split_whitespace().next().unwrap_or_default();
        if matches!(first, "in" | "out" | "inout" | "add") {
            self.parameters.push(Parameter::parse(line)?);
            return Ok(None);
        }
        let (key, name, value) = fact(line)?;
        match key {
            "title" => self.title = value.into(),
            "about" => push_words(&mut self.about, value),
            "vary" => self.choices.push(choice(name, value)),
            "size" => self.sizes.push(size(name, value)?),
            _ => return Ok(Some((key, name, value))),
        }
        Ok(None)
    }

    /// Returns true if the title or the description is missing.
    pub(crate) fn lacks_words(&self) -> bool {
        self.title.is_empty() || self.about.is_empty()
    }

    /// Returns the number of combinations of choices.
    pub(crate) fn combinations(&self) -> usize {
        self.choices.iter().map(|it| it.words.len()).product()
    }

    /// Returns the combination and the style of instance `number`, or `None` if there are fewer
    /// instances.
    pub(crate) fn combination_and_style(&self, number: u64, stream: u64) -> Option<(u64, Style)> {
        let combinations = self.combinations() as u64;
        let round = number / combinations;
        let combination = (number + stream % combinations) % combinations;
        Some((combination, Style::draw(seed(stream, 1 << 32 | combination), round)?))
    }

    /// Returns the words of a combination, each with the key of its choice.
    pub(crate) fn chosen(&self, combination: u64) -> Vec<(&str, &str)> {
        let mut left = combination;
        let mut chosen: Vec<(&str, &str)> = Vec::new();
        for choice in &self.choices {
            let count = choice.words.len() as u64;
            chosen.push((&choice.key, &choice.words[(left % count) as usize]));
            left /= count;
        }
        chosen
    }
}

/// Splits a file of the library into the lines of its header and its body.
pub(crate) fn header_and_body(text: &str) -> Result<(impl Iterator<Item = &str>, &str), String> {
    let (header, body) =
        text.split_once("\n---\n").ok_or("there is no line `---` below the header")?;
    Ok((header.lines().filter(|line| !line.trim().is_empty()), body))
}

/// Splits a line into key, name and value.
fn fact(line: &str) -> Result<Fact<'_>, String> {
    let (key, value) =
        line.split_once(':').ok_or_else(|| format!("`{line}` is no fact: write `key: value`"))?;
    let (key, name) = key.split_once(' ').unwrap_or((key, ""));
    Ok((key, name, value.trim()))
}

fn push_words(text: &mut String, words: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(words);
}

/// Reads a choice from its words.
pub(crate) fn choice(key: &str, words: &str) -> Choice {
    Choice { key: key.into(), words: words.split_whitespace().map(str::to_owned).collect() }
}

/// Reads a size: its value in the row's launch, and in real use.
fn size(name: &str, text: &str) -> Result<Size, String> {
    let (small, real) = text.split_once(' ').unwrap_or((text, text));
    let (small, real) = (Expression::parse(small)?, Expression::parse(real)?);
    Ok(Size { name: name.into(), small, real })
}
