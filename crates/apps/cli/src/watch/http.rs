//! The part of HTTP that the page and its WebSocket need: reads a request's head, writes a complete
//! answer.

use std::io::{self, Read, Write};

/// Size of the longest head of a request, which is more than browsers send.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// First line and headers of a request, and the bytes that were read after them.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) path: String,
    query: String,
    headers: Vec<(String, String)>,
    pub(crate) rest: Vec<u8>,
}

impl Head {
    /// Reads a request up to the empty line.
    pub(crate) fn read(stream: &mut impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 2048];
        loop {
            let read = stream.read(&mut chunk)?;
            if read == 0 || bytes.len() + read > MAX_HEAD_BYTES {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "no whole request head"));
            }
            // The empty line may have begun in the bytes before.
            let from = bytes.len().saturating_sub(3);
            bytes.extend_from_slice(&chunk[..read]);
            if let Some(end) = bytes[from..].windows(4).position(|four| four == b"\r\n\r\n") {
                let body = bytes.split_off(from + end + 4);
                return Self::parse(&String::from_utf8_lossy(&bytes), body);
            }
        }
    }

    fn parse(text: &str, rest: Vec<u8>) -> io::Result<Self> {
        let mut lines = text.split("\r\n");
        let mut first = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(_version)) =
            (first.next(), first.next(), first.next())
        else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no request line"));
        };
        let headers = lines.filter_map(|line| line.split_once(':'));
        let headers =
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()));
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Ok(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: headers.collect(),
            rest,
        })
    }

    /// Returns a header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns true unless another page in the browser sent the request: other pages may not drive
    /// the swarm.
    pub(crate) fn is_same_origin(&self) -> bool {
        let host = self.header("host").unwrap_or_default();
        let page_origin = format!("http://{host}");
        self.headers.iter().all(|(name, value)| name != "origin" || *value == page_origin)
    }

    /// Returns true if the page was opened by an IP address, or as `localhost`. Any other name
    /// could have been made to point to this computer (DNS rebinding).
    pub(crate) fn is_by_address(&self) -> bool {
        let mut hosts = self.headers.iter().filter(|(name, _)| name == "host");
        let (Some((_, host)), None) = (hosts.next(), hosts.next()) else { return false };
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host.as_str(),
        };
        let address = name.trim_start_matches('[').trim_end_matches(']');
        address.parse::<std::net::IpAddr>().is_ok() || name == "localhost"
    }

    /// Returns true if the address has this token. The comparison takes the same time for every
    /// wrong token.
    pub(crate) fn has_token(&self, token: &str) -> bool {
        let mut given = self.query.split('&').filter_map(|part| part.strip_prefix("token="));
        given.any(|given| {
            let differences = given.bytes().zip(token.bytes()).map(|(one, other)| one ^ other);
            given.len() == token.len() && differences.fold(0, |all, bits| all | bits) == 0
        })
    }

    /// Returns the key of a WebSocket handshake, if the request is one.
    pub(crate) fn websocket_key(&self) -> Option<&str> {
        let upgrade = self.header("upgrade")?;
        self.header("sec-websocket-key").filter(|_| upgrade.eq_ignore_ascii_case("websocket"))
    }
}

/// Content security policy: lists the sources that the page may load, and forbids other pages to
/// show this one in a frame, where clicks can be stolen.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Writes a complete answer, after which the connection is closed.
pub(crate) fn answer(
    stream: &mut impl Write,
    status: &str,
    content_type: &str,
    body: &[u8],
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nContent-Security-Policy: {POLICY}\r\nConnection: close\r\n\r\n",
        body.len(),
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        Head::read(&mut text.as_bytes()).expect("a head")
    }

    #[test]
    fn a_head_is_read_up_to_its_empty_line() {
        let head =
            head("GET /main.js?v=1 HTTP/1.1\r\nHost: localhost:8117\r\nX-A:  b \r\n\r\nrest");
        assert_eq!((head.method.as_str(), head.path.as_str()), ("GET", "/main.js"));
        assert_eq!(head.header("x-a"), Some("b"));
        assert_eq!(head.rest, b"rest");
    }

    #[test]
    fn rubbish_is_an_error_not_a_panic() {
        for text in ["", "GET", "GET /\r\n\r\n", "\r\n\r\n", "\0\0\0\r\n\r\n"] {
            assert!(Head::read(&mut text.as_bytes()).is_err(), "{text:?}");
        }
        let endless = vec![b'a'; MAX_HEAD_BYTES + 1];
        assert!(Head::read(&mut endless.as_slice()).is_err());
    }

    #[test]
    fn a_head_that_comes_byte_by_byte_is_the_same() {
        struct Slow<'b>(&'b [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
                (buffer[0], self.0) = (*first, rest);
                Ok(1)
            }
        }
        let mut slow = Slow(b"GET / HTTP/1.1\r\nHost: a\r\n\r\nrest");
        let head = Head::read(&mut slow).expect("a head");
        assert_eq!((head.header("host"), head.rest.len(), slow.0), (Some("a"), 0, &b"rest"[..]));
    }

    #[test]
    fn a_token_is_the_right_one_or_none() {
        let has = |target: &str| head(&format!("GET {target} HTTP/1.1\r\n\r\n")).has_token("abc");
        assert!(has("/?token=abc") && has("/socket?a=b&token=abc"));
        let wrong = [
            "/",
            "/?token=",
            "/?token=ab",
            "/?token=abcd",
            "/?token=abd",
            "/?tokens=abc",
            "/token=abc",
        ];
        for target in wrong {
            assert!(!has(target), "{target}");
        }
    }

    #[test]
    fn only_our_own_page_may_connect() {
        let cases = [
            ("Host: 127.0.0.1:8117", true),
            ("Host: 127.0.0.1:8117\r\nOrigin: http://127.0.0.1:8117", true),
            ("Host: localhost:8117\r\nOrigin: http://localhost:8117", true),
            ("Host: [::1]:8117\r\nOrigin: http://[::1]:8117", true),
            ("Host: 127.0.0.1:8117\r\nOrigin: http://evil.example", false),
            (
                "Host: localhost:8117\r\nOrigin: http://localhost:8117\r\nOrigin: http://evil.example",
                false,
            ),
            ("Host: rebound.example:8117\r\nOrigin: http://rebound.example:8117", false),
            ("Host: localhost:8117\r\nHost: rebound.example:8117", false),
            ("Accept: */*", false),
        ];
        for (headers, ours) in cases {
            let text = format!("GET /socket HTTP/1.1\r\n{headers}\r\n\r\n");
            let head = head(&text);
            assert_eq!(head.is_same_origin() && head.is_by_address(), ours, "{headers}");
        }
    }
}
