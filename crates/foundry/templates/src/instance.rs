//! An instance of a template, with choices, text, inputs and launch.

use crate::condition::Condition;
use crate::description::{self, Descriptions};
use crate::expression::Expression;
use crate::parameter::{Parameter, Sizes};
use crate::rename::{Renaming, renamed_text};
use crate::signature;
use crate::style::{Guard, ParameterOrder, Style};
use crate::template::Template;
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_grammar::random::{Random, seed};

/// A kernel made from a template.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The text.
    pub source: String,
    /// Threads of the row's launch.
    pub dims: Vec<u32>,
    /// Threads of a launch in real use.
    pub real_dims: Vec<u32>,
    /// Threads of a block in real use.
    pub block: Vec<u32>,
    /// An input for each parameter.
    pub inputs: Vec<ArgumentInput>,
    /// Descriptions of the kernel in words.
    pub descriptions: Descriptions,
}

/// Choices of an instance.
pub(crate) struct Filling<'a> {
    pub(crate) template: &'a Template,
    pub(crate) style: Style,
    /// Chosen words by their keys.
    pub(crate) chosen: Vec<(&'a str, &'a str)>,
    pub(crate) names: Renaming,
    /// Parameters in the order of the text, with their names in the text.
    pub(crate) parameters: Vec<(Parameter, String)>,
}

impl Template {
    /// Makes instance `number`, or returns `None` if there are fewer. Each number gives another
    /// structure; names and literals depend on `stream`.
    pub fn instance(&self, number: u64, stream: u64) -> Option<Result<Instance, String>> {
        let (combination, style) = self.header.combination_and_style(number, stream)?;
        let mut words = self.choices_of(combination);
        let mut random = Random::new(seed(stream, number));
        for (draw, (_, word)) in self.draws.iter().zip(&mut words[self.header.choices.len()..]) {
            *word = &draw.words[random.below(draw.words.len())];
        }
        Some(self.filled(style, words, &mut random))
    }

    /// Returns the texts of all combinations of choices in one style, each of another structure.
    pub fn plain_texts(&self) -> Vec<Result<String, String>> {
        let text = |number: u64| {
            let filled = self.filled(Style::PLAIN, self.choices_of(number), &mut Random::new(0));
            Ok(filled?.source)
        };
        (0..self.combinations() as u64).map(text).collect()
    }

    /// Returns the choices of a combination, and the first word of each draw.
    fn choices_of(&self, combination: u64) -> Vec<(&str, &str)> {
        let mut words = self.header.chosen(combination);
        words.extend(self.draws.iter().map(|draw| (&*draw.key, &*draw.words[0])));
        words
    }

    fn filled<'a>(
        &'a self,
        mut style: Style,
        chosen: Vec<(&'a str, &'a str)>,
        random: &mut Random,
    ) -> Result<Instance, String> {
        let fault = |reason: String| format!("{}/{}: {reason}", self.topic, self.name);
        if !self.can_guard(style.guard) {
            style.guard = Guard::None;
        }
        let mut names = Renaming::draw(&self.header.parameters, random);
        let word = |key: &str| chosen.iter().find(|(own, _)| *own == key).map(|(_, word)| *word);
        if let Some((_, kernel)) = self.kernel_names.iter().find(|it| it.0.holds(&word)) {
            names.add(&self.name, kernel);
        }
        Filling::of(self, style, chosen, names).instance().map_err(fault)
    }

    /// Returns true if this guard lets every thread detect that it is beyond the data.
    fn can_guard(&self, guard: Guard) -> bool {
        let has_axis = |it: &Expression| it.name().is_some_and(|size| self.axis_of(size).is_some());
        // A size may be a parameter already, or become one if the text doesn't use its name.
        let is_free = |it: &Expression| {
            let is_parameter = |size| {
                self.header.parameters.iter().any(|it| it.names[0] == size && it.shape.is_empty())
            };
            it.name().is_some_and(|size| is_parameter(size) || !self.uses(size))
        };
        match guard {
            Guard::None => true,
            Guard::Count => self.is_guarded && self.launch.iter().all(is_free),
            Guard::Shape => self.is_guarded && self.launch.iter().all(has_axis),
        }
    }

    /// Finds an array with a dimension of this size, and returns both.
    pub(crate) fn axis_of(&self, size: &str) -> Option<(&Parameter, usize)> {
        self.header.parameters.iter().filter(|it| it.condition == Condition::default()).find_map(
            |it| Some((it, it.shape.iter().position(|extent| extent.name() == Some(size))?)),
        )
    }
}

impl<'a> Filling<'a> {
    /// Makes the choices with the parameters that follow from them.
    pub(crate) fn of(
        template: &'a Template,
        style: Style,
        chosen: Vec<(&'a str, &'a str)>,
        names: Renaming,
    ) -> Self {
        let mut filling = Self { template, style, chosen, names, parameters: Vec::new() };
        filling.parameters = filling.ordered_parameters();
        filling
    }

