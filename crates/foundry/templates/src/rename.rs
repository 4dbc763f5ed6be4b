//! Renames parameters everywhere in a text to names that the template allows.

use crate::parameter::Parameter;
use gbxcule_grammar::random::Random;

/// Names of an instance by the names in the template's text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Renaming(Vec<(String, String)>);

impl Renaming {
    /// Draws a name for each parameter that has several, all from the same position of their lists,
    /// so that the names of a text have one style.
    pub(crate) fn draw(parameters: &[Parameter], random: &mut Random) -> Self {
        let place = random.weighted([5, 3, 2]);
        let name = |it: &Parameter| {
            let chosen = it.names.get(place).or(it.names.first());
            (it.names[0].clone(), chosen.cloned().unwrap_or_default())
        };
        Self(parameters.iter().map(name).collect())
    }

    /// Adds a name.
    pub(crate) fn add(&mut self, first: &str, name: &str) {
        self.0.push((first.to_owned(), name.to_owned()));
    }

    /// Makes a renaming of given names.
    pub(crate) fn of(names: Vec<(String, String)>) -> Self {
        Self(names)
    }

    /// Returns the name of a parameter.
    pub(crate) fn name_of<'a>(&'a self, first: &'a str) -> &'a str {
        self.0.iter().find(|(own, _)| own == first).map_or(first, |(_, name)| name)
    }
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Returns code with its names changed, except for attributes.
pub(crate) fn renamed_code(code: &str, names: &Renaming) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = if is_letter(first) {
            rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (word, after) = rest.split_at(length);
        let is_attribute = out.ends_with('.');
        let is_keyword = after.starts_with('=') && !after.starts_with("==") && !out.ends_with(' ');
        let keeps = is_attribute || is_keyword;
        out.push_str(if keeps { word } else { names.name_of(word) });
        rest = after;
    }
    out
}

/// Returns words with the names between backticks changed.
pub(crate) fn renamed_text(text: &str, names: &Renaming) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(at, part)| match at % 2 {
        1 => renamed_code(part, names),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
