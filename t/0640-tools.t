#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What other tools read out of pmp's files is what pmp itself counts in them: go tool
# pprof, google-pprof, xmllint, node; and pmp reads what these tools write.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

need perl
[ -x "$PMP" ] || skip_all "no $PMP"

start_target demo
ok "save demo.pb.gz -n 20 -F 20" "a profile is saved"
program=$top_builddir/t/target/demo

# pmp FORMAT [OPTION...]: the saved profile in a format.
saved() {
	format=$1
	shift
	"$PMP" -q -f "$format" "$@" demo.pb.gz
}

stacks=$(saved folded | awk '{ n += $NF } END { print n }')
ok "[ $stacks -ge 180 ]" "it has $stacks stacks"

# self_of FUNCTION: as the flat table has it.
self_of() {
	saved flat | awk -v name="$1" '$7 == name { print $3 }'
}
total_of() {
	saved flat | awk -v name="$1" '$7 == name { print $4 }'
}

# ---- pmp with itself ---------------------------------------------------------------

is "$(saved folded | awk '/update_table/ { n += $NF } END { print n }')" \
	"$(total_of update_table)" "folded and flat agree"
is "$(saved callgraph | awk '$NF ~ /^\[/ && $1 ~ /^\[/ && $5 == "update_table" { print $3 + $4 }')" \
	"$(total_of update_table)" "so does the call graph"
is "$(saved flat | awk 'NR > 3 && $7 !~ /^\[/ { print $7, $NF }' | sort)" \
	"$(saved callgraph | awk '/^\[/ && $5 !~ /^(demo$|\[)/ { print $5, $6 }' | sort)" \
	"the numbers of blocks are the same in both"
is "$(saved pmp | awk '{ n += $1 } END { print n }')" "$stacks" "pmp has all stacks"
is "$(saved threads | awk 'NR > 3 { n += $2 } END { print n }')" "$stacks" "threads too"
is "$(saved raw | sed -n 's/^State.* seen \([0-9]*\) times$/\1/p' | awk '{ n += $1 } END { print n }')" \
	"$stacks" "and raw"
ok "'$PMP' -q -o again.pb.gz demo.pb.gz && cmp demo.pb.gz again.pb.gz" \
	"saved again it is the same file"
is "$("$PMP" -q -f folded demo.pb.gz again.pb.gz | awk '{ n += $NF } END { print n }')" \
	$((2 * stacks)) "two files are added up"
is "$("$PMP" -q -f folded - <demo.pb.gz)" "$(saved folded)" "- is standard input"

# Addresses only: named when they are read.
ok "'$PMP' -q --no-symbols -o plain.pb.gz -n 3 -p '$target_pid'" "saved without names"
unlike "$("$PMP" -q --no-symbols -f folded plain.pb.gz)" update_table "it has none"
"$PMP" -q --no-symbols -f folded demo.pb.gz >plain.folded
unlike "$(cat plain.folded)" update_table "names in a file are left out as well"
like "$(cat plain.folded)" ';[[]demo[+]0x[0-9a-f]+[]];' "for their addresses"
is "$(awk '{ n += $NF } END { print n }' plain.folded)" "$stacks" "and it has all stacks"
like "$("$PMP" -q -f folded plain.pb.gz)" 'queue;update_table;' \
	"which are found in the files it ran from"
# As many snapshots of some of its threads, and of others.
"$PMP" -q -o some.pb.gz -n 20 -F 20 --threads 'queue-[12]|busy|poll' -p "$target_pid"
"$PMP" -q -o others.pb.gz -n 20 -F 20 --not-threads 'queue-1|poll' -p "$target_pid"
stop_process "$target_pid"

# ---- go tool pprof ---------------------------------------------------------------------

