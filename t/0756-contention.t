#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# For how long threads waited for locks is what they have measured themselves; it is
# charged to the thread that all of them wait for in the end; and others read the same
# sums out of the formats.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/live.sh
. "$top_srcdir/t/lib/live.sh"

program=$top_builddir/t/target/contend

# sum COLUMN FILE [FUNCTION]: of all stacks, or of those with a function.
sum() {
	awk -v column="$1" -v name="$3" '
		$3 == "@" { value = $column }
		/^# / && value != "" {
			if (name == "" || index("<" $NF "<", "<" name "<"))
				sum += value
			value = ""
		}
		END { printf "%.0f\n", sum }' "$2"
}

# samples_of FILE FUNCTION
samples_of() {
	awk -v name="$2" '/^# [0-9]+ samples?: / && index("<" $NF "<", "<" name "<") { sum += $2 }
		END { print sum + 0 }' "$1"
}

# truth COLUMN FUNCTION...: what the program has added up.
truth() {
	column=$1
	shift
	for name; do
		awk -v column="$column" -v name="$name" \
			'$1 == "waited" && $2 == name { print $column }' said
	done | awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# near FOUND TRUE SAMPLES: |error| < 4 / sqrt(samples). Threads that wait in the same snapshot
# wait for the same holder: together they are one sample of how long that takes.
near() {
	awk -v found="$1" -v true="$2" -v samples="$3" -v looks="$looks" 'BEGIN {
		if (samples > looks)
			samples = looks
		if (samples < 20 || !true)
			print samples " samples are too few"
		else if ((found / true - 1) ^ 2 * samples >= 16)
			printf "%.1f%% off, in %d samples\n", 100 * (found / true - 1), samples
	}'
}

measure() {
	"$PMP" -q -F 50 -o waits.pb.gz -- "$program" 8 >said 2>err || diag "$(cat err)"
	looks=$("$PMP" -q -f json waits.pb.gz |
		sed -n 's/.*"snapshots": *\([0-9]*\).*/\1/p' | head -n 1)
	"$PMP" -q -f contention -o waits.contention waits.pb.gz &&
		"$PMP" -q -f mutex -o waits.mutex waits.pb.gz
}

# waits_of NAME: how far what was found for it is off.
waits_of() {
	near "$(sum 1 waits.contention "$1")" "$(truth 3 "$1")" \
		"$(samples_of waits.contention "$1")"
}

waits_of_all() {
	near "$(sum 1 waits.mutex holder_holds)" \
		"$(truth 3 waiter_takes middle_takes last_takes)" \
		"$(sum 2 waits.mutex holder_holds)"
}

measure
is $? 0 "delays of those that waited, and of those that they waited for"
# On a busy machine snapshots come late, and in bursts: then it is measured again.
for again in 1 2; do
	off=$(for name in waiter_takes middle_takes last_takes; do waits_of $name; done
		waits_of_all)
	[ -z "$off" ] && break
	diag "try $again: $off"
	measure
done

for name in waiter_takes middle_takes last_takes; do
	is "$(waits_of $name)" "" "$name has waited as long as it says"
	found=$(sum 2 waits.contention $name)
	ok "[ $found -gt 10 ] && [ $found -le $(truth 4 $name) ]" \
		"$name: no more waits than there were, $found of $(truth 4 $name)"
done
all=$(sum 1 waits.contention)
is "$(sum 1 waits.mutex)" "$all" "the sums of both are the same"
ok "[ $(sum 1 waits.mutex holder_holds) -ge $((all / 10 * 9)) ]" \
	"all have waited for the holder, chains included"
is "$(waits_of_all)" "" "as long as they say"

# ---- files ----------------------------------------------------------------------------

like "$(head -n 1 waits.contention)" '^--- contentionz 1 ---$' "it begins as is usual"
"$PMP" -q -f pprof -o again.pb.gz waits.pb.gz
for format in contention mutex; do
	ok "'$PMP' -q -f $format again.pb.gz | cmp - waits.$format" \
		"$format of a profile saved twice is the same"
	ok "'$PMP' -q -o named.$format waits.pb.gz && cmp named.$format waits.$format" \
		"the extension .$format picks it"
	"$PMP" -q -f $format -o $format.pb.gz waits.pb.gz
	ok "gzip -t $format.pb.gz" "-f $format -o FILE.pb.gz is compressed"
	"$PMP" -q -f $format $format.pb.gz >read.$format
	is "$(sum 1 read.$format) $(sum 2 read.$format)" \
		"$(sum 1 waits.$format) $(sum 2 waits.$format)" "which pmp reads with the same sums"
	like "$("$PMP" -q -f flat $format.pb.gz)" '^flat profile: delay [1-9].*s in ' \
		"and shows as delay"
	is "$("$PMP" -q -f folded --diff $format.pb.gz $format.pb.gz |
		awk '$(NF - 1) != $NF')" "" "compared with itself nothing differs"
