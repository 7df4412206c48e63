//! Request bodies of providers, without a call: the same messages in the format of each provider.
//!
//! Every body contains exactly the text of the messages, in order; the same call gives the same
//! bytes. A feature that a provider does not support is omitted, never approximated: the text
//! describes the form of the answer in any case.

use super::call::{CallParams, has_content};
use super::message::Message;
use crate::context::answer_format::AnswerForm;
use crate::kernel::assembler::Speaker;
use crate::kernel::conversation::{Media, Part, Reasoning};
use crate::kernel::sampling::Parameter;
use serde_json::Value;
use std::collections::BTreeMap;

/// A kind of request that a provider accepts.
#[derive(Debug)]
pub struct RenderTarget {
    /// The value of `--as`.
    pub name: &'static str,
    /// A description of the API, for the help.
    pub about: &'static str,
    /// True if the body names the model; otherwise the URL does.
    pub names_model: bool,
    /// The paths of the sampling parameters in the body; parameters without a field are absent.
    pub sampling: &'static [(Parameter, &'static str)],
    /// The media types of images that it accepts.
    pub(super) images: &'static [&'static str],
    /// True if it rejects JSON output unless a message contains the word JSON.
    pub json_mode_needs_word: bool,
    /// Returns the reason why it rejects an image or document of a speaker; `Speaker::Tool` stands
    /// for the content of a tool result.
    pub(super) reject_media: fn(&Media, Speaker) -> Option<&'static str>,
    /// Returns true if it accepts earlier reasoning of the agent.
    pub(super) accepts_reasoning: fn(&Reasoning) -> bool,
    /// The highest temperature that it accepts.
    pub(super) max_temperature: f64,
    pub(super) body: fn(&[Message], &CallParams) -> String,
}

/// The media types of images that OpenAI accepts.
pub(super) const OPENAI_IMAGES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/jpg",
    "image/gif",
    "image/webp",
];

/// The reason why a request has no body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoBody {
    /// Every message except those of the system is blank.
    #[error(
        "there is nothing to ask: every text but the system's is blank, and no provider takes a request without one"
    )]
    Empty,
    /// The provider has no form for the content of a message.
    #[error("message {message} has {what}: {target} {why}")]
    Unsupported {
        /// The number of the message, from 1.
        message: usize,
        /// The content.
        what: String,
        /// The target.
        target: &'static str,
        /// The content that it accepts instead.
        why: String,
    },
}

impl RenderTarget {
    /// Returns the body of a request with some messages: JSON with an indentation of two.
    ///
    /// # Errors
    /// All messages are blank, or the provider has no form for one.
    pub fn render_body(&self, messages: &[Message], call: &CallParams) -> Result<String, NoBody> {
        if !messages
            .iter()
            .any(|message| message.speaker != Speaker::System && has_content(message))
        {
            return Err(NoBody::Empty);
        }
        for (number, message) in messages.iter().enumerate() {
            let inside = message.parts.iter().flat_map(|part| match part {
                Part::Result(result) => result
                    .parts
                    .iter()
                    .map(|part| (part, Speaker::Tool))
                    .collect(),
                Part::Text(_) | Part::Reasoning(_) | Part::Call(_) | Part::Media(_) => {
                    vec![(part, message.speaker)]
                }
            });
            for (part, speaker) in inside {
                if let Part::Media(media) = part
                    && let Some(why) = (self.reject_media)(media, speaker)
                        .map(str::to_owned)
                        .or_else(|| self.reject_image(media))
                {
                    let what = format!(
                        "{} ({})",
                        if media.is_image() {
                            "an image"
                        } else {
                            "a document"
                        },
                        media.media_type
                    );
                    return Err(NoBody::Unsupported {
                        message: number + 1,
                        what,
                        target: self.name,
                        why,
                    });
                }
            }
        }
        let mut taken = call.clone();
        for (parameter, _) in self.omitted_parameters(call) {
            taken.sampling.remove(&parameter);
        }
        Ok((self.body)(messages, &taken))
    }

    /// Returns the reason why it rejects an image of this type. For an image with a URL the exact
    /// type may be unknown.
    fn reject_image(&self, media: &Media) -> Option<String> {
        let own = media.media_type.to_ascii_lowercase();
        let is_taken = !media.is_image() || own == "image" || self.images.contains(&own.as_str());
        (!is_taken).then(|| format!("takes images of the types {} alone", self.images.join(", ")))
    }

    /// Returns true if its body has a field for a form of the answer.
    pub fn has_answer_field(&self, answer: &AnswerForm) -> bool {
        let body = |answer: &AnswerForm| {
            (self.body)(
                &[],
                &CallParams {
                    answer: answer.clone(),
                    ..CallParams::default()
                },
            )
        };
        body(answer) != body(&AnswerForm::Free)
    }

    /// Returns the sampling parameters that its body omits, each with the reason.
    pub fn omitted_parameters(&self, call: &CallParams) -> Vec<(Parameter, String)> {
        let why = |(parameter, value): (&Parameter, &Value)| {
            let has = self.sampling.iter().any(|(known, _)| known == parameter);
            #[allow(
                clippy::wildcard_enum_match_arm,
                reason = "no other parameter is left out by its value"
            )]
            let why = match parameter {
                _ if !has => format!("{} has no field for it", self.name),
                // Even `auto` or `none` requires tools.
                Parameter::ToolChoice if !call.has_tool_to_choose() => {
                    "the agent is given no tool that it could be".to_owned()
                }
                Parameter::Temperature if value.as_f64() > Some(self.max_temperature) => {
                    format!("{} takes none above {}", self.name, self.max_temperature)
                }
                _ => return None,
            };
            Some((*parameter, why))
        };
        call.sampling.iter().filter_map(why).collect()
    }

    /// Returns the number of messages whose reasoning is omitted from the body.
    pub fn dropped_reasoning(&self, messages: &[Message]) -> usize {
        let is_lost = |part: &Part| matches!(part, Part::Reasoning(reasoning) if !(self.accepts_reasoning)(reasoning));
        // A message of reasoning alone is omitted as a whole.
        let is_thought = |message: &Message| message.is_turn() && !has_content(message);
        let thinks = |message: &Message| {
            message
                .parts
                .iter()
                .any(|part| matches!(part, Part::Reasoning(_)))
        };
        let loses = |message: &&Message| {
            message.parts.iter().any(is_lost) || (is_thought(message) && thinks(message))
        };
        messages.iter().filter(loses).count()
    }

    /// Returns the sampling parameters below a path of its body, by their field names, except those
    /// with a form of their own.
    pub(super) fn plain_fields<'c>(
        &self,
        call: &'c CallParams,
        path: &str,
    ) -> BTreeMap<&'static str, &'c Value> {
        let is_plain = |parameter: &Parameter| {
            !matches!(
                parameter,
                Parameter::ToolChoice | Parameter::MaxOutputTokens
            )
        };
        let field = |(parameter, place): &(Parameter, &'static str)| {
            let name = place
                .strip_prefix(path)
                .filter(|name| !name.contains('.'))?;
            Some((name, call.get(*parameter).filter(|_| is_plain(parameter))?))
        };
        self.sampling.iter().filter_map(field).collect()
    }
}
