#!/usr/bin/env bash
# Every script parses; every script that is run is executable.
set -u
cd "$(dirname "$0")/../.."
failed=0
for f in $(tests/check/files | grep -v '\.md$' | xargs grep -lI -e '^#!/usr/bin/env bash$' -e '^#!/bin/sh$'); do
	case $(head -n 1 "$f") in
	*bash) bash -n "$f" || failed=1;;
	'#!/bin/sh') sh -n "$f" || failed=1;;
	*) continue;;
	esac
	[ -x "$f" ] || { echo "# $f is not executable"; failed=1; }
done
if [ $failed = 0 ]; then echo "ok scripts"; else echo "not ok scripts"; fi
exit $failed
