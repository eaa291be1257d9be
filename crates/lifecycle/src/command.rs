//! Commands that are suggested, as a person can paste them into a shell.
//!
//! The machine names them as they work in the project's root; [`elsewhere`] makes one that works in any folder.

use queue::quoted;

/// `handoff show`, for any folder.
#[must_use]
pub fn show(task_id: &str) -> String {
    format!("handoff show {}", quoted(task_id))
}

/// The command `next` for a person who is not in the root of its project, `root`; `which` is the project as commands take
/// it, its name or its path.
#[must_use]
pub fn elsewhere(next: &str, which: &str, root: &str) -> String {
    let (which, path) = (quoted(which), quoted(root));
    let mut words = next.split(' ');
    let program = words.next().unwrap_or_default();
    match words.next().filter(|_| program == "handoff") {
        Some("cancel" | "retry" | "take" | "show" | "wait") => format!("{next} --project {which}"),
        Some("resume" | "unlock" | "enable" | "pause" | "disable" | "log") => format!("{next} {which}"),
        Some("init") => format!("{next} {path}"),
        Some("lint") => format!("{next} {}", quoted(&format!("{root}/tasks.json"))),
        // These look at no project, and the folder may be what is missing.
        Some("projects" | "logs" | "status" | "doctor") => next.to_owned(),
        // These name whole paths, and may be what lets somebody into the folder.
        _ if matches!(program, "chmod" | "mv" | "cp" | "printf" | "df" | "sudo") => next.to_owned(),
        _ => format!("cd {path} && {next}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_finds_its_project_from_anywhere() {
        let check = |next: &str, expected: &str| assert_eq!(elsewhere(next, "/w/my shop", "/w/my shop"), expected);
        check("handoff cancel T-1", "handoff cancel T-1 --project '/w/my shop'");
        check(&show("T 1"), "handoff show 'T 1' --project '/w/my shop'");
        check("handoff resume", "handoff resume '/w/my shop'");
        check("handoff log rotate", "handoff log rotate '/w/my shop'");
        check("handoff init", "handoff init '/w/my shop'");
        check("handoff lint", "handoff lint '/w/my shop/tasks.json'");
        check("handoff status", "handoff status");
        check("chmod u+rwx '/w/my shop'", "chmod u+rwx '/w/my shop'");
        check("handoff attach", "cd '/w/my shop' && handoff attach");
        check("pi --session x", "cd '/w/my shop' && pi --session x");
        assert_eq!(elsewhere("handoff resume", "shop", "/w/shop"), "handoff resume shop");
        assert_eq!(elsewhere("handoff resume", "it's", "/w/it's"), r"handoff resume 'it'\''s'");
    }
}
