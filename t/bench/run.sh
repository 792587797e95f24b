#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: what pmp costs, and what its peers cost, on the same targets in one run.
#
#   t/bench/run.sh [REPEATS]      default 5
#   BENCH_QUICK=1                 without gdb, pt-pmp and lldb
#   BENCH_ONLY="peers curves"     these sections only: peers warm mariadb parts curves
#                                 cores serve heap objects throughput
#   BENCH_BEFORE=../old/pmp/pmp   the pmp of another build in every table as well, to see
#                                 what a change costs
#
# How long threads are stopped is what the kernel's scheduler trace says (stopmeter.c):
# root, tracefs. Peers are those of gdb, elfutils, percona-toolkit and lldb that are
# installed; some sections need mariadb-server and sysbench. Every figure is the median
# over the repeats, in each of which all tools run in turn. What matters is the ratios in
# one run; absolute times belong to this machine, and to what else it does.
set -u

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
PMP=${PMP:-$top_builddir/pmp/pmp}
bench=$top_srcdir/t/bench
repeats=${1:-5}
rounds=${BENCH_ROUNDS:-12}
baseline=${BENCH_BEFORE:-}
of=
tmp=$(mktemp -d "${TMPDIR:-/tmp}/pmp-bench.XXXXXX") || exit 1
target=''

# shellcheck source=t/lib/mariadb.sh
. "$top_srcdir/t/lib/mariadb.sh"
# shellcheck source=t/bench/heap.sh
. "$bench/heap.sh"

finish() {
	[ ! -e "$tmp/slice" ] || rm "$tmp/slice"
	target_stop
	mariadb_stop
	rm -rf "$tmp"
}

# ---- targets ------------------------------------------------------------------------

# crowd_start BLOCKED SPINNING DEPTH
crowd_start() {
	: >"$tmp/ready"
	"$tmp/crowd" "$@" >"$tmp/ready" &
	target=$!
	until grep -q ^ready "$tmp/ready"; do
		kill -0 "$target" || exit 1
		sleep 0.05
	done
}

target_stop() {
	[ -n "$target" ] || return 0
	kill "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	target=''
}

# server_start: mariadbd without load, once
server_start() {
	mariadb_find || return 1
	[ -z "$mariadb_pid" ] || return 0
	mariadb_start "$tmp/server" && return
	echo "bench: mariadbd does not start" >&2
	return 1
}

# server_load ACTIVE IDLE: that many connections, when those of the load before are gone
server_load() {
	local before=0 now
	mariadb_unload
	until now=$(mariadb_threads) && [ "$now" = "$before" ] &&
		[ "$(server_says "show status like 'threads_connected'")" = 1 ]; do
		before=$now
		sleep 0.2
	done
	mariadb_load "$1" "$2" 900 && return
	echo "bench: no load on mariadbd" >&2
	return 1
}

# server_says STATEMENT: the last column of the answer
server_says() {
	mariadb --no-defaults -uroot -S "$mariadb_dir/sock" -N -B -e "$1" |
		awk '{ print $NF }'
}

# ---- rows ---------------------------------------------------------------------------

row_names=()
row_commands=()

# row NAME COMMAND...: one more of the next table, if COMMAND is installed
row() {
	command -v "$2" >/dev/null || return 0
	row_names+=("$1")
	row_commands+=("$(printf '%q ' "${@:2}")")
}

# meter [OPTION]... -- COMMAND...: runs it under stopmeter; its line
meter() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	"$tmp/stopmeter" "${options[@]}" "$target" "${@:2}" ||
		echo "bench: failed: ${*:2}" >&2
}

# compare TITLE FIELDS: all rows, in turn
compare() {
	local i n words
	: >"$tmp/table"
	for n in $(seq "$repeats"); do
		for i in "${!row_names[@]}"; do
			eval "words=(${row_commands[i]})"
			printf '%s\t%s\n' "${row_names[i]}" "$(meter -- "${words[@]}")"
		done
	done >"$tmp/table"
	print_table "$1" "$2" 1
	row_names=()
	row_commands=()
}

# print_table TITLE FIELDS [RATIOS]
print_table() {
	awk -v title="$1" -v fields="$2" -v ratios="${3:-0}" -f "$bench/table.awk" \
		"$tmp/table"
	echo
}

