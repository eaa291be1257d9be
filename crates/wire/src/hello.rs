//! The opening of every connection. `hello` keeps its shape in all protocol versions.

use crate::object::objects;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `hello`: the first request of every client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct Hello {
    /// The protocol that the client speaks, see [`crate::limits::PROTOCOL`].
    pub protocol: u32,
    /// Who calls.
    pub client: ClientInfo,
}

/// Who calls, for logs and status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct ClientInfo {
    /// The program's name.
    pub name: String,
    /// The program's version.
    pub version: String,
}

/// The answer to `hello`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct HelloResult {
    /// The protocol that both speak now.
    pub protocol: u32,
    /// Who answers.
    pub daemon: DaemonInfo,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self")]
#[schemars(!remote)]
pub struct DaemonInfo {
    /// The daemon's version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// 32 hexadecimal digits, new at each start (D14).
    pub instance: String,
    /// When it started, RFC 3339.
    pub started_at: String,
}

objects!(Hello, ClientInfo, HelloResult, DaemonInfo);
