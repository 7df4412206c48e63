//! Lowers `context_management`: four settings, each at most once; values of older dialects are read
//! as their modern equivalents.

use super::attributes::boolean;
use super::children::Found;
use super::state::Lower;
use crate::base::span::Spanned;
use crate::syntax::tree::Element;
use crate::template::elements::Kind;
use crate::template::fault::FaultKind;
use crate::template::model::Settings;
use crate::template::parts::Str;
use crate::template::setting::{Format, Fresh, Inherit, LEGACY, SettingName, Word, Written};

impl<'a> Lower<'a> {
    pub(super) fn settings(&mut self, element: Element<'a>) -> Settings<'a> {
        let mut out = Settings {
            element,
            written: Written::default(),
            elements: [None; 4],
            inherit_max_tokens: None,
            fresh_max_tokens: None,
        };
        self.attributes(Kind::ContextManagement, element, |_, _, _| {});
        self.children(
            Kind::ContextManagement,
            element,
            |lower, Found { kind, element, .. }| {
                let Some(name) = setting(kind) else { return };
                if let Some(slot) = out.elements.get_mut(name as usize) {
                    *slot = Some(element);
                }
                let mut most = None;
                lower.attributes(kind, element, |_, _, value| most = value.value.parse().ok());
                if kind == Kind::FreshContext {
                    out.fresh_max_tokens = most;
                } else if most.is_some() {
                    out.inherit_max_tokens = most;
                }
                if let Some(word) = lower.word_content(kind, element) {
                    lower.setting(element, name, &word, &mut out.written);
                }
            },
        );
        out
    }

    fn setting(
        &mut self,
        element: Element<'a>,
        name: SettingName,
        word: &Str<'a>,
        out: &mut Written,
    ) {
        let legacy = LEGACY
            .iter()
            .find(|(setting, old, _)| *setting == name && *old == word.value);
        if let Some((_, found, modern)) = legacy {
            self.fault(
                element,
                word.span,
                FaultKind::LegacyValue {
                    name: name.word(),
                    found,
                    modern,
                },
            );
        }
        let text = legacy.map_or(&*word.value, |(_, _, modern)| modern);
        let span = word.span;
        match name {
            SettingName::InheritContext => {
                out.inherit_context = self
                    .one_of::<Inherit>(element, name, text, word)
                    .map(|value| Spanned::new(value, span));
            }
            SettingName::AccumulateData => match boolean(name.word(), word) {
                Ok(value) => out.accumulate_data = Some(Spanned::new(value, span)),
                Err(kind) => self.fault(element, span, kind),
            },
            SettingName::AccumulationFormat => {
                out.accumulation_format = self
                    .one_of::<Format>(element, name, text, word)
                    .map(|value| Spanned::new(value, span));
            }
            SettingName::FreshContext => {
                out.fresh_context = self
                    .one_of::<Fresh>(element, name, text, word)
                    .map(|value| Spanned::new(value, span));
            }
        }
    }

    fn one_of<T: Word>(
        &mut self,
        element: Element<'a>,
        name: SettingName,
        text: &str,
        word: &Str<'a>,
    ) -> Option<T> {
        let read = T::parse(text);
        if read.is_none() {
            let found = word.value.to_string();
            self.fault(
                element,
                word.span,
                FaultKind::BadValue {
                    name: name.word(),
                    found,
                    allowed: name.words(),
                },
            );
        }
        read
    }
}

fn setting(kind: Kind) -> Option<SettingName> {
    match kind {
        Kind::InheritContext => Some(SettingName::InheritContext),
        Kind::AccumulateData => Some(SettingName::AccumulateData),
        Kind::AccumulationFormat => Some(SettingName::AccumulationFormat),
        Kind::FreshContext => Some(SettingName::FreshContext),
        _ => None,
    }
}
