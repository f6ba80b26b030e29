#!/usr/bin/env bash
# The Rust crate, with Debian's compiler and without a network: its tests and documentation examples, rustfmt, clippy
# without a warning, and a region that needs at most two instructions more than C's (callgrind, bench/faces). The
# features `tracing` and `criterion` need 280 more packages, and cargo requires all packages of a manifest, even
# unused ones: this test uses a copy without the features. tests/clients/rust_features.sh tests them.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need rustc cargo rust-clippy rustfmt librust-cc-dev valgrind >/dev/null || { echo "skip rust: packages cannot be installed"; exit 77; }
grep -q -e -fsanitize "$B/flags" && { echo "skip rust: AddressSanitizer would have to be loaded first"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset "${!TACH_@}" 2>/dev/null
folder=$(cd "$B" && pwd)
# Debian's own compiler, with its crates in place of a registry.
export PATH=/usr/bin:/bin CARGO_HOME=$work CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=$folder/rust TACH_LIB_DIR=$folder LD_LIBRARY_PATH=$folder
unset RUSTC RUSTFLAGS RUSTDOCFLAGS RUSTC_WRAPPER RUSTUP_TOOLCHAIN
printf '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory = "/usr/share/cargo/registry"\n' >"$work/config.toml"
failed=0
say() { # NAME STATUS
	if [ "$2" = 0 ]; then echo "ok rust $1"; else sed 's/^/# /' "$work/out" | tail -n 40; echo "not ok rust $1"; failed=1; fi
}
crate() { (cd "$folder/rust/crate" && cargo "$@") >"$work/out" 2>&1; }
rm -rf "$folder/rust/crate"
mkdir -p "$folder/rust/crate"
cp -r bindings/rust/{Cargo.toml,build.rs,src,tests,examples} "$folder/rust/crate"
sed -i '/^\(tracing\|tracing-subscriber\|criterion\) = /d; /^\[\[example/,/^$/d' "$folder/rust/crate/Cargo.toml"
rm "$folder/rust/crate/examples/spans.rs"

crate fmt -- --check
say format $?
crate clippy --all-targets -- -D warnings
say clippy $?
crate test && grep -q 'Doc-tests tach' "$work/out" && [ "$(grep -c '\.\.\. ok$' "$work/out")" -ge 22 ]
say tests $?

# Types prevent these misuses: each file names the compiler's error.
misused() {
	local f code=0 library=$folder/rust/debug/libtach.rlib
	crate build || return 1
	for f in bindings/rust/misuse/*.rs; do
		error=$(sed -n 's,^// error: ,,p' "$f")
		rustc --edition 2021 --crate-type lib --emit metadata --out-dir "$work" --extern "tach=$library" -L "$folder/rust/debug/deps" \
			"$f" >"$work/said" 2>&1 && got=none || got=$(sed -n 's/^error\[\(E[0-9]*\)\].*/\1/p' "$work/said" | sort -u)
		[[ $got =~ ^($error)$ ]] || { echo "$f: ${got:-another error}, not $error"; cat "$work/said"; code=1; }
	done >"$work/out"
	return $code
}
misused
say misuse $?

if [ "$(uname -m)" = x86_64 ]; then
	# One at a time, because another test builds some of the same files.
	crate build --release --example face && flock "$B/flags" make -s B="$B" "$B/bench/face" "$B/bench/fakeperf.so" >>"$work/out" 2>&1 &&
		bench/faces C Rust >"$work/faces" 2>>"$work/out" && cat "$work/faces" >>"$work/out" &&
		awk '{ of[$1] = $4 } END { exit !(of["C"] > 50 && of["Rust"] > 50 && of["Rust"] <= of["C"] + 2) }' "$work/faces"
	say cost $?
else
	echo "skip rust cost: counted on x86-64 alone, checked on x86-64"
fi
exit $failed
