#!/usr/bin/env bash
# clang-format leaves every C file unchanged.
cd "$(dirname "$0")/../.." || exit 1
command -v clang-format >/dev/null || { echo "skip format: clang-format is not installed"; exit 77; }
# Versions of clang-format differ in a hundred places of this tree (19: 114); the tree has the format of version 14.
version=$(clang-format --version | sed -E 's/.*version ([0-9]+).*/\1/')
[ "$version" = 14 ] || { echo "skip format: clang-format 14 cannot be installed, here is $version"; exit 77; }
mapfile -t files < <(tests/check/files '*.c' '*.h')
. tests/check/kept .clang-format "${files[@]}"
clang-format --dry-run -Werror "${files[@]}" 2>&1 | head -n 20 | grep . && { echo "not ok format"; exit 1; }
echo "ok format"
