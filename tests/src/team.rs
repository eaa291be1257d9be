//! The double of a team's other half: records of members and packets as any program would lay them out.
#![expect(clippy::disallowed_methods, reason = "the double writes files as other programs do")]

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::World;

/// The home of packets of a world.
#[derive(Debug, Clone)]
pub struct Team {
    home: PathBuf,
}

impl Team {
    /// The home that `handoffd` uses in this world.
    #[must_use]
    pub fn of(world: &World) -> Self {
        Self { home: world.path("data/handoffd") }
    }

    /// Its folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Writes a member's record, pinned to a goal and, unless it is 0, to a round.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn member(&self, id: &str, role: &str, goal: &str, round: u32) {
        let round = if round == 0 { String::new() } else { format!("round = {round}\n") };
        let path = self.record(id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("[team_member]\nrole = \"{role}\"\ntask_id = \"{goal}\"\n{round}")).unwrap();
    }

    /// The path of a member's record.
    #[must_use]
    pub fn record(&self, id: &str) -> PathBuf {
        self.home.join("agents").join(id).join("agent.toml")
    }

    /// The folder of a round.
    #[must_use]
    pub fn round(&self, goal: &str, round: u32) -> PathBuf {
        self.home.join(format!("team_packets/{goal}/r{round}"))
    }

    /// The file of a slot; `leg` is `planner-to-executor`, for example.
    #[must_use]
    pub fn slot(&self, goal: &str, round: u32, leg: &str, slot: u32) -> PathBuf {
        let name = if slot == 0 { format!("{leg}.json") } else { format!("{leg}.{slot:02}.json") };
        self.round(goal, round).join(name)
    }

    /// Files a packet in a slot, by a rename.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn file(&self, goal: &str, round: u32, leg: &str, slot: u32, id: &str) {
        let (from, to) = leg.split_once("-to-").unwrap();
        let packet = json!({
            "packet_id": id, "goal_id": goal, "round": round, "from_role": from, "to_role": to,
            "objective": format!("objective of {id}"), "output_format": {"kind": "markdown"},
        });
        self.put(&self.slot(goal, round, leg, slot), &packet.to_string());
    }

    /// Writes a file by a rename.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn put(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let temporary = path.with_extension("new");
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, path).unwrap();
    }

    /// The rows of a round's `.delivered.jsonl` that are JSON.
    #[must_use]
    pub fn delivered(&self, goal: &str, round: u32) -> Vec<Value> {
        let text = fs::read_to_string(self.round(goal, round).join(".delivered.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The rows of a ledger of the home.
    #[must_use]
    pub fn ledger(&self, name: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.home.join(name)).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}
