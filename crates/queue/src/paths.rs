//! What the rules need to know about a project's folder, without touching it (D7, D47, D58).

/// Answers questions about paths beneath one project root, as the kernel would answer them at this moment.
///
/// `store` implements it on a directory descriptor; tests fill it from a table.
pub trait ProjectPaths {
    /// The absolute path of the root as the project was opened; no trailing slash (except for `/` itself).
    fn root(&self) -> &str;

    /// Resolves a path as the kernel would, part by part: `link/..` is the parent of the link's target.
    ///
    /// `path` is relative to the root, or absolute; it has no NUL. Parts that do not exist are kept as written, so a
    /// path to a file that is yet to be made resolves too.
    fn resolve(&self, path: &str) -> Resolution;
}

/// Where a path leads after resolving the symbolic links of the part that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// Inside the root: the resolved path relative to the root (`.` for the root itself, no dot segments, no trailing
    /// slash) and what is there.
    Inside {
        /// Resolved, relative, `/`-separated.
        relative: String,
        /// What the resolved path names.
        kind: Kind,
    },
    /// A link, or a `..` behind a link, leads out of the root.
    Outside {
        /// Whether it leads to something that exists.
        exists: bool,
    },
    /// Links form a loop, or a chain of links that is longer than the kernel follows.
    Loop,
}

/// What a resolved path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A directory.
    Directory,
    /// Anything else that exists.
    Other,
    /// Nothing (also: a part on the way is not a directory or cannot be searched).
    Missing,
}
