//! Namespaces: bindings in scope, resolution of prefixes, uniqueness of attributes by their
//! expanded names.

use super::bindings::NamespaceBinding;
use super::fault::XmlFaultKind;
use super::pass::{Flow, Pass, ReadStopped};
use super::scanner::ScannedName;
use super::tag::StartTag;
use super::tree::RawAttribute;
use super::value;
use super::wellformed::is_qname;
use crate::base::span::Span;

const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";

impl Pass<'_, '_> {
    /// Declares, resolves and compares the attributes of a tag.
    pub(super) fn check_attributes(&mut self, tag: &StartTag) -> Flow {
        if tag.has_namespaces {
            for at in tag.first..self.tree.attributes.len() {
                self.declare_namespace(at)?;
            }
            for at in tag.first..self.tree.attributes.len() {
                self.resolve_attribute(at)?;
            }
        }
        let count = self.tree.attributes.len() - tag.first;
        match count {
            0 | 1 => Ok(()),
            2..=8 => self.compare_few(tag.first),
            _ => self.compare_many(tag.first),
        }
    }

    /// The namespace of an element's name.
    #[inline]
    pub(super) fn element_namespace(&mut self, name: ScannedName) -> Result<u16, ReadStopped> {
        if name.has_colon {
            self.resolve_name(name.span())
        } else if self.scratch.bindings.scope.is_empty() {
            Ok(0)
        } else {
            Ok(self.lookup_prefix("").unwrap_or(0))
        }
    }

    fn declare_namespace(&mut self, at: usize) -> Flow {
        let Some(attribute) = self.tree.attributes.get(at).copied() else {
            return Ok(());
        };
        let name = attribute.name.slice(self.scan.text);
        let prefix = match name.strip_prefix("xmlns") {
            Some("") => "",
            Some(rest) => match rest.strip_prefix(':') {
                Some(prefix) if !prefix.is_empty() => prefix,
                _ => return Ok(()),
            },
            None => return Ok(()),
        };
        let uri = value::decode_attribute(attribute.value.slice(self.scan.text));
        let reserved =
            prefix == "xmlns" || (prefix == "xml") != (uri == XML_URI) || uri == XMLNS_URI;
        if reserved {
            return self.report_fault(XmlFaultKind::ReservedPrefix, attribute.name, None);
        }
        if uri.is_empty() && !prefix.is_empty() {
            return self.report_fault(XmlFaultKind::EmptyPrefix, attribute.name, None);
        }
        if self.scratch.bindings.scope.len() >= self.limits.namespaces as usize {
            return self.stop_at_limit(XmlFaultKind::TooManyNamespaces, attribute.name);
        }
        let uri = self.intern_uri(&uri, attribute.name)?;
        let prefix = Span::new(attribute.name.end - prefix.len() as u32, attribute.name.end);
        self.scratch
            .bindings
            .scope
            .push(NamespaceBinding { prefix, uri });
        Ok(())
    }

    fn intern_uri(&mut self, uri: &str, at: Span) -> Result<u16, ReadStopped> {
        if uri.is_empty() {
            return Ok(0);
        }
        if let Some(&known) = self.scratch.bindings.uris.get(uri) {
            return Ok(known);
        }
        let next = self.tree.namespaces.len() + 1;
        if next >= usize::from(u16::MAX) {
            self.stop_at_limit(XmlFaultKind::TooManyNamespaces, at)?;
        }
        self.tree.namespaces.push(uri.to_owned());
        self.scratch.bindings.uris.insert(uri.into(), next as u16);
        Ok(next as u16)
    }

    fn lookup_prefix(&self, prefix: &str) -> Option<u16> {
        let bound = self.scratch.bindings.scope.iter().rev();
        bound
            .clone()
            .find(|binding| binding.prefix.slice(self.scan.text) == prefix)
            .map(|binding| binding.uri)
    }

