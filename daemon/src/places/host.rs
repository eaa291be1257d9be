//! The name of this host as a part of file names.
//!
//! State folders may lie on a network home that several machines share (F084): what belongs to one machine (socket,
//! instance lock, list of owned projects, logs) carries this part. It never decides who is alive.

/// Longest host part, in bytes.
const MAX: usize = 64;

/// This machine's host part: see [`sanitised`].
#[must_use]
pub fn host_part() -> String {
    let name = nix::unistd::gethostname().unwrap_or_default();
    sanitised(&name.to_string_lossy())
}

/// A host name with every character but ASCII letters, digits, `-`, `_` and `.` replaced by `_`, in lower case, at
/// most 64 bytes; `localhost` if nothing is left. On macOS only the first label counts: the rest of the name follows
/// the network that the machine happens to be in.
#[must_use]
pub fn sanitised(name: &str) -> String {
    let stable = if cfg!(target_os = "macos") { name.split('.').next().unwrap_or(name) } else { name };
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c.to_ascii_lowercase() } else { '_' };
    let part: String = stable.chars().map(keep).take(MAX).collect();
    if part.chars().all(|c| c == '.') { "localhost".to_owned() } else { part }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_become_one_harmless_path_component() {
        let check = |input: &str, expected: &str| assert_eq!(sanitised(input), expected);
        check("node-1", "node-1");
        check("Node_1", "node_1");
        check("../../etc", if cfg!(target_os = "macos") { "localhost" } else { ".._.._etc" });
        check("", "localhost");
        check("..", "localhost");
        check("büro pc", "b_ro_pc");
        check(&"x".repeat(300), &"x".repeat(64));
    }

    proptest! {
        #[test]
        fn any_name_is_safe(name in any::<String>()) {
            let part = sanitised(&name);
            prop_assert!(!part.is_empty() && part.len() <= 64);
            let joined = std::path::Path::new("/s").join(format!("run-{part}"));
            prop_assert_eq!(joined.components().count(), 3);
        }
    }
}
