//! The daemon program. Everything is in the library.

fn main() -> std::process::ExitCode {
    handoffd::program::main()
}
