#!/bin/sh
# Every C file is as clang-format leaves it.
command -v clang-format >/dev/null || { echo "skip format: clang-format is not installed"; exit 77; }
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip format: this is no git checkout"; exit 77; }
bad=$(git ls-files '*.c' '*.h' | xargs clang-format --dry-run 2>&1 | grep -c warning)
[ "$bad" = 0 ] && echo "ok format" || { git ls-files '*.c' '*.h' | xargs clang-format --dry-run 2>&1 | head -20; echo "not ok format"; exit 1; }
