//! The program `handoff` as its users meet it: the built binary in a world of its own, with a real daemon where one is
//! needed. One binary, one module a subject; a test below fails when a file is forgotten.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where by panicking")]

mod attach;
mod control;
mod daemon;
mod demo;
mod doctor;
mod doctor_projects;
mod env;
mod hook;
mod init;
mod init_pi;
mod lint;
mod logs;
mod mcp;
mod member;
mod operations;
mod packet;
mod person;
mod planner;
mod projects;
mod prompt;
mod reference;
mod report;
mod status;
mod streams;
mod submit;
mod team;
mod terminal;
mod unlock;
mod unreachable;
mod vectors;
mod wait;

#[test]
fn every_file_here_is_a_module() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let main = std::fs::read_to_string(here.join("main.rs")).unwrap();
    for entry in here.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_source = path.extension().is_some_and(|extension| extension == "rs");
        assert!(!is_source || name == "main" || main.contains(&format!("mod {name};\n")), "{name} is forgotten");
    }
}
