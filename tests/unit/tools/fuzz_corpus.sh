#!/usr/bin/env bash
# Every saved input of fuzzing is given to its target again.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
failed=0
for target in tests/fuzz/*.c; do
	name=$(basename "$target" .c)
	out=$("$B/tests/fuzz/$name" "tests/fuzz/corpus/$name" 2>&1); rc=$?
	if [ $rc = 0 ]; then
		echo "ok fuzz_corpus_$name ($(tail -1 <<<"$out"))"
	else
		echo "# exit status $rc; the last lines:"
		tail -3 <<<"$out" | sed 's/^/#   /'
		echo "not ok fuzz_corpus_$name"
		failed=1
	fi
done
exit $failed
