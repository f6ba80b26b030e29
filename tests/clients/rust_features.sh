#!/usr/bin/env bash
# Features of the Rust crate: spans of tracing as regions, criterion by counts, and the C library built with the
# crate, from the sources that `make crate` puts into it. Uses Debian's crates and no network; compiling takes
# minutes.
# tests/run: memory=1500
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
tools/need rustc cargo rust-clippy liburcu-dev librust-cc-dev librust-tracing-dev librust-tracing-subscriber-dev \
	librust-criterion-dev >/dev/null || { echo "skip rust_features: packages cannot be installed"; exit 77; }
grep -q -e -fsanitize "$B/flags" && { echo "skip rust_features: AddressSanitizer would have to be loaded first"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null
folder=$(cd "$B" && pwd)
export CARGO_HOME=$work CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$folder/rust
unset RUSTC RUSTFLAGS RUSTDOCFLAGS RUSTC_WRAPPER RUSTUP_TOOLCHAIN MAKEFLAGS
cargo() { PATH=/usr/bin:/bin /usr/bin/cargo "$@"; }
printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n' >"$work/config.toml"
failed=0
say() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok rust_features/$1"; else sed 's/^/# /' "$work/out" | tail -n 40; echo "not ok rust_features/$1"; failed=1; fi
}
crate() { # COMMAND ARGUMENT...
	(cd bindings/rust && TACH_LIB_DIR=$folder LD_LIBRARY_PATH=$folder cargo "$1" --features tracing,criterion "${@:2}") >"$work/out" 2>&1
}

crate clippy --all-targets -- -D warnings
say clippy $?
crate test && grep -q 'Doc-tests tach' "$work/out" && [ "$(grep -c '\.\.\. ok$' "$work/out")" -ge 34 ]
say tests $?

# criterion counts a loop of 2,000 instructions.
program=$(sed -n 's|.*Running tests/counter.rs (\(.*\))$|\1|p' "$work/out")
if [ "$(uname -m)" != x86_64 ]; then
	echo "skip rust_features/emulated: counted on x86-64 alone, checked on x86-64"
elif "$B/tach" run --emulate -o /dev/null -- true >"$work/out" 2>&1; then
	LD_LIBRARY_PATH=$folder CRITERION_HOME=$work/criterion "$B/tach" run --emulate -o /dev/null -- "$program" a_benchmark >"$work/out" 2>&1 &&
		python3 - "$work/criterion/loop/new/estimates.json" >>"$work/out" 2>&1 <<'END'
import json, sys
mean = json.load(open(sys.argv[1]))["mean"]["point_estimate"]  # a slope is there only on a fast machine
assert 2000 < mean < 2600, mean
END
	say emulated $?
	# The folder that criterion wrote is added to a history. Its samples have no unit: 2,000 counts look like
	# 2,000 ns.
	"$B/tach" history add --commit c0ffee "$work/history.jsonl" "$work/criterion" >"$work/out" 2>&1 &&
		python3 - "$work/history.jsonl" >>"$work/out" 2>&1 <<'END'
import json, sys
run = json.loads(open(sys.argv[1]).read())
values = [value for series in run["series"] if series["region"] == "loop" for value in series["values"]]
assert values and all(2000 < value < 2600 for value in values), run
END
	say history $?
else
	echo "skip rust_features/emulated: $(tail -n 1 "$work/out")"
fi

# Use only the crate, as a user of the registry does: no library, no tree around it, no pkg-config file.
make -s B="$B" crate >"$work/out" 2>&1 && cp -r "$B/crate" "$work/crate" &&
	(cd "$work/crate" && cargo package --allow-dirty --no-verify && tar -C "$work" -xf "$CARGO_TARGET_DIR"/package/tach-*.crate) >>"$work/out" 2>&1
say package $?
cd "$work"/tach-* && PKG_CONFIG_PATH=/nonexistent cargo test --features vendored --test faces >"$work/out" 2>&1 &&
	! ldd "$(sed -n 's|.*Running tests/faces.rs (\(.*\))$|\1|p' "$work/out")" | grep libtach
say vendored $?
exit $failed
