#!/usr/bin/env bash
# Every manual page formats without a warning.
set -u
cd "$(dirname "$0")/../.."
pages=$(ls man/*.[1-8] 2>/dev/null)
[ -n "$pages" ] || { echo "skip man: there are no manual pages"; exit 77; }
command -v man >/dev/null || { echo "skip man: man is not installed"; exit 77; }
failed=0
for page in $pages; do
	warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
	[ -z "$warnings" ] && continue
	echo "$warnings" | sed "s|^|# $page: |"
	failed=1
done
if [ $failed = 0 ]; then echo "ok man"; else echo "not ok man"; fi
exit $failed
