# The Rust crate is built by cargo: tests/check/slow/rust.sh.
slow_packages += rustc cargo rust-clippy rustfmt librust-cc-dev
