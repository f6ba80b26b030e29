#!/usr/bin/env bash
# Reports into a named pipe: a waiting reader gets the whole report; without a reader, tach does not wait.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tach=$PWD/$B/tach
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset "${!TACH_@}" 2>/dev/null
mkfifo pipe
failed=0
say() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok pipes $1"; else sed 's/^/# /' said got 2>/dev/null | head -20; echo "not ok pipes $1"; failed=1; fi
}
reader() { # it waits in open(2), as a process does that nothing has opened the pipe for
	cat pipe >got &
	cat=$!
	until [ "$(readlink /proc/$cat/exe)" = "$(readlink -f "$(type -P cat)")" ] && grep -q '^State:.S' /proc/$cat/status; do sleep 0.02; done
}

"$tach" run -o kept.json --format json -- true >said 2>&1
reader
"$tach" run -o pipe --format json -- true >said 2>&1
wait $cat
grep -q '"quantities"' got && ! grep -q 'pipe' said
say run $?

reader
"$tach" report -o pipe --format json kept.json >said 2>&1
wait $cat
grep -q '"quantities"' got
say report $?

: >got
"$tach" run -o pipe --format json -- true >said 2>&1
[ $? != 0 ] && grep -q 'tach run: pipe: no process reads this pipe' said && grep -q '"quantities"' said
say 'run without a reader' $?

"$tach" report -o pipe --format json kept.json >said 2>&1
[ $? != 0 ] && grep -q 'tach report: pipe: no process reads this pipe' said
say 'report without a reader' $?
exit $failed
