# The Rust crate is built by cargo: tests/check/slow/rust.sh. What its features need, some 280 packages and minutes to
# compile, is installed by `make clients` alone: tests/clients/rust_features.sh.
slow_packages += rustc cargo rust-clippy rustfmt librust-cc-dev

# The crate as a registry has it, with the sources of the C library for its feature `vendored`: `cargo package` there.
crate: | $(B)
	@rm -rf $(B)/crate && mkdir -p $(B)/crate/c
	@cp -r $(addprefix bindings/rust/,Cargo.toml build.rs src examples tests) LICENSE $(B)/crate
	@cp -r GNUmakefile core arch include tools $(B)/crate/c
	@echo '$(B)/crate'
.PHONY: crate
