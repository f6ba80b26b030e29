#!/usr/bin/env bash
# What is built is hardened, as its files show: the command and every library are position-independent, with
# full RELRO and immediate binding, no executable stack, stack protector, FORTIFY where something can be
# checked; on x86 every object of code is marked for shadow stacks. (A linked file has that mark only where
# the system's own start-up objects have it, which Debian 12's have not: the objects are looked at.)
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
if grep -q -e '-fsanitize' "$B/flags" || ! grep -q -e -fstack-protector "$B/flags"; then
	echo "skip hardening: $B was built with other flags"; exit 77
fi
failed=0
for f in "$B/tach" "$B/libtach.so.0" "$B/libtach-run.so" "$B/libpfm3/libpfm.so.3" "$B/libpfm4/libpfm.so.4"; do
	bad=0
	is() { eval "$2" || { echo "# $f: $1"; bad=1; }; }
	segments=$(readelf -lW "$f") dynamic=$(readelf -dW "$f") symbols=$(nm -D --undefined-only "$f")
	is 'not position-independent' 'readelf -hW "$f" | grep -q "Type: *DYN"'
	is 'no RELRO' 'grep -q GNU_RELRO <<<"$segments"'
	is 'binds lazily: RELRO is not full' 'grep -qE "FLAGS_1.*\bNOW\b" <<<"$dynamic"'
	is 'the stack may be executed' 'grep -qE "GNU_STACK.* RW +0x" <<<"$segments"'
	is 'a segment is written and executed' '! grep -qE "LOAD.* RWE " <<<"$segments"'
	is 'text relocations' '! grep -q TEXTREL <<<"$dynamic"'
	is 'no stack protector' 'grep -q __stack_chk_fail <<<"$symbols"'
	is 'no FORTIFY' 'grep -qE "__[a-z]+_chk(@|$)" <<<"$symbols"'
	if [ $bad = 0 ]; then echo "ok hardening ${f##*/}"; else echo "not ok hardening ${f##*/}"; failed=1; fi
done
if readelf -hW "$B/libtach.so.0" | grep -q X86-64; then
	unmarked=$(readelf -nW "$B/libtach.a" | awk '/^File:/ { name = $2; n++ } /SHSTK/ { seen[name] = 1 } { all[name] = 1 }
		END { for (f in all) if (f && !(f in seen)) print f }')
	if [ -z "$unmarked" ]; then echo "ok hardening shadow stacks"
	else echo "$unmarked" | sed 's/^/# not marked: /'; echo "not ok hardening shadow stacks"; failed=1; fi
fi
exit $failed
