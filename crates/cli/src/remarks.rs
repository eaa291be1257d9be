//! Remarks on a task or a packet that do not make it invalid: an id that no packet can use (D74), text that looks like a
//! credential (D78), a key that nobody reads. Nothing is refused here.

use handoffd::config::nearest;
use handoffd::logging::sanitize::one_line;
use queue::{Document, Field, Owner};
use serde_json::Value;

/// Keys of strangers that are named one by one.
const MOST_KEYS: usize = 8;

/// Keys that are no fields: they are kept, and mean nothing, which a mistyped one was not meant to.
pub(crate) fn of_keys<K: AsRef<str>>(keys: impl Iterator<Item = K>) -> Vec<String> {
    let keys: Vec<K> = keys.collect();
    let named = keys.iter().take(MOST_KEYS).map(|key| {
        let near = nearest(key.as_ref(), Field::of(Owner::Planner).map(Field::name));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let key: String = one_line(key.as_ref()).chars().take(60).collect();
        format!("`{key}` is no field of a task: it stays in the file, and nobody reads it{near}")
    });
    let rest = keys.len().saturating_sub(MOST_KEYS);
    named.chain((rest > 0).then(|| format!("{rest} more keys are no fields of a task"))).collect()
}

/// Every remark, with the field in back-quotes first.
pub(crate) fn of_task(document: &Document, check_secrets: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(id) = document.string(Field::TaskId)
        && !team::is_path_part(&id)
    {
        remarks.push(
            "`task_id` is not 1 to 64 of `A-Z a-z 0-9 _ -`: the task is valid, but no packet can belong to it"
                .to_owned(),
        );
    }
    if check_secrets {
        for (field, raw) in document.planner_fields() {
            // What is too deep or odd for a value is the validation's business.
            let value: Value = serde_json::from_str(raw).unwrap_or_default();
            credentials(field.name(), &value, &mut remarks);
        }
    }
    remarks
}

/// What looks like a credential in a packet, with the place in back-quotes first.
pub(crate) fn of_packet(packet: &Value) -> Vec<String> {
    let mut remarks = Vec::new();
    for (key, value) in packet.as_object().into_iter().flatten() {
        credentials(key, value, &mut remarks);
    }
    remarks
}

fn credentials(path: &str, value: &Value, remarks: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for found in secrets::find(text) {
                let what = format!("`{path}` seems to hold a credential ({}, line {})", found.kind, found.line);
                remarks.push(format!("{what}: agents and logs will see it"));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                credentials(&format!("{path}[{index}]"), item, remarks);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                credentials(&format!("{path}.{key}"), member, remarks);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &[&str]) {
        let remarks = of_task(&Document::parse(json.as_bytes()).unwrap(), true);
        let fields: Vec<_> = remarks.iter().map(|remark| remark.split('`').nth(1).unwrap()).collect();
        assert_eq!(fields, expected, "{remarks:?}");
    }

    #[test]
    fn ids_and_credentials_are_remarked_with_their_field() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        check(r#"{"status":"PENDING","task_id":"T-1","instruction":"x"}"#, &[]);
        check(r#"{"status":"PENDING","task_id":"a b"}"#, &["task_id"]);
        check(
            &format!(r#"{{"status":"PENDING","task_id":"T","acceptance_criteria":["x","use {key}"]}}"#),
            &["acceptance_criteria[1]"],
        );
    }

    #[test]
    fn keys_that_mean_nothing_are_named_with_the_field_that_was_meant() {
        let told = |keys: &[&str]| of_keys(keys.iter()).join("\n");
        assert_eq!(told(&[]), "");
        assert_eq!(
            told(&["gates", "ticket"]),
            "`gates` is no field of a task: it stays in the file, and nobody reads it; did you mean `gate`?\n\
             `ticket` is no field of a task: it stays in the file, and nobody reads it"
        );
        assert_eq!(of_keys((0..10).map(|n| format!("k{n}"))).last().unwrap(), "2 more keys are no fields of a task");
    }

    #[test]
    fn a_credential_is_never_repeated() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let json = format!(r#"{{"status":"PENDING","instruction":"{key}"}}"#);
        let remarks = of_task(&Document::parse(json.as_bytes()).unwrap(), true);
        assert_eq!(remarks.len(), 1);
        assert!(!remarks[0].contains(&key));
        assert!(of_task(&Document::parse(json.as_bytes()).unwrap(), false).is_empty());
    }
}
