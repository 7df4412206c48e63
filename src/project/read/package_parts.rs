//! Roles, tools and rules of packages, as a project takes them over.

use super::value::FaultSink;
use crate::base::package_name::split_reference;
use crate::base::span::{Span, Spanned};
use crate::project::config::{Config, InstalledPackage, Packages};
use crate::project::package_fault::PackageFault;
use crate::project::package_section::{ExportKind, PackageExport};
use crate::project::project_fault::ProjectFaultKind;
use crate::project::roles::{ModelChoice, Role};
use crate::project::tools::ProjectTool;
use crate::template::keywords::Trust;
use std::collections::BTreeMap;

impl FaultSink {
    /// Reports a package that cannot be used.
    pub(super) fn report_package(&mut self, name: Spanned<&str>, why: PackageFault) {
        let kind = ProjectFaultKind::Package {
            name: name.value.to_owned(),
            why,
        };
        self.report(name.span, kind);
    }
}

/// Returns the package that exports something; otherwise reports the fault.
fn find_export<'p>(
    sink: &mut FaultSink,
    packages: &'p Packages,
    package: Spanned<&str>,
    export: &PackageExport,
) -> Option<&'p InstalledPackage> {
    let fault = match packages.get(package.value) {
        Some(found) if found.exports(export.kind, &export.name) => return Some(found),
        Some(found) => found.not_exported(export),
        None => PackageFault::Unknown,
    };
    sink.report_package(package, fault);
    None
}

/// Returns the tools that a package exports.
pub(super) fn exported_tools(
    sink: &mut FaultSink,
    packages: &Packages,
    name: &Spanned<String>,
) -> Vec<ProjectTool> {
    let Some(package) = packages.get(&name.value) else {
        sink.report_package(name.as_ref().map(String::as_str), PackageFault::Unknown);
        return Vec::new();
    };
    let names = package.export_names(ExportKind::Tool);
    let tools = names.filter_map(|own| package.config.tools.get(own));
    tools.map(|tool| package.own_tool(tool)).collect()
}

/// Returns the packages in `extends` that export rules.
pub(super) fn find_rules<'p>(
    sink: &mut FaultSink,
    packages: &'p Packages,
    names: &[Spanned<String>],
) -> Vec<&'p InstalledPackage> {
    let export = PackageExport {
        kind: ExportKind::Rules,
        name: String::new(),
    };
    let places = names.iter().map(|name| name.as_ref().map(String::as_str));
    let found = places.map(|place| find_export(sink, packages, place, &export));
    found.flatten().collect()
}

/// Adds the keys of the roles that roles extend.
pub(super) fn extend_roles(
    sink: &mut FaultSink,
    packages: &Packages,
    roles: &mut BTreeMap<String, Role>,
) {
    for role in roles.values_mut() {
        let Some(extends) = &role.extends else {
            continue;
        };
        let (package, name) = split_reference(&extends.value).unwrap_or((&extends.value, ""));
        let place = Spanned::new(package, extends.span);
        let export = PackageExport {
            kind: ExportKind::Role,
            name: name.to_owned(),
        };
        let Some(found) = find_export(sink, packages, place, &export) else {
            continue;
        };
        if found.names.trust == Trust::Untrusted {
            sink.report_package(place, PackageFault::Outside);
        } else if let Some(base) = found.role(name, extends.span) {
            role.extend(base);
        }
    }
}

impl InstalledPackage {
    /// Returns a role as a project sees it, at the place where the project names it.
    fn role(&self, name: &str, at: Span) -> Option<Role> {
        let mut role = self.config.roles.get(name)?.clone();
        role.task.value = self.names.full_name(&role.task.value);
        role.move_to(at);
        if let Some(system) = role.system.as_mut().filter(|own| own.file.is_some()) {
            system.path = format!("{}/{}", self.folder.prefix, system.path);
        }
        Some(role)
    }
}

impl Config {
    /// Returns the roles that the required packages export, by their full names.
    pub(crate) fn exported_roles(&self) -> impl Iterator<Item = Role> {
        let packages = self.packages.iter();
        let direct = packages.filter(|one| self.dependencies.contains_key(&one.names.package));
        direct.flat_map(|package| {
            let names = package.export_names(ExportKind::Role);
            names.filter_map(|name| {
                let mut role = package.role(name, package.span)?;
                role.name = Spanned::new(package.names.own_name(name), package.span);
                Some(role)
            })
        })
    }

    /// Adds the roles that the required packages export: contracts can be about them.
    pub(crate) fn add_exported_roles(&mut self) {
        let exported: Vec<Role> = self.exported_roles().collect();
        let named = exported.into_iter();
        self.roles
            .extend(named.map(|role| (role.name.value.clone(), role)));
    }
}

impl Role {
    /// Moves everything to one place.
    fn move_to(&mut self, at: Span) {
        self.task.span = at;
        if let Some(system) = &mut self.system {
            system.span = at;
        }
        let tools = self.tools.iter_mut();
        let tools = tools.flat_map(|tools| tools.allowed.iter_mut().chain(&mut tools.blocked));
        let models = match &mut self.model {
            ModelChoice::Named(names) => names.iter_mut(),
            ModelChoice::Cheapest { tier, capabilities } => {
                if let Some(tier) = tier {
                    tier.span = at;
                }
                capabilities.iter_mut()
            }
            ModelChoice::Open => std::slice::IterMut::default(),
        };
        for text in tools.chain(&mut self.protected_paths).chain(models) {
            text.span = at;
        }
        if let Some(tokens) = &mut self.budget.tokens {
            tokens.span = at;
        }
        if let Some(usd) = &mut self.budget.usd {
            usd.span = at;
        }
        if let Some(profile) = &mut self.profile {
            profile.span = at;
        }
        for kind in &mut self.order {
            kind.span = at;
        }
    }

    /// Takes over the keys that this role does not have. Limits of tools add up.
    fn extend(&mut self, base: Self) {
        if self.task.span == self.name.span {
            self.task = base.task;
        }
        self.description = self.description.take().or(base.description);
        self.system = self.system.take().or(base.system);
        self.tools = match (self.tools.take(), base.tools) {
            (Some(mut own), Some(mut base)) => {
                if !own.is_explicit {
                    own.allowed = base.allowed;
                    own.is_explicit = base.is_explicit;
                }
                own.blocked.append(&mut base.blocked);
                own.defined = base.defined;
                Some(own)
            }
            (own, base) => own.or(base),
        };
        for pattern in base.protected_paths {
            // It was parsed with the package.
            if self.protected.add_pattern(&pattern.value).is_ok() {
                self.protected_paths.push(pattern);
            }
        }
        self.budget.tokens = self.budget.tokens.or(base.budget.tokens);
        self.budget.usd = self.budget.usd.or(base.budget.usd);
        if self.model == ModelChoice::Open {
            self.model = base.model;
        }
        self.profile = self.profile.take().or(base.profile);
        if self.order.is_empty() {
            self.order = base.order;
        }
        for (parameter, value) in base.sampling {
            self.sampling.entry(parameter).or_insert(value);
        }
    }
}
