//! Lowers `context_management`: four settings, each at most once; values of older dialects are read
//! as their modern equivalents.

use super::attributes::parse_boolean;
use super::children::KnownChild;
use super::state::Lower;
use crate::base::span::Spanned;
use crate::syntax::tree::Element;
use crate::template::elements::ElementKind;
use crate::template::fault::TemplateFaultKind;
use crate::template::model::Settings;
use crate::template::parts::Str;
use crate::template::setting::{
    Format, Fresh, Inherit, LEGACY_VALUES, SettingName, Word, WrittenSettings,
};

impl<'a> Lower<'a> {
    pub(super) fn lower_settings(&mut self, element: Element<'a>) -> Settings<'a> {
        let mut out = Settings {
            element,
            written: WrittenSettings::default(),
            elements: [None; 4],
            inherit_max_tokens: None,
            fresh_max_tokens: None,
        };
        self.lower_attributes(ElementKind::ContextManagement, element, |_, _, _| {});
        self.lower_children(
            ElementKind::ContextManagement,
            element,
            |lower, KnownChild { kind, element, .. }| {
                let Some(name) = setting_name(kind) else {
                    return;
                };
                if let Some(slot) = out.elements.get_mut(name as usize) {
                    *slot = Some(element);
                }
                let mut most = None;
                lower
                    .lower_attributes(kind, element, |_, _, value| most = value.value.parse().ok());
                if kind == ElementKind::FreshContext {
                    out.fresh_max_tokens = most;
                } else if most.is_some() {
                    out.inherit_max_tokens = most;
                }
                if let Some(word) = lower.lower_word_content(kind, element) {
                    lower.lower_setting(element, name, &word, &mut out.written);
                }
            },
        );
        out
    }

    fn lower_setting(
        &mut self,
        element: Element<'a>,
        name: SettingName,
        word: &Str<'a>,
        out: &mut WrittenSettings,
    ) {
        let legacy = LEGACY_VALUES
            .iter()
            .find(|(setting, old, _)| *setting == name && *old == word.value);
        if let Some((_, found, modern)) = legacy {
            self.report_fault(
                element,
                word.span,
                TemplateFaultKind::LegacyValue {
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
                    .parse_one_of::<Inherit>(element, name, text, word)
                    .map(|value| Spanned::new(value, span));
            }
            SettingName::AccumulateData => match parse_boolean(name.word(), word) {
                Ok(value) => out.accumulate_data = Some(Spanned::new(value, span)),
                Err(kind) => self.report_fault(element, span, kind),
            },
            SettingName::AccumulationFormat => {
                out.accumulation_format = self
                    .parse_one_of::<Format>(element, name, text, word)
                    .map(|value| Spanned::new(value, span));
            }
            SettingName::FreshContext => {
                out.fresh_context = self
                    .parse_one_of::<Fresh>(element, name, text, word)
                    .map(|value| Spanned::new(value, span));
            }
        }
    }

    fn parse_one_of<T: Word>(
        &mut self,
        element: Element<'a>,
        name: SettingName,
        text: &str,
        word: &Str<'a>,
    ) -> Option<T> {
        let read = T::parse(text);
        if read.is_none() {
            let found = word.value.to_string();
            self.report_fault(
                element,
                word.span,
                TemplateFaultKind::BadValue {
                    name: name.word(),
                    found,
                    allowed: name.allowed_words(),
                },
            );
        }
        read
    }
}

fn setting_name(kind: ElementKind) -> Option<SettingName> {
    match kind {
        ElementKind::InheritContext => Some(SettingName::InheritContext),
        ElementKind::AccumulateData => Some(SettingName::AccumulateData),
        ElementKind::AccumulationFormat => Some(SettingName::AccumulationFormat),
        ElementKind::FreshContext => Some(SettingName::FreshContext),
        _ => None,
    }
}
