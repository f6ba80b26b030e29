#!/usr/bin/env bash
# The workflows of .github are YAML, each `run:` is one script of the repository, and each of these scripts runs here.
# Stubs replace programs that install packages or set sysctls. .ci/run is `make check`, which runs this test.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
say() { if [ "$2" = 0 ]; then echo "ok workflows $1"; else tail -n 12 "$work/out" | sed 's/^/# /'; echo "not ok workflows $1"; failed=1; fi; }

: >"$work/out"
mapfile -t scripts < <(sed -n 's/^ *- run: *//p; s/^ *run: *//p' .github/workflows/*.yml | sort -u)
bad=0
[ ${#scripts[@]} -ge 4 ] || { echo "only ${#scripts[@]} steps" >>"$work/out"; bad=1; }
for s in "${scripts[@]}"; do [ -f "$s" ] && [ -x "$s" ] || { echo "$s is not a script of the repository" >>"$work/out"; bad=1; }; done
say scripts $bad

mkdir "$work/bin"
# shellcheck disable=SC2016
for p in apt-get dnf apk sysctl sudo; do
	printf '#!/bin/sh\necho "%s $*" >>"$WORK/asked"\n' $p >"$work/bin/$p"
	chmod +x "$work/bin/$p"
done
for p in sh dirname env id mktemp; do ln -s "$(command -v $p)" "$work/bin/$p"; done
prepare() { # MANAGER PACKAGE
	: >"$work/asked"
	mkdir -p "$work/$1"
	cp -a "$work/bin/." "$work/$1"
	for p in apt-get dnf apk; do [ $p = "$1" ] || rm "$work/$1/$p"; done
	WORK=$work PATH=$work/$1 .ci/prepare >"$work/out" 2>&1
}
prepare apt-get && grep -q 'apt-get install .* liburcu-dev' "$work/asked"; say prepare_debian $?
prepare dnf && grep -q 'dnf install .* userspace-rcu-devel' "$work/asked"; say prepare_fedora $?
prepare apk && grep -q 'apk add .* liburcu-dev musl-dev' "$work/asked"; say prepare_alpine $?
! prepare none; say prepare_elsewhere $?

if [[ $(cut -d' ' -f1 "$B/flags" 2>/dev/null) = *musl-gcc* ]]; then
	echo 'skip workflows smoke: gcc does not link with this C library'
else
	.ci/smoke >"$work/out" 2>&1; say smoke $?
fi
rm "$work/bin/sudo"
WORK=$work PATH=$work/bin:$PATH B=$B .ci/silicon "$work" >"$work/out" 2>&1 && [ -s "$work/record.json" ] && [ -s "$work/record-root.json" ]
say silicon $?
exit $failed
