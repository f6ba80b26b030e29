# Packages that its test, tests/check/slow/action.sh, needs.
slow_packages += python3-yaml
