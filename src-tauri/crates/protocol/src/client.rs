//! Requests and replies between a client and the core. One schema for every host: the window, the terminal, the
//! loopback socket of the browser tests.

use crate::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "request", rename_all = "snake_case")]
pub enum Request {
    /// Facts about the program and the machine; answered with [`Reply::About`].
    About,
    /// Check a folder and make it the newest recent project; answered with [`Reply::Project`].
    OpenProject {
        path: String,
    },
    /// Lay out a fresh copy of the sample project and open it; answered with [`Reply::Project`].
    OpenDemo,
    /// A new session, from the settings; answered with [`Reply::Session`].
    CreateSession {
        project: String,
    },
    /// Newest first; answered with [`Reply::Sessions`].
    Sessions {
        project: String,
    },
    /// Answered with [`Reply::Session`]. Events come by the host's own channel after it is attached.
    OpenSession {
        session: SessionId,
    },
    DeleteSession {
        session: SessionId,
    },
    /// Older items, `from` up to but not including `to`; answered with [`Reply::Items`].
    Items {
        session: SessionId,
        from: ItemId,
        to: ItemId,
    },
    /// The whole text of an output of which an item holds only a part; answered with [`Reply::Text`].
    Output {
        session: SessionId,
        call: CallId,
    },
    /// Answered with [`Reply::Accepted`]; a refusal comes as an error.
    Submit {
        session: SessionId,
        op: Op,
    },
    Settings,
    SaveSettings {
        settings: Box<Settings>,
    },
    /// Answered with [`Reply::Key`]. The key goes to the keyring and is never sent back.
    SetKey {
        provider: ProviderId,
        key: String,
    },
    ForgetKey {
        provider: ProviderId,
    },
    KeyState {
        provider: ProviderId,
    },
    /// Where the login of the person's own proxy is; answered with [`Reply::Key`], never with a part of it.
    ProxyLogin,
    /// Answered with [`Reply::Key`]. The login goes to the keyring and is never sent back.
    SetProxyLogin {
        user: String,
        password: String,
    },
    ForgetProxyLogin,
    /// The models that a server has, with what is known of them; answered with [`Reply::Models`].
    Models {
        provider: ProviderId,
    },
    /// Workflows of the project, of the person and built in; answered with [`Reply::Workflows`].
    Workflows {
        project: String,
    },
    /// What a run would do; answered with [`Reply::Preview`].
    PreviewWorkflow {
        project: String,
        name: String,
        values: ParameterValues,
    },
    /// Run what was previewed; refused when the world has changed since, so that the token no longer fits.
    RunWorkflow {
        session: SessionId,
        name: String,
        values: ParameterValues,
        token: String,
    },
    /// Own roles of the person and of the project; answered with [`Reply::Roles`].
    Roles {
        project: String,
    },
    /// Use a role of one's own; answered with [`Reply::Accepted`].
    UseRole {
        session: SessionId,
        name: String,
    },
    /// The person has read a project's workflow or role file of exactly this content; answered with [`Reply::Accepted`].
    ReviewDefinition {
        project: String,
        path: String,
        hash: String,
        accept: bool,
    },
    /// The text of such a file, for the review; answered with [`Reply::Text`].
    Definition {
        project: String,
        path: String,
    },
    /// Answered with [`Reply::Metrics`].
    Metrics {
        query: MetricsQuery,
    },
    /// The decision log, newest first, at most `limit` lines; answered with [`Reply::Decisions`].
    Decisions {
        query: MetricsQuery,
        limit: u32,
    },
    /// Output of a background process so far, its last 256 KiB; answered with [`Reply::Text`].
    ProcessOutput {
        session: SessionId,
        process: ProcessId,
    },
    /// Rules of the project and of all projects; answered with [`Reply::Rules`].
    Rules {
        project: String,
    },
    /// Keep a rule of scope project or everywhere; answered with [`Reply::Rules`].
    SaveRule {
        project: String,
        rule: RuleDraft,
    },
    /// Answered with [`Reply::Rules`].
    RemoveRule {
        project: String,
        rule: RuleId,
    },
    /// What such a rule would mean; answered with [`Reply::RulePreview`].
    PreviewRule {
        project: String,
        shape: RuleShape,
        answer: RuleAnswer,
    },
    /// What would be said to a command now; answered with [`Reply::Judged`].
    JudgeCommand {
        project: String,
        command: String,
    },
    /// What was set aside in the project and waits; answered with [`Reply::SetAside`].
    SetAside {
        project: String,
    },
    /// All of such an entry; answered with [`Reply::SetAsideContent`].
    LookAtSetAside {
        project: String,
        id: String,
    },
    /// Put it back exactly as it was shown, or throw it away; answered with [`Reply::SetAside`]. It is noted in the record of
    /// this session, else in that of the newest one of the project.
    DecideSetAside {
        project: String,
        id: String,
        /// Of what was shown; not needed to throw it away.
        hash: String,
        back: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "bindings", ts(optional))]
        session: Option<SessionId>,
    },
    /// What an iteration sent and got, or the whole of one call; answered with [`Reply::Raw`].
    Raw {
        session: SessionId,
        turn: TurnId,
        iteration: u32,
    },
    /// Look at keyring, storage and the like, and really try the sandbox; answered with [`Reply::Health`].
    Health,
    /// The way to a provider, link by link; answered with [`Reply::Connection`].
    TestConnection {
        provider: ProviderId,
    },
    /// What a model can really do; its call format is kept. Answered with [`Reply::ModelTest`].
    TestModel {
        model: ModelChoice,
    },
    /// Providers that are set up with one click; answered with [`Reply::Presets`].
    Presets,
    /// Look for model servers on this machine; answered with [`Reply::Servers`].
    FindServers,
    /// Keep an image for a message of the session; answered with [`Reply::Attachment`].
    AddAttachment {
        session: SessionId,
        /// File name, for the person.
        name: String,
        /// Base64; what kind of image it is, the bytes say.
        data: String,
    },
    /// The bytes of an image of the session in base64; answered with [`Reply::Text`].
    AttachmentData {
        session: SessionId,
        attachment: String,
    },
    /// What was spent; answered with [`Reply::Spending`].
    Spending,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    About {
        about: About,
    },
    Project {
        project: ProjectFacts,
    },
    Session {
        snapshot: Box<SessionSnapshot>,
    },
    Sessions {
        sessions: Vec<SessionSummary>,
    },
    Items {
        items: Vec<Item>,
    },
    Text {
        text: String,
    },
    Accepted,
    Settings {
        settings: Box<Settings>,
    },
    Key {
        key: KeyState,
    },
    Models {
        models: Vec<ModelEntry>,
    },
    Workflows {
        workflows: Vec<WorkflowInfo>,
    },
    Preview {
        preview: WorkflowPreview,
    },
    Roles {
        roles: Vec<RoleInfo>,
    },
    Metrics {
        metrics: Box<Metrics>,
    },
    Decisions {
        decisions: Vec<DecisionLine>,
    },
    Connection {
        links: Vec<LinkTest>,
    },
    ModelTest {
        test: Box<ModelTest>,
    },
    Presets {
        presets: Vec<ProviderPreset>,
    },
    Servers {
        servers: Vec<FoundServer>,
    },
    Attachment {
        attachment: Attachment,
    },
    /// All sessions since midnight, local time.
    Spending {
        today: Usage,
    },
    Rules {
        rules: Vec<RuleInfo>,
    },
    RulePreview {
        preview: RulePreview,
    },
    Judged {
        judged: Judged,
    },
    SetAside {
        entries: Vec<SetAsideEntry>,
    },
    SetAsideContent {
        content: Box<SetAsideContent>,
    },
    Raw {
        exchanges: Vec<RawExchange>,
    },
    Health {
        items: Vec<HealthItem>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct About {
    pub version: String,
    /// "linux", "macos" or "windows".
    pub system: String,
    pub sandbox: SandboxSummary,
    pub profiles: Vec<ProfileLimits>,
    /// Whether the keyring answers; the reason in words when not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub keyring_problem: Option<String>,
}

/// A folder that was opened as a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct ProjectFacts {
    /// Absolute and canonical.
    pub path: String,
    pub name: String,
    pub demo: bool,
    /// Under version control.
    pub git: bool,
    /// Project guide files that would be used, relative paths.
    pub guides: Vec<String>,
}

