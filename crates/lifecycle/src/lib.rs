//! One project's state machine: events and time in, effects and the next deadline out (pure).
