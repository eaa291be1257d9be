//! Every crate that is built comes under a licence that `deny.toml` allows.

use crate::manifests::metadata;
use crate::tree::{read, report};

#[test]
fn every_dependency_has_an_allowed_licence() {
    let deny: toml::Value = toml::from_str(&read("deny.toml")).expect("deny.toml is TOML");
    let allowed: Vec<&str> =
        deny["licenses"]["allow"].as_array().expect("a list").iter().filter_map(toml::Value::as_str).collect();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let faults: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(|licence| is_allowed(licence, &allowed)))
        .map(|package| format!("{}: {}", package["name"], package["license"]))
        .collect();
    report("licences (deny.toml)", &faults);
}

/// Whether an SPDX expression can be met. `/` is how old manifests write OR.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = tokens.as_slice();
    any_of(&mut rest, allowed) && rest.is_empty()
}

fn any_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut good = all_of(rest, allowed);
    while rest.first() == Some(&"OR") {
        *rest = &rest[1..];
        good |= all_of(rest, allowed);
    }
    good
}

fn all_of(rest: &mut &[&str], allowed: &[&str]) -> bool {
    let mut good = one(rest, allowed);
    while rest.first() == Some(&"AND") {
        *rest = &rest[1..];
        good &= one(rest, allowed);
    }
    good
}

fn one(rest: &mut &[&str], allowed: &[&str]) -> bool {
    match **rest {
        ["(", ..] => {
            *rest = &rest[1..];
            let good = any_of(rest, allowed);
            let closed = rest.first() == Some(&")");
            *rest = rest.get(1..).unwrap_or_default();
            good && closed
        }
        [licence, "WITH", exception, ..] => {
            *rest = &rest[3..];
            allowed.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, ..] => {
            *rest = &rest[1..];
            allowed.contains(&licence)
        }
        [] => false,
    }
}

#[test]
fn expressions_are_read_as_spdx_means_them() {
    #[track_caller]
    fn check(expression: &str, expected: bool) {
        assert_eq!(
            is_allowed(expression, &["MIT", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]),
            expected,
            "{expression}"
        );
    }
    check("MIT", true);
    check("GPL-3.0", false);
    check("GPL-3.0 OR MIT", true);
    check("MIT/Apache-2.0", true);
    check("(MIT OR Apache-2.0) AND Unicode-3.0", true);
    check("MIT AND GPL-3.0", false);
    check("Apache-2.0 WITH LLVM-exception", true);
    check("Apache-2.0", false);
    check("(MIT", false);
    check("", false);
}