    /// Returns the word chosen for a key.
    pub(crate) fn chosen(&self, key: &str) -> Option<&str> {
        self.chosen.iter().find(|(own, _)| *own == key).map(|(_, word)| *word)
    }

    /// Returns true if a condition holds.
    pub(crate) fn holds(&self, condition: &Condition) -> bool {
        condition.holds(&|key| self.chosen(key))
    }

    /// Returns the value of a size, in the row's launch or in real use.
    pub(crate) fn size(&self, name: &str, is_real: bool) -> Option<i64> {
        if let Some(word) = self.chosen(name) {
            return word.parse().ok();
        }
        let size = self.template.header.sizes.iter().find(|it| it.name == name)?;
        let expression = if is_real { &size.real } else { &size.small };
        expression.value(&|other| self.size(other, is_real)).ok()
    }

    fn ordered_parameters(&self) -> Vec<(Parameter, String)> {
        let declared =
            self.template.header.parameters.iter().filter(|it| self.holds(&it.condition)).cloned();
        let mut parameters: Vec<Parameter> = declared.collect();
        if self.style.guard == Guard::Count {
            for size in self.template.launch.iter().filter_map(Expression::name) {
                if self.count_parameter(&parameters, size).is_none() {
                    let words = format!("number of threads that have work, along `{size}`");
                    let first_output = parameters.iter().position(|it| it.direction.is_written());
                    let at = first_output.unwrap_or(parameters.len());
                    parameters.insert(at, Parameter::count(size, words));
                }
            }
        }
        match self.style.order {
            ParameterOrder::Declared => {}
            ParameterOrder::OutputsFirst => {
                parameters.sort_by_key(|it| !it.direction.is_written());
            }
            ParameterOrder::ValuesFirst => parameters.sort_by_key(|it| !it.shape.is_empty()),
            ParameterOrder::ValuesLast => parameters.sort_by_key(|it| it.shape.is_empty()),
        }
        let name = |it: &Parameter| self.names.name_of(&it.names[0]).to_owned();
        parameters.into_iter().map(|it| (it.clone(), name(&it))).collect()
    }

    /// Returns the name of a parameter that holds a size.
    fn count_parameter(&self, parameters: &[Parameter], size: &str) -> Option<String> {
        let count = Parameter::count(size, String::new());
        let counted = parameters.iter().find(|it| it.domain == count.domain && it.ty == "int")?;
        Some(self.names.name_of(&counted.names[0]).to_owned())
    }

    /// Returns the conditions under which a thread has no work, one for each index.
    pub(crate) fn guards(&self, indices: &[&str]) -> Vec<String> {
        let extents = self.template.launch.iter().filter_map(Expression::name);
        let parameters: Vec<Parameter> = self.parameters.iter().map(|it| it.0.clone()).collect();
        let bound = |size: &str| match self.style.guard {
            Guard::None => None,
            Guard::Count => self.count_parameter(&parameters, size),
            Guard::Shape => {
                let (parameter, axis) = self.template.axis_of(size)?;
                Some(format!("{}.shape[{axis}]", self.names.name_of(&parameter.names[0])))
            }
        };
        let guard = |(index, size)| Some(format!("{index} >= {}", bound(size)?));
        indices.iter().zip(extents).filter_map(guard).collect()
    }

    fn instance(&self) -> Result<Instance, String> {
        let source = signature::text(self)?;
        let small = |name: &str| self.size(name, false);
        let inputs = self.parameters.iter().map(|(it, name)| it.input(name, &small));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let block = &self.template.block;
        let (dims, real_dims) = (self.launch(false)?, self.launch(true)?);
        let descriptions = description::describe(self, &dims, &real_dims)?;
        Ok(Instance { source, dims, real_dims, block: block.clone(), inputs, descriptions })
    }

    /// Returns the threads of a launch. If threads test that they have work, the grid is rounded up
    /// to whole blocks.
    fn launch(&self, is_real: bool) -> Result<Vec<u32>, String> {
        let sizes: &Sizes<'_> = &|name| self.size(name, is_real);
        let extent = |(at, it): (usize, &Expression)| {
            let extent = it.value(sizes)?;
            let block = match (is_real, self.template.launch.len()) {
                (true, _) => i64::from(*self.template.block.get(at).unwrap_or(&1)),
                (false, 1) => 8,
                (false, 2) => 4,
                (false, _) => 2,
            };
            let whole = (extent / block + 1) * block;
            let extent = if self.style.guard == Guard::None { extent } else { whole };
            u32::try_from(extent).map_err(|_| format!("a launch of {extent} threads"))
        };
        self.template.launch.iter().enumerate().map(extent).collect()
    }

    /// Returns a text of the header with this instance's names and filled holes.
    pub(crate) fn words(&self, text: &str) -> Result<String, String> {
        Ok(renamed_text(&signature::fill(self, text)?, &self.names))
    }
}
