//! The setting that says whether swarms run code made for their ROM.

gbxcule_ir::named! {
    /// Use of code made for a ROM. Results are the same in every case.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Recompile: "use of code made for a ROM" {
        /// Never.
        Off = "off",
        /// Code is made when a ROM has run for a while in this process, and used if it makes frames
        /// faster.
        #[default]
        WhereItWins = "where_it_wins",
        /// Code is made after a few frames and always used, even if it is slower: for tests.
        Always = "always",
    }
}
