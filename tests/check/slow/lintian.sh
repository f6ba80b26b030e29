#!/usr/bin/env bash
# What `make install DESTDIR` stages is what a distribution can package: laid out as Debian would (the library, its
# development files, the command and the drop-ins each in a package; stripped, manual pages compressed), it leaves lintian
# nothing to say. A tag is judged wherever it is found; those allowed are listed here, with the reason.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need lintian dpkg-dev binutils || { echo "skip lintian: lintian is not installed"; exit 77; }
grep -q -e -fsanitize "$B/flags" && { echo "skip lintian: $B was built with other flags"; exit 77; }
[ -z "$(gcc -print-multiarch)" ] && { echo "skip lintian: no folders of Debian on this architecture"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
umask 022
version=$("$B/tach" version | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)-1
lib=usr/lib/$(gcc -print-multiarch) arch=$(dpkg --print-architecture)

# Allowed: TAG, then why.
allowed() { cat <<'LIST'
initial-upload-closes-no-bugs     no request for this package exists in Debian
LIST
}

make -s install B="$B" DESTDIR="$work/all" PREFIX=/usr LIBDIR="/$lib" >"$work/log" 2>&1 || { tail "$work/log"; echo "not ok lintian stages"; exit 1; }
(cd "$work/all" && find . ! -type d | sed 's|^\./||' | sort) >"$work/files"
echo "# $(wc -l <"$work/files") files"
# Which package has a file, as Debian's debhelper lists would say; the first that fits.
package_of() { # FILE
	case $1 in
	usr/include/*|*.a|*.pc|$lib/cmake/*|usr/share/man/man3/*) echo libtach-dev;;
	$lib/libtach.so) echo libtach-dev;;
	$lib/libtach.so.*) echo libtach0;;
	usr/bin/*|$lib/tach/*|usr/share/man/man[157]/*|usr/share/bash-completion/*|usr/share/zsh/*|usr/share/fish/*) echo tach;;
	esac
}
while read -r f; do
	p=$(package_of "$f")
	[ -n "$p" ] || { echo "# belongs to no package: $f"; homeless=1; continue; }
	mkdir -p "$work/$p/${f%/*}" && cp -a "$work/all/$f" "$work/$p/$f"
done <"$work/files"
[ -z "${homeless-}" ] || { echo "not ok lintian every file has a package"; exit 1; }
echo "ok lintian every file has a package"

# What a Debian package has besides.
description() {
	case $1 in
	libtach0) echo 'Section: libs'; echo 'Multi-Arch: same'; kind='shared library';;
	libtach-dev) echo 'Section: libdevel'; echo 'Multi-Arch: same'; echo "Depends: libtach0 (= $version)"; kind='development files';;
	tach) echo 'Section: devel'; kind=command;;
	esac
	cat <<CONTROL
Description: hardware performance counters by region ($kind)
 Threads of a program read their own hardware performance counters in tens of
 instructions, without a system call, and turn them into named, derived
 numbers per region of code.
 .
 This package has the $kind.
CONTROL
}
changelog() {
	printf 'tach (%s) unstable; urgency=medium\n\n  * New release.\n\n -- The libtach authors <authors@example.org>  %s\n' \
		"$version" "$(date -R -d "@$(stat -c %Y LICENSE)")"
}
copyright() {
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: tach\n\nFiles: *\n'
	sed -n 's/^Copyright (c) /Copyright: /p' LICENSE
	echo 'License: Expat'
	sed '1,/^Copyright/d; s/^[[:blank:]]*$/./; s/^/ /' LICENSE | sed '1{/^ \.$/d}'
}
package() { # NAME
	local root=$work/$1 doc=$work/$1/usr/share/doc/$1 needs=
	mkdir -p "$root/DEBIAN" "$doc"
	changelog | gzip -9n >"$doc/changelog.Debian.gz"
	gzip -9nc CHANGELOG.md >"$doc/changelog.gz"
	copyright >"$doc/copyright"
	# debhelper's dh_compress, dh_strip and dh_makeshlibs.
	find "$root/usr/share/man" -type f -exec gzip -9n {} + 2>/dev/null
	find "$root/usr/share/man" -type l 2>/dev/null | while read -r link; do
		ln -s "$(readlink "$link").gz" "$link.gz" && rm "$link"
	done
	find "$root" -type f \( -name '*.so*' -o -path '*/usr/bin/*' \) -exec strip --remove-section=.comment --remove-section=.note --strip-unneeded {} +
	find "$root" -type f -name '*.so*' -exec chmod 644 {} +
	find "$root" -type f -name '*.a' -exec strip --strip-debug --remove-section=.comment --remove-section=.note --enable-deterministic-archives {} +
	if [ "$1" = libtach0 ]; then
		echo "libtach 0 libtach0 (>= ${version%-*})" >"$root/DEBIAN/shlibs"
		echo 'activate-noawait ldconfig' >"$root/DEBIAN/triggers"
		(cd "$work" && mkdir -p debian && echo 'Source: tach' >debian/control && dpkg-gensymbols -q -p"$1" -v"${version%-*}" -P"$root" -O"$root/DEBIAN/symbols" &&
			sed -i "1a * Build-Depends-Package: libtach-dev" "$root/DEBIAN/symbols")
	fi
	needs=$(cd "$work" && mkdir -p debian && printf 'Source: tach\n' >debian/control &&
		find "$root" -type f \( -name '*.so*' -o -path '*/usr/bin/*' \) -exec dpkg-shlibdeps -O --ignore-missing-info {} + 2>/dev/null |
		sed -n 's/^shlibs:Depends=//p')
	{
		printf 'Package: %s\nSource: tach\nVersion: %s\nArchitecture: %s\nMaintainer: The libtach authors <authors@example.org>\n' "$1" "$version" "$arch"
		printf 'Priority: optional\nInstalled-Size: %s\n' "$(du -sk "$root/usr" | cut -f1)"
		[ -z "$needs" ] || echo "Depends: $needs"
		description "$1"
	} >"$root/DEBIAN/control"
	(cd "$root" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
	dpkg-deb --root-owner-group -Zxz -z1 -b "$root" "$work/$1.deb" >/dev/null
}
failed=0
for p in libtach0 libtach-dev tach; do
	package $p || { echo "not ok lintian $p is packed"; failed=1; continue; }
	lintian --no-cfg --allow-root --display-info --pedantic --tag-display-limit 0 --fail-on none "$work/$p.deb" >"$work/said" 2>"$work/log" ||
		{ sed 's/^/# /' "$work/log"; echo "not ok lintian ran on $p"; failed=1; continue; }
	bad=$(awk 'NR == FNR { allowed[$1] = 1; next } !($3 in allowed) && $1 ~ /^[EWIP]:/' <(allowed) "$work/said")
	awk '{ print $3 }' "$work/said" >>"$work/tags"
	if [ -z "$bad" ]; then echo "ok lintian $p"; continue; fi
	sed 's/^/# /' <<<"$bad" | head -n 40
	echo "not ok lintian $p"
	failed=1
done
# An exception that nothing needs any more goes.
stale=$(allowed | while read -r tag _; do grep -qx -- "$tag" "$work/tags" || echo "$tag"; done)
if [ -z "$stale" ]; then echo "ok lintian every exception is needed"; else echo "# $stale"; echo "not ok lintian every exception is needed"; failed=1; fi
exit $failed
