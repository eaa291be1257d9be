//! Credentials in text: masked wherever we write foreign text down, found where a person should be warned (D78).
//!
//! Only text that plainly is a credential counts: a known prefix with a long enough body, a private key block, a bearer
//! token, a password in an address, an `UPPER_CASE_TOKEN=` line. Nothing here ever refuses, and nothing here may hand
//! out the secret itself: a [`Finding`] says what and where.

mod prefixes;
mod scan;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// What sort of credential was found. Shown as a short name, "GitHub token".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `sk-…` and relatives, as several model providers use them.
    ApiKey,
    /// `ghp_…`, `github_pat_…` and relatives.
    GithubToken,
    /// `glpat-…` and relatives.
    GitlabToken,
    /// `xoxb-…`, `xapp-…` and relatives.
    SlackToken,
    /// `AKIA…`, `ASIA…`.
    AwsAccessKey,
    /// `AIza…`, `ya29.…`.
    GoogleKey,
    /// `npm_…`, `pypi-…` and other package registries.
    RegistryToken,
    /// Three base64 parts, a signed token.
    Jwt,
    /// `-----BEGIN … PRIVATE KEY-----`, up to its end or that of the text.
    PrivateKey,
    /// What follows `Bearer `.
    BearerToken,
    /// The password in `scheme://user:password@host`.
    UrlPassword,
    /// The value of `SOME_TOKEN=…`, as in a `.env` file.
    Assignment,
}

impl Kind {
    /// The name that people read.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "API key",
            Self::GithubToken => "GitHub token",
            Self::GitlabToken => "GitLab token",
            Self::SlackToken => "Slack token",
            Self::AwsAccessKey => "AWS access key",
            Self::GoogleKey => "Google key",
            Self::RegistryToken => "registry token",
            Self::Jwt => "signed token",
            Self::PrivateKey => "private key",
            Self::BearerToken => "bearer token",
            Self::UrlPassword => "password in an address",
            Self::Assignment => "secret assignment",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One credential in a text: what and where, never the text of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What sort of credential it is.
    pub kind: Kind,
    /// Its place in the text, in bytes.
    pub range: Range<usize>,
    /// The line it begins on, counted from 1.
    pub line: usize,
}

/// Replaces each credential in `text` by `[masked …]`. Borrowed when there is none; masking twice changes nothing more.
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut copied = 0;
    for found in scan::Matches::new(text) {
        masked.push_str(&text[copied..found.range.start]);
        masked.push_str("[masked ");
        masked.push_str(found.kind.name());
        masked.push(']');
        copied = found.range.end;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    masked.push_str(&text[copied..]);
    Cow::Owned(masked)
}

/// Every credential in `text`, in order, for warnings.
pub fn find(text: &str) -> Vec<Finding> {
    let mut line = 1;
    let mut counted = 0;
    scan::Matches::new(text)
        .map(|found| {
            line += text[counted..found.range.start].matches('\n').count();
            counted = found.range.start;
            Finding { kind: found.kind, range: found.range, line }
        })
        .collect()
}
