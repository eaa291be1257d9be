//! Feeds `handoffd_fuzz::packet_render`; see there for what must hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| handoffd_fuzz::packet_render::check(bytes));
