# tests/unit/derived/derived_papi.c reads the preset file that Debian's PAPI ships.
check_deps += need-papi-file
need-papi-file:
	@tools/need papi-tools
.PHONY: need-papi-file
