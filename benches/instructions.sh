#!/usr/bin/env bash
# Instructions per file of `check` and `build`, counted by valgrind over a fixed corpus of 1,000 files on one thread.
# Unlike times they do not depend on the machine's mood: compare them from commit to commit.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v valgrind >/dev/null || { echo "needs valgrind (the Debian package of that name)"; exit 1; }
cargo build --quiet --profile dist --locked
ctxc=$PWD/target/dist/ctxc
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
python3 benches/gen_corpus.py "$home/mixed" 1000
python3 benches/gen_corpus.py "$home/few" 1

# count FOLDER ARGUMENT…: instructions of one run in that folder, in user space.
count() {
    local folder=$1 log="$home/log" status=0
    shift
    (cd "$folder" && valgrind --tool=callgrind --callgrind-out-file=/dev/null "$ctxc" "$@" >/dev/null 2>"$log" </dev/null) || status=$?
    [ "$status" -le 1 ] || { cat "$log" >&2; exit 1; }
    sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$log"
}

echo "| command | instructions | for each file |"
echo "|---|---|---|"
few=$(count "$home/few" check --threads 1 .)
all=$(count "$home/mixed" check --threads 1 .)
echo "| \`ctxc check\`, 1 file | $few | |"
echo "| \`ctxc check\`, 1,000 files | $all | $(((all - few) / 999)) |"
python3 - "$home" <<'EOF'
import json, os, sys
home = sys.argv[1]
for path, verdict in json.load(open(f"{home}/mixed.expected.json")).items():
    if verdict != "ok":
        os.remove(f"{home}/mixed/{path}")
EOF
files=$(find "$home/mixed" -name '*.xml' | wc -l)
all=$(count "$home/mixed" build --threads 1 -o "$home/registry.json" .)
echo "| \`ctxc build\`, $files files | $all | $(((all - few) / files)) |"