/// One request to a model's server and what came back, byte for byte as text, keys masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct RawExchange {
    /// Counts the requests of the iteration from 1.
    pub attempt: u32,
    pub at: Timestamp,
    /// Method and address.
    pub address: String,
    /// JSON body of the request.
    pub request: String,
    /// Body of the response as it came; what came until it was dropped.
    pub response: String,
    /// HTTP status; absent when there was no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub status: Option<u16>,
    /// Bytes that were left out at the end of request or response.
    #[serde(default)]
    #[cfg_attr(feature = "bindings", ts(type = "number"))]
    pub cut: u64,
}

/// One line of the health page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct HealthItem {
    /// `sandbox`, `keyring`, `storage`, `shell`, `certificates`, …
    pub key: String,
    pub state: HealthState,
    /// One line: what is so.
    pub says: String,
    /// Exact steps for this system, when there is something to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub remedy: Option<String>,
    /// What was tried.
    pub trials: Vec<Trial>,
    pub tested: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum HealthState {
    Good,
    Warning,
    Bad,
}

/// One thing that was really tried on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
pub struct Trial {
    /// Stable name: `write_outside`, `survivor`, …
    pub key: String,
    /// What was tried, in words.
    pub tried: String,
    pub outcome: TrialOutcome,
    /// What was seen.
    pub evidence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "bindings", ts(optional))]
    pub remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "bindings", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// The fence held, or the ordinary work went.
    Held,
    Broken,
    NotTried,
}
