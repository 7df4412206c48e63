//! Minimal version selection against its definition, by brute force.

use super::*;
use std::convert::Infallible;

/// A world of packages: the versions of each name, and what each version requires.
type World = BTreeMap<String, BTreeMap<u64, BTreeMap<String, u64>>>;

fn git(name: &str, version: u64) -> PackageSource {
    PackageSource::Git {
        url: format!("https://example.org/{name}.git"),
        tag: format!("v{}", version_of(version)),
    }
}

/// Two minor versions of each major one: 1.0.0, 1.1.0, 2.0.0, 2.1.0.
fn version_of(number: u64) -> Version {
    Version::new(number.div_ceil(2), (number + 1) % 2, 0)
}

fn number_of(version: &Version) -> u64 {
    2 * version.major - 1 + version.minor
}

fn sources(required: &BTreeMap<String, u64>) -> BTreeMap<String, PackageSource> {
    required
        .iter()
        .map(|(name, version)| (name.clone(), git(name, *version)))
        .collect()
}

fn read_world(world: &World, name: &str, source: &PackageSource) -> Requirements {
    let PackageSource::Git { tag, .. } = source else {
        panic!("{source}");
    };
    let version = Version::parse(tag.trim_start_matches('v')).unwrap();
    let dependencies = sources(&world[name][&number_of(&version)]);
    Requirements {
        version,
        dependencies,
    }
}

/// The result of a resolution.
#[derive(Debug, PartialEq)]
enum Outcome {
    Circle,
    TwoMajors,
    Selected(BTreeMap<String, u64>),
}

fn outcome(world: &World, project: &BTreeMap<String, u64>) -> Outcome {
    let read =
        |name: &str, source: &PackageSource| Ok::<_, Infallible>(read_world(world, name, source));
    match resolve(&sources(project), read) {
        Ok(found) => Outcome::Selected(
            found
                .into_iter()
                .map(|(name, own)| (name, number_of(&own.version)))
                .collect(),
        ),
        Err(ResolveFault::Circle { .. }) => Outcome::Circle,
        Err(ResolveFault::TwoMajors(_)) => Outcome::TwoMajors,
        Err(other) => panic!("{other}"),
    }
}

/// The definition, by brute force: of each major version, the lowest that all requirements on it that
/// can be reached at all admit; and of these, what the project needs. A requirement is met by its own
/// major version, or by a higher one that the project requires itself; two of one name contradict
/// each other.
fn by_definition(world: &World, project: &BTreeMap<String, u64>) -> Outcome {
    // Every requirement that can be reached, walked path by path without memory of earlier paths.
    fn walk(
        world: &World,
        required: &BTreeMap<String, u64>,
        on_path: &mut Vec<(String, u64)>,
        demands: &mut Vec<(String, u64)>,
    ) {
        for (name, version) in required {
            let one = (name.clone(), *version);
            demands.push(one.clone());
            if !on_path.contains(&one) {
                on_path.push(one);
                walk(world, &world[name][version], on_path, demands);
                on_path.pop();
            }
        }
    }
    let mut demands = Vec::new();
    walk(world, project, &mut Vec::new(), &mut demands);
    let major = |version: u64| version_of(version).major;
    let lowest = |name: &String, wanted: u64| {
        let of_major = |number: &u64| major(*number) == wanted;
        let demands = demands
            .iter()
            .filter(|(other, least)| other == name && of_major(least));
        let least = demands.map(|(_, least)| *least).max().unwrap();
        *world[name]
            .keys()
            .find(|version| of_major(version) && **version >= least)
            .unwrap()
    };
    let mut needed: BTreeMap<String, u64> = BTreeMap::new();
    let mut asked: Vec<(String, u64)> = project.clone().into_iter().collect();
    while let Some((name, required)) = asked.pop() {
        let own = project.get(&name).map_or(0, |version| major(*version));
        let version = lowest(&name, own.max(major(required)));
        match needed.insert(name.clone(), version) {
            None => asked.extend(world[&name][&version].clone()),
            Some(known) if known != version => return Outcome::TwoMajors,
            Some(_) => {}
        }
    }
    let mut reach: BTreeMap<&String, BTreeSet<&String>> = needed
        .iter()
        .map(|(name, version)| (name, world[name][version].keys().collect()))
        .collect();
    for _ in 0..needed.len() {
        let before = reach.clone();
        for own in reach.values_mut() {
            for name in own.clone() {
                own.extend(&before[name]);
            }
        }
    }
    if reach.iter().any(|(name, own)| own.contains(*name)) {
        return Outcome::Circle;
    }
    Outcome::Selected(needed)
}

