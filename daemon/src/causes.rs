//! How an error is told to people: with what caused it, in one line. What follows from an error is not known here.

/// An error with what caused it, in one line. A cause whose words the line has already is not said again.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}
