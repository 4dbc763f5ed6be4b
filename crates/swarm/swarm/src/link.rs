//! The setting for cables between neighbouring envs.

gbxcule_ir::named! {
    /// Cables in the machines' link ports.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum LinkMode: "link" {
        /// No cable.
        #[default]
        Open = "open",
        /// A cable between envs 2i and 2i + 1.
        Pairs = "pairs",
    }
}
