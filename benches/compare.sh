#!/usr/bin/env bash
# The table of processes of benches/RESULTS.md: floors, peers and ctxc in one run, interleaved.
# `benches/compare.sh [--quick] [--write] [--only GROUP,…]`; see `benches/compare.py --help`.
# CTXC_BENCH_WITH="chrt -f 10" gives the measurement, and not the building before it, the processors first on a machine at work.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
cargo build --quiet --profile dist --locked
cargo build --quiet --release --locked --manifest-path benches/floors/Cargo.toml --target-dir target/floors
# shellcheck disable=SC2086 # words of a command
exec ${CTXC_BENCH_WITH:-} python3 benches/compare.py "$@"
