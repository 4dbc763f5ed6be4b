//! Conditions on a template's choices, such as `boundary=clamp|wrap & real!=float64`.

/// Function that returns the word that an instance has chosen for a key.
pub(crate) type Chosen<'a> = dyn Fn(&str) -> Option<&'a str> + 'a;

/// A condition: every part must hold.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Condition(Vec<Part>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Part {
    key: String,
    words: Vec<String>,
    negated: bool,
}

impl Condition {
    /// Reads a condition; an empty one always holds.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let part = |text: &str| {
            let (key, words) = text
                .split_once('=')
                .ok_or_else(|| format!("`{text}` is no condition: write `key=word`"))?;
            let negated = key.ends_with('!');
            let words = words.split('|').map(|word| word.trim().into()).collect();
            Ok(Part { key: key.trim_end_matches('!').trim().into(), words, negated })
        };
        let parts = text.split('&').map(str::trim).filter(|part| !part.is_empty());
        parts.map(part).collect::<Result<_, String>>().map(Self)
    }

    /// Returns true if the condition holds.
    pub(crate) fn holds(&self, chosen: &Chosen<'_>) -> bool {
        self.0.iter().all(|part| {
            let is_chosen = chosen(&part.key)
                .is_some_and(|chosen| part.words.iter().any(|word| word == chosen));
            is_chosen != part.negated
        })
    }

    /// Returns every pair of key and word that the condition names.
    pub(crate) fn words(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|part| part.words.iter().map(|word| (&*part.key, &**word)))
    }
}
