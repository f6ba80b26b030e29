#!/usr/bin/env bash
# Allowed includes and calls between rooms, checked by includes and by symbols: tests/check/rooms lists them for core/
# and arch/. A room includes only the contract of another room, core/ROOM/ROOM.h; base and os have one header per
# file. include -> no other folder; compat -> include, its own folder and the contracts; tools, bench, examples ->
# include and their own folder, and the exceptions in tests/check/layers.allow.
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
rc=0
verdict() { # NAME COMPLAINTS
	[ -z "$2" ] && { echo "ok $1"; return; }
	echo "$2" | sed 's/^/# /'
	echo "not ok $1"
	rc=1
}
includes() { grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[chS]' "$@" 2>/dev/null; }

verdict rooms_by_include "$(includes core arch | awk -v table=tests/check/rooms '
	BEGIN { while ((getline line < table) > 0) if (line !~ /^#/) { n = split(line, w, " "); for (i = 2; i <= n; i++) may[w[1], w[i]] = 1; known[w[1]] = 1 } }
	{
		split($0, part, ":"); file = part[1]; split(file, dir, "/")
		room = dir[1] == "arch" ? "arch" : dir[2]
		match($0, /"[^"]*"/); to = substr($0, RSTART + 1, RLENGTH - 2); split(to, at, "/")
		if (!known[room]) { print file ": no such room in tests/check/rooms: " room; next }
		if (at[1] == "arch") { if (room != "arch") print file " includes " to; next }
		if (at[1] != "core") { print file " includes " to ": by its path from the top, please"; next }
		if (at[2] == room) next
		if (!may[room, at[2]]) print file " includes " to ": " room " may not use " at[2]
		else if (at[2] !~ /^(base|os)$/ && at[3] != at[2] ".h") print file " includes " to ": the contract is core/" at[2] "/" at[2] ".h"
	}')"

# Weak references are hooks: the linker does not pull in an object for them.
objects=()
for o in "$B"/core/*/*.o "$B"/arch/*/*.o; do s=${o#"$B"/}; [ -f "${s%.o}.c" ] && objects+=("$s"); done
symbols=$(cd "$B" && nm -A "${objects[@]}" | sed 's/:/ /')
verdict rooms_by_symbol "$(awk -v table=tests/check/rooms '
	BEGIN { while ((getline line < table) > 0) if (line !~ /^#/) { n = split(line, w, " "); if (w[1] == "hook") hook[w[2], w[3], w[4]] = 1; else for (i = 2; i <= n; i++) may[w[1], w[i]] = 1 } }
	function room(file, dir) { split(file, dir, "/"); return dir[1] == "arch" ? "arch" : dir[2] }
	NF == 4 && $3 ~ /[TDBRVWC]/ { home[$4] = $1; next }
	NF == 3 && $2 == "U" { n_refs++; from[n_refs] = $1; symbol[n_refs] = $3 }
	END {
		for (i = 1; i <= n_refs; i++) if (symbol[i] in home) {
			a = room(from[i]); b = room(home[symbol[i]])
			if (a != b && !may[a, b] && !hook[a, b, symbol[i]]) print from[i] " uses " symbol[i] " of " home[symbol[i]] ": " a " may not use " b
		}
	}' <<<"$symbols" | sort)"

rule() { # FOLDER PATTERN-OF-ALLOWED
	includes "$1" | grep -vE "#[[:space:]]*include[[:space:]]*\"($2)" | grep -vFf <(grep -v '^#' tests/check/layers.allow)
}
verdict other_folders "$(rule include 'NOTHING'; rule tools 'tools/|[a-z_]+\.h"'; rule bench 'bench/|tach-mini\.h"'; rule examples 'examples/|tach-mini\.h"'; rule compat 'core/([a-z]+)/[a-z]+\.h|compat/')"
# include/tach/X.h is implemented in core/X/, or as one file of another room, core/ROOM/X.c; tests/check/rooms lists
# the exceptions.
verdict public_functions "$(awk '
	FILENAME == "tests/check/rooms" { if ($1 == "away") away[$2 " " $3] = 1; next }
	FILENAME ~ /^include/ {
		if (/^TACH_API/) open = 1
		for (line = $0; open && match(line, /[ *]tach_[a-z_0-9]*\(/); line = substr(line, RSTART + RLENGTH)) {
			name = substr(line, RSTART + 1, RLENGTH - 2)
			if (!(name in header)) header[name] = FILENAME
		}
		if (/;/) open = 0
		next
	}
	NF == 4 && $1 ~ /^core\// && $3 ~ /[TW]/ && $4 ~ /^tach_[a-z]/ {
		file = $1; sub(/o$/, "c", file)
		split(file, at, "/"); room = at[2]; own = at[3]; sub(/\.c$/, "", own)
		x = header[$4]; gsub(/.*\/|\.h$/, "", x)
		if (x == "") print file " defines " $4 ", which no header declares"
		else if (x != room && x != own && !(($4 " " file) in away)) print file " defines " $4 ": it belongs to core/" x ", or a file " x ".c"
	}' tests/check/rooms include/tach/*.h - <<<"$symbols" | sort -u)"
# Events are opened at one place in the code: tests replace the kernel there, and it classifies descriptors.
verdict one_perf_event_open "$(grep -rnE '(SYS|__NR)_perf_event_open' core arch --include='*.[ch]' | grep -v '^core/os/perf_open.c:')"
verdict no_liburcu_in_public_headers "$(grep -rnE 'urcu' include)"
exit $rc
