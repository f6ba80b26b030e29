# Cargo builds the Rust crate: tests/check/slow/rust.sh. Only `make clients` installs the packages for its features,
# some 280 that take minutes to compile: tests/clients/rust_features.sh.
slow_packages += rustc cargo rust-clippy rustfmt librust-cc-dev

# The crate for a registry, with the sources of the C library for its feature `vendored`: run `cargo package` there.
crate: | $(B)
	@rm -rf $(B)/crate && mkdir -p $(B)/crate/c
	@cp -r $(addprefix bindings/rust/,Cargo.toml build.rs src examples tests) LICENSE $(B)/crate
	@cp -r GNUmakefile core arch include tools $(B)/crate/c
	@echo '$(B)/crate'
.PHONY: crate
