#!/usr/bin/env bash
# The Python package: its cases on this machine, counts and pytest's plugin under `tach run --emulate`, mypy --strict,
# and the cost of an entry compared with C (bench/faces).
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need python3-dev python3-setuptools python3-pytest mypy pkg-config >/dev/null ||
	{ echo "skip python: packages cannot be installed"; exit 77; }
grep -q -e -fsanitize "$B/flags" && { echo "skip python: AddressSanitizer would have to be loaded first"; exit 77; }
python=/usr/bin/python3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null
export PYTHONDONTWRITEBYTECODE=1
make -s B="$B" python >"$work/out" 2>&1 || { sed 's/^/# /' "$work/out"; echo "not ok python build"; exit 1; }
failed=0
say() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok python $1"; else sed 's/^/# /' "$work/out" | tail -n 30; echo "not ok python $1"; failed=1; fi
}
here() { PYTHONPATH=$B/python "$@"; }

here "$python" -P bindings/python/tests/cases.py || failed=1
here "$python" -P bindings/python/tests/functions.py || failed=1

awk '/^```python$/ { on = n++ < 2; next } /^```$/ { on = 0 } on' docs/recipes/python.md >"$work/recipe.py"
here "$python" -P "$work/recipe.py" >"$work/out" 2>&1 && grep -q '^parse 1$' "$work/out" && grep -q '^hash 1$' "$work/out"
say recipe $?

MYPYPATH=$B/python mypy --strict --cache-dir="$work/mypy" "$B/python/tach" >"$work/out" 2>&1
say mypy $?

# pytest with the clock only: tests with limits on instructions are skipped, and fail if a count is required.
here "$python" -m pytest -q -p no:cacheprovider -p tach.pytest_plugin bindings/python/tests/test_plugin.py >"$work/out" 2>&1
grep -q '^7 passed' "$work/out"
say pytest_without_the_option $?

emulate() { here "$B/tach" run --emulate -o /dev/null -- "$@"; }
if emulate true >"$work/out" 2>&1; then
	emulate "$python" -P bindings/python/tests/emulated.py >"$work/out" 2>&1
	say emulated $?
	emulate "$python" -m pytest -v -p no:cacheprovider -p tach.pytest_plugin --tach bindings/python/tests/test_plugin.py >"$work/out" 2>&1
	grep -q '^=* *3 failed, 3 passed, 1 skipped' "$work/out" && grep -q 'test_beyond FAILED' "$work/out" &&
		grep -q 'test_fixture_beyond FAILED' "$work/out" && grep -q 'test_no_limit FAILED' "$work/out" && grep -q 'test_not_counted SKIPPED' "$work/out" &&
		grep -qE 'test_within: .* instructions' "$work/out" && grep -q 'subtracted from each: .* instructions' "$work/out"
	say pytest $?
	TACH_EXPECT_REQUIRED=1 emulate "$python" -m pytest -v -p no:cacheprovider -p tach.pytest_plugin --tach bindings/python/tests/test_plugin.py >"$work/out" 2>&1
	grep -q '^=* *4 failed, 3 passed' "$work/out"
	say pytest_required $?
else
	echo "skip python emulated: $(tail -n 1 "$work/out")"
fi

# The stable ABI: the module that tests/journeys/python.sh installs also works with later versions.
! nm -D --undefined-only "$B/python/tach/_tach.abi3.so" 2>&1 | grep -E ' _Py_(Dealloc|NegativeRefcount)Spec' >"$work/out"
say abi $?
exit $failed
