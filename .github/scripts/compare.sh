#!/usr/bin/env bash
# compare.sh REPORT RUN-ID compares a report with the report of an earlier night. Where
# decisions differ, it comments on the open issue or opens a new one. It needs meshproof, and
# gh with a token that may read actions and write issues.
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

differences=$before/differences.md body=$before/body.md
status=0
meshproof report compare "$before" "$report" --decisions --output markdown >"$differences" || status=$?
case $status in
0)
	echo "every decision is that of run $found"
	exit
	;;
1) cat "$differences" ;;
*) exit "$status" ;;
esac

# GitHub accepts 65,536 characters. A byte is at most one character.
awk -v most=60000 -v this="$this" '
	(n += length($0) + 1) > most {
		print "\n…and more: the comparison is longer than an issue may be. The log of run " this " has all of it."
		exit
	}
	{ print }' "$differences" >"$body"

title="nightly: decisions differ from run"
open=$(gh issue list --state open --search "\"$title\" in:title" --json number --jq '.[0].number // empty')
if [[ -n $open ]]; then
	gh issue comment "$open" --body-file "$body"
else
	gh issue create --title "$title $found" --body-file "$body"
fi
