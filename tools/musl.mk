# CC=musl-gcc: a distribution's compiler for musl. It searches only musl's own headers. The links in $(B)/system add
# headers of the kernel and of liburcu. On a system whose C library is musl, this file does nothing.
ifneq ($(findstring musl-gcc,$(CC)),)
override CPPFLAGS += -isystem $(B)/system
ifeq ($(wildcard $(B)/system/urcu-pointer.h),)
$(shell tools/system $(B)/system linux/perf_event.h asm/types.h asm-generic/types.h urcu/rculist.h urcu-pointer.h)
endif
# musl gives a thread 128 KB, and some tests recurse deeper. (The most is 8 MB.)
$(unit_bin): override LDFLAGS += -Wl,-z,stack-size=8388608
# Tests that call makecontext(), which musl does not have, are only compiled (unit_syntax), and skipped.
no_makecontext := $(wildcard tests/unit/region/interleave_*.c) tests/unit/region/region_left.c tests/unit/region/region_overlap.c
$(no_makecontext:%.c=$(B)/%): $(B)/%: %.c
	@mkdir -p $(@D)
	@printf '#!/bin/sh\necho "this C library has no makecontext()"\nexit 77\n' >$@ && chmod +x $@
endif
# `make musl`: builds one static program, which runs on every Linux of its processor, and the object that `tach run`
# loads into programs of musl. `make install` installs both if they were built.
musl_run := $(B)/musl/libtach-run.so
musl:
	+@$(MAKE) --no-print-directory CC='$(if $(findstring musl,$(CC)),$(CC),musl-gcc)' B=$(B)/musl $(B)/musl/static/tach $(musl_run)
	@echo '$(B)/musl/static/tach'
.PHONY: musl
install_files += $(if $(wildcard $(musl_run)),$(musl_run)=$$LIBDIR/tach/musl/libtach-run.so)
