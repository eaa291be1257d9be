//! A panic becomes a line of the log, and that line is written before anything else happens (F275).

use std::any::Any;
use std::panic::{self, PanicHookInfo};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::layer::{self, Pipe};

/// How long a panicking thread waits for its line.
const PATIENCE: Duration = Duration::from_millis(500);

/// Replaces the panic hook of the process. The earlier one would write the message unmasked; it is called only where
/// the log cannot take a line any more: after its end, and for a panic inside the log itself.
pub(super) fn install(pipe: Arc<Pipe>) {
    let earlier = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if layer::is_inside() || pipe.is_closed() {
            earlier(info);
        } else {
            tell(info);
            pipe.flush(PATIENCE);
        }
    }));
}

fn tell(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let thread = thread::current();
    let name = thread.name().unwrap_or("unnamed");
    tracing::error!(thread = name, place, "panicked: {}", words(info.payload()));
}

fn words(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "(no text)",
    }
}
