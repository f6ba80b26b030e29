#!/usr/bin/env bash
# tests/run: memory=2000
# The HTML report in headless Chromium: it is rendered in light and dark, its script sorts, filters and selects, and it
# makes no network request.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
. tests/check/slow/browser html
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
page=$work/page.html
"$B/tach" report -o "$page" tests/unit/report/report/sample.json || exit 1
. tests/cases html

# The first words of the visible rows, in their order.
rows() { grep -o '<tr data-name="[^"]*"\( hidden=""\)\?' "$work/dom" | grep -v hidden | sed 's/.*name="\([a-z]*\).*/\1/' | tr '\n' ' '; }
shows() { # HASH WANTED
	browse "$page$1" --dump-dom >"$work/dom"
	[ "$(rows)" = "$2 " ] || { echo "# $1: '$(rows)', not '$2'"; rc=1; }
}

browse "$page" --dump-dom >"$work/dom"
grep -q 'id="regions"' "$work/dom" || no_browser html
[ "$(rows)" = 'parse a ' ] || rc=1
grep -q 'aria-sort="descending"[^>]*><button type="button">time' "$work/dom" || { echo '# not sorted by time'; rc=1; }
[ "$(grep -o '<svg' "$work/dom" | wc -l)" = 3 ] || { echo '# not three pictures'; rc=1; }
grep -q '<rect rx="1"' "$work/dom" || rc=1
shows '#sort=time&order=ascending' 'a parse'
shows '#sort=instructions&order=descending' 'parse a'
shows '#sort=instructions&order=descending&part=self' 'a parse'
grep -q '<body class="self">' "$work/dom" || rc=1
# Rows without a value sort last in both directions.
shows '#sort=ipc&order=descending' 'parse a'
shows '#sort=region&order=ascending' 'a parse'
shows '#filter=PAR' 'parse'
shows '#filter=%25%zz' 'parse a'
result script

for scheme in light dark; do
	browse "$page" --window-size=1300,900 --screenshot="$work/$scheme.png" \
		$([ $scheme = light ] || echo --blink-settings=preferredColorScheme=0)
	python3 - "$work/$scheme.png" $scheme <<-'P' || rc=1
	import struct, sys, zlib
	data = open(sys.argv[1], "rb").read()
	width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
	at, packed = 8, b""
	while at < len(data):
	    length, name = struct.unpack(">I4s", data[at:at + 8])
	    packed += data[at + 8:at + 8 + length] if name == b"IDAT" else b""
	    at += length + 12
	raw = zlib.decompress(packed)
	stride = len(raw) // height
	lines = {raw[i * stride:(i + 1) * stride] for i in range(height)}
	corner = sum(raw[1:4]) / 3  # a first pixel is as it is, however the row is filtered
	print("#", sys.argv[2], width, height, len(lines), "different lines, corner", corner)
	assert (width, height, depth) == (1300, 900, 8)
	assert len(lines) > 200, "blank, or nearly so"
	assert (corner > 200) == (sys.argv[2] == "light"), "not the scheme that was asked for"
	P
done
result screenshots

# At the width of a telephone no part is wider than the page: no column is cut.
count='[...document.querySelectorAll("body *:not(svg *)")].filter(e => e.getBoundingClientRect().right > innerWidth + 0.5).length'
sed "s#</body>#<script>document.title = innerWidth < 600 ? 'beyond ' + $count : 'not narrow ' + innerWidth</script></body>#" "$page" >"$work/narrow.html"
page=$work/narrow.html
browse "$page" --window-size=390,844 --dump-dom >"$work/dom"
grep -q '<title>beyond 0</title>' "$work/dom" || { grep -o '<title>[^<]*' "$work/dom" | sed 's/^/# /'; rc=1; }
result narrow
exit $failed