if command -v go >/dev/null 2>&1; then
	HOME=$tmp
	PPROF_TMPDIR=$tmp
	export HOME PPROF_TMPDIR
	gopprof() {
		go tool pprof -symbolize=none "$@" 2>>go.err
	}
	# flat_of FUNCTION OPTION...
	flat_of() {
		name=$1
		shift
		gopprof -sample_index=samples -top -nodecount=1000 -nodefraction=0 "$@" |
			awk -v name="$name" '$6 == name { print $1 }'
	}
	for function in compute_checksum epoll_wait; do
		is "$(flat_of $function demo.pb.gz)" "$(self_of $function)" \
			"go tool pprof: $function has as many samples"
	done
	like "$(gopprof -sample_index=samples -top demo.pb.gz)" "of $stacks total" \
		"all samples"
	is "$(gopprof -sample_index=samples -top demo.pb.gz | grep -o "of $stacks total")" \
		"of $stacks total" "the same total"
	like "$(gopprof -top demo.pb.gz)" '^Type: wall' "wall-clock time is the default"
	like "$(gopprof -sample_index=cpu -top demo.pb.gz)" ' compute_checksum' "CPU time"
	like "$(gopprof -tags demo.pb.gz)" 'queue-1' "labels"
	like "$(gopprof -peek '^update_table$' demo.pb.gz)" '\| +update_table' "-peek"
	like "$(gopprof -traces demo.pb.gz)" 'thread: *queue-1' "-traces"
	like "$(gopprof -comments demo.pb.gz)" '^taken: snapshots=20 ' "comments"
	like "$(gopprof -sample_index=samples -diff_base=demo.pb.gz -top again.pb.gz)" \
		'^Showing nodes accounting for 0' "-diff_base of the same is nothing"
	gopprof -sample_index=samples -diff_base=some.pb.gz -top -nodecount=1000 \
		-nodefraction=0 others.pb.gz |
		awk '$6 ~ /^[^[]/ && $1 ~ /^-?[0-9]+$/ && $1 { print $6, $1 }' | sort >go.diff
	"$PMP" -q -f folded --diff some.pb.gz others.pb.gz | sed 's/^.*;//' |
		awk '/^[^[]/ { n[$1] += $3 - $2 } END { for (name in n) if (n[name]) print name, n[name] }' |
		sort >pmp.diff
	is "$(cat pmp.diff)" "$(cat go.diff)" "-diff_base is the same as --diff"
	ok "[ $(grep -c . pmp.diff) -ge 4 ]" "which is not nothing"
	if command -v dot >/dev/null 2>&1; then
		like "$(gopprof -svg demo.pb.gz)" update_table "-svg"
	else
		skip "no dot of graphviz: go tool pprof -svg"
	fi
	ok "gopprof -proto -output=go.pb.gz demo.pb.gz" "it writes the profile again"
	is "$("$PMP" -q -f pmp go.pb.gz)" "$(saved pmp)" "of which pmp makes the same"
	saved gperf >demo.prof
	is "$(flat_of compute_checksum "$program" demo.prof)" "" \
		"without symbols gperf has no names"
	like "$(go tool pprof -top "$program" demo.prof 2>>go.err)" ' compute_checksum' \
		"with them it has"
	ok "go tool pprof -proto -output=legacy.pb.gz '$program' demo.prof" \
		"go tool pprof converts gperf"
	is "$("$PMP" -q -f folded legacy.pb.gz | awk '{ n += $NF } END { print n }')" \
		"$stacks" "which pmp reads"
	cat >cpu.go <<'END'
package main

import (
	"os"
	"runtime/pprof"
	"time"
)

func spin(until time.Time) {
	for time.Now().Before(until) {
	}
}

func main() {
	pprof.StartCPUProfile(os.Stdout)
	spin(time.Now().Add(300 * time.Millisecond))
	pprof.StopCPUProfile()
}
END
	if GOCACHE=$tmp/cache GOFLAGS=-mod=mod go run cpu.go >cpu.pb.gz 2>>go.err; then
		like "$("$PMP" -q -f folded cpu.pb.gz)" 'main\.main;main\.spin' \
			"pmp reads Go's own profiles"
		like "$("$PMP" --diff cpu.pb.gz -f flat cpu.pb.gz 2>&1)" \
			'^pmp: the base does not record its number of snapshots: compared by totals' \
			"and compares them, by totals"
	else
		skip "go cannot build: $(tail -n 1 go.err)"
	fi
	# Bytes and objects: the same type, the same amounts, spelled alike.
	cat >heap.go <<'END'
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var held [][]byte
var small []*int64

//go:noinline
func hold(n, size int) {
	for i := 0; i < n; i++ {
		held = append(held, make([]byte, size))
	}
}

//go:noinline
func drop(n, size int) {
	for i := 0; i < n; i++ {
		copy(make([]byte, size), held[0])
	}
}

//go:noinline
func many(n int) {
	for i := 0; i < n; i++ {
		small = append(small, new(int64))
	}
}

