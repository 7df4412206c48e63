//! Request bodies of providers, without any call: the same messages in the form of each provider.
//!
//! Every body contains exactly the text of the messages, in their order; the same call gives the same bytes. What a
//! provider does not take is left out, never approximated: the form of the answer is described in the text anyway.

use super::call::{Call, is_said};
use super::message::Message;
use crate::context::answer_format::Answer;
use crate::kernel::assembler::Speaker;
use crate::kernel::conversation::{Media, Part, Reasoning};
use crate::kernel::sampling::Parameter;
use serde_json::Value;
use std::collections::BTreeMap;

/// A kind of request that a provider takes.
#[derive(Debug)]
pub struct Target {
    /// The word of `--as`.
    pub name: &'static str,
    /// Whose it is, for the help.
    pub about: &'static str,
    /// Whether its body names the model; else the address does.
    pub names_model: bool,
    /// What its body calls the parameters of sampling, by their paths; what is not here it has no field for.
    pub sampling: &'static [(Parameter, &'static str)],
    /// The types of images that it takes.
    pub(super) images: &'static [&'static str],
    /// Whether it refuses to answer in JSON of any form where no message has that word.
    pub json_word: bool,
    /// Why it does not take an image or document that somebody says, or that stands in what a tool gave back (`Speaker::Tool`).
    pub(super) refuses: fn(&Media, Speaker) -> Option<&'static str>,
    /// Whether it takes what an agent thought before.
    pub(super) takes: fn(&Reasoning) -> bool,
    /// The highest temperature that it takes.
    pub(super) hottest: f64,
    pub(super) body: fn(&[Message], &Call) -> String,
}

/// The types of images that OpenAI takes.
pub(super) const OPENAI_IMAGES: &[&str] = &["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"];

/// Why there is no body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoBody {
    /// No message but the system's says anything.
    #[error("there is nothing to ask: every text but the system's is blank, and no provider takes a request without one")]
    Empty,
    /// The provider has no form for what a message holds.
    #[error("message {message} has {what}: {target} {why}")]
    Unsupported {
        /// Which message of the request it is, from 1.
        message: usize,
        /// What it holds.
        what: String,
        /// The target.
        target: &'static str,
        /// What it takes instead.
        why: String,
    },
}

impl Target {
    /// The body of the request that says some messages: JSON with an indentation of two.
    ///
    /// # Errors
    /// There is nothing to ask, or the provider has no form for it.
    pub fn body(&self, messages: &[Message], call: &Call) -> Result<String, NoBody> {
        if !messages.iter().any(|message| message.speaker != Speaker::System && is_said(message)) {
            return Err(NoBody::Empty);
        }
        for (number, message) in messages.iter().enumerate() {
            let inside = message.parts.iter().flat_map(|part| match part {
                Part::Result(result) => result.parts.iter().map(|part| (part, Speaker::Tool)).collect(),
                Part::Text(_) | Part::Reasoning(_) | Part::Call(_) | Part::Media(_) => vec![(part, message.speaker)],
            });
            for (part, speaker) in inside {
                if let Part::Media(media) = part
                    && let Some(why) = (self.refuses)(media, speaker).map(str::to_owned).or_else(|| self.refuses_image(media))
                {
                    let what = format!("{} ({})", if media.is_image() { "an image" } else { "a document" }, media.media_type);
                    return Err(NoBody::Unsupported { message: number + 1, what, target: self.name, why });
                }
            }
        }
        let mut taken = call.clone();
        for (parameter, _) in self.left_out(call) {
            taken.sampling.remove(&parameter);
        }
        Ok((self.body)(messages, &taken))
    }

    /// Why it does not take an image of this type. Of one that has an address nobody may know more than that it is an image.
    fn refuses_image(&self, media: &Media) -> Option<String> {
        let own = media.media_type.to_ascii_lowercase();
        let is_taken = !media.is_image() || own == "image" || self.images.contains(&own.as_str());
        (!is_taken).then(|| format!("takes images of the types {} alone", self.images.join(", ")))
    }

    /// Whether its body has a field for a form of the answer.
    pub fn carries(&self, answer: &Answer) -> bool {
        let body = |answer: &Answer| (self.body)(&[], &Call { answer: answer.clone(), ..Call::default() });
        body(answer) != body(&Answer::Free)
    }

    /// The parameters of sampling that its body leaves out, each with why.
    pub fn left_out(&self, call: &Call) -> Vec<(Parameter, String)> {
        let why = |(parameter, value): (&Parameter, &Value)| {
            let has = self.sampling.iter().any(|(known, _)| known == parameter);
            #[allow(clippy::wildcard_enum_match_arm, reason = "no other parameter is left out by its value")]
            let why = match parameter {
                _ if !has => format!("{} has no field for it", self.name),
                // A word, too, is about tools that are there.
                Parameter::ToolChoice if !call.may_choose() => "the agent is given no tool that it could be".to_owned(),
                Parameter::Temperature if value.as_f64() > Some(self.hottest) => {
                    format!("{} takes none above {}", self.name, self.hottest)
                }
                _ => return None,
            };
            Some((*parameter, why))
        };
        call.sampling.iter().filter_map(why).collect()
    }

    /// How many messages say what the agent thought before, and are sent without it.
    pub fn unthought(&self, messages: &[Message]) -> usize {
        let is_lost = |part: &Part| matches!(part, Part::Reasoning(reasoning) if !(self.takes)(reasoning));
        // A message of nothing else is no message of the body.
        let is_thought = |message: &Message| message.is_turn() && !is_said(message);
        let thinks = |message: &Message| message.parts.iter().any(|part| matches!(part, Part::Reasoning(_)));
        let loses = |message: &&Message| message.parts.iter().any(is_lost) || (is_thought(message) && thinks(message));
        messages.iter().filter(loses).count()
    }

    /// The parameters that stand as they are below a path of its body, by the names that it has for them.
    pub(super) fn fields<'c>(&self, call: &'c Call, path: &str) -> BTreeMap<&'static str, &'c Value> {
        let is_plain = |parameter: &Parameter| !matches!(parameter, Parameter::ToolChoice | Parameter::MaxOutputTokens);
        let field = |(parameter, place): &(Parameter, &'static str)| {
            let name = place.strip_prefix(path).filter(|name| !name.contains('.'))?;
            Some((name, call.get(*parameter).filter(|_| is_plain(parameter))?))
        };
        self.sampling.iter().filter_map(field).collect()
    }
}
