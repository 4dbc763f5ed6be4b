//! What differs from NVIDIA Warp, and why. A kernel that agrees though it stands here is an error.

/// The begin of a kernel's title, and the reason.
pub(crate) const EXPLAINED: &[(&str, &str)] = &[];