done
is "$("$PMP" -q -f folded --sample-type delay waits.pb.gz | awk '{ sum += $NF }
	END { printf "%.0f\n", sum }')" "$all" "--sample-type delay is the same sum"
is "$("$PMP" -q -f folded --sample-type caused_delay waits.pb.gz | awk '{ sum += $NF }
	END { printf "%.0f\n", sum }')" "$(sed '/^# \[/s/.*/# mark/' waits.mutex |
	awk '$3 == "@" { sum += last; last = $1 } /^# mark/ { last = 0 }
		END { printf "%.0f\n", sum + last }')" "caused_delay that of known holders"
like "$("$PMP" -f contention --diff waits.pb.gz waits.pb.gz 2>&1)" 'cannot compare' \
	"the text does not compare"

# ---- other formats ------------------------------------------------------------------------

like "$("$PMP" -q -f folded --waits waits.pb.gz)" \
	';waiter_takes;.*;\[waits for mutex mutex_a held by holder\] [1-9]' "folded with --waits"
unlike "$("$PMP" -q -f folded waits.pb.gz)" 'waits for' "and without"
is "$("$PMP" -q -f folded --waits waits.pb.gz | awk '{ sum += $NF } END { print sum }')" \
	"$("$PMP" -q -f folded waits.pb.gz | awk '{ sum += $NF } END { print sum }')" \
	"with as many samples"
is "$("$PMP" -q -f folded --waits --diff waits.pb.gz waits.pb.gz |
	awk '/waits for/ && $(NF - 1) != $NF { wrong++ } /waits for/ { lines++ }
		END { print wrong + 0, (lines > 2) }')" "0 1" "they are compared, too"
"$PMP" -q --by-lock -o waits.svg waits.pb.gz
like "$(grep 'id="status"' waits.svg)" '>orange mutex mutex_a, blue mutex mutex_b, grey no lock<' \
	"--by-lock has a legend"
like "$(grep '<title>waiter_takes' waits.svg)" '[0-9]% wait for mutex mutex_a).* class="k0"' \
	"and colours"

# ---- others -----------------------------------------------------------------------------

# seconds NANOSECONDS [DIGITS]
seconds() {
	awk -v ns="$1" -v digits="${2:-2}" 'BEGIN { printf "%.*f\n", digits, ns / 1e9 }'
}

if command -v go >/dev/null 2>&1; then
	HOME=$tmp
	PPROF_TMPDIR=$tmp
	export HOME PPROF_TMPDIR
	for format in contention mutex; do
		for file in waits.$format $format.pb.gz; do
			# pprof writes 22s for 22.00s.
			like "$(go tool pprof -symbolize=none -top -unit=s "$program" $file 2>go.err)" \
				"of $(seconds "$all" | sed 's/\.00$//')s total" "go tool pprof $file: the same time"
			like "$(go tool pprof -symbolize=none -sample_index=contentions -top "$program" \
				$file 2>go.err)" "of $(sum 2 waits.$format) total" \
				"go tool pprof $file: as many waits"
		done
	done
	like "$(go tool pprof -symbolize=none -tags waits.pb.gz 2>go.err)" \
		'mutex mutex_a' "labels say which lock"
	like "$(go tool pprof -symbolize=none -sample_index=delay -tags waits.pb.gz 2>go.err |
		sed -n '/holder:/,/^$/p')" ': holder$' "and who had it"
else
	skip "no go"
fi
if command -v google-pprof >/dev/null 2>&1; then
	for format in contention mutex; do
		google-pprof --text --total_delay "$program" "$tmp/waits.$format" \
			>perl.out 2>perl.err
		like "$(cat perl.out)" "^Total: $(seconds "$all" 3) seconds" \
			"google-pprof waits.$format"
	done
else
	skip "no google-pprof"
fi

# ---- without a file in between --------------------------------------------------------

start_target contend
"$PMP" -q -f mutex -n 30 -F 50 -p "$target_pid" >live.mutex 2>err || diag "$(cat err)"
like "$(cat live.mutex)" '<holder_holds<' "directly from the process, without threads apart"
stop_process "$target_pid"

done_testing
