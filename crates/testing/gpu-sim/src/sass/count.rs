//! Counts of issued instructions and of memory accesses.

/// Counts of a kernel's launches.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Instructions that warps issued, including those that no lane executed.
    pub issues: u64,
    /// Number of lanes that executed the instructions.
    pub lanes: u64,
    /// Jumps at which lanes diverged.
    pub splits: u64,
    /// Issues and lanes of each instruction.
    pub each: Vec<(u64, u64)>,
    /// Accesses of each kind, and the sectors of 32 bytes that they touched.
    pub traffic: [Traffic; Access::ALL.len()],
}

/// Accesses of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Instructions.
    pub accesses: u64,
    /// Sectors of 32 bytes.
    pub sectors: u64,
}

/// Kinds of accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Loads by an address.
    Load,
    /// Stores by an address.
    Store,
    /// Loads of a lane's own memory.
    LocalLoad,
    /// Stores to a lane's own memory.
    LocalStore,
    /// Atomic operations.
    Atomic,
}

impl Access {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Load, Self::Store, Self::LocalLoad, Self::LocalStore, Self::Atomic];
}

impl Counts {
    /// Makes empty counts for a program with this number of instructions.
    pub fn new(instructions: usize) -> Self {
        Self { each: vec![(0, 0); instructions], ..Self::default() }
    }

    /// Returns the totals.
    pub fn totals(&self) -> Totals {
        let mut all = [0; 3 + 2 * Access::ALL.len()];
        all[..3].copy_from_slice(&[self.issues, self.lanes, self.splits]);
        for (to, traffic) in all[3..].chunks_exact_mut(2).zip(self.traffic) {
            to.copy_from_slice(&[traffic.accesses, traffic.sectors]);
        }
        Totals(all)
    }

    #[inline]
    pub(super) fn issue(&mut self, pc: u32, lanes: u32) {
        let lanes_at_work = u64::from(lanes.count_ones());
        self.issues += 1;
        self.lanes += lanes_at_work;
        let each = &mut self.each[pc as usize];
        each.0 += 1;
        each.1 += lanes_at_work;
    }

    /// Counts an access and its sectors.
    pub(super) fn access(&mut self, space: Access, sectors: u64) {
        let traffic = &mut self.traffic[space as usize];
        traffic.accesses += 1;
        traffic.sectors += sectors;
    }
}

/// Issues, lanes, splits, and accesses and sectors of each [`Access`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals(pub [u64; 3 + 2 * Access::ALL.len()]);

impl Totals {
    /// Returns the counts since earlier ones of the same launches.
    pub fn since(self, before: Self) -> Self {
        Self(std::array::from_fn(|at| self.0[at] - before.0[at]))
    }

    /// Returns the number of instructions that warps issued.
    pub fn issues(self) -> u64 {
        self.0[0]
    }

    /// Returns the number of lanes that executed the instructions.
    pub fn lanes(self) -> u64 {
        self.0[1]
    }

    /// Returns the sectors of all accesses.
    pub fn sectors(self) -> u64 {
        self.0[3..].chunks_exact(2).map(|traffic| traffic[1]).sum()
    }
}
