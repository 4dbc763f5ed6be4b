//! Sizes in a template: sums and products of named sizes and numbers, such as `rows+1`.

/// An expression over sizes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Expression {
    Number(i64),
    Size(String),
    Binary(Box<Expression>, char, Box<Expression>),
}

impl Expression {
    /// Reads an expression.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text: text.trim(), all: text };
        let expression = reader.sum()?;
        if reader.text.is_empty() { Ok(expression) } else { Err(reader.fault()) }
    }

    /// Returns the value; `size` returns the value of a named size.
    pub(crate) fn value(&self, size: &dyn Fn(&str) -> Option<i64>) -> Result<i64, String> {
        Ok(match self {
            Self::Number(number) => *number,
            Self::Size(name) => size(name).ok_or_else(|| format!("no size is called `{name}`"))?,
            Self::Binary(left, op, right) => {
                let (left, right) = (left.value(size)?, right.value(size)?);
                match op {
                    '+' => left + right,
                    '-' => left - right,
                    '*' => left * right,
                    _ => left / right.max(1),
                }
            }
        })
    }

    /// Returns the name if the expression is a single size.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Size(name) => Some(name),
            _ => None,
        }
    }
}

/// A text and its unread part.
struct Reader<'a> {
    text: &'a str,
    all: &'a str,
}

impl Reader<'_> {
    fn fault(&self) -> String {
        format!("`{}` is no size: `{}` is not understood", self.all, self.text)
    }

    fn take(&mut self, marks: &[char]) -> Option<char> {
        let mark = self.text.chars().next().filter(|mark| marks.contains(mark))?;
        self.text = self.text[1..].trim_start();
        Some(mark)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        while let Some(op) = self.take(&['+', '-']) {
            left = Expression::Binary(Box::new(left), op, Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.atom()?;
        while let Some(op) = self.take(&['*', '/']) {
            left = Expression::Binary(Box::new(left), op, Box::new(self.atom()?));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expression, String> {
        if self.take(&['(']).is_some() {
            let inner = self.sum()?;
            return self.take(&[')']).map(|_| inner).ok_or_else(|| self.fault());
        }
        if self.take(&['-']).is_some() {
            let zero = Box::new(Expression::Number(0));
            return Ok(Expression::Binary(zero, '-', Box::new(self.atom()?)));
        }
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let length = self.text.find(|letter| !is_word(letter)).unwrap_or(self.text.len());
        let (word, rest) = self.text.split_at(length);
        let fault = self.fault();
        self.text = rest.trim_start();
        match word.chars().next() {
            None => Err(fault),
            Some(first) if first.is_ascii_digit() => {
                word.replace('_', "").parse().map(Expression::Number).map_err(|_| fault)
            }
            Some(_) => Ok(Expression::Size(word.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_bind_tighter_than_sums_and_division_rounds_down() {
        let value =
            |text: &str| Expression::parse(text)?.value(&|name| (name == "rows").then_some(12));
        assert_eq!(value("rows+1"), Ok(13));
        assert_eq!(value("2*(rows-4)/3"), Ok(5));
        assert_eq!(value("-1"), Ok(-1));
        assert_eq!(value("columns"), Err("no size is called `columns`".into()));
        assert!(value("rows+").is_err() && value("rows rows").is_err());
    }
}
