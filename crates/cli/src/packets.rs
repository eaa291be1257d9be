//! Packets of a goal as commands show them: read as the composer reads them, without writing a row anywhere.

use serde_json::{Value, json};
use team::compose::{Found, Packets, read_leg};
use team::{Home, HomeError, is_path_part, listing};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::text::{Line, Tone};

/// The home of packets, as the daemon finds it (D36).
pub(crate) fn home(ctx: &Context) -> Result<Home, Failure> {
    Ok(Home::at(ctx.places()?.team_home))
}

/// What the home or a folder below it makes impossible.
#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
pub(crate) fn failure(error: HomeError) -> Failure {
    let failure = Failure::new(Exit::NotGood, error.to_string());
    match error.advice() {
        Some(advice) => failure.hint(advice),
        None => failure,
    }
}

/// The packets of a goal.
#[derive(Debug, Default)]
pub(crate) struct OfGoal {
    /// The legs that have a file, by round.
    pub(crate) legs: Vec<Packets>,
    /// The rounds that cannot be read, which says nothing of the others.
    pub(crate) unreadable: Vec<(u32, Failure)>,
}

/// All that can be read of a goal.
pub(crate) fn of_goal(home: &Home, goal: &str) -> Result<OfGoal, Failure> {
    if !is_path_part(goal) {
        let message = format!("`{goal}` cannot have packets: a goal's id is 1 to 64 of `A-Z a-z 0-9 _ -`");
        return Err(Failure::usage(message));
    }
    let mut found = OfGoal::default();
    for round in listing::rounds(home, goal).map_err(failure)? {
        match of_round(home, goal, round) {
            Ok(legs) => found.legs.extend(legs),
            Err(error) => found.unreadable.push((round, failure(error))),
        }
    }
    Ok(found)
}

fn of_round(home: &Home, goal: &str, round: u32) -> Result<Vec<Packets>, HomeError> {
    listing::legs(home, goal, round)?.iter().map(|leg| read_leg(home, leg)).collect()
}

impl OfGoal {
    /// The legs as JSON, and `{round, error}` for each round that cannot be read.
    pub(crate) fn json(&self) -> Vec<Value> {
        let unreadable = self.unreadable.iter();
        let unreadable = unreadable.map(|(round, failure)| json!({"round": round, "error": failure.message}));
        self.legs.iter().map(leg_json).chain(unreadable).collect()
    }

    /// Tells of the rounds that cannot be read; all is good if there are none.
    pub(crate) fn tell_unreadable(&self, ctx: &Context) -> Exit {
        self.unreadable.iter().for_each(|(_, failure)| ctx.out.failure(failure));
        if self.unreadable.is_empty() { Exit::Good } else { Exit::NotGood }
    }
}

/// What is said of a goal without packets, which may be a slip of the fingers.
pub(crate) fn none_of(goal: &str, home: &Home) -> String {
    format!("{goal} has no packets in {}; `handoff packet list` lists the goals that have some", home.path().display())
}

/// A leg as JSON: `{round, from_role, to_role, packets, skipped, gap, stage_failed}`; the last is null, or the code of a leg
/// without a valid packet.
fn leg_json(read: &Packets) -> Value {
    let leg = &read.leg;
    let skipped = read.skipped.iter().map(|skipped| {
        json!({"slot": skipped.slot, "path": leg.path(skipped.slot), "code": skipped.code, "detail": skipped.detail})
    });
    let gap = read.gap.as_ref().map(|gap| json!({"missing": gap.missing, "behind": gap.behind}));
    json!({
        "round": leg.round(), "from_role": leg.from(), "to_role": leg.to(),
        "packets": read.packets.iter().map(packet_json).collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(), "gap": gap,
        "stage_failed": read.for_stage().err().map(|failed| failed.code),
    })
}

fn packet_json(found: &Found) -> Value {
    let packet = &found.packet;
    json!({
        "slot": found.slot, "path": found.path, "packet_id": packet.packet_id, "parent_packet": packet.parent_packet,
        "objective": packet.objective,
    })
}

/// A leg in a few words: `round 2, planner → executor`.
pub(crate) fn leg_name(read: &Packets) -> String {
    format!("round {}, {} → {}", read.leg.round(), read.leg.from(), read.leg.to())
}

/// A leg for people, in the order of the slots: what a file holds, cut to `width`, and below it its path, whole, for `packet
/// show`; then a gap, and that no packet is valid.
pub(crate) fn leg_lines(read: &Packets, width: Option<usize>) -> Vec<Line> {
    let slot = |slot: u8| Line::of(Tone::Dim, &format!("  {slot:02}  "));
    let cut = |line: Line| width.map_or_else(|| line.clone(), |width| line.cut(width));
    let good = |found: &Found| {
        let line = slot(found.slot).and(Tone::Strong, &found.packet.packet_id).plain("  ");
        (found.slot, line.plain(&found.packet.objective))
    };
    let mut lines: Vec<(u8, Line)> = read.packets.iter().map(good).collect();
    lines.extend(read.skipped.iter().map(|skipped| {
        let line = slot(skipped.slot).and(Tone::Warning, &format!("skipped, {}: ", skipped.code));
        (skipped.slot, line.plain(&skipped.detail))
    }));
    lines.sort_by_key(|(slot, _)| *slot);
    let path = |slot: u8| Line::of(Tone::Dim, &format!("      {}", read.leg.path(slot)));
    let mut lines: Vec<Line> = lines.into_iter().flat_map(|(slot, line)| [cut(line), path(slot)]).collect();
    if let Some(gap) = &read.gap {
        let behind: Vec<String> = gap.behind.iter().map(|slot| format!("{slot:02}")).collect();
        let text = format!("missing; the composer stops here and does not read {}", behind.join(", "));
        lines.push(cut(slot(gap.missing).and(Tone::Bad, &text)));
    }
    if let Err(failed) = read.for_stage() {
        let text =
            format!("  {}: no valid packet is read here, so the stage of the {} fails", failed.code, read.leg.from());
        lines.push(cut(Line::of(Tone::Bad, &text)));
    }
    lines
}
