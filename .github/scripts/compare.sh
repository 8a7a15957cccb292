#!/usr/bin/env bash
# Holds a report against the one of the last night that has one, and opens an issue
# where decisions differ: compare.sh REPORT RUN-ID. It needs gh, with a token that may
# read actions and write issues, and meshproof.
set -euo pipefail
report=$1 this=$2

before=$(mktemp -d)
trap 'rm -rf "$before"' EXIT
found=
for run in $(gh run list --workflow nightly.yml --branch main --status completed --limit 10 --json databaseId --jq '.[].databaseId'); do
	[[ $run == "$this" ]] && continue
	if gh run download "$run" --name report --dir "$before" 2>/dev/null; then
		found=$run
		break
	fi
done
if [[ -z $found ]]; then
	echo "no earlier night has a report: there is nothing to compare with"
	exit
fi

body=$before/differences.md
status=0
meshproof report compare "$before" "$report" --output markdown >"$body" || status=$?
case $status in
0) echo "every decision is that of run $found" ;;
1)
	cat "$body"
	gh issue create --title "nightly: decisions differ from run $found" --body-file "$body"
	;;
*) exit "$status" ;;
esac
