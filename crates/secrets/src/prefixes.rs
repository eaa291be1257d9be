//! The table of well-known prefixes, and what must follow one before it counts as a credential.

use super::Kind;

/// A well-known beginning of a credential.
pub(super) struct Prefix {
    pub(super) text: &'static str,
    pub(super) kind: Kind,
    pub(super) body: Body,
}

/// What must follow a prefix.
#[derive(Clone, Copy)]
pub(super) enum Body {
    /// At least this many of `A–Z a–z 0–9 _ -`.
    Token(usize),
    /// The same with `.` and `/` among them.
    Dotted(usize),
    /// Exactly this many of `A–Z 0–9`, and then the end of the word.
    UpperExactly(usize),
    /// At least 20, with 16 letters or digits in one piece unless there are 40: `sk-` also begins ordinary hyphenated
    /// names.
    Dense,
    /// Two more parts after dots.
    Jwt,
}

const fn prefix(text: &'static str, kind: Kind, body: Body) -> Prefix {
    Prefix { text, kind, body }
}

/// Longer prefixes stand before those that they begin with.
pub(super) const PREFIXES: &[Prefix] = &[
    prefix("sk-", Kind::ApiKey, Body::Dense),
    prefix("sk_live_", Kind::ApiKey, Body::Token(16)),
    prefix("sk_test_", Kind::ApiKey, Body::Token(16)),
    prefix("rk_live_", Kind::ApiKey, Body::Token(16)),
    prefix("whsec_", Kind::ApiKey, Body::Token(20)),
    prefix("gsk_", Kind::ApiKey, Body::Token(30)),
    prefix("xai-", Kind::ApiKey, Body::Token(40)),
    prefix("hf_", Kind::ApiKey, Body::Token(30)),
    prefix("SG.", Kind::ApiKey, Body::Dotted(40)),
    prefix("dop_v1_", Kind::ApiKey, Body::Token(40)),
    prefix("lin_api_", Kind::ApiKey, Body::Token(30)),
    prefix("AGE-SECRET-KEY-1", Kind::PrivateKey, Body::Token(40)),
    prefix("ghp_", Kind::GithubToken, Body::Token(20)),
    prefix("gho_", Kind::GithubToken, Body::Token(20)),
    prefix("ghu_", Kind::GithubToken, Body::Token(20)),
    prefix("ghs_", Kind::GithubToken, Body::Token(20)),
    prefix("ghr_", Kind::GithubToken, Body::Token(20)),
    prefix("github_pat_", Kind::GithubToken, Body::Token(20)),
    prefix("glpat-", Kind::GitlabToken, Body::Token(16)),
    prefix("gldt-", Kind::GitlabToken, Body::Token(16)),
    prefix("glrt-", Kind::GitlabToken, Body::Token(16)),
    prefix("xoxa-", Kind::SlackToken, Body::Token(10)),
    prefix("xoxb-", Kind::SlackToken, Body::Token(10)),
    prefix("xoxe-", Kind::SlackToken, Body::Token(10)),
    prefix("xoxe.", Kind::SlackToken, Body::Token(10)),
    prefix("xoxp-", Kind::SlackToken, Body::Token(10)),
    prefix("xoxr-", Kind::SlackToken, Body::Token(10)),
    prefix("xoxs-", Kind::SlackToken, Body::Token(10)),
    prefix("xapp-", Kind::SlackToken, Body::Token(20)),
    prefix("AKIA", Kind::AwsAccessKey, Body::UpperExactly(16)),
    prefix("ASIA", Kind::AwsAccessKey, Body::UpperExactly(16)),
    prefix("AIza", Kind::GoogleKey, Body::Token(30)),
    prefix("ya29.", Kind::GoogleKey, Body::Dotted(20)),
    prefix("npm_", Kind::RegistryToken, Body::Token(30)),
    prefix("pypi-AgE", Kind::RegistryToken, Body::Token(16)),
    prefix("dckr_pat_", Kind::RegistryToken, Body::Token(20)),
    prefix("rubygems_", Kind::RegistryToken, Body::Token(40)),
    prefix("eyJ", Kind::Jwt, Body::Jwt),
];

impl Body {
    /// The length of the body at the start of `rest`, if it is one.
    pub(super) fn measure(self, rest: &[u8]) -> Option<usize> {
        match self {
            Self::Token(least) => at_least(least, run(rest, is_token)),
            Self::Dotted(least) => at_least(least, run(rest, |b| is_token(b) || b == b'.' || b == b'/')),
            Self::UpperExactly(exactly) => upper_exactly(exactly, rest),
            Self::Dense => dense(&rest[..run(rest, is_token)]),
            Self::Jwt => jwt(&rest[..run(rest, |b| is_token(b) || b == b'.')]),
        }
    }
}

/// How many bytes at the start of `rest` belong to `class`.
pub(super) fn run(rest: &[u8], class: impl Fn(u8) -> bool) -> usize {
    rest.iter().position(|&byte| !class(byte)).unwrap_or(rest.len())
}

pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn at_least(least: usize, length: usize) -> Option<usize> {
    (least <= length).then_some(length)
}

fn upper_exactly(exactly: usize, rest: &[u8]) -> Option<usize> {
    let length = run(rest, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    let ends = !rest.get(length).is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_');
    (length == exactly && ends).then_some(length)
}

fn dense(body: &[u8]) -> Option<usize> {
    let longest = body.split(|&byte| !byte.is_ascii_alphanumeric()).map(<[u8]>::len).max()?;
    let long_enough = 40 <= body.len() || (20 <= body.len() && 16 <= longest);
    long_enough.then_some(body.len())
}

fn jwt(body: &[u8]) -> Option<usize> {
    let mut parts = body.split(|&byte| byte == b'.');
    let (head, claims, signature) = (parts.next()?, parts.next()?, parts.next()?);
    let plain = 8 <= head.len() && claims.starts_with(b"eyJ") && 16 <= signature.len();
    plain.then_some(head.len() + claims.len() + signature.len() + 2)
}
