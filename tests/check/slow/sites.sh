#!/usr/bin/env bash
# Ten thousand regions in libraries that are loaded, unloaded and loaded again. UNDER: a command that runs the
# program.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
libraries=()
for i in 0 1 2 3 4 5 6 7 8 9; do
	gcc -O1 -g -DLIBRARY="$i" -Iinclude -shared -fPIC -o "$work/sites$i.so" tests/unit/region/sites/library.c \
		-L"$B" -l:libtach.so.0 || exit 1
	libraries+=("$work/sites$i.so")
done
gcc -O1 -g -Iinclude -I. -o "$work/sites" tests/unit/region/sites/program.c -L"$B" -l:libtach.so.0 -lpthread -ldl || exit 1
LD_LIBRARY_PATH=$B ${UNDER:-} "$work/sites" "${libraries[@]}"
