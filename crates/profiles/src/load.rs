//! The whole answer: which agents a session of this project can name. The parts do the work; only their order is here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use queue::Agent;

use crate::builtin;
use crate::definition::Parsed;
use crate::disk::Disk;
use crate::looks::Looks;
use crate::merge::{Candidate, Holdings, Merge};
use crate::note::{Note, Reason};
use crate::overlay::{Launch, Overlay};
use crate::places::Places;
use crate::read::{self, MAX_PROFILE};
use crate::root;
use crate::settings::Settings;
use crate::sources::{self, Place, Source};
use crate::walk::{self, Found};

/// The most profiles that count, in the order of precedence, project first (D27).
pub const MAX_PROFILES: usize = 256;

/// The most Markdown files that are read to find them.
const MAX_FILES: usize = 1024;

/// The most ambiguous texts that are noted, and the most agents named for one.
const MAX_AMBIGUOUS: usize = 16;

/// The agents of a project and what was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The agents that can be launched, highest precedence first, builtins last. No two have the same full name.
    pub agents: Vec<Agent>,
    /// What does not count and why, in the order in which it was found.
    pub notes: Vec<Note>,
}

/// Loads the profiles of a project from disk.
///
/// It never fails: what cannot be read does not count and is noted. A settings file that pi-subagents cannot use leaves
/// no agent at all, because then nothing can be launched (D56).
#[must_use]
pub fn load(places: &Places) -> Loaded {
    load_and_remember(places).0
}

/// As [`load`], with what it depends on; `None` when that is too much, or cannot be said.
#[must_use]
pub fn load_and_remember(places: &Places) -> (Loaded, Option<Looks>) {
    let (disk, mut notes) = (Disk::default(), Vec::new());
    let agents = agents(&disk, places, &mut notes).unwrap_or_else(|note| {
        notes.push(note);
        Vec::new()
    });
    (Loaded { agents, notes }, disk.into_looks())
}

fn agents(disk: &Disk, places: &Places, notes: &mut Vec<Note>) -> Result<Vec<Agent>, Note> {
    let project_root = root::project_root(disk, &places.root)?;
    let overlay = overlay(disk, places, project_root.as_deref().map(root::settings_file), notes)?;
    let mut census = Census::default();
    let mut merge = Merge::default();
    for place in sources::places(disk, places, project_root.as_deref(), &overlay, notes) {
        merge.place(census.read_place(disk, &place, notes));
    }
    let mut agents = Vec::new();
    let mut paths = Vec::new();
    for Candidate { source, path, mut definition } in merge.finish(builtin::definitions()) {
        let launch = match source {
            Source::Builtin => overlay.apply_to_builtin(&mut definition),
            Source::Project | Source::User | Source::Package => overlay.apply(&mut definition),
        };
        let path = path.unwrap_or_else(|| places.agent_dir.clone());
        match launch {
            Launch::Possible => {
                agents.push(definition.into_agent(overlay.ceiling()));
                paths.push(path);
            }
            Launch::Disabled => notes.push(Note::new(path, Reason::Disabled { name: definition.full_name() })),
            Launch::DisabledInBulk => {}
        }
    }
    note_ambiguous(&agents, &paths, notes);
    Ok(agents)
}

fn overlay(disk: &Disk, places: &Places, project: Option<PathBuf>, notes: &mut Vec<Note>) -> Result<Overlay, Note> {
    let mut read = |path: PathBuf| {
        let settings = Settings::read(disk, &path)?;
        if settings.by_provider {
            notes.push(Note::new(path, Reason::ProviderOverrides));
        }
        Ok(settings)
    };
    let user = read(places.agent_dir.join("settings.json"))?;
    Ok(Overlay { user, project: project.map(read).transpose()?.unwrap_or_default() })
}

/// Counts what was read, over all places.
#[derive(Default)]
struct Census {
    entries: usize,
    files: usize,
    profiles: usize,
}

impl Census {
    fn read_place(&mut self, disk: &Disk, place: &Place, notes: &mut Vec<Note>) -> Holdings {
        let mut holdings = Holdings::default();
        for found in walk::files(disk, &place.folder, &place.bounds, &mut self.entries, notes) {
            if self.files >= MAX_FILES {
                notes.push(Note::new(found.path, Reason::Cut { what: "Markdown files", limit: MAX_FILES }));
                break;
            }
            self.files += 1;
            if let Err(note) = self.read_file(disk, place.source, &found, &mut holdings, notes) {
                notes.push(note);
            }
        }
        holdings
    }

    fn read_file(
        &mut self,
        disk: &Disk,
        source: Source,
        found: &Found,
        holdings: &mut Holdings,
        notes: &mut Vec<Note>,
    ) -> Result<(), Note> {
        let text = read::read(disk, &found.real, MAX_PROFILE)?;
        let parsed = Parsed::from_text(&text.text);
        let is_document = parsed == Parsed::Document && !(text.cut && text.text.starts_with("---"));
        if is_document {
            return Ok(());
        }
        if self.profiles >= MAX_PROFILES {
            return Err(Note::new(&found.path, Reason::PastLimit));
        }
        self.profiles += 1;
        if !text.cut {
            holdings.add(source, &found.path, parsed, notes);
            return Ok(());
        }
        match parsed {
            Parsed::Valid(definition) => holdings.refuse(definition.full_name()),
            Parsed::Invalid { name, .. } => holdings.refuse(name),
            Parsed::Document | Parsed::Skipped(_) => {}
        }
        Err(Note::new(&found.path, Reason::TooLarge))
    }
}

/// Notes texts that fit several agents: as a full or local name, else as an alias.
fn note_ambiguous(agents: &[Agent], paths: &[PathBuf], notes: &mut Vec<Note>) {
    let full_names: Vec<_> = agents.iter().map(Agent::full_name).collect();
    let mut names: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut aliases = names.clone();
    for (index, agent) in agents.iter().enumerate() {
        names.entry(&full_names[index]).or_default().insert(index);
        names.entry(&agent.name).or_default().insert(index);
        for alias in &agent.aliases {
            aliases.entry(alias).or_default().insert(index);
        }
    }
    aliases.retain(|text, _| !names.contains_key(text));
    let ambiguous = names.iter().chain(&aliases).filter(|(_, fits)| fits.len() > 1);
    for (text, fits) in ambiguous.take(MAX_AMBIGUOUS) {
        let agents = fits.iter().take(MAX_AMBIGUOUS).map(|&index| full_names[index].clone()).collect();
        let path = fits.first().map_or_else(PathBuf::new, |&index| paths[index].clone());
        notes.push(Note::new(path, Reason::Ambiguous { text: (*text).to_owned(), agents }));
    }
}
