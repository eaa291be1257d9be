//! Remarks on a task or a packet that do not make it invalid: an id that no packet can use (D74), text that looks like a
//! credential (D78). Nothing is refused here.

use queue::Document;
use serde_json::Value;

/// Every remark, with the field in back-quotes first.
pub(crate) fn of_task(document: &Document, check_secrets: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(id) = document.string(queue::Field::TaskId)
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
    fn a_credential_is_never_repeated() {
        let key = format!("ghp_{}", "a1B2".repeat(9));
        let json = format!(r#"{{"status":"PENDING","instruction":"{key}"}}"#);
        let remarks = of_task(&Document::parse(json.as_bytes()).unwrap(), true);
        assert_eq!(remarks.len(), 1);
        assert!(!remarks[0].contains(&key));
        assert!(of_task(&Document::parse(json.as_bytes()).unwrap(), false).is_empty());
    }
}
