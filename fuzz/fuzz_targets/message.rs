//! Takes any bytes as messages of a browser to the live view: a request's head, and a text over the
//! WebSocket. They are refused with a reason, or lie within the bounds that the session relies on.
#![no_main]

#[path = "../../crates/apps/cli/src/watch/http.rs"]
#[allow(dead_code, reason = "the target only reads")]
pub(crate) mod http;
#[path = "../../crates/apps/cli/src/watch/memory_filter.rs"]
#[allow(dead_code, reason = "the target searches nothing")]
pub(crate) mod memory_filter;
#[path = "../../crates/apps/cli/src/pad.rs"]
#[allow(dead_code, reason = "the target presses nothing")]
pub(crate) mod pad;
#[path = "../../crates/apps/cli/src/watch/request.rs"]
#[allow(dead_code, reason = "the target serves nobody")]
pub(crate) mod request;
#[path = "../../crates/apps/cli/src/watch/tile.rs"]
#[allow(dead_code, reason = "the target draws nothing")]
pub(crate) mod tile;

pub(crate) mod watch {
    pub(crate) use super::{memory_filter, tile};
}

use gbxcule_swarm::Model;
use libfuzzer_sys::fuzz_target;
use request::Request;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(head) = http::Head::read(&mut &*bytes) {
        let _ = (head.is_same_origin(), head.is_by_address(), head.websocket_key());
        let _ = (head.has_token("0123456789abcdef"), head.rest.len());
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match request::parse(text) {
        Ok(Request::Look(look)) => {
            for (model, most_bytes) in [(Model::Original, 8 << 20), (Model::Color, 32 << 20)] {
                let look = look.clipped(64, 3, model);
                assert!(look.first + look.count <= 64 && look.chosen.is_none_or(|env| env < 64));
                assert!(look.count * look.shrink.tile_bytes(model) <= most_bytes);
            }
        }
        Ok(Request::Speed { times }) => {
            let frame = 1.0 / (59.7 * times);
            assert!(times == 0.0 || std::time::Duration::try_from_secs_f64(frame).is_ok());
        }
        Ok(_) => {}
        Err(refused) => assert!(!refused.is_empty()),
    }
});
