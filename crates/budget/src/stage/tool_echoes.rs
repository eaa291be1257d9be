//! `DropOldestToolEchoes`: an old result of a tool becomes a stub, since it can be had again.

use crate::section::{Piece, pieces};

/// Results that stay.
pub(crate) const KEPT: usize = 3;

/// A text of which only the protected sections are left, behind a line that says how many bytes are gone.
pub(crate) fn stub(text: &str) -> String {
    let mut gone = 0;
    let mut sections = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Open(part) => gone += part.len(),
            Piece::Protected(section) => sections.push_str(section),
        }
    }
    if gone == 0 { sections } else { format!("[tool result dropped, {gone} bytes]\n{sections}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_protected_sections_are_left() {
        assert_eq!(stub("x\ny"), "[tool result dropped, 3 bytes]\n");
        assert_eq!(
            stub("x\n## Audience\n- a\n# Rest\n## Constraints\n- c"),
            "[tool result dropped, 9 bytes]\n## Audience\n- a\n## Constraints\n- c"
        );
        assert_eq!(stub("## Audience\n- a"), "## Audience\n- a");
    }
}
