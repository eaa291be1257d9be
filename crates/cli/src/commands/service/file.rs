//! A file of the service: written whole, and never over what a person made of it without saying so.
//!
//! One line of each file holds a hash of the others. A file whose hash still fits is one that we wrote, perhaps in an
//! older version, and may be replaced; any other was edited.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use store::{RawHash, put_aside};

use super::diff::{self, Change};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::shell::quoted;
use crate::text::{Line, Tone, block};

/// What stands before the hash.
const STAMP: &str = "Written by `handoff service install`, state ";

/// A file as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceFile {
    /// Where.
    pub(super) path: PathBuf,
    /// Its text, with the stamp.
    pub(super) text: String,
}

/// What stands there now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// Nothing.
    Absent,
    /// What should.
    Same,
    /// What we wrote before.
    Ours,
    /// What somebody made of it, or wrote.
    Edited(String),
    /// A link that a person or a program of theirs made, where it leads, and what stands there.
    Link(PathBuf, String),
    /// Masked: a link to `/dev/null`, or a unit without a byte; which.
    Masked(&'static str),
    /// A folder, or something else that is no file.
    NoFile,
}

impl ServiceFile {
    /// A file with this text; `comment` makes a comment of the stamp, which becomes the line before `before` (or the last).
    pub(super) fn new(path: PathBuf, text: &str, comment: (&str, &str), before: Option<&str>) -> Self {
        let stamp = format!("{}{STAMP}{}{}\n", comment.0, hash(text), comment.1);
        let at = before.and_then(|before| text.find(before)).unwrap_or(text.len());
        Self { path, text: format!("{}{stamp}{}", &text[..at], &text[at..]) }
    }

    /// Looks at what is there.
    pub(super) fn look(&self) -> Result<Found, Failure> {
        let same = fs::read(&self.path).is_ok_and(|bytes| bytes == self.text.as_bytes());
        if same { Ok(Found::Same) } else { look_at(&self.path) }
    }

    /// Puts it in place, but over nothing of a person's unless that may be replaced; whether it was written. `own` says
    /// where a person's own settings belong.
    pub(super) fn put(&self, ctx: &mut Context, replace: bool, own: &str) -> Result<bool, Failure> {
        let path = self.path.display();
        let (there, what, then) = match self.look()? {
            Found::Same => {
                ctx.out.line(format!("as it should be: {path}"));
                return Ok(false);
            }
            Found::Masked(how) => {
                let failure = Failure::new(Exit::Refused, format!("{path} is masked: it {how}"));
                return Err(
                    failure.hint(format!("`rm {}` first, if it is to be allowed again", quoted(&path.to_string())))
                );
            }
            Found::NoFile => {
                let failure = Failure::new(Exit::Refused, format!("{path} is in the way: it is no file"));
                return Err(failure.hint(format!("`{}`, then again", put_aside(&self.path))));
            }
            Found::Absent | Found::Ours => {
                self.write()?;
                ctx.out.line(format!("wrote {path}"));
                return Ok(true);
            }
            Found::Edited(there) => (there, "was edited".to_owned(), String::new()),
            Found::Link(to, there) => {
                let to = to.display();
                (there, format!("is a link to {to}"), format!(" in place of the link; {to} stays"))
            }
        };
        self.show_difference(ctx, &there);
        if !replace {
            ctx.out
                .warn(&format!("{path} {what} and stays: `handoff service install --replace` takes ours{then}{own}"));
            return Ok(false);
        }
        self.write()?;
        ctx.out.line(format!("wrote {path}{then}"));
        Ok(true)
    }

    /// Writes it in one step. Its folder is made.
    pub(super) fn write(&self) -> Result<(), Failure> {
        write(&self.path, &self.text)
            .map_err(|error| Failure::new(Exit::NotGood, format!("cannot write {}: {error}", self.path.display())))
    }

    /// Shows what would change in a text that somebody edited.
    pub(super) fn show_difference(&self, ctx: &mut Context, there: &str) {
        ctx.out.note(Line::of(Tone::Strong, &format!("{}, as it is (-) and as it would be (+):", self.path.display())));
        for change in diff::lines(there, &self.text) {
            match change {
                Change::Gone(line) => ctx.out.note(Line::of(Tone::Bad, &format!("  -{line}"))),
                Change::New(line) => ctx.out.note(Line::of(Tone::Good, &format!("  +{line}"))),
                Change::Same(_) => {}
            }
        }
    }
}

