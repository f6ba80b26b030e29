#!/usr/bin/env bash
# No thread variable of the libraries is reached through the loader's __tls_get_addr or a TLS
# descriptor, which may call malloc at a thread's first use: that use may be in a signal handler.
# Nor do they call gettid(): musl's returns a thread variable, which is the parent's in a vfork child.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
failed=0
for f in "$B/libtach.a" "$B/libtach.so" "$B/libtach-run.so"; do
	relocations=$(readelf -rW "$f" 2>/dev/null)
	# Debugging sections describe variables but do not access them.
	bad=$(printf '%s\n' "$relocations" | awk '/^Relocation section/ { code = $0 !~ /debug/ }
		code && /TLSGD|TLSLD|DTPMOD|DTPOFF|DTPREL|TLSDESC|__tls_get_addr/')
	if nm -u "$f" | grep -qw gettid; then
		echo "# $f: calls gettid(), not syscall(SYS_gettid)"; failed=1
	fi
	if ! printf '%s\n' "$relocations" | grep -q TPOFF; then
		echo "# $f: no thread variable found"; failed=1
	elif [ -n "$bad" ]; then
		printf '%s\n' "$bad" | sed "s|^|# $f: |"; failed=1
	fi
done
if [ $failed = 0 ]; then echo "ok tls"; else echo "not ok tls"; fi
exit $failed
