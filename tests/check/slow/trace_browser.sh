#!/usr/bin/env bash
# tests/run: memory=2000
# A trace in headless Chromium, parsed by the browser's own JSON, and checked by the viewer's rules for complete
# events: the events of a thread nest, and their arguments are numbers.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
. tests/check/slow/browser trace_browser
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
here=tests/check/slow/trace_browser
gcc -O1 -Iinclude -o "$work/program" $here/program.c -L"$B" -ltach -Wl,-rpath,"$PWD/$B" -lpthread || exit 1
TACH_TRACE=$work/trace.json TACH_EVENTS=page-faults "$work/program" || exit 1
# As text of an element, which accepts any JSON after these three characters are escaped.
python3 - $here/page.html "$work/trace.json" >"$work/page.html" <<'P' || exit 1
import html, sys
print(open(sys.argv[1]).read().replace("@TRACE@", html.escape(open(sys.argv[2]).read(), False)))
P
said() { browse "$work/page.html$1" --dump-dom | sed -n 's/.*<output>\(.*\)<\/output>.*/\1/p'; } # HASH
failed=0
says() { # CASE SAID WANTED
	# shellcheck disable=SC2053
	if [[ $2 == $3 ]]; then echo "ok $1"; else echo "# it says '$2', not '$3'"; echo "not ok $1"; failed=1; fi
}
said=$(said '')
[ -n "$said" ] || no_browser trace_browser
# Two threads of 50 entries with two entries inside each, and one entry with a hostile name.
says trace_opens "$said" '301 events, 2 threads, 200 nested, *'
# Page faults are counted if the kernel permits it.
counters=no
grep -q '"page-faults":' "$work/trace.json" && counters=with
says trace_arguments "$said" "*, $counters counters, lost 0, *"
says trace_names "$said" '*, "&lt;/script&gt;&lt;b&gt;\\"\\\\\\nü"'
# The page detects truncated traces.
says trace_torn "$(said '#torn')" 'not nested: *'
exit $failed
