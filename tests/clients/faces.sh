#!/usr/bin/env bash
# The PMU of the x86 guest counts the cost of a read, of a begin and end, and of a region in C, Rust and Python. A
# region from Rust takes at most two instructions more than one from C. A region from Python enters one region of the
# library.
# tests/run: memory=1500
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
[ "$(uname -m)" = x86_64 ] || { echo "skip faces: the guest of this architecture runs no shared libraries"; exit 77; }
tests/guest/ready x86 || exit 77
tools/need rustc cargo librust-cc-dev python3-dev zip >/dev/null || { echo "skip faces: packages cannot be installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
result() { if [ "$2" = 0 ]; then echo "ok faces/$1"; else sed 's/^/# /' "$work/out" | tail -n 20; echo "not ok faces/$1"; failed=1; fi; }

# tests/check/slow/rust.sh and `make python` build the programs that run here.
{ make -s B="$B" "$B/bench/face" python; bash tests/check/slow/rust.sh; } >"$work/out" 2>&1
rust=$B/rust/release/examples/face
[ -x "$B/bench/face" ] && [ -x "$rust" ] && [ -e "$B/python/tach/_tach.abi3.so" ]
result built $?
[ $failed = 0 ] || exit 1
cp "$B/bench/face" "$work/face-c"
cp "$rust" "$work/face-rust"
cp bindings/python/face.py "$B/python/tach/_tach.abi3.so" "$work"
# Python's standard library and the package are in one file, which needs no zlib; the extension module is found by its
# path.
python=$(readlink -f /usr/bin/python3)
folder=$("$python" -c 'import os; print(os.path.dirname(os.__file__))')
(cd "$folder" && zip -0qr "$work/python.zip" . -i '*.py' -x 'test/*' '*-packages/*' 'lib2to3/*' 'idlelib/*')
(cd "$B/python" && zip -0qr "$work/python.zip" tach -i '*.py')
cat >"$work/run.py" <<'END'
import importlib.util
import runpy
import sys
spec = importlib.util.spec_from_file_location("tach._tach", "/bin/_tach.abi3.so")
sys.modules["tach._tach"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.argv = ["face.py", "count"]
runpy.run_path("/bin/face.py", run_name="__main__")
END
mapfile -t libraries < <(LD_LIBRARY_PATH=$(realpath "$B") ldd "$work/face-c" "$work/face-rust" "$work/_tach.abi3.so" "$python" | grep -o '=> /[^ ]*' | cut -c4- | sort -u)
loader=$(ldd "$python" | grep -o '/[^ ]*ld-linux[^ ]*')
run="${loader##*/} --library-path /bin"
tests/guest/boot x86 -q -x "$run /bin/face-c count" -x "$run /bin/face-rust count" \
	-x "$run /bin/${python##*/} -S -P /bin/run.py" -e PYTHONHOME=/ -e PYTHONPATH=/bin/python.zip -e PYTHONDONTWRITEBYTECODE=1 \
	"$loader" "${libraries[@]}" "$python" "$work"/{face-c,face-rust,python.zip,run.py,face.py,_tach.abi3.so} >"$work/out" 2>&1
grep -E '^[0-9.]+	[0-9.]+	[0-9.]+$' "$work/out" | paste <(printf '%s\n' C Rust Python) - >"$work/faces"
sed 's/^/# /' "$work/faces"
judge() { awk -F'\t' '{ read[$1] = $2; pair[$1] = $3; region[$1] = $4 } END { exit !('"$1"') }' "$work/faces"; }
judge 'NR == 3 && region["C"] > 50 && region["C"] < 140 && read["C"] < 25 && pair["C"] < 40'
result C $?
judge 'region["Rust"] > 50 && region["Rust"] <= region["C"] + 2'
result Rust $?
judge 'region["Python"] > region["C"] && region["Python"] < 3000'
result Python $?
exit $failed
