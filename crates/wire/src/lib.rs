//! The local socket protocol of handoffd: message types, framing, limits, an async client behind a feature.
