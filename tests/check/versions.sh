#!/usr/bin/env bash
# The project has one version: every file that names a version has that of include/tach/base.h, and CHANGELOG.md's
# first section is about it.
set -u
cd "$(dirname "$0")/../.."
failed=0
version=$(awk '/define TACH_VERSION_/ { v = v dot $3; dot = "." } END { print v }' include/tach/base.h)
[ "$(tools/versions | grep -c .)" -ge 8 ] || { echo "# tools/versions knows too few places"; failed=1; }
tools/versions | grep -v ": $version\$" | sed 's/^/# not the version of the header: /' | grep . && failed=1
first=$(sed -n '/^## /{s/^## \([0-9.]*\) .*/\1/p;q}' CHANGELOG.md)
[ "$first" = "$version" ] || { echo "# CHANGELOG.md begins with $first, the header has $version"; failed=1; }
if [ $failed = 0 ]; then echo "ok versions"; else echo "not ok versions"; fi
exit $failed
