#!/usr/bin/env bash
# A Rust program that depends on the crate, with the library under a private prefix: it starts without any
# LD_LIBRARY_PATH.
set -u
. "$(dirname "$0")/lib.sh"
need cargo rustc cc
mkdir -p "$work/program/src"
cat >"$work/program/Cargo.toml" <<TOML
[package]
name = "program"
version = "1.0.0"
edition = "2021"
[dependencies]
tach = { path = "$top/bindings/rust" }
TOML
cat >"$work/program/src/main.rs" <<'RUST'
fn main() {
    tach::region!("work");
}
RUST
sed -n '/region!/{s/^/# /p;q}' "$top/bindings/rust/README.md" 2>/dev/null
export CARGO_TARGET_DIR=$work/target CARGO_NET_OFFLINE=true
cp "$top/bindings/rust/Cargo.lock" "$work/program/" 2>/dev/null
check builds bash -c "cd '$work/program' && cargo build --offline -q"
starts() { TACH_OUTPUT=/dev/stdout "$work/target/debug/program" && says '^work +1 '; }
check starts starts
exit $rc
