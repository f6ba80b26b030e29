#!/usr/bin/env bash
# The shared library exports exactly what the public headers declare with TACH_API, and the symbol that guards the
# inline ABI. The symbol map names each symbol in the node of a version. No type has the name of a function, because
# C++ would hide the type; enumerators begin with TACH_.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# --fpreprocessed removes comments and keeps macros. The declared name is before the first ( [ or ;.
for h in include/*.h include/tach/*.h; do gcc -fpreprocessed -dD -E -P "$h" 2>/dev/null; done |
	grep -v '^#' | tr '\n' ' ' >"$work/text"
tr ';{}' '\n\n\n' <"$work/text" | sed -n 's/.*\bTACH_API\b//p' |
	sed 's/__attribute__ *(([^)]*))//g; s/[[(].*//; s/ *$//; s/.*[ *]//' | sort -u >"$work/declared"
nm -D --defined-only "$B/libtach.so" | awk '{ sub(/@.*/, "", $3); print $3 }' |
	grep -vx -e 'TACH_[0-9.]*' | sort -u >"$work/exported"

sed -n 's/^\t\(tach_\w*\);$/\1/p' core/libtach.map | sort >"$work/mapped"

grep -oE '\<(struct|union|enum|typedef) [^;{(]*\<tach_[a-z0-9_]+ *[;{]|\<(struct|union|enum) tach_[a-z0-9_]+' "$work/text" |
	grep -oE 'tach_[a-z0-9_]+' | sort -u >"$work/types"
grep -oE '\<enum\>[^;{}()]*\{[^}]*\}' "$work/text" | sed 's/[^{]*{//; s/([^()]*)//g; s/}//' | tr ',' '\n' |
	sed 's/=.*//; s/[[:space:]]//g' | grep . | sort -u >"$work/enumerators"

failed=0
both=$(comm -12 "$work/types" "$work/declared")
[ -z "$both" ] || { echo "$both" | sed 's/^/# both a type and a function: /'; failed=1; }
bare=$(grep -v '^TACH_' "$work/enumerators")
[ -z "$bare" ] || { echo "$bare" | sed 's/^/# an enumerator without TACH_: /'; failed=1; }
[ "$(wc -l <"$work/types")" -ge 50 ] && [ "$(wc -l <"$work/enumerators")" -ge 100 ] || { echo "# too few types or enumerators were found"; failed=1; }
unmapped=$(sort "$work/declared" "$work/mapped" | uniq -u | grep -v '^tach__abi_[0-9]*$')
twice=$(uniq -d "$work/mapped")
hidden=$(comm -23 "$work/declared" "$work/exported")
foreign=$(comm -13 "$work/declared" "$work/exported" | grep -v '^tach__abi_[0-9]*$')
[ -s "$work/declared" ] || { echo "# no declaration found in include/"; failed=1; }
[ -z "$unmapped" ] || { echo "$unmapped" | sed 's/^/# declared and not in core\/libtach.map, or there and not declared: /'; failed=1; }
[ -z "$twice" ] || { echo "$twice" | sed 's/^/# twice in core\/libtach.map: /'; failed=1; }
[ -z "$hidden" ] || { echo "$hidden" | sed 's/^/# declared but not defined or not exported: /'; failed=1; }
[ -z "$foreign" ] || { echo "$foreign" | sed 's/^/# exported but not declared: /'; failed=1; }
# libtach-run.so contains a copy of the library, whose symbols must not hide the program's own.
preloaded=$(nm -D --defined-only "$B/libtach-run.so" | grep -w 'tach_[a-z_]*')
[ -z "$preloaded" ] || { echo "$preloaded" | sed 's/^/# exported by libtach-run.so: /'; failed=1; }
if [ $failed = 0 ]; then echo "ok exports"; else echo "not ok exports"; fi
exit $failed