/// Numbers without a pattern, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn random_world(numbers: &mut Numbers) -> (World, BTreeMap<String, u64>) {
    let names: Vec<String> = (0..2 + numbers.below(5))
        .map(|at| format!("acme/p{at}"))
        .collect();
    let versions: Vec<u64> = names.iter().map(|_| 1 + numbers.below(3)).collect();
    let may_circle = numbers.below(4) == 0;
    let mut world = World::new();
    for (at, name) in names.iter().enumerate() {
        for version in 1..=versions[at] {
            let mut required = BTreeMap::new();
            for (other, other_name) in names.iter().enumerate() {
                let allowed = other > at || may_circle && other != at && numbers.below(4) == 0;
                if allowed && numbers.below(5) < 2 {
                    required.insert(other_name.clone(), 1 + numbers.below(versions[other]));
                }
            }
            world
                .entry(name.clone())
                .or_default()
                .insert(version, required);
        }
    }
    let mut project = BTreeMap::new();
    for (at, name) in names.iter().enumerate() {
        if numbers.below(2) == 0 {
            project.insert(name.clone(), 1 + numbers.below(versions[at]));
        }
    }
    (world, project)
}

#[test]
fn five_hundred_random_graphs_resolve_as_defined() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut circles, mut majors, mut raised) = (0, 0, 0);
    for round in 0..500 {
        let (world, project) = random_world(&mut numbers);
        let found = outcome(&world, &project);
        assert_eq!(
            found,
            by_definition(&world, &project),
            "round {round}: {project:?} in {world:?}"
        );
        match found {
            Outcome::Circle => circles += 1,
            Outcome::TwoMajors => majors += 1,
            Outcome::Selected(found) => {
                raised += usize::from(project.iter().any(|(name, version)| found[name] > *version));
            }
        }
    }
    assert!(
        circles > 10 && majors > 20 && raised > 20,
        "{circles} {majors} {raised}"
    );
}

#[test]
fn two_major_versions_name_both_requirements_and_the_project_decides() {
    let read = |name: &str, source: &PackageSource| {
        let PackageSource::Git { tag, .. } = source else {
            panic!("{source}");
        };
        let mut dependencies = BTreeMap::new();
        if name == "acme/mid" {
            dependencies.insert("acme/rules".to_owned(), git("rules", 3));
        }
        Ok::<_, Infallible>(Requirements {
            version: Version::parse(tag.trim_start_matches('v')).unwrap(),
            dependencies,
        })
    };
    let project = |rules: u64| {
        BTreeMap::from([
            ("acme/mid".to_owned(), git("mid", 1)),
            ("acme/rules".to_owned(), git("rules", rules)),
        ])
    };
    assert_eq!(
        resolve(&project(1), read).unwrap_err().to_string(),
        "`acme/rules` is required in two major versions: ctxc.toml → acme/rules requires 1.0.0, ctxc.toml → acme/mid → acme/rules requires 2.0.0"
    );
    assert!(resolve(&project(3), read).is_ok());
    assert!(resolve(&project(5), read).is_ok());
}

