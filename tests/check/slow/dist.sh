#!/usr/bin/env bash
# tests/run: memory=1000 seconds=120
# The archive from `make dist` has every file of the commit, builds without git, and passes the tests that would use
# git. All other tests read the same files there as in a checkout, so they are not run again.
set -u
cd "$(dirname "$0")/../../.." || exit
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip dist: this is no git checkout"; exit 77; }
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok dist $2"; else echo "not ok dist $2"; failed=1; fi; }

here=$PWD
archive=$(make -s B="$B" dist) && tar -C "$work" -xf "$archive"; say $? "is made"
mkdir "$work/alone" && cp "${archive%/*}/tach-mini.h" "$work/alone/" && cp examples/mini/loop.c "$work/alone/" && (
	version=${archive##*/tach-} && cd "$work/alone" && grep -qF "tach-mini.h ${version%.tar.xz}:" tach-mini.h &&
		gcc -O2 -Wall -Wextra -Werror -o loop loop.c && ./loop | grep -qE '(a turn|disturbed\))$')
say $? "has tach-mini.h beside it"
cd "$work"/tach-* || exit 1

diff <(git -C "$here" ls-tree -r --name-only HEAD | sort) <(find . ! -type d | sed 's|^\./||' | sort) >"$work/log"
rc=$?; sed 's/^/# /' "$work/log"; say $rc "has the files of the commit, and no others"

# git must not find a repository above this folder.
export GIT_CEILING_DIRECTORIES=$work
unset B TEST_KEPT TEST_WHOLE
make -s -j2 lib tools >"$work/log" 2>&1 && build/tach version | grep -q "${PWD##*tach-}"
rc=$?; [ $rc = 0 ] || tail -n 5 "$work/log" | sed 's/^/# /'; say $rc "builds"
mapfile -t tests < <(grep -lE '\bgit\b|check/files|tools/house' tests/check/*.sh tests/unit/*/*.sh)
tests/run "${tests[@]}" >"$work/log" 2>&1
rc=$?; [ $rc = 0 ] || sed 's/^/# /' "$work/log"; say $rc "passes the tests that would use git (${#tests[@]})"
exit $failed
