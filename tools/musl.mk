# CC=musl-gcc: a distribution's compiler for musl. It finds musl's own headers alone; the links in $(B)/system
# add those of the kernel and of liburcu. On a system whose C library is musl, nothing here is needed.
ifneq ($(findstring musl-gcc,$(firstword $(CC))),)
override CPPFLAGS += -isystem $(B)/system
ifeq ($(wildcard $(B)/system/urcu-pointer.h),)
$(shell tools/system $(B)/system linux/perf_event.h asm/types.h asm-generic/types.h urcu/rculist.h urcu-pointer.h)
endif
endif
# `make musl`: one static program, which runs on every Linux of its processor.
musl:
	+@$(MAKE) --no-print-directory CC=musl-gcc B=$(B)/musl $(B)/musl/static/tach
	@echo '$(B)/musl/static/tach'
.PHONY: musl
