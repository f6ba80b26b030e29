#!/bin/sh
# Who may include whom: include -> nothing of ours; core -> include, core; arch -> include, core,
# arch; tools, bench, examples -> include and their own folder; compat -> include, core, compat.
cd "$(dirname "$0")/../.." || exit 1
bad=0
rule() { # FOLDER PATTERN-OF-ALLOWED-QUOTED-INCLUDES
	hits=$(grep -rnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' --include='*.[ch]' "$1" 2>/dev/null |
		grep -vE "#[[:space:]]*include[[:space:]]*\"($2)")
	[ -z "$hits" ] || { echo "$hits" | sed "s|^|# may not be included from $1: |"; bad=1; }
}
rule include 'NOTHING'
rule core 'core/'
rule arch 'core/|arch/'
rule tools/tach 'tools/'
rule bench 'bench/'
rule examples 'examples/'
rule compat 'core/|compat/'
if grep -rnE 'urcu' include; then echo "# public headers never include liburcu"; bad=1; fi
[ $bad = 0 ] && echo "ok layers" || { echo "not ok layers"; exit 1; }
