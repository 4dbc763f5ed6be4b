//! Compositions: several kernels of the library, and the host code that launches them one after the
//! other, as a pipeline, a time loop or a solver.
//!
//! A file `library/TOPIC/NAME.composition` is a header, a line `---`, and the body of the host
//! function. The header has `title`, `about`, `vary` and `size` as in templates, lines of
//! parameters, which replace the templates' lines, and a line for each kernel:
//! ```text
//! use sweep: stencils/jacobi_poisson_2d relax=damped p>u p_new>u_new
//! ```
//! A word `choice=word` fixes a choice of the template; otherwise the composition's choice of the
//! same key holds, or else the first word. A word `own>name` renames a parameter or a size of the
//! template; parameters with the same name are one argument of the host function. In the body,
//! `launch sweep p>v step>2**level` launches a kernel with other arguments than its `use` line, and
//! `dim>4` with another grid; `$key` is a chosen word. All other lines are Python.

use crate::description::{self, Descriptions, capitalised};
use crate::expression::Expression;
use crate::header::{Choice, Header, Size, header_and_body};
use crate::instance::{Filling, Instance};
use crate::parameter::{Direction, Domain, Parameter};
use crate::rename::Renaming;
use crate::signature;
use crate::style::{Guard, Style};
use crate::template::Template;
use std::fmt::Write as _;

/// Greatest number of columns of a launch in one line.
const COLUMNS: usize = 100;

/// Several kernels and their host code.
#[derive(Clone, Debug, Default)]
pub struct Composition {
    /// Name of the composition, and of its host function.
    pub name: String,
    /// Field of the composition.
    pub topic: String,
    header: Header,
    parts: Vec<Part>,
    body: Vec<String>,
}

/// Kernel of a composition.
#[derive(Clone, Debug)]
struct Part {
    /// Name of the kernel.
    name: String,
    topic: String,
    template: String,
    /// Choices that are fixed.
    choices: Vec<(String, String)>,
    /// Names in the template, each with its name in the composition.
    names: Vec<(String, String)>,
}

/// Kernel of an instance: its template with the composition's sizes and choices, and its arguments
/// in a launch.
struct Kernel<'a> {
    part: &'a Part,
    filling: Filling<'a>,
}

/// Argument of the host function.
struct Argument<'a> {
    parameter: Parameter,
    name: String,
    kernel: &'a Kernel<'a>,
}

impl Composition {
    /// Reads a file of the library.
    pub fn parse(topic: &str, name: &str, text: &str) -> Result<Self, String> {
        let fault = |reason: String| format!("{topic}/{name}: {reason}");
        let (header, body) = header_and_body(text).map_err(fault)?;
        let mut composition = Self { name: name.into(), topic: topic.into(), ..Self::default() };
        for line in header {
            composition.read_fact(line).map_err(fault)?;
        }
        composition.body = body.lines().map(|line| line.trim_end().to_owned()).collect();
        match composition.header.lacks_words() {
            true => Err(fault("a header has `title` and `about`".into())),
            false => Ok(composition),
        }
    }

    fn read_fact(&mut self, line: &str) -> Result<(), String> {
        match self.header.read(line)? {
            None => {}
            Some(("use", name, text)) => self.parts.push(read_part(name, text)?),
            Some((key, ..)) => return Err(format!("`{key}` is no key of a composition")),
        }
        Ok(())
    }

    /// Returns the number of combinations of choices.
    pub fn combinations(&self) -> usize {
        self.header.combinations()
    }

    /// Makes instance `number`, as [`Template::instance`] does.
    pub fn instance(
        &self,
        library: &[Template],
        number: u64,
        stream: u64,
    ) -> Option<Result<Instance, String>> {
        let (combination, style) = self.header.combination_and_style(number, stream)?;
        let style = Style { guard: Guard::None, ..style };
        let chosen = self.header.chosen(combination);
        let fault = |reason| format!("{}/{}: {reason}", self.topic, self.name);
        Some(self.filled(library, style, &chosen).map_err(fault))
    }

