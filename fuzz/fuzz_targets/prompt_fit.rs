//! Feeds `handoffd_fuzz::prompt_fit`; see there for what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| handoffd_fuzz::prompt_fit::check(bytes));
