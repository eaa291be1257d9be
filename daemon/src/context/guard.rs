//! What a project's own `.pi/handoff.toml` may not choose (D68): it may come with a stranger's repository, and must not
//! decide which of the user's secrets a model reads. What the user's own configuration names is not checked here.

use std::path::{Component, Path};

use super::blocked::Rule;
use crate::git::{Ignored, ignored};

/// Checks one spelling of a file's path: as written, and again as resolved, for a link may have a harmless name.
pub(super) fn check(root: &Path, relative: &str) -> Result<(), Rule> {
    if let Some(pattern) = secret_name(relative) {
        return Err(Rule::SecretName { pattern });
    }
    // A path with `..` is judged where it leads to, which is asked as well.
    if Path::new(relative).components().any(|part| part == Component::ParentDir) {
        return Ok(());
    }
    match ignored(root, relative) {
        Ok(Ignored::No) => Ok(()),
        Ok(Ignored::GitFolder) => Err(Rule::IgnoredByGit { by: "it is git's own".to_owned() }),
        Ok(Ignored::By { file, rule }) => Err(Rule::IgnoredByGit { by: format!("by {rule:?} in {}", file.display()) }),
        Err(why) => Err(Rule::MayBeIgnored(why)),
    }
}

/// The kind of secret that a file's name promises. Letter case does not matter: on some file systems it does not
/// matter to `open` either.
pub(super) fn secret_name(path: &str) -> Option<&'static str> {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let suffix = |ending: &str| name.ends_with(ending);
    match name.as_str() {
        _ if name.starts_with(".env") => Some(".env*"),
        _ if suffix(".pem") => Some("*.pem"),
        _ if suffix(".key") => Some("*.key"),
        _ if name.starts_with("id_") => Some("id_*"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_name(path: &str, expected: Option<&str>) {
        assert_eq!(secret_name(path), expected, "{path}");
    }

    #[test]
    fn names_that_usually_hold_secrets() {
        check_name(".env", Some(".env*"));
        check_name("sub/.env.local", Some(".env*"));
        check_name(".ENV", Some(".env*"));
        check_name("certs/server.pem", Some("*.pem"));
        check_name(".key", Some("*.key"));
        check_name("a/b/private.Key", Some("*.key"));
        check_name("id_rsa", Some("id_*"));
        check_name("id_ed25519.pub", Some("id_*"));
        for harmless in ["env", "README.md", "docs/keys.md", "pem", "idea.md", "key.txt", ".env.d/readme.md", ""] {
            check_name(harmless, None);
        }
    }
}
