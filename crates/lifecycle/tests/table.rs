//! `docs/lifecycle.md` says what the state machine does: its table is made from the machine and compared here.

use std::fs::File;
use std::io::Write;
use std::path::Path;

const BEGIN: &str = "<!-- table: made by crates/lifecycle/tests/table.rs -->\n";
const END: &str = "<!-- end of table -->\n";

#[test]
fn the_table_in_the_docs_is_what_the_machine_does() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lifecycle.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).expect("the begin marker");
    let (_, after) = rest.split_once(END).expect("the end marker");
    let wanted = format!("{before}{BEGIN}\n{}{END}{after}", lifecycle::table());
    if std::env::var_os("UPDATE").is_some() {
        File::create(&path).and_then(|mut file| file.write_all(wanted.as_bytes())).unwrap();
    } else {
        assert!(wanted == text, "docs/lifecycle.md is old: UPDATE=1 cargo test -p lifecycle");
    }
}
