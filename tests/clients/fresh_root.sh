#!/usr/bin/env bash
# The Debian packages in a root that contains only a compiler: autopkgtest installs them with their dependencies,
# builds the README's first program by the README's command and runs it. tests/check/slow/debian.sh tests the rest.
# tests/run: memory=1000
set -u
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
[ "$(id -u)" = 0 ] || { echo "skip fresh_root: only root may make one"; exit 77; }
tools/need build-essential dpkg-dev debhelper liburcu-dev mmdebstrap autopkgtest >/dev/null || { echo "skip fresh_root: packages cannot be installed"; exit 77; }
grep -q -e -fsanitize "$B/flags" && { echo "skip fresh_root: checked without sanitizers alone"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
umask 022
failed=0
say() { if [ "$2" = 0 ]; then echo "ok fresh_root $1"; else tail -n 30 "$work/out" | sed 's/^/# /'; echo "not ok fresh_root $1"; failed=1; fi; }

mkdir "$work/tach"
{ git ls-files -z 2>/dev/null || find . -path "./$B" -prune -o -type f -print0; } | tar -c --null -T - | tar -x -C "$work/tach"
cp -r packaging/debian "$work/tach/debian"
(cd "$work/tach" && env -u CFLAGS -u CPPFLAGS -u LDFLAGS -u MAKEFLAGS -u B DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage -us -uc -b) >"$work/out" 2>&1
say packages $?

# Contains the packages that autopkgtest installs for its own use, but not our library or its dependencies: apt must
# find those.
mmdebstrap --quiet --variant=apt --include=gcc,libc6-dev,pkg-config,dpkg-dev,apt-utils "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/root" >"$work/out" 2>&1 &&
	chroot "$work/root" apt-get update >>"$work/out" 2>&1 && ! find "$work/root/usr" -name 'libtach*' | grep .
say root $?
[ $failed = 0 ] || exit 1

autopkgtest --output-dir="$work/result" "$work"/libtach0_*.deb "$work"/libtach-dev_*.deb "$work"/tach_*.deb "$work/tach/" -- chroot "$work/root" >"$work/out" 2>&1
rc=$?
cat "$work/result/summary" >>"$work/out"
[ $rc = 0 ] && grep -q '^readme *PASS' "$work/result/summary" && grep -q '^sum  *1 ' "$work/out" &&
	chroot "$work/root" sh -c 'dpkg -s liburcu-dev libtach0 libtach-dev tach >/dev/null && ldconfig -p | grep -q libtach.so.0'
say autopkgtest $?
exit $failed
