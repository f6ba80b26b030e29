#!/usr/bin/env bash
# Files of other users are not executed, and nothing is written through them. A cache that others own or can write to
# is refused. Programs next to the checkout, or owned by another user, are not run. A link planted at the name of a
# lock or a temporary file does not cause its target to change. The test downloads nothing: fetch is replaced by a
# function that reports and fails.
set -u
cd "$(dirname "$0")/../.."
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset TACH_QEMU_BUILD XDG_CACHE_HOME
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok planted $1"; else echo "not ok planted $1"; failed=1; fi; bad=0; }
wrong() { echo "# $*"; bad=1; }

# ---- tools/cache
chmod 755 "$work"
folder() { rm -rf "$work/up"; mkdir -p "$work/up/cache/x86"; chmod 755 "$work/up" "$work/up/cache" "$work/up/cache/x86"; }
cache() { TACH_CACHE=${1:-$work/up/cache} tools/cache x86 >"$work/out" 2>"$work/err"; }
refused() { # WHY
	cache && wrong "a cache is taken though $1"
	[ ! -s "$work/out" ] || wrong "a path is printed though $1"
	grep -q "set TACH_CACHE" "$work/err" || wrong "no cure where $1: $(cat "$work/err")"
}
folder; cache || wrong "a good folder is refused: $(cat "$work/err")"
[ "$(cat "$work/out")" = "$work/up/cache/x86" ] || wrong "the path is $(cat "$work/out")"
cache "$work/new" && [ "$(stat -c %a "$work/new" "$work/new/x86" | xargs)" = '700 700' ] || wrong "a new folder is open to others"
say "a cache of one's own is taken"
for mode in 775 757 777; do
	folder; chmod $mode "$work/up/cache"; refused "its mode is $mode"
	folder; chmod $mode "$work/up/cache/x86"; refused "the mode of x86 is $mode"
done
folder; chmod 777 "$work/up"; refused "who likes may put another folder in its place"
folder; rmdir "$work/up/cache/x86"; mkdir "$work/up/else"; ln -s ../else "$work/up/cache/x86"; refused "x86 is a link"
say "a cache that others can change is refused"
folder
if [ "$(id -u)" = 0 ] && chown 65534 "$work/up/cache/x86" 2>/dev/null; then
	refused "x86 belongs to another user"
	folder; chown 65534 "$work/up/cache"; refused "it belongs to another user"
	say "a cache of another user is refused"
else
	echo "skip planted a cache of another user: takes root"
fi

# ---- tests/guest/*/prepare, in a copy of the tree
tree=$work/tree/checkout
mkdir -p "$tree" "$work/home" && cp -a --parents tools/cache tools/need tests/guest "$tree"
printf '#!/bin/sh\necho "$*" >>"%s"\nexit 1\n' "$work/fetched" >"$tree/tests/guest/fetch"
printf '#!/bin/sh\n' >"$tree/tools/need"
guest=$tree/tests/guest
export TACH_CACHE=$work/home/cache
plant() { printf '#!/bin/sh\necho "$0" >>"%s"\n' "$work/ran" >"$1"; chmod 755 "$1"; }
prepare() { # ARCH ARGUMENTS, with every folder near it as a current one
	local d
	for d in "$work/tree" "$tree" "$guest/$1"; do (cd "$d" && "$guest/$1/prepare" "${@:2}") >"$work/out" 2>&1; done
}
sum=$(sed -n 's/^qemu=.*\(qemu-\)/\1/p' tests/guest/x86/prepare)
[ -n "$sum" ] || wrong "prepare names its QEMU otherwise"
name=$(cd "$tree" && patches=("$guest"/x86/*.patch) && echo "qemu-$(sed -s -n '/^diff /,$p' "${patches[@]}" | sha256sum | cut -c1-16)")
for d in "$work/tree" "$work/tree/shared" "$work/tree/vectors" "$tree" "$guest/x86" "$work/home"; do
	mkdir -p "$d"
	for f in "$name" qemu qemu-system-x86_64 qemu-system-aarch64 ninja meson; do plant "$d/$f"; done
done
prepare x86
[ -s "$work/fetched" ] || wrong "QEMU was not taken from Debian's source: $(cat "$work/out")"
grep -vq -- '-s amd64 .* qemu$' "$work/fetched" && wrong "something else was fetched: $(cat "$work/fetched")"
[ ! -e "$work/ran" ] || wrong "run: $(sort -u "$work/ran")"
say "no program beside the checkout is run"

mine() { # WHETHER WHAT
	local is=no
	(cd "$tree" && tests/guest/x86/prepare qemu) >"$work/out" 2>&1 && is=yes
	[ $is = "$1" ] || wrong "$2: accepted is $is"
	is=no; (cd "$tree" && tests/guest/x86/prepare packages) | grep -q ninja-build || is=yes
	[ $is = "$1" ] || wrong "$2: built anew is not what follows"
}
qemu=$TACH_CACHE/x86/$name
mine no "no QEMU"
plant "$qemu"; mine yes "one of our own"
chmod 775 "$qemu"; mine no "one that the group may write to"
chmod 757 "$qemu"; mine no "one that all may write to"
rm "$qemu"; ln -s "$work/tree/qemu" "$qemu"; mine no "a link"
if [ "$(id -u)" = 0 ]; then rm "$qemu"; plant "$qemu"; chown 65534 "$qemu"; mine no "one of another user"; fi
[ ! -e "$work/ran" ] || wrong "run: $(sort -u "$work/ran")"
rm -f "$qemu"
say "only a QEMU that this user built is run"

for arch in x86 arm64 riscv64; do
	mkdir -p -m 700 "$TACH_CACHE/$arch"
	echo precious >"$work/victim"
	ln -sf "$work/victim" "$TACH_CACHE/$arch/lock"
	: >"$work/fetched"
	prepare $arch
	[ -s "$work/fetched" ] || wrong "$arch: prepare did not come to its lock: $(cat "$work/out")"
	[ "$(cat "$work/victim")" = precious ] || wrong "$arch: what the lock's link points to was truncated"
done
say "a link in the place of a lock"

# ---- mktemp chooses the names in folders that all users may write to
names=$(grep -rnE '(>|tee|touch|mkdir( -p)?|mktemp( -d)?|exec [0-9]+>+) *"?(/tmp|/var/tmp|/dev/shm|\$\{?TMPDIR)' tools tests/run tests/guest tests/check bench GNUmakefile \
	--include='*' -I --exclude='*.c' --exclude=planted.sh | grep -vE 'mktemp( -d)? "?\$\{TMPDIR:-/tmp\}/[a-z.-]+X{6}')
[ -z "$names" ] || wrong "$names"
say "no fixed names in /tmp"
exit $failed
