#!/usr/bin/env bash
# The libraries reach no thread variable through the loader's __tls_get_addr or a TLS descriptor. Both may call malloc
# at a thread's first use, which may be in a signal handler. They also do not call gettid(): in musl it returns a
# thread variable, which belongs to the parent in a vfork child.
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