# value LINE KEY
value() {
	local found=${1#* "$2"=}
	echo "${found%% *}"
}

# minus A B DIVISOR
minus() {
	awk "BEGIN { printf \"%.3f\", ($1 - $2) / $3 }"
}

# warm_line PMP-OPTION...: the line of 62 snapshots, the first 2 left out; and snap_ms,
# the CPU time of one snapshot: that of 62 without that of 2, and what comes with it
warm_line() {
	local few many
	many=$(meter -n 62 -i 50 -k 2 -- "$PMP" -q --max-cpu 0 -i 50ms -n 62 "$@" -p "$target")
	few=$(meter -n 2 -i 50 -- "$PMP" -q --max-cpu 0 -i 50ms -n 2 "$@" -p "$target")
	echo "$many snap_ms=$(minus "$(value " $many" cpu_ms)" "$(value " $few" cpu_ms)" 60)"
}

# ---- sections -----------------------------------------------------------------------

cold="any_us all_ms p50_us p99_us max_us cpu_ms wall_ms rss_mib"

raw_rows() {
	row "pmp --raw$of" "$PMP" --raw -n 1 -p "$target"
	row "pmp --no-symbols$of" "$PMP" --raw -n 1 --no-symbols -p "$target"
	row "pmp --stop=all$of" "$PMP" --raw -n 1 --stop=all -p "$target"
}

all_tools() {
	both raw_rows
	row "eu-stack -q" eu-stack -q -p "$target"
	row "eu-stack" eu-stack -p "$target"
	[ -z "${BENCH_QUICK:-}" ] || return 0
	row "gdb" gdb -nx -batch -ex "thread apply all bt" -p "$target"
	row "pt-pmp" pt-pmp --iterations 1 --interval 0 --pid "$target"
	row "lldb" lldb --batch -o "thread backtrace all" -p "$target"
}

# both COMMAND...: with $PMP; and with the other one, whose rows say so by $of
both() {
	PMP=$PMP of='' "$@"
	[ -z "$baseline" ] || PMP=$baseline of=", before" "$@"
}

# One snapshot by a tool that has just been started.
section_peers() {
	crowd_start 199 1 30
	all_tools
	compare "200 threads, 30 deep" "$cold"
	target_stop
	server_start || return 0
	server_load 16 84 || return 0
	target=$mariadb_pid
	all_tools
	compare "mariadbd, 16 of 100 busy" "$cold"
	target=''
	mariadb_unload
}

# warm_rows NAME: as it is counted, and as text after each snapshot
warm_rows() {
	printf '%s\t%s\n' "$1$of" "$(warm_line -f folded)"
	printf '%s\t%s\n' "$1, --raw$of" "$(warm_line --raw)"
}

# The third and later snapshots of a longer run.
section_warm() {
	local n
	: >"$tmp/table"
	for n in $(seq "$repeats"); do
		crowd_start 199 1 30
		both warm_rows "200, one computes"
		target_stop
		crowd_start 1000 0 30
		both warm_rows "1000 idle"
		target_stop
	done >"$tmp/table"
	print_table "from the 3rd snapshot on" \
		"any_us all_ms stops p50_us p99_us max_us snap_ms rss_mib"
}

# stats_line FILE: from pmp --stats to key=value
stats_line() {
	sed -n -e 's/.*stacks: \(.*\)% of threads that had not run, \(.*\)% looked.*/\1 \2 s/p' \
		-e 's/.*p50 \(.*\) us, p99 \(.*\) us, longest \(.*\) us.*/\1 \2 \3 o/p' \
		-e 's/.*any thread stopped: .*, \(.*\)% of.*/\1 a/p' "$1" |
		awk '$NF == "s" { printf " free_%%=%.2f", $1 + $2 }
			$NF == "o" { printf " own_p50=%s own_p99=%s own_max=%s", $1, $2, $3 }
			$NF == "a" { printf " any_%%=%s", $1 }'
}

# at_10_hz NAME
at_10_hz() {
	printf '%s\t%s%s\n' "$1$of" \
		"$(meter -n 50 -i 100 -o "$tmp/stats" -- "$PMP" -f folded -n 50 \
			-i 100ms --max-cpu 0 --stats -p "$target")" \
		"$(stats_line "$tmp/stats")"
}

# At 10 Hz for 5 s; "free": the share of samples without a stop; "own": pmp's own figures.
section_mariadb() {
	local n state
	server_start || return 0
	: >"$tmp/table"
	for state in "100 idle" "100 busy"; do
		if [ "$state" = "100 idle" ]; then
			server_load 0 100 || return 0
		else
			server_load 100 0 || return 0
		fi
		target=$mariadb_pid
		for n in $(seq "$(((repeats + 1) / 2))"); do
			both at_10_hz "mariadbd, $state"
		done >>"$tmp/table"
		target=''
	done
	mariadb_unload
	print_table "10 Hz" "free_% stops p50_us p99_us max_us own_p50 own_p99 own_max any_%"
}

# parts: of the build that $PMP belongs to
parts() {
	local build file
	build=$(dirname "$PMP")/..
	if [ ! -x "$build/t/bench/unwind" ]; then
		echo "bench: no t/bench of $PMP" >&2
		return
	fi
	echo "unwinding, a stack of 1000 functions$of"
	"$build/t/bench/unwind"
	echo
	file=$(PATH=$PATH:/usr/sbin command -v mariadbd || command -v bash)
	echo "names, $(basename "$file")$of"
	"$build/t/bench/names" "$file"
	"$build/t/bench/keys"
	echo
	echo "what threads wait for: CPU of a capture$of"
	"$build/t/bench/waits"
	echo
}

# What needs no process: frames and names.
section_parts() {
	both parts
}

# series NAME [PMP-OPTION]...: a cold snapshot and warm ones of $target
series() {
	local name=$1$of first
	shift
	first=$(meter -- "$PMP" --raw -n 1 "$@" -p "$target")
	printf '%s\t%s ' "$name" "$(warm_line -f folded "$@")"
	echo "1st_any=$(value "$first" any_us) 1st_wall=$(value " $first" wall_ms)" \
		"1st_cpu=$(value "$first" cpu_ms)"
}

# rate HZ: 4 s of $target; the snapshot at the start is paid for apart
rate() {
	local one all
	one=$(meter -- "$PMP" -q -f folded --max-cpu 0 -n 1 -p "$target")
	all=$(meter -n $(($1 * 4)) -i 1 -- \
		"$PMP" -q -f folded --max-cpu 0 -F "$1" -n $(($1 * 4)) -p "$target")
	printf '%s Hz%s\t%s cpu_%%=%s\n' "$1" "$of" "$all" \
		"$(minus "$(value "$all" cpu_ms)" "$(value "$one" cpu_ms)" 40)"
}

# How pmp's own cost grows.
section_curves() {
	local i n fields="1st_any 1st_cpu 1st_wall any_us stops p50_us p99_us snap_ms rss_mib"
	local times=$(((repeats + 1) / 2))
	: >"$tmp/table"
	for i in 10 100 1000 5000; do
		crowd_start $((i - 1)) 1 30
		for n in $(seq "$times"); do both series "$i threads, 30 deep"; done
		target_stop
	done >"$tmp/table"
	print_table "threads, one computes" "$fields"
	for i in 10 100 1000 10000; do
		crowd_start 9 1 "$i"
		for n in $(seq "$times"); do both series "10 threads, $i deep" --max-frames 20000; done
		target_stop
	done >"$tmp/table"
	print_table "depth, one computes" "$fields"
	crowd_start 199 1 30
	for n in $(seq "$times"); do
		for i in 1 10 100; do both rate "$i"; done
	done >"$tmp/table"
	target_stop
	print_table "rate, 200 threads" "cpu_% any_us stops p50_us p99_us max_us"
}

# queries: how many so far, and when
queries() {
	server_says "select concat(variable_value, '=', unix_timestamp(now(6)))
		from information_schema.global_status where variable_name = 'questions'"
}

# again EVERY COMMAND...: every so many seconds while the slice lasts
again() {
	while [ -e "$tmp/slice" ]; do
		"${@:2}" >/dev/null 2>&1 </dev/null
		sleep "$1"
	done
}

# watch COMMAND...: a pmp at 10 Hz that goes on until it is ended
watch() {
	exec "$@" --max-cpu 0 -F 10 -d 1h -o "$tmp/out" -p "$mariadb_pid" >/dev/null 2>&1 </dev/null
}

# serve PAGES: pmp --serve at 10 Hz, and pages that look on: $tool and $viewers
serve() {
	"$PMP" --max-cpu 0 -F 10 --serve=7673 -p "$mariadb_pid" >/dev/null 2>&1 </dev/null &
	tool=$!
	if [ "$1" -gt 0 ]; then
		python3 "$bench/pages.py" 7673 "$1" &
		viewers=$!
	fi
}

# slice ROUND VARIANT: the throughput of 3 seconds with a tool at work, after 2 in which it
# has read what names need
slice() {
	local before after tool='' viewers=''
	: >"$tmp/slice"
	case $2 in
	none*) : ;;
	pmp*before) watch "$baseline" -f folded & tool=$! ;;
	pmp*locks*) watch "$PMP" --locks & tool=$! ;;
	pmp*pages*) serve 10 ;;
	pmp*serve*) serve 0 ;;
	pmp*) watch "$PMP" -f folded & tool=$! ;;
	only*) "$top_builddir/t/bench/wakes" & tool=$! ;;
	eu-stack*) again 0.1 eu-stack -q -p "$mariadb_pid" & tool=$! ;;
	gdb*) again 1 gdb -nx -batch -ex "thread apply all bt" -p "$mariadb_pid" & tool=$! ;;
	esac
	sleep 2
	before=$(queries)
	sleep 3
	after=$(queries)
	rm "$tmp/slice"
	case $2 in
	pmp* | only*) kill "$tool" ;;
	esac
	[ -z "$viewers" ] || kill "$viewers"
	[ -z "$tool" ] || wait "$tool"
	printf '%s\t%s\t%s\n' "$1" "$2" "$(minus "${after%=*}" "${before%=*}" \
		"(${after#*=} - ${before#*=})")"
}

# Interleaved; each round begins with another variant.
section_throughput() {
	local n i variants=("none" "pmp, 10 Hz" "pmp --locks, 10 Hz" "pmp --serve, 10 Hz"
		"pmp --serve, 10 pages" "only wakes, 10 Hz" "none again")
	server_start || return 0
	[ -z "$baseline" ] || variants+=("pmp, 10 Hz, before")
	if [ -z "${BENCH_QUICK:-}" ]; then
		! command -v eu-stack >/dev/null || variants+=("eu-stack -q, 10 Hz")
		! command -v gdb >/dev/null || variants+=("gdb, 1 Hz")
	fi
	server_load 16 84 || return 0
	for n in $(seq "$rounds"); do
		for i in "${!variants[@]}"; do
			slice "$n" "${variants[(n - 1 + i) % ${#variants[@]}]}"
		done
	done >"$tmp/slices"
	mariadb_unload
	awk -v title="queries, $rounds rounds of 3 s" -v unit=1/s -f "$bench/interval.awk" "$tmp/slices"
	echo
}

core_rows() {
	row "pmp CORE$of" "$PMP" --raw "$tmp/core"
	row "pmp --no-symbols$of" "$PMP" --raw --no-symbols "$tmp/core"
}

# agreed TOOL KIND FILE: with how many stacks of another tool those of pmp agree
agreed() {
	printf '%-20s %s\n' "$1" "$("$bench/core-compare.py" "$tmp/core.txt" "$2" "$3" | head -n 1)"
}

# The core of a mariadbd that was frozen under load: how long each takes for all stacks, and
# whether they are the same, program counter by program counter.
section_cores() {
	local nothing="$tmp/nonexistent"
	command -v gcore >/dev/null && server_start && server_load 16 84 || return 0
	kill -STOP "$mariadb_pid"
	"$PMP" --raw --no-inline -q -p "$mariadb_pid" >"$tmp/live.txt"
	gcore -o "$tmp/core" "$mariadb_pid" >/dev/null 2>&1
	mv "$tmp/core.$mariadb_pid" "$tmp/core"
	kill -CONT "$mariadb_pid"
	mariadb_unload
	target=$mariadb_pid
	both core_rows
	row "eu-stack --core" eu-stack --core "$tmp/core"
	row "eu-stack -q --core" eu-stack -q --core "$tmp/core"
	[ -n "${BENCH_QUICK:-}" ] ||
		row "gdb" gdb -nx -batch -ex "thread apply all bt" "$(command -v mariadbd)" "$tmp/core"
	compare "core of mariadbd, 100 connections, $(du -m "$tmp/core" | cut -f1) MiB" \
		"cpu_ms wall_ms rss_mib"
	target=''
	"$PMP" --raw --no-inline -q "$tmp/core" >"$tmp/core.txt"
	agreed "the living process" live "$tmp/live.txt"
	eu-stack --core "$tmp/core" -n 0 >"$tmp/eu.txt" 2>/dev/null
	agreed "eu-stack --core" eu "$tmp/eu.txt"
	# shellcheck disable=SC2016 # it is gdb's
	gdb -nx -batch -iex "set debug-file-directory $nothing" -iex 'set language c' \
		-ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' \
		-ex 'thread apply all -s -- frame apply all -q p (void*)$pc' \
		"$(command -v mariadbd)" "$tmp/core" >"$tmp/gdb.txt" 2>/dev/null </dev/null
	agreed "gdb" gdb "$tmp/gdb.txt"
	rm -f "$tmp/core"
	echo
}

# metric NAME [LABEL]: of the server, the sum of its lines
metric() {
	curl -s http://127.0.0.1:7673/metrics |
		awk -v name="$1" -v label="${2:-}" 'index($0, name) == 1 && index($0, label) { n += $NF }
			END { printf "%.6f", n }'
}

# What pmp --serve costs by how many pages look on: mariadb under load, 20 s each.
section_serve() {
	local pages tool viewers field name labels before
	local fields=("front|pmp_cpu_seconds_total|front" "sampler|pmp_cpu_seconds_total|sampler"
		"server|pmp_cpu_seconds_total|server" "stops|pmp_stop_seconds_count|"
		"missed|pmp_missed_snapshots_total|" "snapshots|pmp_snapshots_total|")
	server_start || return 0
	server_load 16 84 || return 0
	echo "pmp --serve at 10 Hz, 20 s: CPU in percent of a core, numbers per second"
	for pages in 0 1 10; do
		viewers=
		serve "$pages"
		sleep 8
		before=()
		for field in "${fields[@]}"; do
			IFS='|' read -r _ name labels <<<"$field"
			before+=("$(metric "$name" "$labels")")
		done
		sleep 20
		printf '%2d pages:' "$pages"
		for field in "${fields[@]}"; do
			IFS='|' read -r label name labels <<<"$field"
			awk -v label="$label" -v a="${before[0]}" -v b="$(metric "$name" "$labels")" \
				'BEGIN { per = (b - a) / 20; if (label ~ /^(front|sampler|server)$/) per *= 100
					printf "  %s %.2f", label, per }'
			before=("${before[@]:1}")
		done
		printf '  memory %.0f MiB\n' "$(metric pmp_memory_bytes | awk '{ print $1 / 1048576 }')"
		kill "$tool"
		[ -z "$viewers" ] || kill "$viewers"
		wait "$tool" 2>/dev/null
	done
	mariadb_unload
	echo
}

