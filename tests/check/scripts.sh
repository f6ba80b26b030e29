#!/usr/bin/env bash
# Every script parses; every script that is run is executable.
set -u
cd "$(dirname "$0")/../.."
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip scripts: this is no git checkout"; exit 77; }
failed=0
for f in $(git grep -lI -e '^#!/usr/bin/env bash$' -e '^#!/bin/sh$' --  . ':!*.md'); do
	case $(head -n 1 "$f") in
	*bash) bash -n "$f" || failed=1;;
	'#!/bin/sh') sh -n "$f" || failed=1;;
	*) continue;;
	esac
	[ -x "$f" ] || { echo "# $f is not executable"; failed=1; }
done
if [ $failed = 0 ]; then echo "ok scripts"; else echo "not ok scripts"; fi
exit $failed
