//! Lines come out whole however the bytes come in, and nothing is kept beyond the limit.

use proptest::prelude::*;
use wire::framing::{LineDecoder, LineTooLong};

/// Feeds `chunks` one after the other and gives all lines, or the error that ended it.
fn lines<'a>(limit: usize, chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Vec<Vec<u8>>, LineTooLong> {
    let mut decoder = LineDecoder::new(limit);
    let mut found = Vec::new();
    for mut chunk in chunks {
        while !chunk.is_empty() {
            if let Some(line) = decoder.feed(&mut chunk)? {
                found.push(line.into_owned());
            }
            assert!(decoder.held() <= limit);
        }
    }
    Ok(found)
}

#[test]
fn any_split_gives_the_same_lines() {
    let stream = "{\"a\":\"ä€😀\"}\n\n{\"number\":12345}\r\nrest".as_bytes();
    let expected = lines(100, [stream]).unwrap();
    assert_eq!(expected.len(), 3);
    for first in 0..=stream.len() {
        for second in first..=stream.len() {
            let chunks = [&stream[..first], &stream[first..second], &stream[second..]];
            assert_eq!(lines(100, chunks).unwrap(), expected, "split at {first} and {second}");
        }
    }
    assert_eq!(lines(100, stream.chunks(1)).unwrap(), expected);
}

#[test]
fn a_line_may_be_as_long_as_the_limit() {
    #[track_caller]
    fn check(length: usize, good: bool) {
        let mut stream = vec![b'x'; length];
        stream.push(b'\n');
        for size in [1, 3, 10, 100] {
            assert_eq!(lines(10, stream.chunks(size)).is_ok(), good, "{length} bytes in chunks of {size}");
        }
    }
    check(0, true);
    check(10, true);
    check(11, false);
    check(50, false);
}

#[test]
fn an_endless_line_is_an_error_at_the_limit() {
    let mut decoder = LineDecoder::new(1000);
    let chunk = [b'x'; 300];
    for _ in 0..3 {
        assert_eq!(decoder.feed(&mut &chunk[..]), Ok(None));
    }
    assert_eq!(decoder.held(), 900);
    for _ in 0..3 {
        assert_eq!(decoder.feed(&mut &chunk[..]), Err(LineTooLong { limit: 1000 }));
        assert_eq!(decoder.held(), 0, "nothing is kept for a line that will never be read");
    }
    assert_eq!(decoder.feed(&mut &b"\n{}\n"[..]), Err(LineTooLong { limit: 1000 }));
}

#[test]
fn lines_before_a_long_one_still_come() {
    let mut input = &b"one\ntwo\nmuch too long for this limit\n"[..];
    let mut decoder = LineDecoder::new(5);
    assert_eq!(decoder.feed(&mut input).unwrap().as_deref(), Some(&b"one"[..]));
    assert_eq!(decoder.feed(&mut input).unwrap().as_deref(), Some(&b"two"[..]));
    decoder.feed(&mut input).unwrap_err();
}

proptest! {
    #[test]
    fn lines_are_what_stands_between_line_feeds(
        parts in prop::collection::vec(prop::collection::vec(any::<u8>().prop_filter("no line feed", |b| *b != b'\n'), 0..40), 0..8),
        rest in prop::collection::vec(Just(b'r'), 0..10),
        size in 1usize..50,
    ) {
        let mut stream: Vec<u8> = parts.iter().flat_map(|part| part.iter().copied().chain([b'\n'])).collect();
        stream.extend(rest);
        prop_assert_eq!(lines(64, stream.chunks(size)).unwrap(), parts);
    }
}
