//! Descriptions of an instance in words, derived from its template: a line, a paragraph, and a
//! specification with shapes and edge cases.

use crate::instance::Filling;
use crate::parameter::Parameter;
use crate::signature::element_text;
use crate::style::Guard;
use crate::template::Sentence;
use std::fmt::Write as _;

/// Descriptions of a kernel, from the shortest to the longest.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Descriptions {
    /// One line.
    pub summary: String,
    /// A paragraph.
    pub paragraph: String,
    /// Parameters with shapes, types and domains, the launch, rules and edge cases.
    pub specification: String,
    /// Texts that the paragraph and the specification contain: the parameters' names and the rules.
    pub facts: Vec<String>,
}

/// Describes an instance.
pub(crate) fn describe(
    filling: &Filling<'_>,
    dims: &[u32],
    real_dims: &[u32],
) -> Result<Descriptions, String> {
    Ok(Descriptions {
        summary: summary(filling)?,
        paragraph: paragraph(filling, real_dims)?,
        specification: specification(filling, dims, real_dims)?,
        facts: facts(filling)?,
    })
}

/// Returns the sentences whose conditions hold.
fn holding<'a>(
    filling: &'a Filling<'_>,
    all: &'a [Sentence],
) -> impl Iterator<Item = &'a Sentence> {
    all.iter().filter(|it| filling.holds(&it.condition))
}

/// Returns the chosen float if the template has several.
fn precision<'a>(filling: &'a Filling<'_>) -> Option<&'a str> {
    filling.chosen("real").filter(|real| *real != "float32")
}

fn summary(filling: &Filling<'_>) -> Result<String, String> {
    let mut line = capitalised(&filling.words(&filling.template.header.title)?);
    for rule in holding(filling, &filling.template.rules).filter(|it| !it.phrase.is_empty()) {
        _ = write!(line, ", {}", filling.words(&rule.phrase)?);
    }
    if let Some(real) = precision(filling) {
        _ = write!(line, ", in {real}");
    }
    Ok(line + ".")
}

/// Returns the text with a capital first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// Returns the guard as a sentence, with the extents of the data.
fn guard(filling: &Filling<'_>) -> Option<String> {
    let guard = match filling.style.guard {
        Guard::None => return None,
        Guard::Count | Guard::Shape => filling.guards(&["x", "y", "z"]),
    };
    let bounds: Vec<String> = guard
        .iter()
        .filter_map(|it| it.split_once(" >= "))
        .map(|(_, bound)| format!("`{bound}`"))
        .collect();
    Some(format!(
        "The grid is rounded up to whole blocks; a thread at or beyond {} returns at once.",
        bounds.join(" x ")
    ))
}

fn product(extents: &[u32]) -> String {
    extents.iter().map(u32::to_string).collect::<Vec<_>>().join(" x ")
}

fn list(parameters: &[&(Parameter, String)], filling: &Filling<'_>) -> Result<String, String> {
    let one = |(parameter, name): &&(Parameter, String)| {
        Ok(format!("`{name}` ({})", filling.words(&parameter.words)?))
    };
    let all = parameters.iter().map(one).collect::<Result<Vec<_>, String>>()?;
    Ok(match all.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    })
}

fn paragraph(filling: &Filling<'_>, real_dims: &[u32]) -> Result<String, String> {
    let mut text = filling.words(&filling.template.header.about)?;
    for rule in holding(filling, &filling.template.rules) {
        _ = write!(text, " {}", filling.words(&rule.text)?);
    }
    let (written, read): (Vec<_>, Vec<_>) =
        filling.parameters.iter().partition(|(it, _)| it.direction.is_written());
    match read.len() {
        0 => {}
        1 => _ = write!(text, " The input is {}.", list(&read, filling)?),
        _ => _ = write!(text, " The inputs are {}.", list(&read, filling)?),
    }
    _ = write!(text, " The kernel writes {}.", list(&written, filling)?);
    if let Some(guard) = guard(filling) {
        _ = write!(text, " {guard}");
    }
    if let Some(real) = precision(filling) {
        _ = write!(text, " Numbers are {real}.");
    }
    let threads: u64 = real_dims.iter().map(|&it| u64::from(it)).product();
    match real_dims {
        [_] => _ = write!(text, " A typical launch has {threads} threads."),
        _ => _ = write!(text, " A typical launch has {} threads.", product(real_dims)),
    }
    Ok(text)
}

