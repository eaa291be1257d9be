//! Git's index file, versions 2 to 4: the names in it and the `link` to a shared index. Everything else is skipped.
//!
//! A reader in, names out: no paths and no opening of files here. The whole file is read and must add up, so that a
//! wrong guess of the hash's length, or a file that is not an index, is an error and never "the name is not there".

use std::io::{self, BufRead, Read};

use super::ewah::Bitmap;

/// The bytes of an object name: git has two hash functions, and which one an index was written with stands in the
/// repository's configuration, which is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Sha1,
    Sha256,
}

impl Hash {
    pub(super) const ALL: [Self; 2] = [Self::Sha1, Self::Sha256];

    const fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// The `link` extension of a split index: most entries stand in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    /// The name of the base, as lower-case hexadecimal digits.
    pub(super) base: String,
    /// The positions in the base whose entries are gone.
    pub(super) deleted: Bitmap,
}

/// Why a file is not an index.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error(transparent)]
    Read(#[from] io::Error),
    #[error("{0}")]
    Format(&'static str),
}

/// The largest `link` extension that is read: bitmaps over tens of millions of entries.
const MAX_LINK: u32 = 8 * 1024 * 1024;
/// The longest name that is read; longer ones than the system's limit exist in no working tree.
const MAX_NAME: u64 = 64 * 1024;

/// Reads an index of `size` bytes and calls `visit` with position and name of each entry, in order; the name is empty
/// where a split index changes an entry of its base. Returns its link, if it has one to another file.
pub(super) fn scan(
    reader: impl BufRead,
    size: u64,
    hash: Hash,
    visit: &mut dyn FnMut(u64, &[u8]),
) -> Result<Option<Link>, Fault> {
    // The file ends with a checksum over the rest, or zeros; it is not checked, the structure is.
    let body = size.checked_sub(hash.len() as u64).ok_or(Fault::Format("it is too short"))?;
    let mut index = Body { reader: reader.take(body) };
    let (version, count) = index.header()?;
    let mut name = Vec::new();
    for position in 0..u64::from(count) {
        index.entry(version, hash, &mut name)?;
        visit(position, &name);
    }
    index.extensions(hash)
}

/// The file without its checksum; `limit()` says how much of it is left.
struct Body<R> {
    reader: io::Take<R>,
}

impl<R: BufRead> Body<R> {
    fn header(&mut self) -> Result<(u32, u32), Fault> {
        if self.array::<4>()? != *b"DIRC" {
            return Err(Fault::Format("it does not begin with `DIRC`"));
        }
        let version = self.number()?;
        if !(2..=4).contains(&version) {
            return Err(Fault::Format("its version is not 2, 3 or 4"));
        }
        Ok((version, self.number()?))
    }

    /// Reads one entry; `name` is the one before and becomes this one's.
    fn entry(&mut self, version: u32, hash: Hash, name: &mut Vec<u8>) -> Result<(), Fault> {
        const EXTENDED: u16 = 0x4000;
        const LENGTH: u16 = 0x0fff;
        // Times, device, inode, mode, owner, size: 40 bytes; then the object's name and the flags.
        self.skip(40 + hash.len() as u64)?;
        let flags = u16::from_be_bytes(self.array()?);
        let mut fixed = 40 + hash.len() + 2;
        if flags & EXTENDED != 0 {
            if version < 3 {
                return Err(Fault::Format("an entry of version 2 has the flags of version 3"));
            }
            self.skip(2)?;
            fixed += 2;
        }
        if version == 4 {
            let stripped = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
            let kept = name.len().checked_sub(stripped).ok_or(Fault::Format("an entry strips more than there is"))?;
            name.truncate(kept);
            self.name(name)?;
        } else {
            name.clear();
            self.name(name)?;
            // One to eight zeros make the entry's length a multiple of eight; the first one ended the name.
            self.skip((7 - (fixed + name.len()) % 8) as u64)?;
        }
        let length = usize::from(flags & LENGTH);
        let fits = if length == usize::from(LENGTH) { name.len() >= length } else { name.len() == length };
        if fits { Ok(()) } else { Err(Fault::Format("an entry's name has another length than it says")) }
    }

    /// Appends bytes up to a zero, which is read too.
    fn name(&mut self, name: &mut Vec<u8>) -> Result<(), Fault> {
        (&mut self.reader).take(MAX_NAME).read_until(0, name)?;
        if name.pop() == Some(0) { Ok(()) } else { Err(Fault::Format("a name does not end")) }
    }

    /// The variable-width number of version 4: seven bits a byte, each further byte adds one to what came before.
    fn varint(&mut self) -> Result<u64, Fault> {
        let [mut byte] = self.array()?;
        let mut value = u64::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            [byte] = self.array()?;
            if value >= 1 << 32 {
                return Err(Fault::Format("a number is too large"));
            }
            value = ((value + 1) << 7) | u64::from(byte & 0x7f);
        }
        Ok(value)
    }

    fn extensions(&mut self, hash: Hash) -> Result<Option<Link>, Fault> {
        let mut link = None;
        while self.reader.limit() > 0 {
            let signature = self.array::<4>()?;
            let length = self.number()?;
            match &signature {
                b"link" if length <= MAX_LINK => {
                    let mut data = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
                    self.reader.read_exact(&mut data)?;
                    link = parse_link(&data, hash)?;
                }
                b"link" => return Err(Fault::Format("its link to a shared index is too large")),
                // A sparse index has entries for whole folders, whose files are not in the working tree.
                b"sdir" => self.skip(u64::from(length))?,
                [b'A'..=b'Z', ..] => self.skip(u64::from(length))?,
                _ => return Err(Fault::Format("it has an extension that must be understood and is not known")),
            }
        }
        Ok(link)
    }

    fn number(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut bytes = [0; N];
        self.reader.read_exact(&mut bytes).map_err(end)?;
        Ok(bytes)
    }

    fn skip(&mut self, mut count: u64) -> Result<(), Fault> {
        while count > 0 {
            let available = self.reader.fill_buf()?.len();
            if available == 0 {
                return Err(Fault::Format("it ends too early"));
            }
            let step = usize::try_from(count).unwrap_or(usize::MAX).min(available);
            self.reader.consume(step);
            count -= step as u64;
        }
        Ok(())
    }
}

/// The end of the file inside a value is a fault of the file, not of reading.
fn end(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => Fault::Format("it ends too early"),
        _ => Fault::Read(error),
    }
}

/// A base of zeros means that there is none.
fn parse_link(data: &[u8], hash: Hash) -> Result<Option<Link>, Fault> {
    let (base, rest) = data.split_at_checked(hash.len()).ok_or(Fault::Format("its link is too short"))?;
    if base.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let deleted = if rest.is_empty() {
        Bitmap::default()
    } else {
        Bitmap::parse(rest).ok_or(Fault::Format("its link has a broken bitmap"))?.0
    };
    let base = base.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(Some(Link { base, deleted }))
}
