//! A template, read from a file of the library.
//!
//! A file is a header, a line `---`, and the text of a Python file with holes. The header has one
//! fact a line, `key: value`; [`Template::parse`] knows the keys, and `README.md` describes them.

use crate::condition::Condition;
use crate::expression::Expression;
use crate::header::{Choice, Header, choice, header_and_body};

/// A sentence of the descriptions, used if its condition holds.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    pub(crate) condition: Condition,
    /// Words for the description of one line.
    pub(crate) phrase: String,
    pub(crate) text: String,
}

/// A line of the text.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) condition: Condition,
}

/// A named algorithm.
#[derive(Clone, Debug, Default)]
pub struct Template {
    /// Name of the algorithm, and of the kernel in the text.
    pub name: String,
    /// Names that the kernel has instead for some choices.
    pub(crate) kernel_names: Vec<(Condition, String)>,
    /// Field of the algorithm.
    pub topic: String,
    pub(crate) header: Header,
    /// Rules that follow from choices, such as those of boundaries.
    pub(crate) rules: Vec<Sentence>,
    pub(crate) edges: Vec<Sentence>,
    /// Choices of names or numbers.
    pub(crate) draws: Vec<Choice>,
    /// Texts of holes.
    pub(crate) texts: Vec<(String, Condition, String)>,
    pub(crate) launch: Vec<Expression>,
    /// Threads of a block in each dimension, in real use.
    pub(crate) block: Vec<u32>,
    /// True if threads beyond the data may return at once.
    pub(crate) is_guarded: bool,
    pub(crate) lines: Vec<Line>,
}

impl Template {
    /// Reads a file of the library.
    pub fn parse(topic: &str, name: &str, text: &str) -> Result<Self, String> {
        let fault = |reason: String| format!("{topic}/{name}: {reason}");
        let (header, body) = header_and_body(text).map_err(fault)?;
        let mut template =
            Self { name: name.into(), topic: topic.into(), is_guarded: true, ..Self::default() };
        for line in header {
            template.read_fact(line).map_err(fault)?;
        }
        for line in body.lines() {
            let (text, condition) = line.split_once("#?").unwrap_or((line, ""));
            let condition = Condition::parse(condition).map_err(fault)?;
            template.lines.push(Line { text: text.trim_end().into(), condition });
        }
        if template.block.is_empty() {
            template.block = match template.launch.len() {
                1 => vec![256],
                2 => vec![16, 16],
                _ => vec![8, 8, 4],
            };
        }
        template.check().map_err(fault)?;
        template.drop_taken_names();
        Ok(template)
    }

    fn read_fact(&mut self, line: &str) -> Result<(), String> {
        let Some((key, own, value)) = self.header.read(line)? else { return Ok(()) };
        match key {
            "say" => self.rules.push(sentence(own, value)?),
            "edge" => self.edges.push(sentence(own, &format!("; {value}"))?),
            "draw" => self.draws.push(choice(own, value)),
            "let" => {
                let (name, condition) = own.split_once(' ').unwrap_or((own, ""));
                self.texts.push((name.into(), Condition::parse(condition)?, value.into()));
            }
            "launch" => {
                let extents = value.split(',').map(Expression::parse);
                self.launch = extents.collect::<Result<_, _>>()?;
            }
            "block" => {
                let extents = value.split_whitespace().map(str::parse);
                self.block = extents
                    .collect::<Result<_, _>>()
                    .map_err(|error: std::num::ParseIntError| error.to_string())?;
            }
            "name" => self.kernel_names.push((Condition::parse(own)?, value.into())),
            "guard" => self.is_guarded = value != "no",
            other => return Err(format!("`{other}` is no key of a header")),
        }
        Ok(())
    }

    /// Checks that conditions name words that can be chosen, and that no needed line is missing.
    fn check(&self) -> Result<(), String> {
        if self.header.lacks_words() || self.launch.is_empty() {
            return Err("a header has `title`, `about` and `launch`".into());
        }
        let conditions = self.lines.iter().map(|it| &it.condition);
        let conditions = conditions
            .chain(self.rules.iter().chain(&self.edges).map(|it| &it.condition))
            .chain(self.texts.iter().map(|it| &it.1))
            .chain(self.kernel_names.iter().map(|it| &it.0))
            .chain(self.header.parameters.iter().map(|it| &it.condition));
        let choices: Vec<&Choice> = self.header.choices.iter().chain(&self.draws).collect();
        for (key, word) in conditions.flat_map(Condition::words) {
            let is_known =
                choices.iter().any(|it| it.key == key && it.words.iter().any(|it| it == word));
            if !is_known {
                return Err(format!("a condition says `{key}={word}`, which is never chosen"));
            }
        }
        let mut sizes = self.header.sizes.iter().map(|it| &it.name);
        match sizes.find(|it| self.header.choices.iter().any(|own| own.key == **it)) {
            Some(size) => Err(format!("`{size}` is a size and a choice")),
            None => Ok(()),
        }
    }

    /// Returns true if the threads of a block work on tiles together.
    pub fn has_tiles(&self) -> bool {
        self.lines.iter().any(|line| line.text.contains("wp.tile_"))
    }

    /// Removes names that the text or another parameter already uses.
    fn drop_taken_names(&mut self) {
        let parameters = &self.header.parameters;
        let names: Vec<Vec<String>> = parameters.iter().map(|it| it.names.clone()).collect();
        for at in 0..names.len() {
            let is_other = |name: &String| {
                let others = names.iter().enumerate();
                others
                    .into_iter()
                    .any(|(other, own)| other != at && own[0] != names[at][0] && own.contains(name))
            };
            let mut kept_names = names[at].clone();
            let first = kept_names.remove(0);
            // A guard may add a parameter for a size of the launch.
            let is_size = |name: &str| self.launch.iter().any(|it| it.name() == Some(name));
            kept_names.retain(|name| !self.uses(name) && !is_other(name) && !is_size(name));
            kept_names.insert(0, first);
            self.header.parameters[at].names = kept_names;
        }
    }

    /// Returns true if the text uses a name.
    pub(crate) fn uses(&self, name: &str) -> bool {
        let mut code = self.lines.iter().map(|it| it.text.split('#').next().unwrap_or_default());
        code.any(|code| has_word(code, name))
    }

    /// Returns the number of combinations of choices, each another kernel.
    pub fn combinations(&self) -> usize {
        self.header.combinations()
    }
}

/// Returns true if a line of code has a name other than as an attribute.
fn has_word(line: &str, name: &str) -> bool {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
    line.match_indices(name).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + name.len()..]);
        !before.ends_with(|it| is_letter(it) || matches!(it, '.' | '$'))
            && !after.starts_with(is_letter)
    })
}

/// Reads a sentence, with the phrase for the short description before a semicolon.
fn sentence(condition: &str, text: &str) -> Result<Sentence, String> {
    let (phrase, text) = text
        .split_once("; ")
        .ok_or_else(|| format!("`{text}` lacks `; ` between a phrase and a sentence"))?;
    Ok(Sentence {
        condition: Condition::parse(condition)?,
        phrase: phrase.trim().into(),
        text: text.trim().into(),
    })
}
