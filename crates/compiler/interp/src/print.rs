//! Print statements: writes the values that they name as text.

use super::thread::Thread;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::eval::{print_line, printf};
use gbxcule_ir::function::Name;
use gbxcule_ir::op::Value;

/// Greatest number of bytes of printed text that is stored: a program may print without end.
const MAX_OUTPUT_BYTES: usize = 1 << 20;

impl Thread<'_, '_> {
    pub(super) fn print(&mut self, format: Option<Name>, args: &[Value]) {
        if self.interpreter.output.len() >= MAX_OUTPUT_BYTES {
            return;
        }
        let text = match format {
            Some(format) => {
                let args: Vec<Option<Literal>> = args
                    .iter()
                    .map(|&arg| self.type_of(arg).as_scalar().map(|_| self.get(arg)))
                    .collect();
                printf(self.interpreter.module.text(format), &args)
            }
            None => args.iter().map(|&arg| self.line(arg)).collect(),
        };
        self.interpreter.output.push_str(&text);
    }

    /// Writes a value on a line of its own.
    fn line(&self, value: Value) -> String {
        let types = &self.interpreter.module.types;
        let ty = self.type_of(value);
        let parts: Vec<Literal> = types.components(ty).map_or(Vec::new(), |(of, count)| {
            let at = |index| self.slot(value) + u64::from(index * of.bytes());
            (0..count).map(|index| self.scalar_at(at(index), of)).collect()
        });
        print_line(&types[ty], &parts)
    }
}
