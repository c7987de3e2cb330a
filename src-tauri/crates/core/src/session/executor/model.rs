//! Asking the model: the request from the state, its stream back to the actor.

use super::{Executor, Preamble, Workplace};
use crate::context;
use crate::session::input::{Back, PromptCut, Ticket};
use crate::session::reminder::{asked, remind};
use crate::session::state::SessionState;
use crate::session::step::tokens;
use crate::session::traced;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use paddock_protocol::*;
use paddock_provider::{
    AgentPart, Exchange, Image, Message, ModelRequest, Recorder, ToolSpec, prompt_was_cut,
};
use paddock_store::{StoreError, raw};
use std::sync::{Arc, PoisonError};
use std::time::Instant;
use tracing::Instrument as _;

/// Bytes of a request that are kept for a person who looks.
const RAW_BYTES: usize = 1024 * 1024;

impl Executor {
    fn request(&mut self, tools: bool, state: &SessionState) -> ModelRequest {
        let config = &state.live.config;
        let turn = state.live.turn.as_ref().map_or(TurnId(0), |turn| turn.turn);
        let kept = self
            .preamble
            .take()
            .filter(|kept| kept.turn == turn && kept.config == *config);
        let preamble = kept.unwrap_or_else(|| {
            let at = state
                .live
                .turn
                .as_ref()
                .map_or(state.created, |turn| turn.started);
            Preamble {
                turn,
                config: config.clone(),
                system: context::system_prompt(&self.place.root, config, at).into(),
                tools: self
                    .place
                    .registry
                    .specs(config.role)
                    .into_iter()
                    .filter(|(name, ..)| config.own_role.as_ref().is_none_or(|own| own.has(name)))
                    .map(spec)
                    .collect(),
            }
        });
        self.preamble = Some(preamble.clone());
        let mut request = ModelRequest {
            model: config.model.model.clone(),
            system: preamble.system,
            messages: crate::session::history::history(state, &|attachment| self.image(attachment)),
            tools: if tools { preamble.tools } else { Arc::default() },
            format: config.format,
            max_output: None,
            silence: config.limits.model_silence,
            record: None,
            effort: state.live.turn.as_ref().and_then(|turn| turn.effort),
            facts: Arc::new(config.facts.clone()),
            asked: asked(state),
        };
        remind(&mut request);
        request
    }

    /// The bytes of an attachment as models get them; read once.
    fn image(&self, attachment: &Attachment) -> Option<Image> {
        let mut known = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(data) = known.get(&attachment.id) {
            return Some(image_of(attachment, data.clone()));
        }
        match paddock_store::attachments::read(&self.place.home, &self.place.session, &attachment.id) {
            Ok(bytes) => {
                let data: Arc<str> = STANDARD.encode(bytes).into();
                known.insert(attachment.id.clone(), data.clone());
                Some(image_of(attachment, data))
            }
            Err(error) => {
                tracing::warn!(%error, name = attachment.name, "an image of the session could not be read");
                None
            }
        }
    }

    pub(super) fn sample(
        &mut self,
        ticket: Ticket,
        tools: bool,
        max_output: Option<u32>,
        state: &SessionState,
    ) {
        let mut request = self.request(tools, state);
        request.max_output = max_output;
        request.record = Some(self.recorder(ticket));
        let limits = &state.live.config.limits;
        let local_silence = limits.local_silence;
        let choice = state.live.config.model.clone();
        let (providers, back) = (self.place.providers.clone(), self.back.clone());
        let sent = estimated(&request);
        let span = traced::request(&self.place.session, ticket, &choice);
        let work = async move {
            let (provider, local) = providers.get(&choice.provider).await?;
            if local {
                request.silence = request.silence.max(local_silence);
            }
            let begun = Instant::now();
            let mut first_byte = None;
            let events = back.clone();
            let answer = provider
                .sample(&request, &mut |event| {
                    first_byte.get_or_insert_with(|| Millis::from(begun.elapsed()));
                    let _ = events.send(Back::ModelEvent { ticket, event });
                })
                .await?;
            let cut = cut(&answer.usage, sent, local);
            Ok((answer, first_byte.unwrap_or_else(|| begun.elapsed().into()), cut))
        };
        let work = tokio::spawn(work.instrument(span));
        self.model = Some(work.abort_handle());
        let back = self.back.clone();
        tokio::spawn(async move {
            let message = match work.await {
                Ok(Ok((answer, first_byte, cut))) => Back::ModelAnswered {
                    ticket,
                    answer,
                    first_byte,
                    cut,
                },
                Ok(Err(error)) => Back::ModelFailed { ticket, error },
                Err(ended) if ended.is_cancelled() => return,
                Err(_) => Back::ModelFailed {
                    ticket,
                    error: ModelError::new(
                        ModelErrorKind::BadRequest,
                        "Paddock failed while it read the answer.",
                    )
                    .with_hint("Try again; the log tells more."),
                },
            };
            let _ = back.send(message);
        });
    }

