//! Stacks of a block, on which its one thread pushes and pops one element at a time. A stack is a
//! tile of elements and a tile of their number.

use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::{Tile, TileShape, check_element, make};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::Type;
use std::rc::Rc;

/// `wp.tile_stack(capacity, dtype)`
pub(super) fn new<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Operand<'a>> {
    let of = make::dtype(b, call, None)?;
    let extents = call.extents("capacity")?;
    if extents.len() != 1 {
        let message = "`capacity` is a number above 0, known when compiled";
        return fault(Code::NeedsConstant, call.span, message);
    }
    let elements = Tile::new(b, "stack", &TileShape { of, extents }, call.span)?;
    let count = Tile::new(b, "count", &TileShape { of: Type::I32, extents: vec![1] }, call.span)?;
    let stack = Stack { elements: Rc::new(elements), count: Rc::new(count) };
    let zero = b.i32(0);
    stack.set_count(b, zero);
    Ok(Operand::Tuple(Rc::new([Operand::Tile(stack.elements), Operand::Tile(stack.count)])))
}

/// `wp.tile_stack_push(s, value, has_value)`, `tile_stack_pop(s)`, `tile_stack_clear(s)`,
/// `tile_stack_count(s)`
pub(super) fn act<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Operand<'a>> {
    let stack = Stack::of(call)?;
    let place = stack.count_place(b);
    let count = b.load(place);
    match call.name {
        "tile_stack_push" => stack.push(b, call, count).map(Operand::Value),
        "tile_stack_pop" => Ok(stack.pop(b, count)),
        "tile_stack_clear" => {
            let zero = b.i32(0);
            stack.set_count(b, zero);
            Ok(Operand::nothing())
        }
        _ => Ok(Operand::Value(count)),
    }
}

struct Stack {
    elements: Rc<Tile>,
    count: Rc<Tile>,
}

impl Stack {
    fn of(call: &TileCall<'_>) -> LoweringResult<Self> {
        if let Operand::Tuple(parts) = call.needed("s")?
            && let [Operand::Tile(elements), Operand::Tile(count)] = &parts[..]
        {
            return Ok(Self { elements: elements.clone(), count: count.clone() });
        }
        fault(Code::TypeMismatch, call.span, "`s` is a stack by `wp.tile_stack`")
    }

    fn count_place(&self, b: &mut Writer<'_, '_>) -> PlaceId {
        let zero = b.i32(0);
        self.count.element_at(b, &[zero])
    }

    fn set_count(&self, b: &mut Writer<'_, '_>, count: Value) {
        let place = self.count_place(b);
        b.store(place, count);
    }

    /// Adds an element if `has_value` is true and there is room; returns its position or -1.
    fn push<'a>(
        &self,
        b: &mut Writer<'_, 'a>,
        call: &TileCall<'a>,
        count: Value,
    ) -> LoweringResult<Value> {
        let value = b.value(call.needed("value")?, call.span)?;
        check_element(b, b.ty(value), self.elements.of, call.span)?;
        let has_value = b.truth(call.needed("has_value")?, call.span)?;
        let capacity = b.i32(self.elements.len() as i32);
        let has_room = b.lt(count, capacity);
        let is_pushed = b.and(has_value, has_room);
        b.open_block();
        let place = self.elements.element_at(b, &[count]);
        b.store(place, value);
        let one = b.i32(1);
        let more = b.add(count, one);
        self.set_count(b, more);
        let accept = b.close_block();
        b.open_block();
        let reject = b.close_block();
        b.if_blocks(is_pushed, accept, reject);
        let none = b.i32(-1);
        Ok(b.select(is_pushed, count, none))
    }

    /// Takes the last element off; returns it and its position, or zero and -1.
    fn pop<'a>(&self, b: &mut Writer<'_, 'a>, count: Value) -> Operand<'a> {
        let [zero, one, none] = [0, 1, -1].map(|number| b.i32(number));
        let is_popped = b.lt(zero, count);
        let last = b.sub(count, one);
        let value = b.temporary("popped", self.elements.of);
        let empty = b.zero_of(self.elements.of);
        b.store(value, empty);
        b.open_block();
        let place = self.elements.element_at(b, &[last]);
        let popped = b.load(place);
        b.store(value, popped);
        self.set_count(b, last);
        let accept = b.close_block();
        b.open_block();
        let reject = b.close_block();
        b.if_blocks(is_popped, accept, reject);
        let (value, slot) = (b.load(value), b.select(is_popped, last, none));
        Operand::Tuple(Rc::new([Operand::Value(value), Operand::Value(slot)]))
    }
}
