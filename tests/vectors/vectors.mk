# The answers of the references, decompressed once for all tests of a build (tests/vectors.h).
vectors_xz := $(wildcard tests/vectors/*.xz tests/vectors/*/*.xz)
vectors    := $(vectors_xz:tests/vectors/%.xz=$(B)/vectors/%)
$(vectors): $(B)/vectors/%: tests/vectors/%.xz
	@mkdir -p $(@D)
	@xz -dc $< >$@
unit_tests vectors: $(vectors)
.PHONY: vectors
