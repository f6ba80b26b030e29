#!/usr/bin/env bash
# tests/run: memory=2000
# Ten minutes of a maintainer: a C++ repository with two benchmarks records its main branch, detects a slower commit
# and a faster one, and its history page opens in a browser.
set -u
. "$(dirname "$0")/lib.sh"
set -o pipefail
need pkg-config git
. tests/emulator history
. tests/check/slow/browser history
export TACH_COMMAND=$product/bin/tach
gate=$top/tools/ci/gate
mkdir "$work/repository" && cd "$work/repository" || exit
git() { command git -c user.name=a -c user.email=a@b -c init.defaultBranch=main "$@"; }
write() { # TURNS OF SORT, OF PARSE
	cat >bench.cc <<-C
	#include <algorithm>
	#include <string>
	#include <tach.h>
	#include <vector>

	static volatile int sink;
	static void sort_words()
	{
		TACH_START(sort_words);
		for (int turn = 0; turn < $1; turn++) {
			std::vector<std::string> words{"three", "one", "two", "five", "four"};
			std::sort(words.begin(), words.end());
			sink = (int)words[0].size();
		}
		TACH_STOP(sort_words);
	}
	static void parse_numbers()
	{
		TACH_START(parse_numbers);
		for (int turn = 0; turn < $2; turn++)
			sink = std::stoi("12345");
		TACH_STOP(parse_numbers);
	}
	int main()
	{
		sort_words();
		parse_numbers();
	}
	C
}
day=0
commit() { # SUBJECT TURNS...
	day=$((day + 1))
	write "$2" "$3"
	build bench bench.cc && git add bench.cc && GIT_COMMITTER_DATE="2026-02-0${day}T12:00:00Z" git commit -q --allow-empty -m "$1"
}
ends() { # STATUS COMMAND...
	local want=$1 got; shift
	"$@"; got=$?
	[ $got = "$want" ] || { echo "status $got, not $want"; return 1; }
}
record() { ends 0 "$gate" --emulate --runs 1 --record --history history.jsonl --region sort_words,parse_numbers --url https://example.org/o/r -- ./bench; }
compare() { ends "$1" "$gate" --emulate --runs 1 --history history.jsonl --region sort_words,parse_numbers -- ./bench | tee said; }

begin() { git init -q . && commit 'Begin' 100 100 && record && commit 'Write documentation' 100 100 && record; }
check begins begin
slower() { commit 'Parse twice' 100 200 && compare 1 && says '^\| parse\\_numbers .*\*\*worse\*\*' said && says '^\| sort\\_words .* no change' said && says '<failure' tach-gate/gate.xml; }
check slower_is_caught slower
faster() { commit 'Sort half' 50 100 && compare 0 && says '^\| sort\\_words .* better \|' said && record; }
check faster_is_praised faster
names() { tach history show --region sort_words history.jsonl | tee said && says "^$(git rev-parse --short=10 HEAD) .* better .* sort_words +instructions +Sort half$" said && says '^3 commits' said; }
check change_is_named names

page=$work/repository/tach-gate/history.html
view() { browse "$page$1" --window-size=390,900 --dump-dom >dom; }
view ''
grep -q '<section class="card graph"' dom || no_browser history
graphs() { [ "$(grep -o '<section class="card graph"' dom | wc -l)" -ge 2 ] && says '<line [^>]*class="step better"' dom && says "<a href=\"https://example.org/o/r/commit/$(git rev-parse HEAD)\"" dom; }
check graphs graphs
filters() { view '#filter=parse' && says '<section class="card graph" hidden=""><h3>sort_words' dom; }
check filters filters
empty() { view '#filter=neither' && says '<p>No graph fits the filter' dom && view '#filter=parse' && says '<p hidden="">No graph fits the filter' dom; }
check empty_filter empty
# After the mouse was dragged across a graph, the address contains the first and the last commit, and the graphs show
# only this range.
zooms() {
	cat >zoom.js <<-'J'
	const svg = document.querySelector('section.graph svg'), box = svg.getBoundingClientRect();
	const point = (type, share) => svg.dispatchEvent(new PointerEvent(type, { pointerType: 'mouse', clientX: box.left + box.width * share, clientY: box.top + 20, bubbles: true }));
	point('pointerdown', 0.5); point('pointermove', 0.8); point('pointerup', 1);
	document.title = 'address ' + location.hash;
	J
	sed "s#</body>#<script>$(tr '\n' ' ' <zoom.js)</script></body>#" "$page" >zoomed.html
	page=$work/repository/zoomed.html view '' && says "<title>address #from=$(git rev-parse HEAD~2)</title>" dom
}
check zooms zooms
compares() { view "#a=$(git rev-parse HEAD~3)&b=$(git rev-parse HEAD)" && says '<th scope="row">sort_words</th><td data-k="quantity">instructions</td>.*<td data-k="change">-[0-9.]+ %</td>' dom; }
check compares compares
# At the width of a telephone, nothing extends beyond the page.
count='[...document.querySelectorAll("body *:not(svg *)")].filter(e => e.getBoundingClientRect().right > innerWidth + 0.5).length'
narrow() {
	sed "s#</body>#<script>document.title = innerWidth < 600 ? 'beyond ' + $count : 'not narrow ' + innerWidth</script></body>#" "$page" >narrow.html
	page=$work/repository/narrow.html view '' && says '<title>beyond 0</title>' dom
}
check narrow narrow
dark() { browse "$page" --window-size=1280,900 --blink-settings=preferredColorScheme=0 --screenshot=dark.png >dom && [ "$(wc -c <dark.png)" -gt 10000 ]; }
check dark dark
exit $rc