/// What is at a path, without knowing what should be.
pub(super) fn look_at(path: &Path) -> Result<Found, Failure> {
    let fault = |error: io::Error| Failure::new(Exit::NotGood, format!("cannot read {}: {error}", path.display()));
    let link = fs::read_link(path).ok();
    if link.as_deref() == Some(Path::new("/dev/null")) {
        return Ok(Found::Masked("leads to /dev/null"));
    }
    if path.metadata().is_ok_and(|meta| !meta.is_file()) {
        return Ok(Found::NoFile);
    }
    let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if let Some(to) = link {
        return Ok(Found::Link(to, text.unwrap_or_default()));
    }
    // As systemd sees it. An empty drop-in is none.
    let is_unit = path.extension().is_some_and(|end| end == "service" || end == "socket");
    match text {
        Ok(text) if text.is_empty() && is_unit => Ok(Found::Masked("is empty")),
        Ok(text) => Ok(if is_ours(&text) { Found::Ours } else { Found::Edited(text) }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Absent),
        Err(error) => Err(fault(error)),
    }
}

/// Whether the stamp in the text fits the rest of it.
fn is_ours(text: &str) -> bool {
    let Some(stamp) = text.split_inclusive('\n').find(|line| line.contains(STAMP)) else { return false };
    let rest: String = text.split_inclusive('\n').filter(|line| *line != stamp).collect();
    stamp.contains(&format!("{STAMP}{}", hash(&rest)))
}

fn hash(text: &str) -> String {
    let full = RawHash::of(text.as_bytes()).to_string();
    full[..16].to_owned()
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".handoff").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// What a person wrote is shown before it goes, so that it can be written again.
pub(super) fn show_before_removal(ctx: &mut Context, path: &Path) -> Result<Found, Failure> {
    let found = look_at(path)?;
    match &found {
        Found::Edited(text) => {
            ctx.out.note(format!("{} was edited; this stood there:", path.display()));
            for line in block("  ", text) {
                ctx.out.note(line);
            }
        }
        Found::Link(to, _) => ctx.out.note(format!("{} is a link to {}, which stays", path.display(), to.display())),
        Found::Absent | Found::Same | Found::Ours | Found::Masked(_) | Found::NoFile => {}
    }
    Ok(found)
}

/// Removes a file; whether there was one.
pub(super) fn remove(path: &Path) -> Result<bool, Failure> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Failure::new(Exit::NotGood, format!("cannot remove {}: {error}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path, text: &str) -> ServiceFile {
        ServiceFile::new(folder.join("a/unit"), text, ("# ", ""), None)
    }

    #[test]
    fn what_we_wrote_is_known_again_in_every_version_and_what_was_edited_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let old = file(folder.path(), "[Service]\nExecStart=/a\n");
        assert_eq!(old.look().unwrap(), Found::Absent);
        old.write().unwrap();
        assert_eq!(old.look().unwrap(), Found::Same);
        let new = file(folder.path(), "[Service]\nExecStart=/b\n");
        assert_eq!(new.look().unwrap(), Found::Ours);
        for edited in [format!("{}Nice=5\n", old.text), old.text.replace("/a", "/c"), "[Service]\n".to_owned()] {
            write(&old.path, &edited).unwrap();
            assert_eq!(new.look().unwrap(), Found::Edited(edited));
        }
        let mut bytes = fs::File::create(&old.path).unwrap();
        bytes.write_all(&[old.text.as_bytes(), b"# \xff\n"].concat()).unwrap();
        assert_eq!(new.look().unwrap(), Found::Edited(format!("{}# \u{fffd}\n", old.text)));
        fs::remove_file(&old.path).unwrap();
        let own = folder.path().join("own");
        std::os::unix::fs::symlink(&own, &old.path).unwrap();
        assert_eq!(new.look().unwrap(), Found::Link(own.clone(), String::new()), "it leads nowhere");
        for text in [&old.text, "[Service]\n"] {
            write(&own, text).unwrap();
            assert_eq!(new.look().unwrap(), Found::Link(own.clone(), text.to_owned()), "also if we wrote it once");
        }
        write(&own, &new.text).unwrap();
        assert_eq!(new.look().unwrap(), Found::Same);
        fs::remove_file(&old.path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &old.path).unwrap();
        assert_eq!(new.look().unwrap(), Found::Masked("leads to /dev/null"));
        let odd = folder.path().join("handoffd.service");
        write(&odd, "").unwrap();
        assert_eq!(look_at(&odd).unwrap(), Found::Masked("is empty"));
        fs::remove_file(&odd).unwrap();
        fs::create_dir(&odd).unwrap();
        assert_eq!(look_at(&odd).unwrap(), Found::NoFile);
    }

    #[test]
    fn the_stamp_stands_where_a_comment_may() {
        let file = ServiceFile::new("/p".into(), "<?xml?>\n<plist>\n</plist>\n", ("<!-- ", " -->"), Some("<plist"));
        let lines: Vec<&str> = file.text.lines().collect();
        assert!(lines[1].starts_with("<!-- ") && lines[1].ends_with(" -->"), "{lines:?}");
        assert!(is_ours(&file.text));
        assert!(!is_ours(&file.text.replace("</plist>", "</plist> ")));
    }
}
