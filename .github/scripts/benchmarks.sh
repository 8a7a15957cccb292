#!/usr/bin/env bash
# benchmarks.sh COMMIT [NAMES [PAIRS]] compares the CPU time of the benchmarks with that of an earlier commit. NAMES is
# a regular expression of the rows below. It prints a table of the CPU time that one round takes at COMMIT and here.
#
# Old and new programs run in turn, PAIRS times each, and the least time of each counts: so other work on the machine
# matters little. A program runs with two rounds and with many. The difference is free of what prepares the benchmark.
# The CPU time contains that of Envoy.
set -euo pipefail
commit=$1 names=${2:-.} pairs=${3:-6}
cd "$(dirname "$0")/../.."
export MESHPROOF_ENVOY=${MESHPROOF_ENVOY:-1.40.0} GOMAXPROCS=1

# benchmark, rounds, its package at 3a06b74, its package here
rows='
Classes/10000 12 policy policy/classes
Classes/20000 6 policy policy/classes
ClassesInterleaved 10 policy policy/classes
ClassesOfVersions 3 policy policy/classes
Neighbours 4 policy policy/classes
Locate 100000 policy policy/classes
ClassesOfTags/14/compact 10000 policy policy/kuma/internal/legacy
ClassesOfTags/100/compact 300 policy policy/kuma/internal/legacy
ClassesOfTags/12/full 4 policy policy/kuma/internal/legacy
Decide 100000 policy policy
CompileOptions5000/option1 60 policy/kuma policy/kuma
CompileOptions5000/option2 60 policy/kuma policy/kuma
CompileOptions5000/option3 60 policy/kuma policy/kuma
LowerOptions5000 60 policy/kuma policy/kuma
From500x6 200 policy/kuma policy/kuma
Parse5000 3 policy/kuma policy/kuma
Select5000 200 policy/kuma policy/kuma
SelectIgnored5000 200 policy/kuma policy/kuma
Lower5000 200 policy/kuma policy/kuma
Lint5000 10 policy/kuma policy/kuma
Evaluate 100000 policy/kuma policy/kuma
Compact500x6 200 policy/kuma/legacy policy/kuma/internal/legacy
Compact14Tags 100000 policy/kuma/legacy policy/kuma/internal/legacy
Full12Tags 40 policy/kuma/legacy policy/kuma/internal/legacy
Inbound5000 20 policy/kuma/inspect policy/kuma/internal/inspect
Proxy5000 20 policy/kuma/inspect policy/kuma/internal/inspect
Page5000 20 policy/kuma/inspect policy/kuma/internal/inspect
BuildAndPrune5000 20 policy/kuma/tree policy/kuma/internal/tree
ParseAll 100 policy/gateway policy/gateway/internal/authorization
SelectAndLower 2000 policy/gateway policy/gateway/internal/authorization
Parse 20 policy/manifest policy/manifest
Decode5000 4 policy/manifest policy/manifest
Compile 40 xds xds
Validate 40 xds xds
Listener 200 xds internal/controlplane
Program 200 xds/sidecar xds/lift
Dump 40 xds/sidecar internal/sidecar
Mint/root 1000 certs certs
YAML 1000 cases internal/casewriter
HTML 20 conformance/report internal/report/page
Start/process 5 harness harness
SetFilters/0_other 100 harness harness
SetFilters/500_other 60 harness harness
StreamHTTP 3 harness harness
StreamTCP 3 harness harness
Stories 3 harness/suite internal/suite
Differential 3 differential internal/differential
'

work=$(mktemp -d)
trap 'git worktree remove --force "$work/tree"; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/tree" "$commit"

# program SIDE FOLDER PACKAGE builds the tests of a package once, and prints where the program lies.
program() {
	local file=$work/$1-${3//\//_}
	[[ -e $file ]] || (cd "$2" && go test -c -o "$file" "./$3")
	echo "$file"
}

# least PROGRAM PACKAGE BENCHMARK ROUNDS BEFORE prints the CPU time in ms, or BEFORE where that is less.
least() {
	local TIMEFORMAT='%U %S' name="^Benchmark$3"
	if [[ $3 == */* ]]; then name=${name/\//\$/^}; else name+=$; fi
	{ time (cd "$2" && "$1" -test.run '^$' -test.bench "$name" -test.benchtime "$4x" >"$work/out" 2>&1); } 2>&1 |
		awk -v before="$5" '{ ms = ($1 + $2) * 1000; print before == "" || ms < before ? ms : before }'
	grep -q '^Benchmark' "$work/out" || { cat "$work/out" >&2; return 1; }
}

echo "| benchmark | at $commit | here | ratio |"
echo "|---|---|---|---|"
grep -E "$names" <<<"$rows" | while read -r name rounds before here; do
	[[ $name ]] || continue
	old=$(program old "$work/tree" "$before") new=$(program new . "$here")
	old2='' oldN='' new2='' newN=''
	for ((i = 0; i < pairs; i++)); do
		oldN=$(least "$old" "$work/tree/$before" "$name" "$rounds" "$oldN")
		newN=$(least "$new" "$here" "$name" "$rounds" "$newN")
		old2=$(least "$old" "$work/tree/$before" "$name" 2 "$old2")
		new2=$(least "$new" "$here" "$name" 2 "$new2")
	done
	awk -v name="$name" -v n="$rounds" -v a="$oldN" -v a2="$old2" -v b="$newN" -v b2="$new2" 'BEGIN {
		old = (a - a2) / (n - 2); new = (b - b2) / (n - 2)
		printf "| `%s` | %.3g ms | %.3g ms | %.2f |\n", name, old, new, new / old }'
done