    fn filled(
        &self,
        library: &[Template],
        style: Style,
        chosen: &[(&str, &str)],
    ) -> Result<Instance, String> {
        let templates = self.parts.iter().map(|part| self.template(library, part));
        let templates = templates.collect::<Result<Vec<_>, _>>()?;
        let kernels: Vec<Kernel<'_>> = templates
            .iter()
            .zip(&self.parts)
            .map(|(template, part)| self.kernel(template, part, style, chosen))
            .collect::<Result<_, _>>()?;
        let launches = self.launches(&kernels)?;
        let arguments = self.arguments(&launches)?;
        let mut source = kernel_texts(&kernels)?;
        source += &self.host_text(style, chosen, &launches, &arguments)?;
        let input = |it: &Argument<'_>| {
            it.parameter.input(&it.name, &|size| it.kernel.filling.size(size, false))
        };
        Ok(Instance {
            source,
            dims: Vec::new(),
            real_dims: Vec::new(),
            block: Vec::new(),
            inputs: arguments.iter().map(input).collect::<Result<_, _>>()?,
            descriptions: self.describe(chosen, &kernels, &arguments)?,
        })
    }

    /// Returns the template of a part with the composition's sizes.
    fn template(&self, library: &[Template], part: &Part) -> Result<Template, String> {
        let is_own = |it: &&Template| it.topic == part.topic && it.name == part.template;
        let template = library.iter().find(is_own);
        let mut template = template
            .ok_or_else(|| format!("no template is called `{}/{}`", part.topic, part.template))?
            .clone();
        for own in &mut template.header.sizes {
            if let Some(size) =
                self.header.sizes.iter().find(|it| it.name == part.name_of(&own.name))
            {
                *own = Size { name: own.name.clone(), ..size.clone() };
            }
        }
        // A size of the composition may refer to another one.
        let sizes = &mut template.header.sizes;
        for size in &self.header.sizes {
            if sizes.iter().all(|it| it.name != size.name) {
                sizes.push(size.clone());
            }
        }
        Ok(template)
    }

    fn kernel<'a>(
        &self,
        template: &'a Template,
        part: &'a Part,
        style: Style,
        chosen: &[(&str, &str)],
    ) -> Result<Kernel<'a>, String> {
        let fixed = |key: &str| part.choices.iter().find(|(own, _)| own == key);
        let word = |it: &'a Choice| {
            let chosen_word = fixed(&it.key).map(|(_, word)| &**word);
            let chosen_word = chosen_word
                .or_else(|| chosen.iter().find(|(key, _)| *key == it.key).map(|it| it.1));
            let Some(chosen_word) = chosen_word else { return Ok((&*it.key, &*it.words[0])) };
            let word = it.words.iter().find(|word| *word == chosen_word);
            let word = word.ok_or_else(|| format!("`{}` can't be `{chosen_word}`", it.key))?;
            Ok((&*it.key, &**word))
        };
        let words = template.header.choices.iter().chain(&template.draws).map(word);
        let chosen = words.collect::<Result<Vec<_>, String>>()?;
        if let Some((key, _)) =
            part.choices.iter().find(|(key, _)| !chosen.iter().any(|it| it.0 == key))
        {
            return Err(format!("`{}` has no choice `{key}`", part.template));
        }
        let names = template.header.parameters.iter().map(|it| {
            let first = &it.names[0];
            (first.clone(), part.name_of(first).to_owned())
        });
        let kernel = (template.name.clone(), part.name.clone());
        let names = Renaming::of(names.chain([kernel]).collect());
        let filling = Filling::of(template, style, chosen, names);
        Ok(Kernel { part, filling })
    }

    /// Returns the launches of the body, in the order of the text.
    fn launches<'a>(&self, kernels: &'a [Kernel<'a>]) -> Result<Vec<LaunchLine<'a>>, String> {
        let lines = self.body.iter().enumerate();
        let launches = lines.filter_map(|(at, line)| {
            let text = line.trim_start().strip_prefix("launch ")?;
            Some(LaunchLine::read(at, text, kernels))
        });
        launches.collect()
    }

    /// Returns the arguments of the host function, in the order in which kernels name them.
    fn arguments<'a>(&self, launches: &[LaunchLine<'a>]) -> Result<Vec<Argument<'a>>, String> {
        let mut arguments: Vec<Argument<'a>> = Vec::new();
        let loops = self.body.iter().filter_map(|line| line.trim_start().strip_prefix("for "));
        let loops: Vec<&str> = loops.filter_map(|it| it.split_whitespace().next()).collect();
        for launch in launches {
            for (parameter, name) in &launch.kernel.filling.parameters {
                let Some(name) = launch.argument(parameter, name, &loops) else { continue };
                let is_written = parameter.direction.is_written();
                match arguments.iter_mut().find(|it| it.name == name) {
                    Some(own) if own.parameter.direction == Direction::In && is_written => {
                        own.parameter.direction = Direction::InOut;
                    }
                    Some(_) => {}
                    None => arguments.push(Argument {
                        parameter: parameter.clone(),
                        name,
                        kernel: launch.kernel,
                    }),
                }
            }
        }
        // A buffer that is exchanged with a written buffer is written, too.
        for line in &self.body {
            let Some((targets, _)) = line.split_once(" = ") else { continue };
            let names: Vec<&str> = targets.split(',').map(str::trim).collect();
            let is_own = |it: &Argument<'_>| names.contains(&&*it.name);
            let is_written =
                arguments.iter().any(|it| is_own(it) && it.parameter.direction.is_written());
            for own in arguments.iter_mut().filter(|it| is_own(it) && is_written) {
                if own.parameter.direction == Direction::In {
                    own.parameter.direction = Direction::InOut;
                }
            }
        }
        for own in &self.header.parameters {
            let name = &own.names[0];
            let argument = arguments.iter_mut().find(|it| it.name == *name);
            let argument = argument.ok_or_else(|| format!("no kernel is given `{name}`"))?;
            argument.parameter =
                Parameter { shape: argument.parameter.shape.clone(), ..own.clone() };
        }
        // Inputs come first, as is usual.
        arguments.sort_by_key(|it| it.parameter.domain == Domain::Zero);
        Ok(arguments)
    }

    fn host_text(
        &self,
        style: Style,
        chosen: &[(&str, &str)],
        launches: &[LaunchLine<'_>],
        arguments: &[Argument<'_>],
    ) -> Result<String, String> {
        let mut text = format!("\n\ndef {}(", self.name);
        let declared = arguments.iter().map(|it| {
            let named = (it.parameter.clone(), it.name.clone());
            signature::declaration(&it.kernel.filling, &named)
        });
        signature::write_list(&declared.collect::<Result<Vec<_>, _>>()?, &mut text);
        text += "):\n";
        if style.has_docstring {
            _ = writeln!(
                text,
                "    \"\"\"{}.\"\"\"",
                capitalised(&filled_words(&self.header.title, chosen))
            );
        }
        for (at, line) in self.body.iter().enumerate() {
            let margin = " ".repeat(4 + line.len() - line.trim_start().len());
            if let Some(launch) = launches.iter().find(|it| it.line == at) {
                launch.write(&margin, &mut text)?;
                continue;
            }
            let is_comment = line.trim_start().starts_with('#');
            if !line.is_empty() && (style.has_comments || !is_comment) {
                _ = writeln!(text, "{margin}{}", filled_words(line.trim_start(), chosen));
            }
        }
        Ok(text)
    }

    fn describe(
        &self,
        chosen: &[(&str, &str)],
        kernels: &[Kernel<'_>],
        arguments: &[Argument<'_>],
    ) -> Result<Descriptions, String> {
        let title = capitalised(&filled_words(&self.header.title, chosen));
        let about = filled_words(&self.header.about, chosen);
        let (mut words, mut rules) = (String::new(), Vec::new());
        for kernel in kernels {
            let of_kernel = description::rules(&kernel.filling)?;
            let title = capitalised(&kernel.filling.words(&kernel.filling.template.header.title)?);
            let all: String = of_kernel.iter().map(|rule| format!(" {rule}")).collect();
            _ = writeln!(words, "- `{}`: {title}.{all}", kernel.part.name);
            rules.extend(of_kernel);
        }
        let names = |is_written: bool| {
            let chosen_arguments =
                arguments.iter().filter(|it| it.parameter.direction.is_written() == is_written);
            let one = |it: &Argument<'_>| {
                Ok(format!("`{}` ({})", it.name, it.kernel.filling.words(&it.parameter.words)?))
            };
            chosen_arguments.map(one).collect::<Result<Vec<_>, String>>().map(|all| all.join(", "))
        };
        let (read, written) = (names(false)?, names(true)?);
        let calls: Vec<String> = kernels.iter().map(|it| format!("`{}`", it.part.name)).collect();
        let mut paragraph = format!("{about} The host function launches {}.", calls.join(", "));
        for rule in &rules {
            _ = write!(paragraph, " {rule}");
        }
        if !read.is_empty() {
            _ = write!(paragraph, " The inputs are {read}.");
        }
        _ = write!(paragraph, " The launches write {written}.");
        let mut specification = format!(
            "{title}.\n\nHost function `{}`, which launches {} kernels:\n{words}\nParameters:\n",
            self.name,
            kernels.len()
        );
        for it in arguments {
            let filling = &it.kernel.filling;
            description::parameter_line(filling, &it.parameter, &it.name, &mut specification)?;
        }
        _ = writeln!(specification, "\nBehaviour:\n- {about}");
        if !chosen.is_empty() {
            let all: Vec<String> =
                chosen.iter().map(|(key, word)| format!("{key} {word}")).collect();
            _ = writeln!(specification, "\nVariant: {}.", all.join(", "));
        }
        let mut facts: Vec<String> = arguments.iter().map(|it| format!("`{}`", it.name)).collect();
        facts.extend(rules);
        Ok(Descriptions { summary: title + ".", paragraph, specification, facts })
    }
}

impl Part {
    /// Returns the composition's name of a parameter or size of the template.
    fn name_of<'a>(&'a self, own: &'a str) -> &'a str {
        self.names.iter().find(|(first, _)| first == own).map_or(own, |(_, name)| name)
    }
}

/// Reads `sweep` and `stencils/jacobi_poisson_2d relax=damped p>u`.
fn read_part(name: &str, text: &str) -> Result<Part, String> {
    let mut words = text.split_whitespace();
    let path = words.next().and_then(|it| it.split_once('/'));
    let (topic, template) =
        path.ok_or_else(|| format!("`use {name}` lacks a template, `topic/name`"))?;
    let (mut choices, mut names) = (Vec::new(), Vec::new());
    for word in words {
        match (word.split_once('='), word.split_once('>')) {
            (Some((key, word)), None) => choices.push((key.to_owned(), word.to_owned())),
            (None, Some((own, name))) => names.push((own.to_owned(), name.to_owned())),
            _ => return Err(format!("`{word}` is neither `choice=word` nor `own>name`")),
        }
    }
    Ok(Part { name: name.into(), topic: topic.into(), template: template.into(), choices, names })
}

/// Returns the texts of the kernels, one after the other; common definitions occur once. Python
/// would take the last of two definitions of one name for all kernels, so two are an error.
fn kernel_texts(kernels: &[Kernel<'_>]) -> Result<String, String> {
    const SPACE: &str = "\n\n\n";
    let mut text = String::from("import warp as wp\n");
    for kernel in kernels {
        let signature_text = signature::text(&kernel.filling)?;
        let signature_text = signature_text.trim().trim_start_matches("import warp as wp").trim();
        for block in signature_text.split(SPACE).map(str::trim) {
            if text.split(SPACE).any(|it| it.trim() == block) {
                continue;
            }
            let is_defined = |name: &&str| defined_names(&text).any(|other| other == *name);
            if let Some(name) = defined_names(block).find(is_defined) {
                return Err(format!("two kernels define `{name}` differently: rename one"));
            }
            _ = write!(text, "\n\n{block}\n");
        }
    }
    Ok(text)
}

/// Returns the names of a text's functions, classes and constants.
fn defined_names(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with(|it: char| it.is_ascii_alphabetic())).filter_map(
        |line| {
            let defined = line.strip_prefix("def ").or_else(|| line.strip_prefix("class "));
            let name = defined.or_else(|| Some(line.split_once(" = ")?.0))?;
            name.split(['(', ':']).next()
        },
    )
}

/// Returns a text with its holes filled by chosen words.
fn filled_words(text: &str, chosen: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (key, word) in chosen {
        text = text.replace(&format!("${key}"), word);
    }
    text
}

/// A line `launch kernel own>argument`.
struct LaunchLine<'a> {
    /// Number of the line in the body.
    line: usize,
    kernel: &'a Kernel<'a>,
    given: Vec<(String, String)>,
}

impl<'a> LaunchLine<'a> {
    fn read(line: usize, text: &str, kernels: &'a [Kernel<'a>]) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let kernel = kernels.iter().find(|it| it.part.name == name);
        let kernel = kernel.ok_or_else(|| format!("no line `use {name}:`"))?;
        let given = words.map(|word| match word.split_once('>') {
            Some((own, argument)) => Ok((own.to_owned(), argument.to_owned())),
            None => Err(format!("`{word}` is not `own>argument`")),
        });
        Ok(Self { line, kernel, given: given.collect::<Result<_, _>>()? })
    }

    /// Returns the text of the argument for a parameter whose name in the kernel is `name`.
    fn text<'b>(&'b self, parameter: &Parameter, name: &'b str) -> &'b str {
        let given = self.given.iter().find(|(key, _)| *key == parameter.names[0]);
        given.map_or(name, |(_, text)| text)
    }

    /// Returns the host function's argument for a parameter, unless the launch computes a number.
    fn argument(&self, parameter: &Parameter, name: &str, loops: &[&str]) -> Option<String> {
        let text = self.text(parameter, name);
        if loops.contains(&text) {
            return None;
        }
        let is_name = text.starts_with(|it: char| it.is_ascii_alphabetic())
            && text.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        is_name.then(|| text.to_owned())
    }

    /// Returns the text of the grid: an array's shape, if an array has that shape.
    fn dims(&self) -> Result<String, String> {
        if let Some((_, text)) = self.given.iter().find(|(own, _)| own == "dim") {
            return Ok(text.clone());
        }
        let filling = &self.kernel.filling;
        let launch = &filling.template.launch;
        let arrays: Vec<(&Parameter, &str)> =
            filling.parameters.iter().map(|(it, name)| (it, self.text(it, name))).collect();
        if let Some((_, name)) = arrays.iter().find(|(it, _)| it.shape == *launch) {
            return Ok(match launch.len() {
                1 => format!("{name}.shape[0]"),
                _ => format!("{name}.shape"),
            });
        }
        let extent = |it: &Expression| {
            let extent_text = arrays.iter().find_map(|(array, name)| {
                let axis = array.shape.iter().position(|size| size == it)?;
                Some(format!("{name}.shape[{axis}]"))
            });
            match extent_text {
                Some(text) => Ok(text),
                None => it.value(&|size| filling.size(size, false)).map(|it| it.to_string()),
            }
        };
        let extents = launch.iter().map(extent).collect::<Result<Vec<_>, _>>()?;
        Ok(match &*extents {
            [one] => one.clone(),
            all => format!("({})", all.join(", ")),
        })
    }

    fn write(&self, margin: &str, out: &mut String) -> Result<(), String> {
        let (kernel, dims) = (&self.kernel.part.name, self.dims()?);
        let parameters = &self.kernel.filling.parameters;
        // Outputs that follow all inputs are listed as outputs.
        let is_written = |it: &(Parameter, String)| it.0.direction.is_written();
        let first = parameters.iter().position(is_written).unwrap_or(parameters.len());
        let split = match parameters[first..].iter().all(is_written) {
            true => first,
            false => parameters.len(),
        };
        let list = |all: &[(Parameter, String)]| {
            let texts: Vec<&str> = all.iter().map(|(it, name)| self.text(it, name)).collect();
            format!("[{}]", texts.join(", "))
        };
        let (inputs, outputs) = (list(&parameters[..split]), list(&parameters[split..]));
        let mut texts = vec![kernel.clone(), format!("dim={}", spaced(&dims))];
        for (key, list) in [("inputs", inputs), ("outputs", outputs)] {
            if list != "[]" {
                texts.push(format!("{key}={}", spaced(&list)));
            }
        }
        let line = format!("{margin}wp.launch({})", texts.join(", "));
        if line.len() <= COLUMNS {
            _ = writeln!(out, "{line}");
        } else {
            _ = writeln!(out, "{margin}wp.launch(");
            texts.iter().for_each(|text| _ = writeln!(out, "{margin}    {text},"));
            _ = writeln!(out, "{margin})");
        }
        Ok(())
    }
}

