#!/usr/bin/env bash
# A project builds tach from a clone, without network and installation: CMake by FetchContent and by add_subdirectory,
# Meson as a subproject. The project's program prints its table. It is built shared and static, in C and C++.
set -u
. "$(dirname "$0")/lib.sh"
need git cmake meson ninja
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip other_builds: no git checkout"; exit 77; }
. tools/ccache
# The files have the same names below each build's folder, so ccache compiles each file once.
export CCACHE_BASEDIR=$work
unset PKG_CONFIG_PATH CFLAGS CPPFLAGS LDFLAGS
PATH=${PATH#"$product/bin:"}
git clone -q --no-hardlinks "file://$top" "$work/clone" 2>"$work/out"; verdict clone $?

mkdir "$work/app"
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' README.md >"$work/app/sum.c"
sed 's/<tach.h>/<tach.hpp>/; s/TACH_STOP(sum);//; s/TACH_START(sum)/TACH_GUARD(sum)/' "$work/app/sum.c" >"$work/app/sum.cc"
cat >"$work/app/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.14)
project(app C CXX)
if(HOW STREQUAL fetch)
  include(FetchContent)
  FetchContent_Declare(tach GIT_REPOSITORY "${CLONE}" GIT_TAG HEAD)
  FetchContent_MakeAvailable(tach)
else()
  add_subdirectory("${CLONE}" tach)
endif()
foreach(kind tach tach_static)
  add_executable(c_${kind} sum.c)
  add_executable(cc_${kind} sum.cc)
  target_link_libraries(c_${kind} PRIVATE tach::${kind})
  target_link_libraries(cc_${kind} PRIVATE tach::${kind})
endforeach()
CMAKE
cat >"$work/app/meson.build" <<'MESON'
project('app', 'c', 'cpp')
foreach kind : ['tach', 'tach_static']
  executable('c_' + kind, 'sum.c', dependencies: dependency(kind, fallback: ['tach', kind + '_dep']))
  executable('cc_' + kind, 'sum.cc', dependencies: dependency(kind))
endforeach
MESON
tables() { # FOLDER: each program prints its table, and the static ones need no library of ours
	local p
	for p in c_tach cc_tach c_tach_static cc_tach_static; do
		TACH_OUTPUT=- "$1/$p" >"$work/table" 2>&1 && grep -q '^sum ' "$work/table" || { cat "$work/table"; echo "no table from $p"; return 1; }
	done
	ldd "$1/c_tach" | grep -q 'libtach.so.0 => /' && ! ldd "$1/cc_tach_static" | grep libtach
}
by_cmake() { # HOW GENERATOR
	cmake -G "$2" -S "$work/app" -B "$work/$1" -DHOW="$1" -DCLONE="${3:-$work/clone}" && cmake --build "$work/$1" -j2 && tables "$work/$1"
}
by_meson() {
	mkdir "$work/app/subprojects" && ln -s "$work/clone" "$work/app/subprojects/tach" &&
		meson setup "$work/meson" "$work/app" && ninja -C "$work/meson" && tables "$work/meson"
}
check FetchContent by_cmake fetch Ninja "file://$work/clone"
check add_subdirectory by_cmake add 'Unix Makefiles'
check Meson by_meson
# A second build compiles nothing.
is_quiet() { ninja -C "$work/fetch" >/dev/null && ! find "$work/fetch" -name '*.o' -newer "$work/table" | grep .; }
check built_once is_quiet
refuse blank by_cmake 'a blank' Ninja
grep -q 'path with a blank' "$work/out"; verdict blank_is_named $?
[ -z "$(git -C "$work/clone" status --porcelain --ignored)" ]; verdict clone_is_untouched $?
exit $rc
