# tests/unit/derived/derived_papi.c reads the preset file that Debian's PAPI ships.
slow_packages += papi-tools
