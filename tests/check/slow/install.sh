#!/usr/bin/env bash
# make install in typical uses: the README's program, built by the README's command, starts. The same works with CMake
# and Meson, in C and C++, shared and static, from any prefix, and after the tree was moved. Files staged by DESTDIR
# contain no folder name of this machine. uninstall leaves no file.
set -u
cd "$(dirname "$0")/../../.."
B=${B:-build}
tools/need cmake meson ninja-build pkg-config g++ || { echo "skip install: cmake, meson or pkg-config is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset PKG_CONFIG_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH DESTDIR
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok install_$1"; else echo "not ok install_$1"; failed=1; fi; bad=0; }
must() { "$@" >"$work/out" 2>&1 || { bad=1; echo "# failed: $*"; tail -n 15 "$work/out" | sed 's/^/#    /'; }; }
install_in() { must make -s install B="$B" "$@"; }
# The program prints its table: it found the library and entered the region.
starts() { TACH_OUTPUT=- must "$@"; grep -q '^sum ' "$work/out" || { bad=1; echo "# no table from $*"; }; }

mkdir "$work/src"
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' README.md >"$work/src/sum.c"
command=$(sed -n 's/^    \$ \(cc .*sum\.c.*\)/\1/p' README.md)
grep -q TACH_START "$work/src/sum.c" && [ -n "$command" ] || { echo "# the README has no program, or no command that builds it"; bad=1; }
say readme

# ---- the README's way: root installs into /usr/local, in a mount namespace, so that this machine stays unchanged
export root=$work/root source=$work/src command B
cat >"$work/usual" <<'SCRIPT'
set -e
mkdir -p "$root/local" "$root/etc"
cp -a /etc/. "$root/etc" 2>/dev/null || :
mount --bind "$root/etc" /etc
mount --bind "$root/local" /usr/local
make -s install
cd "$source"
sh -c "$command"
TACH_OUTPUT=- ./a.out
readelf -d a.out | grep -E 'R(UN)?PATH' && { echo "an rpath for a folder where the dynamic linker looks"; exit 1; }
exit 0
SCRIPT
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	must unshare -m bash "$work/usual"
	grep -q '^sum ' "$work/out" || { bad=1; echo "# no table"; }
	say as_root
else
	echo "skip install_as_root: only root may mount over /usr/local"
fi

# ---- a private prefix; several tests may install one build at the same time, so make writes nothing into the build
touch "$work/before"
install_in PREFIX="$work/private"
written=$(find "$B" -maxdepth 1 -name 'tach*.*' -newer "$work/before" ! -name '*.tar*')
[ -z "$written" ] || { bad=1; echo "# an installation wrote $written"; }
(cd "$source" && rm -f a.out && PKG_CONFIG_PATH=$work/private/lib/pkgconfig sh -c "$command") || bad=1
starts "$source/a.out"
say private_prefix

# ---- CMake and Meson
mkdir -p "$work/cmake" "$work/meson"
series=$(awk '/VERSION_(MAJOR|MINOR) / { v = v dot $3; dot = "." } END { print v }' include/tach/base.h)
sed "s/@series@/$series/" >"$work/cmake/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.10)
project(sum C CXX)
find_package(tach @series@ REQUIRED)
find_package(tach REQUIRED) # twice does no harm
foreach(kind tach tach_static)
  add_executable(c_${kind} sum.c)
  add_executable(cc_${kind} sum.cc)
  target_link_libraries(c_${kind} PRIVATE tach::${kind})
  target_link_libraries(cc_${kind} PRIVATE tach::${kind})
endforeach()
CMAKE
cat >"$work/meson/meson.build" <<'MESON'
project('sum', 'c', 'cpp')
tach = dependency('tach')
executable('c_tach', 'sum.c', dependencies: tach)
executable('cc_tach', 'sum.cc', dependencies: tach)
MESON
for d in cmake meson; do
	cp "$source/sum.c" "$work/$d/"
	sed 's/<tach.h>/<tach.hpp>/; s/TACH_STOP(sum);//; s/TACH_START(sum)/TACH_GUARD(sum)/' "$source/sum.c" >"$work/$d/sum.cc"
done
by_cmake() { # PREFIX PROGRAM...
	rm -rf "$work/build"
	must cmake -G Ninja -S "$work/cmake" -B "$work/build" -DCMAKE_PREFIX_PATH="$1"
	must ninja -C "$work/build"
	shift
	for p; do
		starts "$work/build/$p"
		case $p in *static) ! ldd "$work/build/$p" | grep -q libtach || { bad=1; echo "# $p needs the shared library"; };; esac
	done
}
by_cmake "$work/private" c_tach cc_tach c_tach_static cc_tach_static
say cmake
rm -rf "$work/build"
must env PKG_CONFIG_PATH="$work/private/lib/pkgconfig" meson setup "$work/build" "$work/meson"
must ninja -C "$work/build"
starts "$work/build/c_tach"
starts "$work/build/cc_tach"
say meson

