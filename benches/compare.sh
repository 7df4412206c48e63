#!/usr/bin/env bash
# The table of processes of docs/PERFORMANCE.md: floors, peers and ctxc in one run, interleaved.
# `benches/compare.sh [--quick] [--write] [--only GROUP,…]`; see `benches/compare.py --help`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo build --quiet --release --locked
cargo build --quiet --release --locked --manifest-path benches/floors/Cargo.toml --target-dir target/floors
exec python3 benches/compare.py "$@"
