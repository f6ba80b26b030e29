#!/usr/bin/env bash
# `make release`, in a clone: every place that has a version or a date gets the new one, the archive is named after
# the version, and a refused release changes nothing.
set -u
cd "$(dirname "$0")/../.."
git rev-parse --git-dir >/dev/null 2>&1 || { echo "skip release: this is no git checkout"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
unset MAKEFLAGS MFLAGS B VERSION
export XZ_OPT=-0 # no one keeps these archives
git clone -q --shared . "$work/clone" || exit 1
# Test the present files instead of the last commit.
cp tools/release tools/versions tools/dist.mk "$work/clone/tools/"
cd "$work/clone" || exit 1
git add -A && git commit -qm now --allow-empty
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok release $1"; else sed 's/^/# /' "$work/out"; echo "not ok release $1"; failed=1; fi; bad=0; }
refused() { # what the message says
	local before after
	before=$(git rev-parse HEAD; git diff)
	! make -s release >"$work/out" 2>&1 && grep -q -- "$1" "$work/out" || bad=1
	after=$(git rev-parse HEAD; git diff)
	[ "$before" = "$after" ] || bad=1
}
released=$(sed -n '/^## /{s/^## \([0-9.]*\) .*/\1/p;q}' CHANGELOG.md)
sed -i "0,/^## /s/^## .*/## 7.8.9 (not released)/" CHANGELOG.md
refused 'has changes'
say "of changes that are not committed is refused"
git commit -qam next
make -s release >"$work/out" 2>&1 || bad=1
for f in "CHANGELOG.md:^## 7\.8\.9 (20[0-9-]*)$" 'include/tach/base.h:VERSION_MAJOR 7$' 'include/tach/base.h:VERSION_MINOR 8$' \
	'include/tach/base.h:VERSION_PATCH 9$' 'packaging/spack/package.py:version("7\.8\.9")$' 'packaging/spack/package.py:tach-7\.8\.9\.tar\.xz"$' 'bindings/python/pyproject.toml:^version = "7\.8\.9"$' \
	'bindings/rust/Cargo.toml:^version = "7\.8\.9"$' 'packaging/debian/changelog:^tach (7\.8\.9-1) unstable'; do
	grep -q -- "${f#*:}" "${f%%:*}" || { bad=1; echo "# ${f%%:*} lacks ${f#*:}"; }
done
[ -z "$(git status --porcelain)" ] && (cd build && sha256sum -c --quiet tach-7.8.9.tar.xz.sha256) || bad=1
grep -q 'tach-mini\.h$' build/tach-7.8.9.tar.xz.sha256 && grep -q '^ \* tach-mini\.h 7\.8\.9:' build/tach-mini.h || { bad=1; echo "# no tach-mini.h of this version"; }
[ "$(tar -xOf build/tach-7.8.9.tar.xz tach-7.8.9/include/tach/base.h)" = "$(cat include/tach/base.h)" ] || bad=1
! command -v dpkg-parsechangelog >/dev/null || dpkg-parsechangelog -l packaging/debian/changelog >/dev/null 2>"$work/warned" && [ ! -s "$work/warned" ] || { cat "$work/warned"; bad=1; }
say "$released, then another"
refused 'first section'
say "of nothing new is refused"
exit $failed