# CMake refuses a version that this one cannot replace, and accepts a version that it can replace.
version=$(sed -n 's/^Version: //p' "$work/private/lib/pkgconfig/tach.pc")
for want in "$version" "${version%.*}" 0...1 ; do
	printf 'cmake_minimum_required(VERSION 3.19)\nproject(v C)\nfind_package(tach %s REQUIRED)\n' "$want" >"$work/v.txt"
	rm -rf "$work/v"; mkdir "$work/v"; mv "$work/v.txt" "$work/v/CMakeLists.txt"
	must cmake -S "$work/v" -B "$work/v/build" -DCMAKE_PREFIX_PATH="$work/private"
done
for want in 99 "${version%.*}.99" 0.0.1 0...0.0.5; do
	printf 'cmake_minimum_required(VERSION 3.19)\nproject(v C)\nfind_package(tach %s REQUIRED)\n' "$want" >"$work/v/CMakeLists.txt"
	rm -rf "$work/v/build"
	cmake -S "$work/v" -B "$work/v/build" -DCMAKE_PREFIX_PATH="$work/private" >"$work/out" 2>&1 &&
		{ bad=1; echo "# find_package(tach $want) accepts $version"; }
done
say cmake_version

# ---- moved as a whole
mv "$work/private" "$work/moved here"
by_cmake "$work/moved here" c_tach c_tach_static
must env PKG_CONFIG_PATH="$work/moved here/lib/pkgconfig" pkg-config --define-prefix --cflags --libs tach
grep -q 'moved\\ here/include' "$work/out" || { bad=1; echo "# pkg-config --define-prefix does not follow"; }
say moved

# ---- blanks in the path; a colon, which no list of folders can contain, including the dynamic linker's
install_in PREFIX="$work/with blank"
(cd "$source" && rm -f a.out && PKG_CONFIG_PATH="$work/with blank/lib/pkgconfig" bash -c "eval \"${command//\"/\\\"}\"") || bad=1
starts "$source/a.out"
by_cmake "$work/with blank" c_tach
say blank
install_in PREFIX="$work/with:colon"
by_cmake "$work/with:colon" c_tach_static
! grep -q rpath "$work/with:colon/lib/pkgconfig/tach.pc" || { bad=1; echo "# an rpath with a colon"; }
must make -s uninstall B="$B" PREFIX="$work/with:colon"
[ -z "$(find "$work/with:colon" ! -type d)" ] || { bad=1; echo "# uninstall left files"; }
say colon

# ---- staged for a package, in Debian's folders
triplet=$(gcc -print-multiarch)
install_in DESTDIR="$work/stage dir" PREFIX=/usr LIBDIR="/usr/lib/$triplet"
# The manual may tell a reader to use an rpath.
! { grep -rIl "$work" "$work/stage dir"; grep -rIl --exclude-dir=man rpath "$work/stage dir"; } | grep . ||
	{ bad=1; echo "# the files above name the folder they were staged in, or an rpath"; }
for f in libtach.so.0 tach/libtach-run.so cmake/tach/tachConfig.cmake pkgconfig/tach.pc; do
	[ -e "$work/stage dir/usr/lib/$triplet/$f" ] || { bad=1; echo "# $f is missing"; }
done
[ -z "$(find "$work/stage dir/usr/lib/$triplet" -maxdepth 1 -name '*run*')" ] || { bad=1; echo "# a private library among the public ones"; }
by_cmake "$work/stage dir/usr" c_tach
# Clients of the drop-ins find headers and libraries there too.
cat >"$work/pfm.c" <<'CLIENT'
#include <perfmon/pfmlib.h>
int main(void)
{
	return pfm_initialize();
}
CLIENT
for d in tach/:pfm tach/libpfm3:pfm3; do
	must gcc -o "$work/pfm" "$work/pfm.c" -I"$work/stage dir/usr/include/${d%:*}" \
		-L"$work/stage dir/usr/lib/$triplet/tach" -l"${d#*:}" -Wl,-rpath,"$work/stage dir/usr/lib/$triplet/tach"
	[ "$d" != tach/:pfm ] || must "$work/pfm"
	must ldd "$work/pfm"
	grep -q 'stage dir' "$work/out" || { bad=1; echo "# $d: another library is taken"; }
done
must env -C "$work" "$work/stage dir/usr/bin/tach" list -h
must make -s uninstall B="$B" DESTDIR="$work/stage dir" PREFIX=/usr LIBDIR="/usr/lib/$triplet"
[ -z "$(find "$work/stage dir" ! -type d)" ] || { bad=1; echo "# uninstall left files:"; find "$work/stage dir" ! -type d | sed 's/^/#    /'; }
[ -z "$(find "$work/stage dir" -type d -name 'tach*')" ] || { bad=1; echo "# uninstall left folders of its own"; }
say staged
exit $failed
