//! Packets of a team on disk: the door they are filed through, legs and slots, ledgers, composer, member records.
//!
//! The way in is [`Door::handoff`], which does all that `team_handoff` promises; the way out is [`compose::read_leg`].
//! Everything lies below one folder, the [`Home`]. Calls are synchronous and may block as long as the file system does;
//! the time is the caller's.
//!
//! # Who may do what
//!
//! Who the caller is comes from the id that its process was started with and from the record of that id below the
//! home ([`identity`]), never from a packet. No text of a packet becomes a part of a path: `goal_id` must pass
//! [`is_path_part`], folders are opened part by part, and a link is never followed. Programs of the same user are not
//! kept apart: who can write below the home can write a record or a packet without this door.
//!
//! # What a crash can leave
//!
//! A packet file is the old one or the new one. Beside it may stay a temporary file, which the next filing on that leg
//! removes, and the empty lock file, whose lock dies with its holder. A packet that was filed just before the crash may
//! lack its rows in the ledgers; the caller, who got no answer, files it again and then they are written.

pub mod compose;
pub mod delivered;
mod door;
pub mod edge;
mod filing;
mod fill;
mod home;
pub mod identity;
pub mod ledger;
pub mod leg;
pub mod listing;
pub mod members;
mod part;
mod refusal;
mod rows;
mod text;
pub mod thread;

pub use door::{Door, Filed};
pub use home::{Home, HomeError};
pub use leg::Leg;
pub use part::is_path_part;
pub use refusal::{Code, Refusal};
