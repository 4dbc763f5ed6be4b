//! Decisions that the caller of a specialisation makes, and the facts on which the decisions
//! depend.

use super::{Specialiser, State, Unsupported};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::FunctionId;

/// Treatment of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// The callee's statements are specialised.
    Unfold,
    /// The call stays in the code, and changes these places of the memory.
    Call(Changes),
    /// The call stays in the code, may change any place, and is rare: its way ends with the
    /// outermost call, so that the other ways keep what they know.
    LastCall,
    /// The way ends before the call, with the code of [`Policy::leave`].
    Leave,
    /// The call is not allowed.
    Refuse,
}

/// Places that a call may change, if the call gets the memory at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Changes {
    /// Any place.
    Any,
    /// Watched places, and no place whose value is known.
    Watched,
    /// Neither watched places nor places whose value is known.
    Others,
}

/// Progress of a way so far, which decides how the way may go on.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Progress {
    /// A call that is left in the code may have changed known or watched places.
    pub is_touched: bool,
    /// The memory was read, at an unknown place, since the outermost call began.
    pub has_read: bool,
    /// The memory was written since the outermost call began.
    pub has_stored: bool,
    /// The way ends with the outermost call.
    pub is_last: bool,
    /// The policy ended the way.
    pub(super) has_left: bool,
}

impl Progress {
    /// Returns true if the outermost call may be repeated from its beginning, because no place
    /// that it read can have changed.
    pub fn may_repeat(self) -> bool {
        !(self.is_touched || self.has_read && self.has_stored)
    }

    /// Returns the progress of two ways that meet.
    pub(super) fn of_both(self, other: Self) -> Self {
        Self {
            is_touched: self.is_touched || other.is_touched,
            has_read: self.has_read || other.has_read,
            has_stored: self.has_stored || other.has_stored,
            is_last: self.is_last,
            has_left: false,
        }
    }
}

/// Decisions that the caller makes.
pub trait Policy {
    /// Chooses the treatment of a call; `None` stands for an argument that is not a known scalar.
    fn treatment(
        &self,
        function: FunctionId,
        args: &[Option<Literal>],
        progress: Progress,
    ) -> Treatment;

    /// Ends a way before a call whose treatment is [`Treatment::Leave`].
    fn leave(&mut self, specialiser: &mut Specialiser<'_>, state: &State);

    /// Settles a way that ended: if its state is touched, adds code that checks all facts. Returns
    /// `None` if the way left the residual code, as each way with a [`Treatment::LastCall`] does.
    fn recheck_facts(
        &mut self,
        specialiser: &mut Specialiser<'_>,
        state: State,
    ) -> Result<Option<State>, Unsupported>;

    /// Returns true if these ways may meet.
    fn may_meet(&self, left: &State, right: &State) -> bool;
}
