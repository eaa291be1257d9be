//! Tools whose result is the caller's own summary.

/// A call of one of these is no evidence for what its caller claims: the caller wrote the content itself.
pub const SELF_ECHO_TOOL_NAMES: [&str; 1] = ["team_handoff"];

/// Whether a tool is on the list, under its own name or as a client calls it (`mcp__handoff-team__team_handoff`).
#[must_use]
pub fn is_self_echo(tool: &str) -> bool {
    let name = tool.rsplit("__").next().unwrap_or(tool);
    SELF_ECHO_TOOL_NAMES.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_grounds_no_claim_of_its_sender() {
        for name in ["team_handoff", "mcp__handoff__team_handoff", "mcp__a__b__team_handoff"] {
            assert!(is_self_echo(name), "{name}");
        }
        for name in ["", "team_handoff2", "my_team_handoff", "handoff_submit", "team_handoff__x"] {
            assert!(!is_self_echo(name), "{name}");
        }
    }
}
