#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# make bench: pmp and its peers on the same targets in one run, measured by the
# kernel's scheduler trace (stopmeter.c). Root, tracefs, and whichever of gdb,
# elfutils, percona-toolkit and mariadb-server are installed.
#
#   t/bench/run.sh [REPEATS]      default 5; BENCH_QUICK=1 leaves out gdb and pt-pmp
#
# Medians over the repeats. The figures that matter are the ratios in one run;
# absolute times belong to this machine.
set -u

top_srcdir=$(cd "${top_srcdir:-.}" && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
PMP=${PMP:-$top_builddir/pmp/pmp}
repeats=${1:-5}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/pmp-bench.XXXXXX") || exit 1
target=''

# shellcheck source=t/lib/mariadb.sh
. "$top_srcdir/t/lib/mariadb.sh"

finish() {
	[ -z "$target" ] || kill "$target" 2>/dev/null
	mariadb_stop
	rm -rf "$tmp"
}
trap finish EXIT

${CC:-cc} -D_GNU_SOURCE -O2 -o "$tmp/stopmeter" "$top_srcdir/t/bench/stopmeter.c" || exit 1
${CC:-cc} -D_GNU_SOURCE -O2 -pthread -o "$tmp/crowd" "$top_srcdir/t/bench/crowd.c" || exit 1
if [ ! -d /sys/kernel/tracing/instances ]; then
	mount -t tracefs none /sys/kernel/tracing 2>/dev/null
fi
if [ "$(id -u)" != 0 ] || [ ! -d /sys/kernel/tracing/instances ]; then
	echo "bench: needs root and tracefs on /sys/kernel/tracing" >&2
	exit 1
fi

"$top_builddir/t/bench/unwind"
echo
[ -x "$PMP" ] || { echo "bench: no $PMP: build it first" >&2; exit 1; }

fields="p50_us p99_us max_us any_us wall_ms cpu_ms rss_mib"

# measure NAME COMMAND...: one row, the median of each field
measure() {
	local name=$1 i
	shift
	command -v "$1" >/dev/null || return 0
	: >"$tmp/runs"
	for i in $(seq "$repeats"); do
		"$tmp/stopmeter" "$target" "$@" >>"$tmp/runs" || echo "bench: $name failed" >&2
	done
	awk -v name="$name" -v fields="$fields" '
		{ for (i = 1; i <= NF; i++) { split($i, kv, "="); v[kv[1], ++n[kv[1]]] = kv[2] }
		  if ($0 !~ /left=0/) left = 1 }
		function median(key,  i, j, t, a) {
			for (i = 1; i <= n[key]; i++) a[i] = v[key, i] + 0
			for (i = 2; i <= n[key]; i++)
				for (j = i; j > 1 && a[j] < a[j - 1]; j--) { t = a[j]; a[j] = a[j - 1]; a[j - 1] = t }
			return a[int((n[key] + 1) / 2)]
		}
		END {
			printf "%-22s", name
			k = split(fields, f, " ")
			for (i = 1; i <= k; i++) printf " %9.1f", median(f[i])
			print left ? "  LEFT STOPPED" : ""
		}' "$tmp/runs"
}

peers() {
	printf '%-22s' "$1"
	# shellcheck disable=SC2086
	printf ' %9s' $fields
	echo
	measure "pmp --raw" "$PMP" --raw -n 1 -p "$target"
	measure "pmp --raw --no-symbols" "$PMP" --raw -n 1 --no-symbols -p "$target"
	measure "pmp --raw --stop=all" "$PMP" --raw -n 1 --stop=all -p "$target"
	measure "eu-stack -q" eu-stack -q -p "$target"
	measure "eu-stack" eu-stack -p "$target"
	[ -z "${BENCH_QUICK:-}" ] || return 0
	measure "gdb" gdb -nx -batch -ex "thread apply all bt" -p "$target"
	measure "pt-pmp" pt-pmp --iterations 1 --interval 0 --pid "$target"
	echo
}

"$tmp/crowd" 199 1 30 >"$tmp/ready" &
target=$!
until grep -q ^ready "$tmp/ready"; do sleep 0.05; done
peers "200 threads, 30 deep"
kill "$target"
wait "$target" 2>/dev/null
target=''

if mariadb_find; then
	mariadb_start "$tmp/server" || exit 1
	target=$mariadb_pid
	mariadb_load 16 80 900 || exit 1
	peers "mariadbd, 16 busy + 80"
	target=''
fi