fn specification(filling: &Filling<'_>, dims: &[u32], real_dims: &[u32]) -> Result<String, String> {
    let template = filling.template;
    let title = capitalised(&filling.words(&template.header.title)?);
    let kernel = filling.names.name_of(&template.name);
    let mut text = format!("{title}.\n\nKernel `{kernel}`.\n");
    _ = writeln!(
        text,
        "Launch: {} threads here; {} in blocks of {} in use.",
        product(dims),
        product(real_dims),
        product(&template.block)
    );
    text += "\nParameters:\n";
    for (parameter, name) in &filling.parameters {
        parameter_line(filling, parameter, name, &mut text)?;
    }
    _ = writeln!(text, "\nBehaviour:\n- {}", filling.words(&template.header.about)?);
    for rule in holding(filling, &template.rules) {
        _ = writeln!(text, "- {}", filling.words(&rule.text)?);
    }
    if let Some(guard) = guard(filling) {
        _ = writeln!(text, "- {guard}");
    }
    let edges: Vec<&Sentence> = holding(filling, &template.edges).collect();
    if !edges.is_empty() {
        text += "\nEdge cases:\n";
        for edge in edges {
            _ = writeln!(text, "- {}", filling.words(&edge.text)?);
        }
    }
    if !filling.chosen.is_empty() {
        let one = |(key, word): &(&str, &str)| format!("{key} {word}");
        let all: Vec<String> = filling.chosen.iter().map(one).collect();
        _ = writeln!(text, "\nVariant: {}.", all.join(", "));
    }
    Ok(text)
}

/// Writes the line of a parameter.
pub(crate) fn parameter_line(
    filling: &Filling<'_>,
    parameter: &Parameter,
    name: &str,
    text: &mut String,
) -> Result<(), String> {
    let element = match element_text(filling, parameter)?.trim_start_matches("wp.") {
        "float" => "float32".to_owned(),
        "int" => "int32".to_owned(),
        other => other.to_owned(),
    };
    _ = write!(text, "- `{name}`: {}, ", parameter.direction.word());
    if parameter.shape.is_empty() {
        text.push_str(&element);
    } else {
        let extents = |is_real: bool| {
            let extent = |it: &crate::expression::Expression| {
                it.value(&|size| filling.size(size, is_real)).map(|it| it.to_string())
            };
            parameter.shape.iter().map(extent).collect::<Result<Vec<_>, _>>()
        };
        let (small, real) = (extents(false)?.join(" x "), extents(true)?.join(" x "));
        _ = write!(text, "array of {small} {element} ({real} in use)");
    }
    let domain = parameter.domain_text(&|size| filling.size(size, false));
    for part in [domain, parameter.unit.clone()].iter().filter(|it| !it.is_empty()) {
        _ = write!(text, ", {part}");
    }
    _ = writeln!(text, ": {}.", filling.words(&parameter.words)?);
    Ok(())
}

/// Returns texts that the paragraph and the specification must contain: the parameters, and the
/// rules that follow from choices.
fn facts(filling: &Filling<'_>) -> Result<Vec<String>, String> {
    let mut facts: Vec<String> =
        filling.parameters.iter().map(|(_, name)| format!("`{name}`")).collect();
    facts.extend(rules(filling)?);
    Ok(facts)
}

/// Returns the rules that hold, as sentences.
pub(crate) fn rules(filling: &Filling<'_>) -> Result<Vec<String>, String> {
    let rules = holding(filling, &filling.template.rules);
    rules.map(|rule| filling.words(&rule.text)).collect()
}
