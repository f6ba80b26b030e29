# The Python package: $(B)/python/tach. (bindings/python/pyproject.toml is for users who install it.)
python      := bindings/python
python_src  := $(wildcard $(python)/src/*.c)
python_own  := $(wildcard $(python)/src/tach/*.py $(python)/src/tach/*.pyi) $(python)/src/tach/py.typed
PYTHON      ?= /usr/bin/python3
python_inc   = $(shell $(PYTHON) -c 'import sysconfig; print("-I" + sysconfig.get_path("include"))')

$(B)/python/%.o: $(python)/src/%.c $(python)/src/tachmodule.h $(headers) $(B)/flags
	@mkdir -p $(@D)
	$(call quiet,CC)$(CC) $(as_user) $(python_inc) $(CFLAGS) -Wno-missing-prototypes -ftls-model=global-dynamic -fPIC -c -o $@ $<
$(B)/python/tach/_tach.abi3.so: $(python_src:$(python)/src/%.c=$(B)/python/%.o) $(B)/libtach.so
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(CFLAGS) $(LDFLAGS) -shared -o $@ $(filter %.o,$^) -L$(B) -ltach -Wl,-rpath,'$$ORIGIN/../..'
python: $(B)/python/tach/_tach.abi3.so
	@cp $(python_own) $(B)/python/tach
.PHONY: python

check_deps += python-check
.PHONY: python-check
python-check:
	+@$(MAKE) --no-print-directory -s python
slow_packages += python3-dev python3-setuptools python3-pytest mypy