func main() {
	runtime.MemProfileRate = 1
	hold(3, 700000)
	drop(5, 1000000)
	many(2000)
	runtime.GC()
	pprof.Lookup("heap").WriteTo(os.Stdout, 0)
	runtime.KeepAlive(held)
	runtime.KeepAlive(small)
}
END
	if GOCACHE=$tmp/cache GOFLAGS=-mod=mod go run heap.go >heap.pb.gz 2>>go.err; then
		for type in "" alloc_objects alloc_space inuse_objects; do
			go tool pprof -symbolize=none ${type:+-sample_index=$type} -unit=auto \
				-top -nodecount=1000 -nodefraction=0 heap.pb.gz \
				>go.top 2>>go.err
			"$PMP" -q -f flat ${type:+--sample-type "$type"} heap.pb.gz >our.top
			is "$(awk 'rows && $4 != 0 { print $1, $4, $6 } $1 == "flat" { rows = 1 }' \
				go.top | sort)" \
				"$(awk 'NR > 3 && $4 != 0 && $5 != "heap" { print $3, $4, $5 }' \
					our.top | sort)" \
				"a heap profile, ${type:-its default}: amounts as go tool pprof -top has them"
			like "$(cat our.top)" "^flat profile: $(sed -n 's/^Type: //p' go.top) [1-9]" \
				"and the same type"
		done
		like "$(cat our.top)" ' main\.many \(heap\)' "functions are there"
		"$PMP" -q -o heap2.pb.gz heap.pb.gz
		is "$(go tool pprof -symbolize=none -unit=auto -top heap2.pb.gz 2>>go.err |
			awk '$1 == "Type:" || $NF == "main.hold" { print $1, $2, $NF }')" \
			"$(go tool pprof -symbolize=none -unit=auto -top heap.pb.gz 2>>go.err |
			awk '$1 == "Type:" || $NF == "main.hold" { print $1, $2, $NF }')" \
			"saved by pmp it says the same to go tool pprof"
	else
		skip "go cannot build: $(tail -n 1 go.err)"
	fi
else
	skip "no go"
fi

# ---- google-pprof ----------------------------------------------------------------------

if command -v google-pprof >/dev/null 2>&1; then
	saved gperf >demo.prof
	google-pprof --text "$program" demo.prof >perl.out 2>perl.err
	like "$(cat perl.out)" "^Total: $stacks samples" "google-pprof counts as many"
	is "$(awk '$6 == "compute_checksum" { print $1 }' perl.out)" \
		"$(self_of compute_checksum)" "and as many in a function"
	unlike "$(cat perl.out perl.err)" Removing "it removes no frame"
else
	skip "no google-pprof"
fi

# ---- formats of markup -------------------------------------------------------------------

if command -v xmllint >/dev/null 2>&1; then
	saved svg >demo.svg
	ok "xmllint --noout demo.svg '$top_srcdir'/t/data/golden/*.svg" "svg is well-formed"
else
	skip "no xmllint"
fi
is "$(saved svg | perl -ne 'if (/<title>([^<]*) \(([\d,]+) samples?, /) {
	my ($name, $n) = ($1, $2); $n =~ tr/,//d; $sum{$name} += $n }
	END { print "$sum{all} $sum{update_table}" }')" \
	"$stacks $(total_of update_table)" "the boxes of the flame graph have the same numbers"

if command -v node >/dev/null 2>&1; then
	saved speedscope >demo.speedscope.json
	saved json >demo.json
	cat >check.js <<'END'
const fs = require("fs");
const scope = JSON.parse(fs.readFileSync("demo.speedscope.json", "utf8"));
for (const p of scope.profiles) {
	const sum = p.weights.reduce((a, b) => a + b, p.startValue);
	if (p.samples.length !== p.weights.length || Math.abs(sum - p.endValue) > 1e-4)
		console.log("wrong sum in " + p.name);
	for (const s of p.samples)
		for (const f of s)
			if (!scope.shared.frames[f])
				console.log("no frame " + f);
}
let n = 0;
for (const line of fs.readFileSync("demo.json", "utf8").trim().split("\n"))
	for (const t of JSON.parse(line).threads)
		n += t.count;
console.log(scope.profiles.length + " threads, " + n + " stacks");
END
	is "$(node check.js)" "10 threads, $stacks stacks" "speedscope and json"
else
	skip "no node"
fi

# A reader of perf script's text: a head of name, pid/tid, time, period and event; then
# lines of address, name and module; an empty line after each sample.
is "$(saved perf | perl -ne '
	if (/^(\S.*?)\s+(\d+)\/(\d+)\s+(\d+\.\d{6}):\s+(\d+)\s+(\S+):\s*$/) {
		print "in a sample\n" if $open; $open = 1; $sum += $5;
	} elsif (/^\s+[0-9a-f]+ .+ \(\S+\)$/ || /^\s+0 \[.*\] \(\[unknown\]\)$/) {
		print "no sample\n" unless $open;
	} elsif (/^$/) { $open = 0 } else { print "? $_" }
	END { print $sum / 50000000 }')" "$stacks" "perf has all stacks, weighted by time"

done_testing
