#!/usr/bin/env bash
# What `make install` leaves works through pkg-config, shared and static, from C and C++, and
# `make uninstall` leaves no file behind.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
failed=0
say() { if [ "$1" = 0 ]; then echo "ok install $2"; else echo "not ok install $2"; failed=1; fi; }
place=(B="$B" DESTDIR="$root/dest" PREFIX=/usr LIBDIR=/usr/lib/test)
pc() { PKG_CONFIG_SYSROOT_DIR=$root/dest PKG_CONFIG_LIBDIR=$root/dest/usr/lib/test/pkgconfig pkg-config "$@" tach; }

make -s -j2 "${place[@]}" install >/dev/null; say $? "copies"
version=$(sed -n 's/.*TACH_VERSION_M[A-Z]* *//p;s/.*TACH_VERSION_PATCH *//p' include/tach/base.h | paste -sd.)
[ "$(pc --modversion)" = "$version" ]; say $? "version"
cat >"$root/use.c" <<'USE'
#include <stdio.h>
#include <tach.h>
int main(void)
{
	puts(tach_version());
	return 0;
}
USE
# shellcheck disable=SC2046
{
	gcc -o "$root/shared" "$root/use.c" $(pc --cflags --libs) &&
		[ "$(LD_LIBRARY_PATH=$root/dest/usr/lib/test "$root/shared")" = "$version" ] &&
		readelf -d "$root/shared" | grep -q 'NEEDED.*libtach\.so\.0'
	say $? "shared"
	gcc -static -o "$root/static" "$root/use.c" $(pc --cflags --static --libs) && [ "$("$root/static")" = "$version" ]
	say $? "static"
	g++ -x c++ -o "$root/plus" "$root/use.c" $(pc --cflags --libs) &&
		[ "$(LD_LIBRARY_PATH=$root/dest/usr/lib/test "$root/plus")" = "$version" ]
	say $? "C++"
}
man -l "$(find "$root/dest" -name tach_set_create.3)" 2>/dev/null | grep -q 'tach_set_create'; say $? "manual pages by every name"
"$root/dest/usr/bin/tach" version | grep -q "$version"; say $? "command"
make -s "${place[@]}" uninstall; left=$(find "$root/dest" ! -type d)
[ -z "$left" ] && [ ! -e "$root/dest/usr/include/tach" ]; say $? "uninstall leaves nothing $left"
exit $failed
