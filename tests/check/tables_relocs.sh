#!/usr/bin/env bash
# The event tables cost nothing at load time: they have no relocation, no writable byte, and no symbol that another
# library could replace. The tables are also small.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
failed=0
say() { # NAME FAULT
	if [ -z "$2" ]; then echo "ok $1"; return; fi
	head -5 <<<"$2" | sed 's/^/# /'
	echo "not ok $1"; failed=1
}

# Debug information and unwind tables have relocations, but debug information is not loaded and the tables have no
# code to unwind.
say tables_object_has_no_relocations \
	"$(readelf -rW "$B/gen/tables.o" | grep '^Relocation section' | grep -v "'\.rela\?\.debug_")"
say tables_object_is_read_only \
	"$(readelf -SW "$B/gen/tables.o" | grep -E '^ *\[.* WA ' | grep -vE ' 000000 [0-9a-f]+ +WA ')"

tables=$(nm "$B/libtach.so" | grep ' tach__tab_')
say tables_are_in_the_library "$([ "$(grep -c . <<<"$tables")" -ge 13 ] || echo "only these: $tables")"
say tables_are_local_and_read_only "$(grep -v ' r ' <<<"$tables")"
# The remaining relocations must not point into the tables or be in them.
first=$(sort <<<"$tables" | head -1 | cut -d' ' -f1)
last=$(nm -S "$B/libtach.so" | grep ' tach__tab_' | sort | tail -1 |
	{ read -r at size _; printf '%016x' $((0x$at + 0x$size)); })
say library_relocates_nothing_of_the_tables "$(readelf -rW "$B/libtach.so" |
	awk -v a="$first" -v b="$last" '/^[0-9a-f]/ && NF >= 3 {
		at = $1; to = $NF
		while (length(to) < 16) to = "0" to
		if ((at >= a && at < b) || ($3 ~ /RELATIV/ && to >= a && to < b)) print }')"
# Loaded sections, counted as in bench-encode: Debian 12's libpfm.so.4 of libpfm4 4.13.0 has 2769646 bytes. It has far
# fewer core PMUs, no RISC-V, and fewer descriptions.
loaded=$(size -A "$B/libpfm4/libpfm.so.4" | awk '$3 > 0 { bytes += $2 } END { print bytes }')
say drop_in_is_four_fifths_the_size "$([ "$loaded" -gt 0 ] && [ $((100 * loaded)) -le $((80 * 2769646)) ] || echo "$loaded bytes")"
say library_has_no_text_relocations "$(readelf -dW "$B/libtach.so" | grep TEXTREL)"
exit $failed
