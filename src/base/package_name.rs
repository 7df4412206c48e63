//! Names that begin with the name of a package.

/// Splits `acme/rules/triage` into the package and its definition.
pub fn split_reference(name: &str) -> Option<(&str, &str)> {
    let first = name.find('/')?;
    let second = first + 1 + name.get(first + 1..)?.find('/')?;
    Some((name.get(..second)?, name.get(second + 1..)?))
}

/// Returns the name of a file without the version of the package that contains it, so that files
/// of two releases can be compared.
#[cfg(feature = "assemble")]
pub fn without_version(file: &str) -> String {
    let named = split_reference(file).and_then(|(folder, rest)| {
        let (package, _) = folder.split_once('@')?;
        Some(format!("{package}/{rest}"))
    });
    named.unwrap_or_else(|| file.to_owned())
}
