//! Feeds `handoffd_fuzz::packet_parse`; see there for what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| handoffd_fuzz::packet_parse::check(bytes));
