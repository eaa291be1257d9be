//! The search itself: one pass over the bytes, each place looked at once, so that long texts stay cheap.
//!
//! Every pattern is made of ASCII, therefore a match never cuts a character in two.

use std::ops::Range;

use super::Kind;
use super::prefixes::{Body, PREFIXES, is_token, run};

/// How far from its beginning the header of a private key may reach, in bytes.
const HEADER: usize = 80;
/// How far the user and the password of an address may reach, in bytes.
const USER_INFO: usize = 512;
/// How long the name in an assignment may be, in bytes.
const NAME: usize = 64;
/// The ends of names whose value is a secret.
const SECRET_NAMES: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "SECRET_KEY", "ACCESS_KEY", "PRIVATE_KEY"];

/// A credential in the text.
pub(super) struct Match {
    pub(super) kind: Kind,
    pub(super) range: Range<usize>,
}

/// All credentials of a text, in order, never overlapping.
pub(super) struct Matches<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Matches<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: text.as_bytes(), at: 0 }
    }
}

impl Iterator for Matches<'_> {
    type Item = Match;

    fn next(&mut self) -> Option<Match> {
        while self.at < self.text.len() {
            if let Some(found) = match_at(self.text, self.at) {
                self.at = found.range.end;
                return Some(found);
            }
            self.at += 1;
        }
        None
    }
}

fn match_at(text: &[u8], at: usize) -> Option<Match> {
    let found = match text[at] {
        b'-' => private_key(text, at),
        b':' => url_password(text, at),
        b'=' => assignment(text, at),
        b'B' | b'b' => bearer(text, at),
        _ => None,
    };
    found.or_else(|| known_prefix(text, at))
}

fn known_prefix(text: &[u8], at: usize) -> Option<Match> {
    if !text[at].is_ascii_alphabetic() || !begins_word(text, at) {
        return None;
    }
    let rest = &text[at..];
    PREFIXES.iter().filter(|prefix| prefix.text.as_bytes().first() == rest.first()).find_map(|prefix| {
        let body = rest.strip_prefix(prefix.text.as_bytes())?;
        // A part of a dotted run is no signed token of its own; looking at each part again would also cost a square.
        let inside_dots = at.checked_sub(1).is_some_and(|before| matches!(text[before], b'.' | b'-'));
        if matches!(prefix.body, Body::Jwt) && inside_dots {
            return None;
        }
        let length = prefix.body.measure(body)?;
        Some(Match { kind: prefix.kind, range: at..at + prefix.text.len() + length })
    })
}

/// A word begins after anything but a letter, digit or underscore, and after an escape: `\n`, `%3D`.
fn begins_word(text: &[u8], at: usize) -> bool {
    let before = &text[..at];
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., last] => !(last.is_ascii_alphanumeric() || *last == b'_'),
        [] => true,
    }
}

fn private_key(text: &[u8], at: usize) -> Option<Match> {
    let rest = text[at..].strip_prefix(b"-----BEGIN ")?;
    let header = &rest[..rest.len().min(HEADER)];
    let label = &header[..position(header, b"-----")?];
    position(label, b"PRIVATE KEY")?;
    // A block that was cut off has no end: then all that is left of the text belongs to it.
    let end = position(rest, b"-----END ").and_then(|end| {
        let footer = &rest[end + b"-----END ".len()..];
        let close = position(&footer[..footer.len().min(HEADER)], b"-----")?;
        Some(at + b"-----BEGIN ".len() + end + b"-----END ".len() + close + 5)
    });
    Some(Match { kind: Kind::PrivateKey, range: at..end.unwrap_or(text.len()) })
}

fn bearer(text: &[u8], at: usize) -> Option<Match> {
    const WORD: &[u8] = b"bearer ";
    let word = text.get(at..at + WORD.len())?;
    if !word.eq_ignore_ascii_case(WORD) || !begins_word(text, at) {
        return None;
    }
    let start = at + WORD.len();
    let length = run(&text[start..], |b| is_token(b) || matches!(b, b'.' | b'~' | b'+' | b'/' | b'='));
    let token = &text[start..start + length];
    // "bearer authentication-scheme" is prose: demand a digit, or a length that no word has.
    let plain = 16 <= length && (token.iter().any(u8::is_ascii_digit) || 32 <= length);
    plain.then(|| Match { kind: Kind::BearerToken, range: start..start + length })
}

fn url_password(text: &[u8], at: usize) -> Option<Match> {
    let rest = text[at..].strip_prefix(b"://")?;
    let start = at + b"://".len();
    let rest = &rest[..rest.len().min(USER_INFO)];
    let authority = &rest[..run(rest, |b| !b.is_ascii_whitespace() && !matches!(b, b'/' | b'"' | b'\'' | b'<' | b'>'))];
    let host_mark = authority.iter().rposition(|&b| b == b'@')?;
    let colon = authority[..host_mark].iter().position(|&b| b == b':')?;
    let plain = colon + 1 < host_mark && !is_placeholder(&authority[colon + 1..host_mark]);
    plain.then(|| Match { kind: Kind::UrlPassword, range: start + colon + 1..start + host_mark })
}

fn assignment(text: &[u8], at: usize) -> Option<Match> {
    let before = &text[at.saturating_sub(NAME)..at];
    let name_length = run_back(before, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let name = &before[before.len() - name_length..];
    if !SECRET_NAMES.iter().any(|end| ends_with_word(name, end.as_bytes())) {
        return None;
    }
    let quoted = matches!(text.get(at + 1), Some(b'"' | b'\''));
    let start = at + 1 + usize::from(quoted);
    let rest = text.get(start..)?;
    let value = &rest[..run(rest, |b| !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'\\' | b',' | b';'))];
    let plain = 8 <= value.len() && !is_placeholder(value) && !value.iter().all(u8::is_ascii_digit);
    plain.then(|| Match { kind: Kind::Assignment, range: start..start + value.len() })
}

/// References, paths and our own mask are no secrets.
fn is_placeholder(value: &[u8]) -> bool {
    matches!(value.first(), Some(b'$' | b'<' | b'{' | b'[' | b'*' | b'%' | b'/' | b'.' | b'~'))
        || position(value, b"[masked").is_some()
}

/// `GITHUB_TOKEN` ends with the word `TOKEN`, `NOTOKEN` does not.
fn ends_with_word(name: &[u8], word: &[u8]) -> bool {
    name.strip_suffix(word).is_some_and(|front| matches!(front.last(), None | Some(b'_')))
}

fn run_back(text: &[u8], class: impl Fn(u8) -> bool) -> usize {
    text.iter().rev().take_while(|&&byte| class(byte)).count()
}

fn position(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
