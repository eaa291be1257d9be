//! The caps of a packet, under the names of the specification ("Caps"). Nothing is ever cut to fit one.

/// Bytes of the whole packet in its normalized compact form.
pub const TASK_PACKET_MAX_BYTES: usize = 16_384;
/// Entries of `constraints`.
pub const CONSTRAINTS_MAX: usize = 12;
/// Characters (Unicode scalar values) of `constraints[].text`.
pub const CONSTRAINT_TEXT_MAX_CHARS: usize = 200;
/// Characters of `constraints[].id`.
pub const CONSTRAINT_ID_MAX_CHARS: usize = 64;
/// Entries of `audience`.
pub const AUDIENCE_MAX: usize = 16;
/// Characters of `audience[]`.
pub const AUDIENCE_ID_MAX_CHARS: usize = 64;
/// Entries of `acceptance` of one kind.
pub const ASSERTION_LIST_MAX: usize = 6;
/// Characters of `acceptance[].value`.
pub const ASSERTION_TOKEN_MAX_CHARS: usize = 80;
/// Characters of `objective`.
pub const OBJECTIVE_MAX_CHARS: usize = 1_000;
/// Entries of `evidence_index`.
pub const EVIDENCE_INDEX_MAX: usize = 32;
