#!/usr/bin/env bash
# tests/run: memory=600 seconds=300
# packaging/debian makes packages that satisfy Debian's rules: dpkg-buildpackage builds them from the tracked files,
# with equal bytes in two folders and without a message from lintian. After installation next to this machine's
# packages, the README's program runs, and programs still find Debian's libpfm4.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need build-essential dpkg-dev debhelper lintian liburcu-dev || { echo "skip debian: build-essential, debhelper or lintian is not installed"; exit 77; }
grep -q -e -fsanitize "$B/flags" && { echo "skip debian: checked without sanitizers alone"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
umask 022
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok debian $1"; else echo "not ok debian $1"; failed=1; fi; bad=0; }
must() { "$@" >"$work/out" 2>&1 || { bad=1; echo "# failed: $*"; tail -n 20 "$work/out" | sed 's/^/#    /'; }; }

version=$("$B/tach" version | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1)
[ "$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)" = "$version-1" ] || { bad=1; echo "# packaging/debian/changelog has another version than $version-1"; }
say version

# If ccache answers in both folders, the comparison compares an object with itself. So the second build compiles the
# first source of each folder without the cache. All other steps run twice: making tables, linking objects and making
# packages.
mkdir "$work/bin"
cat >"$work/bin/gcc" <<'SCRIPT'
#!/usr/bin/env bash
PATH=${PATH#*:} source=${!#} first=("${!#%/*}"/*.c)
case $source in */*.c) [ "$source" != "${first[0]}" ] || { echo "$source" >>"$AGAIN"; export CCACHE_DISABLE=1; };; esac
exec gcc "$@"
SCRIPT
chmod +x "$work/bin/gcc"
build() { # FOLDER
	mkdir -p "$1/tach"
	{ git ls-files -z 2>/dev/null || find . -path "./$B" -prune -o -type f -print0; } | tar -c --null -T - | tar -x -C "$1/tach"
	cp -r packaging/debian "$1/tach/debian"
	(cd "$1/tach" && env -u CFLAGS -u CPPFLAGS -u LDFLAGS -u MAKEFLAGS -u B DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage -us -uc -b)
}
must build "$work/one"
[ $bad = 0 ] || cp "$work/out" "$B/log/debian-build.log" 2>/dev/null
say build
[ $failed = 0 ] || exit 1
export AGAIN=$work/again
PATH=$work/bin:$PATH must build "$work/a/second/folder"
again=$(sort -u "$AGAIN" 2>/dev/null | wc -l)
[ "$again" -ge 30 ] || { bad=1; echo "# only $again sources were compiled again"; }
for deb in "$work/one"/*.deb; do
	cmp -s "$deb" "$work/a/second/folder/${deb##*/}" || { bad=1; echo "# ${deb##*/} differs"; }
done
say reproducible

must lintian --no-cfg --allow-root --display-info --pedantic --tag-display-limit 0 --fail-on none "$work/one"/*.changes
cp "$work/out" "$work/said"
found=$(grep '^[EWIP]:' "$work/said")
[ -z "$found" ] || { bad=1; sed 's/^/# /' <<<"$found" | head -n 40; }
say lintian

# The packages are installed on a copy of this machine that disappears with the mount namespace: dpkg, ldconfig and
# the dynamic linker really run.
cat >"$work/install" <<'SCRIPT'
set -e
mount -t tmpfs tmpfs "$work/over"
mkdir "$work/over/up" "$work/over/work" "$work/over/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/over/up,workdir=$work/over/work" "$work/over/root"
mount -t proc proc "$work/over/root/proc"
mount --bind /dev "$work/over/root/dev"
mkdir "$work/over/root/packages" "$work/over/root/source"
cp "$work"/one/*.deb "$work/over/root/packages"
cp README.md "$work/one/tach/debian/tests/readme" "$work/over/root/source"
chroot "$work/over/root" sh -ec '
	PATH=/usr/sbin:/usr/bin:/sbin:/bin
	export PATH
	unset LD_LIBRARY_PATH PKG_CONFIG_PATH
	dpkg -i /packages/*.deb
	ldconfig -p >/before
	! grep -q "libpfm.so.*/tach/" /before
	cd /source
	sh ./readme
	folder=/usr/lib/$(gcc -print-multiarch)/tach
	printf "#include <perfmon/pfmlib.h>\nint main(void) { return pfm_initialize(); }\n" >p.c
	gcc -I/usr/include/tach -o p p.c -L$folder -lpfm -Wl,-rpath,$folder
	./p
	ldd p | grep -q "$folder/libpfm.so.4"
	man -w tach tach_region >/dev/null
	dpkg --purge tach libtach-dev libtach0 libtach-pfm-dev libtach-pfm4 libtach-pfm3 libtach-likwid-dev libtach-likwid libtach-papi-dev libtach-papi
	! find /usr/lib /usr/include /usr/share/man -name "tach" -o -name "tach[-_.]*" -o -name "libtach*" | grep . '
SCRIPT
mkdir "$work/over"
export work
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	must unshare -m bash "$work/install"
	say installed
else
	echo "skip debian installed: only root may mount over /usr/local"
fi
exit $failed
