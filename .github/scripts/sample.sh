#!/usr/bin/env bash
# sample.sh REPORT SAMPLE copies the page and the conformance reports of a report to a folder
# of the documentation, and makes a picture of the page. It leaves out the results, which are
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
