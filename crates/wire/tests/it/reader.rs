//! Lines from a real stream.

use tokio::io::AsyncWriteExt;
use wire::io::{LineReader, ReadError};

async fn all(bytes: &[u8], limit: usize) -> (Vec<Vec<u8>>, Option<ReadError>) {
    let (mut here, there) = tokio::io::duplex(37);
    let bytes = bytes.to_owned();
    let writer = tokio::spawn(async move {
        // The reader may give up before everything is written.
        here.write_all(&bytes).await.ok();
    });
    let mut reader = LineReader::new(there, limit);
    let mut lines = Vec::new();
    let error = loop {
        match reader.next_line().await {
            Ok(Some(line)) => lines.push(line),
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    drop(reader);
    writer.await.unwrap();
    (lines, error)
}

#[tokio::test]
async fn many_lines_and_a_half_one() {
    let expected: Vec<Vec<u8>> = (0..500).map(|n| format!("line {n}").into_bytes()).collect();
    let mut stream = expected.join(&b'\n');
    stream.extend_from_slice(b"\nhalf a messa");
    let (lines, error) = all(&stream, 100).await;
    assert_eq!(lines, expected);
    assert!(error.is_none(), "a half message at the end is no message and no error");
}

#[tokio::test]
async fn many_lines_in_one_read() {
    let (mut here, there) = tokio::io::duplex(1 << 20);
    here.write_all(&b"a\n".repeat(10_000)).await.unwrap();
    drop(here);
    let mut reader = LineReader::new(there, 10);
    let mut count = 0;
    while let Some(line) = reader.next_line().await.unwrap() {
        assert_eq!(line, b"a");
        count += 1;
    }
    assert_eq!(count, 10_000);
}

#[tokio::test]
async fn a_long_line_ends_it() {
    let stream = [b"good\n".to_vec(), vec![b'x'; 10_000]].concat();
    let (lines, error) = all(&stream, 1000).await;
    assert_eq!(lines, [b"good"]);
    assert!(matches!(error, Some(ReadError::TooLong(_))), "{error:?}");
}

/// A dropped read loses nothing: what it had taken is still there for the next.
#[tokio::test]
async fn reading_can_be_cancelled_at_any_byte() {
    let (mut here, there) = tokio::io::duplex(64);
    let mut reader = LineReader::new(there, 100);
    for byte in b"hello" {
        here.write_all(&[*byte]).await.unwrap();
        tokio::select! {
            biased;
            line = reader.next_line() => panic!("{line:?}"),
            () = std::future::ready(()) => {}
        }
    }
    here.write_all(b"\n").await.unwrap();
    assert_eq!(reader.next_line().await.unwrap().unwrap(), b"hello");
}
