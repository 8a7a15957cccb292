#!/bin/sh
# Compares what each overlay applies here with what it applies at the commit BASE. Run it in the root of the repository:
#
#   overlays.sh BASE [FOLDER [OPTION...]]    # FOLDER has the overlays; overlays unless stated
#
# The options go to meshproof diff, such as --trust-domain cluster.local.
#
# The exit status is that of meshproof diff --deny-widening, the greatest of all overlays. It is 2 where an overlay
# cannot be built, and where there is none. The output is Markdown.
set -eu
[ $# -gt 0 ] || { echo "overlays.sh: BASE is missing: write overlays.sh BASE [FOLDER [OPTION...]], as in overlays.sh origin/main overlays" >&2; exit 2; }
base=$1 folder=${2:-overlays}
shift
[ $# -eq 0 ] || shift
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2> /dev/null || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP # a shell such as dash does not run the trap above where a signal ends it
git worktree add --quiet --detach "$work/base" "$base" || exit 2

build() { # build ROOT SIDE OVERLAY: an overlay that the side lacks is an empty folder
	mkdir -p "$work/$2/$3"
	[ ! -d "$1/$folder/$3" ] || kubectl kustomize "$1/$folder/$3" > "$work/$2/$3/applied.yaml"
}

for found in "$work/base/$folder"/*/ "$folder"/*/; do
	[ ! -d "$found" ] || basename "$found"
done | sort -u > "$work/overlays"
[ -s "$work/overlays" ] || { echo "overlays.sh: neither $base nor this tree has an overlay in $folder" >&2; exit 2; }
status=0
while read -r overlay; do
	echo "# $overlay"
	if build "$work/base" old "$overlay" && build . new "$overlay"; then
		# The short names of the folders stand in the output.
		(cd "$work" && meshproof diff "old/$overlay" "new/$overlay" --deny-widening -o markdown "$@") < /dev/null && now=0 || now=$?
	else
		now=2
	fi
	[ "$now" -le "$status" ] || status=$now
done < "$work/overlays"
exit "$status"
