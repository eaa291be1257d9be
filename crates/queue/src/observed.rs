//! Reading and writing observed runs as JSON (D49). What they prove is judged with the report.

use serde_json::{Value, json};

use crate::json::{Member, Raw, SyntaxError, Type};
use crate::{Code, Observed, Problem, Run, RunState, document, limits};

impl Observed {
    /// Reads a list of runs, or `{"all": …, "runs": […]}`; null is "nothing was told". Unknown members are ignored.
    ///
    /// # Errors
    /// Every member of a wrong type and every missing one, named from `observed` on.
    pub fn parse(json: &str) -> Result<Option<Self>, Vec<Problem>> {
        let raw = Raw::parse(json).map_err(|error| syntax(json, error))?;
        let mut problems = Vec::new();
        let observed = match raw.kind() {
            Type::Null => return Ok(None),
            Type::Array => Self { all: false, runs: read_runs("observed", raw, &mut problems) },
            Type::Object => read_object(raw, &mut problems),
            _ => {
                problems.push(wrong_type("observed", raw, "an array of runs or an object"));
                Self::default()
            }
        };
        if problems.is_empty() { Ok(Some(observed)) } else { Err(problems) }
    }
}

impl Run {
    /// Reads one run; members that no run has are ignored.
    ///
    /// # Errors
    /// Every member of a wrong type and every missing one.
    pub fn parse(json: &str) -> Result<Self, Vec<Problem>> {
        let raw = Raw::parse(json).map_err(|error| syntax(json, error))?;
        let mut problems = Vec::new();
        match read_run("", raw, &mut problems) {
            Some(run) if problems.is_empty() => Ok(run),
            _ => Err(problems),
        }
    }

    /// The run as one line of JSON, with its result.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut value = self.stored();
        if let (Some(result), Some(members)) = (&self.result, value.as_object_mut()) {
            members.insert("result".into(), json!(result));
        }
        value.to_string()
    }

    /// The run as it is kept in `report.observed`: without its result (D63).
    pub(crate) fn stored(&self) -> Value {
        let mut value = json!({
            "run_id": self.run_id,
            "agent": self.agent,
            "background": self.background,
            "state": self.state.as_str(),
        });
        let optional = [
            ("model", self.model.as_ref().map(|text| json!(text))),
            ("thinking", self.thinking.as_ref().map(|text| json!(text))),
            ("parent_run_id", self.parent_run_id.as_ref().map(|text| json!(text))),
            ("pid", self.pid.map(|pid| json!(pid))),
        ];
        if let Some(members) = value.as_object_mut() {
            for (key, value) in optional {
                members.extend(value.map(|value| (key.to_owned(), value)));
            }
        }
        value
    }
}

fn syntax(json: &str, error: SyntaxError) -> Vec<Problem> {
    vec![document::invalid_json(json, error)]
}

fn wrong_type(field: &str, raw: Raw<'_>, wanted: &str) -> Problem {
    Problem::at(field, Code::WrongType, format!("is {}; it must be {wanted}", raw.kind().described()))
}

fn read_object(raw: Raw<'_>, problems: &mut Vec<Problem>) -> Observed {
    let members = raw.members().unwrap_or_default();
    let all = match get(&members, "all") {
        None => false,
        Some(raw) => raw.as_bool().unwrap_or_else(|| {
            problems.push(wrong_type("observed.all", raw, "true or false"));
            false
        }),
    };
    let Some(runs) = get(&members, "runs") else {
        problems.push(Problem::at("observed.runs", Code::MissingField, "is missing; it is the array of runs"));
        return Observed::default();
    };
    Observed { all, runs: read_runs("observed.runs", runs, problems) }
}

fn read_runs(field: &str, raw: Raw<'_>, problems: &mut Vec<Problem>) -> Vec<Run> {
    let Some(items) = raw.items() else {
        problems.push(wrong_type(field, raw, "an array of runs"));
        return Vec::new();
    };
    // After so many faults the rest is not looked at: the whole is refused anyway.
    let most = problems.len() + limits::PROBLEMS_OF_A_LIST;
    let mut runs = Vec::new();
    for (index, raw) in items.into_iter().enumerate() {
        runs.extend(read_run(&format!("{field}[{index}]."), raw, problems));
        if problems.len() > most {
            break;
        }
    }
    runs
}