/// The other major version is required by a release that is not selected.
#[test]
fn a_release_that_is_not_selected_contradicts_nothing() {
    let world: World = [
        ("a", vec![(1, vec![("b", 2)])]),
        ("b", vec![(1, vec![("c", 3)]), (2, vec![("c", 1)])]),
        ("c", vec![(1, vec![]), (3, vec![])]),
    ]
    .into_iter()
    .map(|(name, versions)| {
        let required = |all: Vec<(&str, u64)>| {
            all.into_iter()
                .map(|(name, version)| (name.to_owned(), version))
                .collect()
        };
        let versions = versions
            .into_iter()
            .map(|(version, all)| (version, required(all)));
        (name.to_owned(), versions.collect())
    })
    .collect();
    let numbers = |all: &[(&str, u64)]| -> BTreeMap<String, u64> {
        all.iter()
            .map(|(name, version)| ((*name).to_owned(), *version))
            .collect()
    };
    assert_eq!(
        outcome(&world, &numbers(&[("a", 1), ("b", 1)])),
        Outcome::Selected(numbers(&[("a", 1), ("b", 2), ("c", 1)]))
    );
}

#[test]
fn one_name_with_two_repositories_names_both_ways() {
    let read = |name: &str, _: &PackageSource| {
        let mut dependencies = BTreeMap::new();
        if name != "acme/base" {
            dependencies.insert("acme/base".to_owned(), git(&format!("{name}-base"), 1));
        }
        Ok::<_, Infallible>(Requirements {
            version: Version::new(1, 0, 0),
            dependencies,
        })
    };
    let project = BTreeMap::from([
        ("acme/a".to_owned(), git("a", 1)),
        ("acme/b".to_owned(), git("b", 1)),
    ]);
    assert_eq!(
        resolve(&project, read).unwrap_err().to_string(),
        "`acme/base` has two sources: ctxc.toml → acme/a → acme/base requires https://example.org/acme/a-base.git, ctxc.toml → acme/b → acme/base requires https://example.org/acme/b-base.git"
    );
}

#[test]
fn folders_are_relative_to_the_project_and_not_allowed_in_git() {
    let folder = |path: &str| PackageSource::Path(path.to_owned());
    let read = |name: &str, source: &PackageSource| {
        let next = match name {
            "acme/a" => Some(("acme/b", folder("./x/../../b"))),
            "acme/b" => Some(("acme/c", folder("../../work"))),
            "acme/git" => Some(("acme/b", folder("../b"))),
            _ => None,
        };
        assert!(
            name != "acme/b" || *source == folder("../shared/b"),
            "{source}"
        );
        let dependencies = next
            .into_iter()
            .map(|(name, source)| (name.to_owned(), source))
            .collect();
        Ok::<_, Infallible>(Requirements {
            version: Version::new(1, 0, 0),
            dependencies,
        })
    };
    let found = resolve(
        &BTreeMap::from([("acme/a".to_owned(), folder("../shared/a/"))]),
        read,
    )
    .unwrap();
    let places: Vec<&str> = found.values().map(|own| own.source.place()).collect();
    assert_eq!(places, ["../shared/a", "../shared/b", "../work"]);
    let refused = resolve(
        &BTreeMap::from([("acme/git".to_owned(), git("git", 1))]),
        read,
    )
    .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "ctxc.toml → acme/git → acme/b requires a folder, `path:../b`, which exists only on the machine of its author"
    );
}

#[test]
fn a_repository_in_a_folder_is_not_required_by_one_of_a_server() {
    let local = |name: &str| PackageSource::Git {
        url: format!("file:///home/author/{name}.git"),
        tag: "v1.0.0".to_owned(),
    };
    let read = |name: &str, _: &PackageSource| {
        let next = (name != "acme/base").then(|| ("acme/base".to_owned(), local("base")));
        Ok::<_, Infallible>(Requirements {
            version: Version::new(1, 0, 0),
            dependencies: next.into_iter().collect(),
        })
    };
    let project = |source: PackageSource| BTreeMap::from([("acme/a".to_owned(), source)]);
    assert_eq!(
        resolve(&project(git("a", 1)), read)
            .unwrap_err()
            .to_string(),
        "ctxc.toml → acme/a → acme/base requires a folder, `git+file:///home/author/base.git@v1.0.0`, which exists only on the machine of its author"
    );
    assert!(resolve(&project(local("a")), read).is_ok());
    let folder = PackageSource::Path("../a".to_owned());
    assert!(resolve(&project(folder), read).is_ok());
}