    /// The namespace of a name with a prefix.
    fn resolve_name(&mut self, name: Span) -> Result<u16, ReadStopped> {
        let written = name.slice(self.scan.text);
        let (prefix, _) = written.split_once(':').unwrap_or(("", ""));
        match prefix {
            // Misplaced colons have been reported.
            _ if !is_qname(written) => Ok(0),
            "xml" => self.intern_uri(XML_URI, name),
            "xmlns" => self
                .report_fault(XmlFaultKind::ReservedPrefix, name, None)
                .map(|()| 0),
            _ => match self.lookup_prefix(prefix) {
                Some(uri) => Ok(uri),
                None => self.report_undeclared(name, prefix).map(|()| 0),
            },
        }
    }

    /// Reports an undeclared prefix once; every further use has the same cause.
    fn report_undeclared(&mut self, name: Span, prefix: &str) -> Flow {
        let text = self.scan.text;
        let reported = &mut self.scratch.bindings.undeclared;
        if reported.iter().any(|known| known.slice(text) == prefix) {
            return Ok(());
        }
        if reported.len() < 16 {
            reported.push(Span::new(name.start, name.start + prefix.len() as u32));
        }
        self.report_fault(XmlFaultKind::UndeclaredPrefix, name, None)
    }

    fn resolve_attribute(&mut self, at: usize) -> Flow {
        let Some(attribute) = self.tree.attributes.get(at).copied() else {
            return Ok(());
        };
        let name = attribute.name.slice(self.scan.text);
        let namespace = if name == "xmlns" || name.starts_with("xmlns:") {
            self.intern_uri(XMLNS_URI, attribute.name)?
        } else if name.contains(':') {
            self.resolve_name(attribute.name)?
        } else {
            return Ok(());
        };
        if let Some(attribute) = self.tree.attributes.get_mut(at) {
            attribute.namespace = namespace;
        }
        Ok(())
    }

    /// The expanded name of an attribute, which must be unique in its element.
    fn expanded_name(&self, attribute: &RawAttribute) -> (u16, &str) {
        let name = attribute.name.slice(self.scan.text);
        let local = if attribute.namespace == 0 {
            name
        } else {
            name.split_once(':').map_or(name, |(_, local)| local)
        };
        (attribute.namespace, local)
    }

    fn compare_few(&mut self, first: usize) -> Flow {
        for at in first + 1..self.tree.attributes.len() {
            let Some((earlier, rest)) = self
                .tree
                .attributes
                .get(first..)
                .and_then(|all| all.split_at_checked(at - first))
            else {
                return Ok(());
            };
            let Some(attribute) = rest.first() else {
                return Ok(());
            };
            let key = self.expanded_name(attribute);
            if let Some(same) = earlier
                .iter()
                .find(|other| self.expanded_name(other) == key)
            {
                let name = attribute.name;
                let other = same.name;
                self.report_fault(XmlFaultKind::DuplicateAttribute, name, Some(other))?;
            }
        }
        Ok(())
    }

    fn compare_many(&mut self, first: usize) -> Flow {
        let mut order = std::mem::take(&mut self.scratch.order);
        order.clear();
        order.extend(first as u32..self.tree.attributes.len() as u32);
        let key = |at: &u32| {
            self.tree
                .attributes
                .get(*at as usize)
                .map(|attribute| self.expanded_name(attribute))
        };
        order.sort_by(|a, b| key(a).cmp(&key(b)).then(a.cmp(b)));
        let mut faults = Vec::new();
        for same in order.chunk_by(|a, b| key(a) == key(b)) {
            let Some((head, others)) = same.split_first() else {
                continue;
            };
            faults.extend(others.iter().map(|&at| (at, *head)));
        }
        self.scratch.order = order;
        for (at, head) in faults {
            let name = |at: u32| {
                self.tree
                    .attributes
                    .get(at as usize)
                    .map_or(Span::empty_at(0), |attribute| attribute.name)
            };
            self.report_fault(XmlFaultKind::DuplicateAttribute, name(at), Some(name(head)))?;
        }
        Ok(())
    }
}
