//! What a tool requires of its caller (D75).

/// A permission that a tool can require.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// `team:handoff`: to file a packet in the channel that the roles of a team share.
    TeamHandoff,
}

impl Scope {
    /// Its name where programs read it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TeamHandoff => "team:handoff",
        }
    }

    /// Whether an operator can hand it to a client from outside.
    #[must_use]
    pub const fn is_externally_grantable(self) -> bool {
        match self {
            Self::TeamHandoff => false,
        }
    }
}

/// On whose behalf this process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller {
    /// The user who started it.
    Local,
    /// Whoever holds a client key. Which scopes the key claims does not matter: none of ours can be granted.
    External,
}

/// The caller may not do this.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// What is missing.
    pub scope: Scope,
    /// Names the scope and the remedy.
    pub message: String,
}

impl Denied {
    /// The code in ledgers and in the data of the error.
    pub const CODE: &'static str = "insufficient_scope";
}

impl Caller {
    /// Whether the caller has a scope.
    ///
    /// # Errors
    ///
    /// [`Denied`] for a client key.
    pub fn require(self, scope: Scope) -> Result<(), Denied> {
        match self {
            Self::Local => Ok(()),
            Self::External if scope.is_externally_grantable() => Ok(()),
            Self::External => {
                let name = scope.as_str();
                let message = format!(
                    "this needs the scope `{name}`, which no client key can carry; start the server without HANDOFF_MCP_KEY"
                );
                Err(Denied { scope, message })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_opens_the_team_channel() {
        assert_eq!(Scope::TeamHandoff.as_str(), "team:handoff");
        assert!(!Scope::TeamHandoff.is_externally_grantable());
        assert_eq!(Caller::Local.require(Scope::TeamHandoff), Ok(()));
        let denied = Caller::External.require(Scope::TeamHandoff).unwrap_err();
        assert!(denied.message.contains("`team:handoff`") && denied.message.contains("HANDOFF_MCP_KEY"));
    }
}
