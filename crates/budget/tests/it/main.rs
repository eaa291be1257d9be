//! The crate as its users see it.

mod conversations;
mod properties;
mod sections;
