//! Reading the context files of one dispatch, in order, until one breaks a rule. Nothing is kept between dispatches.

use queue::{Kind, ProjectPaths as _, Resolution};
use store::{ContainedError, Limit, ProjectDir, ReadError};

use super::blocked::{Blocked, Rule};
use super::file::{Content, ContextFile};
use super::{MAX_FILES, MAX_TOTAL_BYTES, guard};
use crate::config::{ContextFiles, NamedBy};

/// Reads the listed files and the one that `plan_ref` names, fresh, each once. Blocking.
///
/// `plan_ref` is free text, a URL perhaps: it adds a file only when it names a regular one inside the project, with or
/// without a `#fragment`, and none whose name promises a secret.
///
/// # Errors
/// The first file that breaks a rule of D68. A missing file breaks none.
pub fn collect(
    project: &ProjectDir,
    wanted: &ContextFiles,
    plan_ref: Option<&str>,
) -> Result<Vec<ContextFile>, Blocked> {
    let mut collection = Collection { project, files: Vec::new(), seen: Vec::new(), bytes: 0 };
    for (index, path) in wanted.files.iter().enumerate() {
        collection.add_listed(path, index + 1, wanted.named_by).map_err(|rule| Blocked { path: path.clone(), rule })?;
    }
    if let Some(plan) = plan_ref {
        collection.add_plan(plan).map_err(|rule| Blocked { path: plan.to_owned(), rule })?;
    }
    Ok(collection.files)
}

struct Collection<'a> {
    project: &'a ProjectDir,
    files: Vec<ContextFile>,
    /// Where the files so far really are.
    seen: Vec<String>,
    bytes: usize,
}

impl Collection<'_> {
    fn add_listed(&mut self, path: &str, number: usize, named_by: NamedBy) -> Result<(), Rule> {
        if number > MAX_FILES {
            return Err(Rule::TooMany { number });
        }
        if path.starts_with('/') || path.contains('\0') || path.is_empty() {
            return Err(Rule::Outside);
        }
        let Resolution::Inside { relative, kind } = self.project.resolve(path) else { return Err(Rule::Outside) };
        if named_by == NamedBy::Project {
            for spelling in [path, relative.as_str()] {
                guard::check(self.project.resolved_path(), spelling)?;
            }
        }
        match kind {
            Kind::Directory => Err(Rule::NotRegular),
            Kind::Missing => {
                self.files.push(ContextFile { path: path.to_owned(), content: Content::Missing });
                Ok(())
            }
            Kind::Other => self.add(path, relative),
        }
    }

    fn add_plan(&mut self, plan: &str) -> Result<(), Rule> {
        let without_fragment = plan.split_once('#').map(|(path, _)| path);
        for path in [Some(plan), without_fragment].into_iter().flatten() {
            if path.is_empty() || path.contains('\0') {
                continue;
            }
            let Resolution::Inside { relative, kind: Kind::Other } = self.project.resolve(path) else { continue };
            if guard::secret_name(path).is_some() || guard::secret_name(&relative).is_some() {
                return Ok(());
            }
            return match self.add(path, relative) {
                Err(Rule::NotRegular) => Ok(()),
                other => other,
            };
        }
        Ok(())
    }

    /// Reads the file at `relative`, already resolved, and shows it under the name it was asked for by.
    fn add(&mut self, path: &str, relative: String) -> Result<(), Rule> {
        if self.seen.contains(&relative) {
            return Ok(());
        }
        let content = match self.project.read_contained(&relative, Limit::Context) {
            Ok(file) => {
                self.bytes += file.bytes.len();
                if self.bytes > MAX_TOTAL_BYTES {
                    return Err(Rule::TotalTooLarge);
                }
                let sha256 = file.hash.to_string();
                Content::Text { text: String::from_utf8(file.bytes).map_err(|_| Rule::NotUtf8)?, sha256 }
            }
            Err(ContainedError::Outside) => return Err(Rule::Outside),
            Err(ContainedError::Read(ReadError::Missing)) => Content::Missing,
            Err(ContainedError::Read(ReadError::NotRegular)) => return Err(Rule::NotRegular),
            Err(ContainedError::Read(ReadError::TooLarge { .. })) => return Err(Rule::TooLarge),
            Err(ContainedError::Read(ReadError::Io(fault))) => return Err(Rule::Unreadable(fault)),
        };
        self.seen.push(relative);
        self.files.push(ContextFile { path: path.to_owned(), content });
        Ok(())
    }
}
