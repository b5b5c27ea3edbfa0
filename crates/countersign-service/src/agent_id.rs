//! The id of an agent as a caller asks for it.

use countersign_core::check::invalid::{FieldProblem, InvalidRequest};
use countersign_core::check::request::id_fault;

/// An id that a check could have named: 1 to 200 characters, none of them a control character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentId(String);

impl AgentId {
    /// Reads an id.
    pub(crate) fn parse(id: String) -> Result<Self, InvalidRequest> {
        match id_fault(&id) {
            None => Ok(AgentId(id)),
            Some(fault) => Err(refused(
                fault,
                "Ask for an id of 1 to 200 characters without control characters, as checks name it in agent_id.",
            )),
        }
    }

    /// Reads an id as it stands in an address, percent-decoded once. Whatever else a path may hold is the id's:
    /// `/`, `:` and `+` mean themselves.
    pub(crate) fn from_path(path: &str) -> Result<Self, InvalidRequest> {
        let decoded = decode(path).ok_or_else(|| {
            refused(
                "is not percent-encoded UTF-8",
                "Write each byte of the id's UTF-8 form that is not a letter, a digit or one of - . _ ~ as % and two \
                 hexadecimal digits.",
            )
        })?;
        AgentId::parse(decoded)
    }

    /// The id.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The id as one segment of an address, so that every client keeps it whole.
    pub(crate) fn percent_encoded(&self) -> String {
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        let mut text = String::with_capacity(self.0.len());
        for byte in self.0.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                text.push(char::from(byte));
            } else {
                text.push('%');
                text.push(char::from(HEX[usize::from(byte >> 4)]));
                text.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
        text
    }
}

fn refused(problem: &str, fix: &str) -> InvalidRequest {
    InvalidRequest(vec![FieldProblem::new(0, "agent_id", problem, fix)])
}

fn decode(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => digit(rest.next()?)? << 4 | digit(rest.next()?)?,
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// A hexadecimal digit, of either case.
fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_decoded_once_and_encoded_whole() {
        let rows = [
            ("seller-7", "seller-7", "seller-7"),
            ("a/b", "a/b", "a%2Fb"),
            ("a%2fb%2Fc", "a/b/c", "a%2Fb%2Fc"),
            ("did:web:a.example", "did:web:a.example", "did%3Aweb%3Aa.example"),
            ("%2525", "%25", "%2525"),
            ("a+b%20c", "a+b c", "a%2Bb%20c"),
            ("%E2%82%AC", "€", "%E2%82%AC"),
            ("€", "€", "%E2%82%AC"),
            ("//", "//", "%2F%2F"),
            ("a;b=c&d", "a;b=c&d", "a%3Bb%3Dc%26d"),
            ("_.~-", "_.~-", "_.~-"),
        ];
        for (path, id, encoded) in rows {
            let parsed = AgentId::from_path(path).unwrap();
            assert_eq!(
                (parsed.as_str(), parsed.percent_encoded().as_str()),
                (id, encoded)
            );
            assert_eq!(AgentId::from_path(encoded).unwrap(), parsed);
        }
    }

    #[test]
    fn what_no_check_can_name_is_refused() {
        let long = "x".repeat(201);
        let rows = [
            ("", "is empty"),
            (long.as_str(), "is longer than 200 characters"),
            ("a%00b", "contains a control character"),
            ("a%7F", "contains a control character"),
            ("a%C2%85", "contains a control character"),
            ("%", "is not percent-encoded UTF-8"),
            ("a%2", "is not percent-encoded UTF-8"),
            ("a%zz", "is not percent-encoded UTF-8"),
            ("a%+1", "is not percent-encoded UTF-8"),
            ("%FF", "is not percent-encoded UTF-8"),
            ("%C0%AF", "is not percent-encoded UTF-8"),
            ("%ED%A0%80", "is not percent-encoded UTF-8"),
        ];
        for (path, expected) in rows {
            let InvalidRequest(problems) = AgentId::from_path(path).unwrap_err();
            assert_eq!(
                (problems[0].field.as_str(), problems[0].problem.as_str()),
                ("agent_id", expected)
            );
        }
        assert!(
            AgentId::from_path(&"%C3%A4".repeat(200)).is_ok(),
            "characters are counted, not bytes"
        );
    }
}
