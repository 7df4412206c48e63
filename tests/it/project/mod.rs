//! Floor 4: the project file.
