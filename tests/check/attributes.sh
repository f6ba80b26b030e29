#!/usr/bin/env bash
# Every public declaration has one line of attributes above it, in the terms of attributes(7) and whether the function
# allocates; its manual page says the same. By the calls in the library's disassembly, an AS-Safe function reaches
# only AS-Safe functions, and a function that allocates nothing reaches no allocator. Calls through pointers are not
# visible there; attributes.allow names those that matter, and functions that are safe for other reasons.
set -u
cd "$(dirname "$0")/../.."
B=${B:-build}
export work; work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0 bad=0
say() { if [ $bad = 0 ]; then echo "ok attributes_$1"; else echo "not ok attributes_$1"; failed=1; fi; bad=0; }

words='( [a-z]+(:[a-z]+)?)'
form="MT-(Safe$words*|Unsafe$words+) \| AS-(Safe|Unsafe$words+) \| AC-(Safe|Unsafe$words+) \| (no allocation|allocates)"
# Prints "NAME<tab>ATTRIBUTES"; the field is empty for a declaration without attributes, and for a line without a
# declaration.
awk '/^\/\* (MT|AS|AC)-/ { if (tag != "") print "?" NR "\t" tag; tag = $0; sub(/^\/\* /, "", tag); sub(/ \*\/$/, "", tag); next }
	/^(TACH_API |extern TACH_API )/ { if (match($0, /[ *]tach_[a-z_0-9]+\(/)) { name = substr($0, RSTART + 1, RLENGTH - 2)
		if (name !~ /^tach__/) print name "\t" tag } }
	{ if (tag != "" && !/^TACH_API/) print "?" FILENAME ":" FNR "\t" tag; tag = "" }' include/tach/*.h >"$work/tags"
cut -f1 "$work/tags" | sort >"$work/declared"
sed -n 's/^\t\(tach_[a-z]\w*\);$/\1/p' core/libtach.map | grep -v '^tach__' | sort | diff - "$work/declared" |
	sed -n 's/^[<>]/# declared once with its name on the first line, and in the symbol map:/p' >"$work/out"
grep -vE $'^[a-z_0-9]+\t'"$form\$" "$work/tags" | sed 's/^/# not as the others: /' >>"$work/out"
[ ! -s "$work/out" ] || { cat "$work/out"; bad=1; }
say form

for page in man/*.3; do
	sed -n '/^\.Sh ATTRIBUTES/,/^\.Sh [B-Z]/p' "$page" | awk '/^\.It/ { if (names) flush(); names = $0; tag = ""; next }
		/^\./ { next } { tag = tag (tag ? " " : "") $0 } END { if (names) flush() }
		function flush(n, w, i) { n = split(names, w, " "); for (i = 3; i <= n; i++) if (w[i] ~ /^tach_/) print w[i] "\t" tag }'
done | sort >"$work/pages"
sort "$work/tags" | diff "$work/pages" - | sed -n 's/^</# only in its manual page:/p; s/^>/# only in its header:/p' >"$work/out"
[ ! -s "$work/out" ] || { cat "$work/out"; bad=1; }
say pages

# A node is OBJECT/MEMBER:FUNCTION, or the name of a function outside the library.
objdump -tdr --no-show-raw-insn "$B/libtach.a" | awk -v B="$B" '
	FILENAME == "tests/check/attributes.allow" { if (/^#/) next
		split($0, w, "\t"); if (w[2] ~ /^-/) not[w[1], substr(w[2], 2)] = 1; else also[w[1]] = also[w[1]] " " substr(w[2], 2)
		rule[w[1] "\t" w[2]] = 0; next }
	FILENAME != "-" { split($0, w, "\t"); tag[w[1]] = w[2]; next }
	/:     file format / { object = $1; sub(/:$/, "", object); sub(/.*\//, "", object); object = object "/" ++members; next }
	/^[0-9a-f]+ .* F / { split($0, w, "\t"); n = split(w[1], l, " "); m = split(w[2], r, " "); name = r[m]
		at = object SUBSEP l[n] SUBSEP l[1]
		if (!(at in node)) { node[at] = object ":" name; nodes[++count] = node[at] }
		here[object, name] = node[at]; if ($2 ~ /^[gw]/) everywhere[name] = node[at]
		if (!((object, l[n]) in section)) section[object, l[n]] = node[at]
		next }
	/^[0-9a-f]+ <.*>:$/ { function_ = here[object, substr($2, 2, length($2) - 3)]; next }
	/^\t\t\t[0-9a-f]+: R_/ { t = $3; sub(/[-+]0x[0-9a-f]+$/, "", t)
		if (op ~ /^(call|j[a-z]+|bl|b|b\.[a-z]+|cbn?z|tbn?z)$/) { k++; from[k] = function_; to[k] = t; within[k] = object }
		next }
	/^ +[0-9a-f]+:\t/ { split($0, w, "\t"); op = w[2]; sub(/ .*/, "", op) }
	function object_of(n) { sub(/\/.*/, "", n); return n }
	function short(n) { sub(/.*:/, "", n); sub(/\..*/, "", n); return n }
	# Lists every function that f reaches, each with its caller.
	function reach(f, queue, last, i, j, n, w, x, y) {
		split("", via); last = 1; queue[1] = everywhere[f]; via[queue[1]] = ""
		n = split(also[f], w, " ")
		for (i = 1; i <= n; i++) { x = w[i]; sub(/:.*/, "", x); sub(/.*:/, "", w[i])
			for (j = 1; j <= count; j++) if (!(nodes[j] in via) && object_of(nodes[j]) ~ "^(" x ")$" && short(nodes[j]) ~ "^(" w[i] ")$") {
				queue[++last] = nodes[j]; via[nodes[j]] = everywhere[f]; rule[f "\t+" x ":" w[i]]++ } }
		for (i = 1; i <= last; i++) { n = split(calls[queue[i]], w, " ")
			for (j = 1; j <= n; j++) { y = short(w[j])
				if ((f, y) in not) rule[f "\t-" y]++
				else if (("*", y) in not) rule["*\t-" y]++
				else if (!(w[j] in via)) { via[w[j]] = queue[i]; queue[++last] = w[j] } } } }
	function path(x, t) { for (t = short(x); via[x] != ""; t = short(x) " > " t) x = via[x]; return t }
	END {
		allocate = " malloc calloc realloc reallocarray aligned_alloc posix_memalign memalign strdup strndup asprintf __asprintf_chk vasprintf __vasprintf_chk fopen fdopen opendir scandir getline newlocale qsort setenv putenv mmap mremap "
		unsafe = " malloc calloc realloc reallocarray aligned_alloc posix_memalign memalign strdup strndup asprintf __asprintf_chk vasprintf __vasprintf_chk free fopen fdopen fclose fgets fread fwrite fprintf __fprintf_chk printf __printf_chk fputs puts fscanf __isoc99_fscanf sscanf __isoc99_sscanf opendir readdir closedir scandir getline newlocale uselocale freelocale setlocale qsort setenv putenv exit dlopen dlsym dl_iterate_phdr pthread_mutex_lock pthread_mutex_trylock pthread_rwlock_rdlock pthread_rwlock_wrlock pthread_cond_wait pthread_once pthread_create pthread_atfork pthread_key_create strerror syslog "
		for (i = 1; i <= k; i++) { t = to[i]
			if ((within[i], t) in section) t = section[within[i], t]
			else if ((within[i], t) in here) t = here[within[i], t]
			else if (t in everywhere) t = everywhere[t]
			if (!seen[from[i], t]++) { calls[from[i]] = calls[from[i]] " " t; edges++ } }
		for (f in tag) {
			if (!(f in everywhere)) { print "# the library has no " f; continue }
			reach(f)
			for (x in via) {
				# Some allocators are safe: AS-Safe code takes its memory from the kernel.
				if (tag[f] ~ /AS-Safe/ && index(unsafe, " " x " ")) print "# AS-Safe: " path(x)
				if (tag[f] ~ /no allocation/ && index(allocate, " " x " ")) print "# no allocation: " path(x) } }
		for (line in rule) if (!rule[line]) { sub(/\t/, " ", line); print "# attributes.allow: nothing needs " line }
		print edges > (ENVIRON["work"] "/edges") }' "$work/tags" tests/check/attributes.allow - >"$work/out"
[ ! -s "$work/out" ] || { sort "$work/out"; bad=1; }
[ "$(cat "$work/edges")" -ge 2000 ] || { echo "# only $(cat "$work/edges") calls were found"; bad=1; }
say calls
exit $failed