/// Returns a text with spaces around the operators of sums and products.
fn spaced(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(letter) = rest.chars().next() {
        let op = ["**", "//", "+", "-", "*"].into_iter().find(|op| rest.starts_with(op));
        let is_sign =
            !out.ends_with(|it: char| it.is_ascii_alphanumeric() || matches!(it, ')' | ']'));
        match op {
            Some(op) if !is_sign => _ = write!(out, " {op} "),
            _ => out.push_str(op.unwrap_or(&rest[..letter.len_utf8()])),
        }
        rest = &rest[op.map_or(letter.len_utf8(), str::len)..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{COMPOSITIONS, LIBRARY};

    fn template(name: &str, factor: &str) -> Template {
        let text = format!(
            "title: scale\nabout: Scales.\nsize n: 4 1000\nlaunch: n\nin x float32 -1..1: numbers\nout y float32: results\n---\n\
             import warp as wp\n\n\n@wp.func\ndef scaled(a: float):\n    return a * {factor}\n\n\n\
             @wp.kernel\ndef {name}($params):\n    i = wp.tid()\n    y[i] = scaled(x[i])\n"
        );
        Template::parse("test", name, &text).expect("a template")
    }

    #[test]
    fn helpers_of_one_name_have_one_text() {
        let text = "title: two\nabout: Scales twice.\nsize n: 4 1000\nuse first: test/one\nuse second: test/two x>y y>z\n---\n\
                    launch first\nlaunch second\n";
        let composition = Composition::parse("test", "twice", text).expect("a composition");
        let instance = |other| {
            let library = [template("one", "2.0"), template("two", other)];
            composition.instance(&library, 0, 0).expect("an instance").map(|it| it.source)
        };
        let same = instance("2.0").expect("a text");
        assert_eq!(same.matches("def scaled(").count(), 1, "{same}");
        let refused = instance("3.0").expect_err("two texts");
        assert!(refused.contains("two kernels define `scaled` differently"), "{refused}");
        for it in &*COMPOSITIONS {
            for number in 0..it.combinations() as u64 {
                let made = it.instance(&LIBRARY, number, 0).map(|it| it.map(|_| ()));
                assert!(matches!(made, None | Some(Ok(()))), "{made:?}");
            }
        }
    }
}
