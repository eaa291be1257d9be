//! What a server offers, in our own words.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::call::Call;
use crate::scope::Denied;

/// A tool.
pub trait Tool: Send + Sync + 'static {
    /// What a client is told about it. The same every time.
    fn definition(&self) -> Definition;

    /// Does it. The arguments have been checked by nobody. A call that takes long ends soon after [`Call::cancellation`]
    /// says so; one that is short may finish all the same.
    fn call(self: Arc<Self>, call: Call) -> Answer;
}

/// What a call will come to.
pub type Answer = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// What a client is told about a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its name, unique in its toolbox.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// When and how to use it, for a model.
    pub description: String,
    /// JSON Schema of the arguments. Clients read it; it is never used to judge a call.
    pub input: Map<String, Value>,
    /// JSON Schema of the structured content, of refusals too.
    pub output: Map<String, Value>,
    /// What it does to the world.
    pub effect: Effect,
}

/// What a tool does to the world: a hint for clients that ask their user first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It adds something, once: a second call with the same arguments changes nothing more.
    AddsOnce,
    /// It adds something, each time; what was there stays.
    Adds,
    /// It changes something, each time.
    Changes,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It was done. The object is the result, as text and as structured content.
    Done(Map<String, Value>),
    /// It was done, and models are told in words. A client may forward either of the two and drop the other, so each must
    /// say everything.
    Told {
        /// For models.
        text: String,
        /// For programs.
        result: Map<String, Value>,
    },
    /// It was refused for reasons that need more than one sentence. Some clients drop the object of a refusal.
    Objected {
        /// What is wrong and what to do, all of it.
        text: String,
        /// The same for programs.
        result: Map<String, Value>,
    },
    /// It was refused; the caller can read why and mend it.
    Refused {
        /// Stable.
        code: String,
        /// What is wrong and what to do.
        message: String,
    },
    /// The caller may not call it at all: an error of the protocol.
    Denied(Denied),
}

/// The tools of one server.
#[derive(Clone)]
pub struct Toolbox {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) instructions: &'static str,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
}

impl Toolbox {
    /// A server without a tool. The instructions are for a model, the version is that of the program.
    #[must_use]
    pub fn new(name: &'static str, version: &'static str, instructions: &'static str) -> Self {
        Self { name, version, instructions, tools: Vec::new() }
    }

    /// With one more tool.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// What clients are told.
    pub fn definitions(&self) -> impl Iterator<Item = Definition> {
        self.tools.iter().map(|tool| tool.definition())
    }

    pub(crate) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.definition().name == name).cloned()
    }
}

impl std::fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tools: Vec<&str> = self.definitions().map(|definition| definition.name).collect();
        f.debug_struct("Toolbox").field("name", &self.name).field("tools", &tools).finish_non_exhaustive()
    }
}
