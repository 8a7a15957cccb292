#!/usr/bin/env bash
# Takes what a reader wants of a report into a folder of the documentation: the page,
# the conformance reports, and a picture of the page. The results stay behind: they are
# a hundred times as large.
set -euo pipefail
report=$1 sample=$2

mkdir -p "$sample"
rm -f "$sample"/conformance-*.yaml
cp "$report"/index.html "$report"/conformance-*.yaml "$sample"
for browser in chromium chromium-browser google-chrome; do
	command -v "$browser" >/dev/null || continue
	"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1280,800 \
		--blink-settings=preferredColorScheme=1 --screenshot="$sample/picture.png" "file://$(realpath "$sample")/index.html" 2>/dev/null
	exit
done
echo "sample: there is no Chromium to take the picture with" >&2
exit 1
