//! stub
pub struct Notifier;
pub struct Notice {
    pub project: String,
    pub name: String,
    pub kind: &'static str,
    pub level: wire::daemon_calls::NoticeLevel,
    pub text: String,
    pub task_id: Option<String>,
}
impl Notifier {
    pub fn send(&self, _: &[String], _: std::time::Duration, _: Notice) {}
}
