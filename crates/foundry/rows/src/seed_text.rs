//! Seeds as text in JSON, for serde's `with`. Readers whose numbers are doubles would round a
//! 64-bit number and draw other inputs.

use serde::{Deserialize as _, Deserializer, Serializer, de::Error};

pub(crate) fn serialize<S: Serializer>(seed: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(seed)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
    text.parse().map_err(|_| D::Error::custom(format!("`{text}` is no number of 64 bits")))
}
