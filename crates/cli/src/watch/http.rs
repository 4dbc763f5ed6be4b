//! As much of HTTP as one page and one WebSocket need: read a request's head, write a whole answer.

use std::io::{self, Read, Write};

/// A head longer than this is nobody's who wants our page.
const MOST_HEAD_BYTES: usize = 16 << 10;

/// The first line and the headers of a request, and what was read beyond them.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) method: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) rest: Vec<u8>,
}

impl Head {
    /// Read up to the empty line.
    pub(crate) fn read(stream: &mut impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 2048];
        loop {
            if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                let rest = bytes.split_off(end + 4);
                return Self::parse(&String::from_utf8_lossy(&bytes), rest);
            }
            let read = stream.read(&mut chunk)?;
            if read == 0 || bytes.len() + read > MOST_HEAD_BYTES {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "no whole request head"));
            }
            bytes.extend_from_slice(&chunk[..read]);
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
        let path = target.split('?').next().unwrap_or_default();
        Ok(Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: headers.collect(),
            rest,
        })
    }

    /// A header by its lower-case name.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Did our own page, opened by an address or as `localhost`, send this? Another page that a browser happens to
    /// show may not drive the swarm, nor may one behind a name that was made to point here.
    pub(crate) fn is_ours(&self) -> bool {
        let host = self.header("host").unwrap_or_default();
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
            _ => host,
        };
        let address = name.trim_start_matches('[').trim_end_matches(']');
        let is_address = address.parse::<std::net::IpAddr>().is_ok() || name == "localhost";
        let same_origin =
            self.header("origin").is_none_or(|origin| origin == format!("http://{host}"));
        is_address && same_origin
    }

    /// The key of a WebSocket handshake, if this is one.
    pub(crate) fn websocket_key(&self) -> Option<&str> {
        let upgrade = self.header("upgrade")?;
        self.header("sec-websocket-key").filter(|_| upgrade.eq_ignore_ascii_case("websocket"))
    }
}

/// Write a whole answer; the connection is closed after it.
pub(crate) fn answer(
    stream: &mut impl Write,
    status: &str,
    content_type: &str,
    body: &[u8],
) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         X-Content-Type-Options: nosniff\r\nContent-Security-Policy: default-src 'self'; img-src 'self' data:\r\n\
         Connection: close\r\n\r\n",
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
        let endless = vec![b'a'; MOST_HEAD_BYTES + 1];
        assert!(Head::read(&mut endless.as_slice()).is_err());
    }

    #[test]
    fn only_our_own_page_may_connect() {
        let cases = [
            ("Host: 127.0.0.1:8117", true),
            ("Host: 127.0.0.1:8117\r\nOrigin: http://127.0.0.1:8117", true),
            ("Host: localhost:8117\r\nOrigin: http://localhost:8117", true),
            ("Host: [::1]:8117\r\nOrigin: http://[::1]:8117", true),
            ("Host: 127.0.0.1:8117\r\nOrigin: http://evil.example", false),
            ("Host: rebound.example:8117\r\nOrigin: http://rebound.example:8117", false),
            ("Accept: */*", false),
        ];
        for (headers, ours) in cases {
            let text = format!("GET /socket HTTP/1.1\r\n{headers}\r\n\r\n");
            assert_eq!(head(&text).is_ours(), ours, "{headers}");
        }
    }
}
