#!/usr/bin/env bash
# tests/run: memory=1500
# The archive that `make dist` makes builds without git and passes the quick tests.
set -u
cd "$(dirname "$0")/../../.."
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip dist: this is no git checkout"; exit 77; }
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok dist $2"; else echo "not ok dist $2"; failed=1; fi; }

archive=$(make -s B="$B" dist) && tar -C "$work" -xf "$archive"; say $? "is made"
cd "$work"/tach-* || exit 1
# Whatever is above is not ours.
export GIT_CEILING_DIRECTORIES=$work
make -s -j2 lib tools >"$work/log" 2>&1 && build/tach version | grep -q "${PWD##*tach-}"
rc=$?; [ $rc = 0 ] || tail -5 "$work/log"; say $rc "builds"
unset B
make check-quick >"$work/log" 2>&1
rc=$?; [ $rc = 0 ] || tail -n 40 "$work/log" | sed 's/^/# /'; say $rc "passes the quick tests"
exit $failed