# pmp -f objects on the target, which is to stop no thread
objects_rows() {
	row "pmp -f objects$of" "$PMP" -f objects -o "$tmp/objects" -p "$target"
	row "pmp -f objects --types=no$of" "$PMP" -f objects --types=no -o "$tmp/objects" -p "$target"
}

# What a heap holds, read from outside: CPU of all of pmp, and whether threads were stopped.
section_objects() {
	local columns="wall_ms cpu_ms rss_mib stops any_us"
	${CC:-cc} -O2 -pthread -o "$tmp/blocks" "$bench/blocks.c" || return
	: >"$tmp/ready"
	"$tmp/blocks" >"$tmp/ready" &
	target=$!
	until grep -q ^ready "$tmp/ready"; do
		kill -0 "$target" || return
		sleep 0.1
	done
	both objects_rows
	compare "a heap of 1 GiB, 8 million blocks" "$columns"
	target_stop
	server_start && server_load 8 0 || return 0
	target=$mariadb_pid
	both objects_rows
	compare "the heap of mariadbd, 8 connections, all busy" "$columns"
	sed -n 1,9p "$tmp/objects"
	echo
	target=
	mariadb_unload
}

# ---- the run ------------------------------------------------------------------------

prepare() {
	local program
	for program in stopmeter crowd; do
		${CC:-cc} -D_GNU_SOURCE -O2 -pthread -o "$tmp/$program" "$bench/$program.c" ||
			exit 1
	done
	if [ ! -d /sys/kernel/tracing/instances ]; then
		mount -t tracefs none /sys/kernel/tracing 2>/dev/null
	fi
	if [ "$(id -u)" != 0 ] || [ ! -d /sys/kernel/tracing/instances ]; then
		echo "bench: needs root and tracefs on /sys/kernel/tracing" >&2
		exit 1
	fi
	for program in "$PMP" $baseline; do
		[ -x "$program" ] || { echo "bench: no $program: build it first" >&2; exit 1; }
	done
}

trap finish EXIT
prepare
echo "$("$PMP" --version | head -n 1), Linux $(uname -r), $(nproc) processors, load before:" \
	"$(cut -d' ' -f1-3 /proc/loadavg); medians of $repeats"
echo
for section in ${BENCH_ONLY:-peers warm mariadb parts curves cores serve heap objects throughput}; do
	if ! declare -F "section_$section" >/dev/null; then
		echo "bench: no section $section" >&2
		exit 2
	fi
	"section_$section"
done
echo "$SECONDS s"
