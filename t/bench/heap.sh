# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154 # what run.sh has set
#
# What a recorder costs the program that it is in, beside other ways to know who allocates;
# sourced by run.sh.

libraries=/usr/lib/$(uname -m)-linux-gnu

# allocators: the tools of the table, one line each: NAME|COMMAND... before the program
allocators() {
	echo "pmp --heap=1G|$PMP --heap=1G --heap-only -q -f folded -o $tmp/out --"
	echo "pmp --heap|$PMP --heap --heap-only -q -f folded -o $tmp/out --"
	echo "glibc alone|env"
	! command -v heaptrack >/dev/null || echo "heaptrack|heaptrack -o $tmp/heaptrack"
	[ ! -f "$libraries/libtcmalloc.so.4" ] ||
		echo "tcmalloc|env LD_PRELOAD=$libraries/libtcmalloc.so.4"
	[ ! -f "$libraries/libjemalloc.so.2" ] ||
		echo "jemalloc|env LD_PRELOAD=$libraries/libjemalloc.so.2"
	[ ! -f "$libraries/libjemalloc.so.2" ] ||
		echo "jemalloc, prof|env LD_PRELOAD=$libraries/libjemalloc.so.2 MALLOC_CONF=prof:true"
}

# instructions COMMAND...: of 100,000 pairs, in that of a program with 200,000
instructions() {
	local few many
	few=$("$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$tmp/allocate" 100000 1 2>&1 | sed -n 's/.*Collected : //p')
	many=$("$@" valgrind --tool=callgrind --callgrind-out-file=/dev/null \
		"$tmp/allocate" 200000 1 2>&1 | sed -n 's/.*Collected : //p')
	minus "$many" "$few" 100000
}

# cpu_of TOOL COMMAND...: CPU seconds of the command alone, not of the tool beside it; with
# heaptrack also of what takes down its records
cpu_of() {
	# shellcheck disable=SC2016 # the inner shell's
	local TIMEFORMAT='%U %S' script='TIMEFORMAT="%U %S"; { time "${@:2}" >/dev/null 2>&1; } 2>"$1"'
	# shellcheck disable=SC2086 # words
	case $1 in
	heaptrack*) { time $1 "${@:2}" >/dev/null 2>&1 </dev/null; } 2>"$tmp/times" ;;
	*) $1 bash -c "$script" bash "$tmp/times" "${@:2}" >/dev/null 2>&1 </dev/null ;;
	esac
	awk 'NF == 2 { printf "%.3f", $1 + $2 }' "$tmp/times"
}

# programs NAME COMMAND...: its CPU time with each tool, in turn; each round begins with
# another one
programs() {
	local n i tool tools=("none|env"
		"pmp --heap|$PMP --heap --heap-only --children -q -f folded -o $tmp/out --"
		"calls passed on|env LD_PRELOAD=$tmp/forward.so"
		"none again|env")
	! command -v heaptrack >/dev/null || tools+=("heaptrack|heaptrack -o $tmp/heaptrack")
	for n in $(seq "$rounds"); do
		for i in "${!tools[@]}"; do
			tool=${tools[(n - 1 + i) % ${#tools[@]}]}
			printf '%s\t%s\t%s\n' "$n" "${tool%%|*}" "$(cpu_of "${tool#*|}" "${@:2}")"
		done
	done >"$tmp/slices"
	awk -v title="$1" -v unit="CPU s" -v digits=2 -f "$bench/interval.awk" "$tmp/slices"
	echo
}

section_heap() {
	local line name
	${CC:-cc} -O2 -o "$tmp/allocate" "$bench/allocate.c" || return
	${CC:-cc} -O2 -fPIC -shared -o "$tmp/forward.so" "$bench/forward.c" || return
	for _ in $(seq "$repeats"); do
		allocators | while IFS='|' read -r name line; do
			# shellcheck disable=SC2086 # words
			printf '%s\t%s\n' "$name" \
				"$($line "$tmp/allocate" 2>/dev/null </dev/null | grep pairs_ns)"
		done
	done >"$tmp/table"
	print_table "malloc() and free(): ns for a pair" "pairs_ns churn_ns" 1
	for _ in $(seq "$repeats"); do
		for line in "glibc alone|env" \
			"pmp --heap=exact|$PMP --heap=exact --heap-only -q -f folded -o $tmp/out --"; do
			printf '%s\t%s\n' "${line%%|*}" "$(${line#*|} "$tmp/allocate" 1 0 2>/dev/null)"
		done
	done >"$tmp/table"
	print_table "a pair that is written down, with 10 KiB of stack above it" "sample_ns"
	if command -v valgrind >/dev/null; then
		echo "instructions a pair (callgrind): $(instructions env) alone," \
			"$(instructions "$PMP" --heap=1G --heap-only -q -f folded -o "$tmp/out" --) with pmp"
		echo
	fi
	# shellcheck disable=SC2046 # words
	printf 'int f%d(int a) { char b[a %% 9 + 1]; for (int i = 0; i < a; i++) b[i %% 9] += i; return b[0]; }\n' \
		$(seq 500) >"$tmp/program.c"
	! command -v clang >/dev/null || programs clang clang -O2 -S -o /dev/null "$tmp/program.c"
	command -v python3 >/dev/null || return
	cat >"$tmp/program.py" <<-'END'
		import json
		for _ in range(20):
		    json.loads(json.dumps([{str(i): [i] * 5} for i in range(20000)]))
	END
	programs "python" python3 "$tmp/program.py"
	programs "python, malloc()" env PYTHONMALLOC=malloc python3 "$tmp/program.py"
}
