#!/usr/bin/env bash
# No C file of include/, core/, arch/, tools/ and compat/ has more than 400 lines.
set -u
cd "$(dirname "$0")/../.."
# A drop-in's header must follow the header that it replaces, so it may be longer.
theirs='compat/libpfm4/include/perfmon/pfmlib.h'

long=$(tests/check/files 'include/*.h' 'include/*.hpp' 'core/*.[ch]' 'arch/*.[ch]' 'tools/*.[ch]' 'compat/*.[ch]' |
	xargs awk 'FNR == 1 { files++ } { n[FILENAME] = FNR } END { for (f in n) if (n[f] > 400) print f, n[f]; print "files", files }')
failed=0
[ "$(sed -n 's/^files //p' <<<"$long")" -gt 200 ] || { echo "# too few files were found"; failed=1; }
while read -r file lines; do
	[ "$file" != "$theirs" ] || continue
	echo "# $file has $lines lines, more than 400"
	failed=1
done < <(grep -v '^files ' <<<"$long")
if [ $failed = 0 ]; then echo "ok sizes"; else echo "not ok sizes"; fi
exit $failed
