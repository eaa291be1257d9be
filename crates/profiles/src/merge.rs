//! One profile for each full name: precedence, and refused profiles that hide others (D56). Never read files here.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::definition::{Definition, Parsed};
use crate::note::{Note, Reason};
use crate::sources::Source;

/// A profile and where it came from; builtins have no path.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) source: Source,
    pub(crate) path: Option<PathBuf>,
    pub(crate) definition: Definition,
}

/// Takes places from the highest precedence down.
#[derive(Default)]
pub(crate) struct Merge {
    taken: BTreeSet<String>,
    chosen: Vec<Candidate>,
}

/// What one place holds.
#[derive(Default)]
pub(crate) struct Holdings {
    valid: Vec<Candidate>,
    /// Where in `valid` a full name stands.
    index: BTreeMap<String, usize>,
    refused: BTreeSet<String>,
}

impl Holdings {
    /// Adds a file, in the order of the place. A later profile of the same name wins, except in a package.
    pub(crate) fn add(&mut self, source: Source, path: &Path, parsed: Parsed, notes: &mut Vec<Note>) {
        match parsed {
            Parsed::Document => {}
            Parsed::Skipped(reason) => notes.push(Note::new(path, reason)),
            Parsed::Invalid { name, fault } => {
                self.refused.insert(name.clone());
                notes.push(Note::new(path, Reason::Invalid { name, fault }));
            }
            Parsed::Valid(definition) => {
                self.keep(Candidate { source, path: Some(path.to_path_buf()), definition });
            }
        }
    }

    /// A profile that cannot be used but whose name is known.
    pub(crate) fn refuse(&mut self, name: String) {
        self.refused.insert(name);
    }

    fn keep(&mut self, candidate: Candidate) {
        match self.index.entry(candidate.definition.full_name()) {
            Entry::Vacant(entry) => {
                entry.insert(self.valid.len());
                self.valid.push(candidate);
            }
            Entry::Occupied(entry) if candidate.source != Source::Package => self.valid[*entry.get()] = candidate,
            Entry::Occupied(_) => {}
        }
    }
}

impl Merge {
    /// Takes the next lower place. A valid profile is not hidden by a refused one of the same place.
    pub(crate) fn place(&mut self, holdings: Holdings) {
        for candidate in holdings.valid {
            if self.taken.insert(candidate.definition.full_name()) {
                self.chosen.push(candidate);
            }
        }
        self.taken.extend(holdings.refused);
    }

    /// Takes the builtins, the lowest of all, and ends.
    pub(crate) fn finish(mut self, builtins: Vec<Definition>) -> Vec<Candidate> {
        let valid =
            builtins.into_iter().map(|definition| Candidate { source: Source::Builtin, path: None, definition });
        self.place(Holdings { valid: valid.collect(), ..Holdings::default() });
        self.chosen
    }
}