    /// Keeps what is sent and what comes, aside of the loop. What is sent holds only what was masked before.
    fn recorder(&self, ticket: Ticket) -> Recorder {
        let place = self.place.clone();
        let at = crate::session::actor::now();
        Recorder(Arc::new(move |exchange| {
            let place = place.clone();
            let keep = move || {
                if let Err(error) = keep_raw(&place, ticket, at, &exchange) {
                    tracing::warn!(%error, "an exchange with the model's server could not be kept");
                }
            };
            match tokio::runtime::Handle::try_current() {
                Ok(runtime) => drop(runtime.spawn_blocking(keep)),
                Err(_) => keep(),
            }
        }))
    }
}

/// Tokens of a request's words, as an estimate. What may be left out on the way is not counted: images, and tools that are told in
/// the text.
fn estimated(request: &ModelRequest) -> u32 {
    let told = |part: &AgentPart| match part {
        AgentPart::Text { text } => text.len(),
        AgentPart::Call { name, arguments, .. } => name.len() + arguments.len(),
        AgentPart::Reasoning { .. } => 0,
    };
    let said = |message: &Message| match message {
        Message::User { text, .. } => text.len(),
        Message::Agent { parts } => parts.iter().map(told).sum(),
        Message::Results { results } => results.iter().map(|result| result.text.len()).sum(),
    };
    let offered =
        |tool: &ToolSpec| tool.name.len() + tool.description.len() + tool.parameters.to_string().len();
    let tools: usize = match request.format {
        CallFormat::Native => request.tools.iter().map(offered).sum(),
        CallFormat::Json | CallFormat::Xml => 0,
    };
    let said: usize = request.messages.iter().map(said).sum();
    tokens((request.system.len() + tools + said) as u64)
}

/// Whether the server read far less than was sent.
fn cut(usage: &Usage, sent: u32, local: bool) -> Option<PromptCut> {
    let read = usage
        .input
        .saturating_add(usage.cached)
        .saturating_add(usage.cache_write);
    let counted = !usage.estimated;
    (counted && prompt_was_cut(read, sent)).then_some(PromptCut { read, sent, local })
}

fn keep_raw(place: &Workplace, ticket: Ticket, at: Timestamp, exchange: &Exchange) -> Result<(), StoreError> {
    let response = place.providers.secrets().mask_bytes(&exchange.response);
    let request = &exchange.request[..exchange.request.len().min(RAW_BYTES)];
    let raw = raw::Exchange {
        attempt: ticket.attempt,
        at,
        address: &exchange.address,
        status: exchange.status,
        cut: exchange.cut + (exchange.request.len() - request.len()) as u64,
        request,
        response: &response,
    };
    raw::keep(&place.home, &place.session, ticket.turn, ticket.iteration, &raw)
}

fn image_of(attachment: &Attachment, data: Arc<str>) -> Image {
    Image {
        media_type: attachment.media_type.clone(),
        data,
        name: attachment.name.clone(),
    }
}

fn spec((name, description, parameters): (&str, &str, serde_json::Value)) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    }
}