/// `prefix` stands before the names of members, with its dot.
fn read_run(prefix: &str, raw: Raw<'_>, problems: &mut Vec<Problem>) -> Option<Run> {
    let Some(members) = raw.members() else {
        let name = if prefix.is_empty() { "run" } else { prefix.trim_end_matches('.') };
        problems.push(wrong_type(name, raw, "an object"));
        return None;
    };
    let mut reader = RunReader { prefix, members: &members, problems };
    let run_id = reader.required("run_id");
    let agent = reader.required("agent");
    let state = reader.required("state");
    Some(Run {
        background: reader.background(),
        model: reader.optional("model"),
        thinking: reader.optional("thinking"),
        result: reader.optional("result"),
        parent_run_id: reader.optional("parent_run_id"),
        pid: reader.pid(),
        run_id: run_id?,
        agent: agent?,
        state: RunState::from_word(&state?),
    })
}

/// The last of repeated members, as most readers of JSON have it.
fn get<'a>(members: &[Member<'a>], key: &str) -> Option<Raw<'a>> {
    members.iter().rev().find(|member| member.key == key).map(|member| member.value)
}

struct RunReader<'r, 'a> {
    prefix: &'r str,
    members: &'r [Member<'a>],
    problems: &'r mut Vec<Problem>,
}

impl<'a> RunReader<'_, 'a> {
    fn required(&mut self, key: &str) -> Option<String> {
        let Some(raw) = get(self.members, key) else {
            self.problems.push(Problem::at(format!("{}{key}", self.prefix), Code::MissingField, "is missing"));
            return None;
        };
        self.string(key, raw)
    }

    fn optional(&mut self, key: &str) -> Option<String> {
        self.given(key).and_then(|raw| self.string(key, raw))
    }

    fn given(&self, key: &str) -> Option<Raw<'a>> {
        get(self.members, key).filter(|raw| !raw.is_null())
    }

    fn string(&mut self, key: &str, raw: Raw<'_>) -> Option<String> {
        let text = raw.as_str();
        if text.is_none() {
            self.wrong(key, raw, "a string");
        }
        text.map(Into::into)
    }

    fn background(&mut self) -> bool {
        let Some(raw) = self.given("background") else { return true };
        raw.as_bool().unwrap_or_else(|| {
            self.wrong("background", raw, "true or false");
            true
        })
    }

    fn pid(&mut self) -> Option<u32> {
        let raw = self.given("pid")?;
        let pid = raw.text().parse().ok();
        if pid.is_none() {
            self.wrong("pid", raw, "a process id");
        }
        pid
    }

    fn wrong(&mut self, key: &str, raw: Raw<'_>, wanted: &str) {
        self.problems.push(wrong_type(&format!("{}{key}", self.prefix), raw, wanted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_are_read() {
        let list = r#"[{"run_id":"r","agent":"a","state":"paused","x":1e400}]"#;
        let list = Observed::parse(list).unwrap().unwrap();
        assert!(!list.all && list.runs[0].background && list.runs[0].state.is_live());
        let object = r#"{"all":true,"runs":[{"run_id":"tool:1","agent":"a","background":false,"state":"partial","pid":7,"model":null}]}"#;
        let object = Observed::parse(object).unwrap().unwrap();
        assert!(object.all && !object.runs[0].background);
        assert_eq!((object.runs[0].state, object.runs[0].pid), (RunState::Failed, Some(7)));
        assert_eq!(Observed::parse(" null ").unwrap(), None);
    }

    #[test]
    fn faults_are_named() {
        #[track_caller]
        fn check(json: &str, expected: &[(&str, Code)]) {
            let problems = Observed::parse(json).unwrap_err();
            let found: Vec<_> = problems.iter().map(|p| (p.field.as_deref().unwrap_or("-"), p.code)).collect();
            assert_eq!(found, expected, "{json}");
        }
        check("7", &[("observed", Code::WrongType)]);
        check("[7]", &[("observed[0]", Code::WrongType)]);
        check("{}", &[("observed.runs", Code::MissingField)]);
        check("{\"all\":1,\"runs\":{}}", &[("observed.all", Code::WrongType), ("observed.runs", Code::WrongType)]);
        check(
            r#"[{"run_id":1,"state":"x","pid":-1,"background":"no"}]"#,
            &[
                ("observed[0].run_id", Code::WrongType),
                ("observed[0].agent", Code::MissingField),
                ("observed[0].background", Code::WrongType),
                ("observed[0].pid", Code::WrongType),
            ],
        );
        check("[", &[("-", Code::InvalidJson)]);
    }

    #[test]
    fn a_run_comes_back_from_its_json() {
        let json =
            r#"{"run_id":"r","agent":"a","background":true,"state":"complete","model":"m","pid":4,"result":"x\ny"}"#;
        assert_eq!(Run::parse(json).unwrap().to_json(), json);
        assert_eq!(Run::parse("[]").unwrap_err()[0].field.as_deref(), Some("run"));
    }
}
