#!/usr/bin/env bash
# Every script parses, and every script that is run is executable. Scripts of sh, which build and install, run with
# BusyBox too: they use no option that only GNU has.
set -u
cd "$(dirname "$0")/../.."
failed=0
for f in $(tests/check/files | grep -v '\.md$' | xargs grep -lI -e '^#!/usr/bin/env bash$' -e '^#!/bin/sh$'); do
	case $(head -n 1 "$f") in
	*bash) bash -n "$f" || failed=1;;
	'#!/bin/sh')
		sh -n "$f" || failed=1
		! grep -nE '^[^#]*(xargs [^|]*-d|realpath +-|grep +-[a-zA-Z]*P)' "$f" | sed "s|^|# $f: only GNU has this: |" | grep . || failed=1;;
	*) continue;;
	esac
	[ -x "$f" ] || { echo "# $f is not executable"; failed=1; }
done
if [ $failed = 0 ]; then echo "ok scripts"; else echo "not ok scripts"; fi
exit $failed
