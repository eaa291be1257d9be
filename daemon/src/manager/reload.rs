//! Reading the configuration again: an invalid one is refused whole and the old one stays (F280).

use std::sync::Arc;

use wire::control::ReloadResult;
use wire::error::{ErrorCode, ErrorObject, Problem, Refusal};

use super::State;
use crate::config::{Changes, Config, Finding, Invalid};
use crate::peer::Responder;

impl State {
    /// `daemon.reload` and SIGHUP.
    pub(super) async fn reload(&mut self, answer: Responder) {
        self.supervisor.reloading();
        let (file, env) = (self.config_file.clone(), self.hub.env.clone());
        let read = self.hub.pool.run(move || file.load(&env)).await;
        match read {
            Ok(Ok((config, warnings))) => {
                let warnings = self.apply(config, &warnings).await;
                let loaded_at = self.shown.loaded(warnings.clone());
                self.supervisor.says("");
                answer.result(&ReloadResult { loaded_at, warnings });
            }
            Ok(Err(invalid)) => {
                tracing::error!(error = %invalid, "the new configuration is invalid; the old one stays");
                self.shown.refused(invalid.to_string());
                self.supervisor.says(&format!("The new configuration is invalid, the old one stays: {invalid}"));
                answer.error(refusal(&invalid));
            }
            Err(error) => answer.error(ErrorObject::internal(&error.to_string())),
        }
        self.supervisor.ready();
    }

    /// Puts a configuration in force and answers what a person should know about it.
    async fn apply(&mut self, config: Config, findings: &[Finding]) -> Vec<String> {
        let old = self.hub.config();
        let changes = Changes::between(&old, &config);
        let mut warnings: Vec<String> = findings.iter().map(ToString::to_string).collect();
        let late = |key: &&str| format!("`{key}` has changed: it counts after the next start");
        warnings.extend(changes.restart.iter().map(late));
        for warning in &warnings {
            tracing::warn!("{warning}");
        }
        if let Some(log) = self.log.as_ref().filter(|_| old.log.level != config.log.level)
            && let Err(error) = log.set_level(config.log.level.as_str())
        {
            tracing::warn!(%error, "the log keeps its level");
        }
        tracing::info!(changed = changes.live.len() + changes.projects.len(), "the configuration was read again");
        self.hub.set_config(Arc::new(config));
        // Also without a change: projects' own files may have changed.
        self.look_again().await;
        warnings
    }
}

fn refusal(invalid: &Invalid) -> ErrorObject {
    let problem = |finding: &Finding| Problem {
        field: finding.key.clone(),
        code: "invalid_config".to_owned(),
        message: finding.to_string(),
    };
    let problems: Vec<Problem> = invalid.problems.iter().map(problem).collect();
    let message = match &problems[..] {
        [only] => format!("the new configuration is invalid, the old one stays: {}", only.message),
        all => format!("the new configuration has {} faults, the old one stays", all.len()),
    };
    Refusal::with_problems(ErrorCode::InvalidConfig, message, problems).into()
}
