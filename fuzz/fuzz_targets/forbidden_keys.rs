//! Feeds `handoffd_fuzz::forbidden_keys`; see there for what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| handoffd_fuzz::forbidden_keys::check(bytes));
