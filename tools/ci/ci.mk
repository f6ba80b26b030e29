# Packages of its test, tests/check/slow/action.sh.
slow_packages += python3-yaml
