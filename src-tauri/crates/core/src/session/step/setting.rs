//! What the person sets for the session: role, autonomy, model, format, limits, title.

use super::Draft;
use paddock_protocol::*;

impl Draft<'_> {
    pub(super) fn change_config(&mut self, change: impl FnOnce(&mut SessionConfig)) {
        let mut config = (*self.live.config).clone();
        change(&mut config);
        if config != *self.live.config {
            self.emit(EventMsg::SessionChanged { config });
        }
    }

    pub(super) fn set_role(&mut self, role: Role) {
        self.change_role(role, None);
    }

    /// A role of the person's own: its base, narrowed; with its model and its limits where it names them.
    pub(super) fn set_own_role(&mut self, own: OwnRole) {
        if let Some(limits) = own.limits.clone() {
            self.change_config(|config| config.limits = limits);
        }
        if let Some(model) = own.model.clone() {
            // What is known of it follows with the model itself.
            let same = model == self.live.config.model;
            let known = KnownModel {
                format: self.live.config.format,
                facts: if same {
                    self.live.config.facts.clone()
                } else {
                    ModelFacts::default()
                },
            };
            self.set_model(model, known);
        }
        self.change_role(own.base, Some(own));
    }

    fn change_role(&mut self, role: Role, own: Option<OwnRole>) {
        let from = self.live.config.role;
        let config = &self.live.config;
        let changed = config.role != role || config.own_role != own;
        if changed {
            self.take_verdicts_back();
        }
        self.change_config(|config| {
            config.role = role;
            config.own_role = own;
        });
        if changed && self.live.turn.is_some() {
            let own = self.live.config.own_role.as_ref().map(|own| own.name.clone());
            self.note_item(ItemKind::RoleChange { from, to: role, own });
            if role != Role::Admin {
                self.end_writing_sub_agents();
            }
            self.judge_anew();
            self.advance_unless_interrupted();
        }
    }

    pub(super) fn set_format(&mut self, format: CallFormat) {
        self.change_config(|config| config.format = format);
    }

    /// The command that has to succeed before a turn is done.
    pub(super) fn set_done_when(&mut self, command: Option<String>) {
        let command = command.map(|command| command.trim().to_owned());
        self.change_config(|config| config.done_when = command.filter(|command| !command.is_empty()));
    }

    pub(super) fn set_fallback(&mut self, fallback: Option<Fallback>) {
        self.change_config(|config| config.fallback = fallback);
    }

    /// A changed setting lets a working turn go on, but does not wake one that was interrupted.
    pub(super) fn advance_unless_interrupted(&mut self) {
        if self
            .turn()
            .is_some_and(|turn| turn.status != TurnStatus::Interrupted)
        {
            self.advance();
        }
    }

    pub(super) fn set_autonomy(&mut self, autonomy: Autonomy) {
        if autonomy == Autonomy::HandsOff && !self.around.confined {
            self.refuse(
                ErrorCode::NotNow,
                "Hands-off is not available: nothing confines commands on this machine.",
                "Choose Careful or Balanced.",
            );
            return;
        }
        let changed = self.live.config.autonomy != autonomy;
        if changed {
            self.take_verdicts_back();
        }
        self.change_config(|config| config.autonomy = autonomy);
        if changed {
            self.judge_anew();
            self.advance_unless_interrupted();
        }
    }

    pub(super) fn set_model(&mut self, model: ModelChoice, known: KnownModel) {
        let from = self.live.config.model.clone();
        self.change_config(|config| {
            config.model = model.clone();
            config.format = known.format;
            config.facts = known.facts;
        });
        if from != model && self.live.turn.is_some() {
            self.note_item(ItemKind::ModelChange { from, to: model });
        }
    }

    pub(super) fn set_budget(&mut self, budget: Budget) {
        self.change_config(|config| config.budget = budget);
    }

    pub(super) fn set_limits(&mut self, limits: Limits) {
        let ceiling = Limits::ceiling(self.live.config.role);
        if limits.iterations == 0 || limits.iterations > ceiling {
            self.refuse(
                ErrorCode::BadRequest,
                &format!("The number of iterations must be between 1 and {ceiling}."),
                "Give another number.",
            );
            return;
        }
        self.change_config(|config| config.limits = limits);
    }

    pub(super) fn rename(&mut self, title: &str) {
        let title = title_of(title);
        if title.is_empty() {
            self.refuse(
                ErrorCode::BadRequest,
                "The title is empty.",
                "Give the session a name.",
            );
            return;
        }
        self.change_config(|config| config.title = title);
    }
}

/// A title from a message: its first line, at most 60 characters.
pub(super) fn title_of(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default().trim();
    if line.chars().count() <= 60 {
        return line.to_owned();
    }
    let cut: String = line.chars().take(59).collect();
    format!("{}…", cut.trim_end())
}
