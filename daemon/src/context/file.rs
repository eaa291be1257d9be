//! The value that a context file becomes once it is read. No I/O here.

/// One context file as it was found for one dispatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextFile {
    /// Project-relative, as it was named.
    pub path: String,
    /// What was there.
    pub content: Content,
}

/// What a context file's name led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A regular file inside the project and inside the limits.
    Text {
        /// All of it; always UTF-8.
        text: String,
        /// SHA-256 of its bytes, 64 lower-case hexadecimal digits.
        sha256: String,
    },
    /// Nothing: told to the worker, and no reason to stop.
    Missing,
}

impl ContextFile {
    /// The size in bytes; nothing for a missing file.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.content {
            Content::Text { text, .. } => text.len(),
            Content::Missing => 0,
        }
    }
}
