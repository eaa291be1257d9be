//! Agent profiles as pi-subagents loads them: discovery, precedence, effective role and pins.
