#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A real, busy server: every thread in every snapshot, stacks complete to their
# roots, and equal to gdb's, pc by pc, when the server is frozen.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/mariadb.sh
. "$top_srcdir/t/lib/mariadb.sh"

need gdb perl
mariadb_find || skip_all "no mariadb-server or sysbench"
trap 'mariadb_stop; test_cleanup' EXIT

idle=${IDLE:-40} active=${ACTIVE:-8} snapshots=${SNAPSHOTS:-50}

mariadb_start "$tmp/server" || {
	mariadb_failed "mariadbd runs"
	done_testing
}
# Not within ok(), whose subshell would keep the ids of the load for itself.
mariadb_load "$active" "$idle" 120
ok "[ $? -eq 0 ]" "$active busy connections and $idle idle ones"
threads=$(mariadb_threads)
ls "/proc/$mariadb_pid/task" >tids.before

ok "'$PMP' --raw -n $snapshots -i 20ms --stats -p $mariadb_pid >raw 2>err" \
	"$snapshots snapshots of $threads threads"
diag "$(cat err)"
is "$(grep -c '^--- snapshot' raw)" "$snapshots" "all snapshots are there"
# Connections come and go; all that were there all the time must be in each.
ls "/proc/$mariadb_pid/task" >tids.after
lasting=$(sort tids.before tids.after | uniq -d | wc -l)
lost=$(awk -v n="$snapshots" '/^Thread /{ sub(/\).*/, "", $6); seen[$6]++ }
	END { for (t in seen) if (seen[t] == n) full++; print full + 0 }' raw)
ok "[ $lost -ge $lasting ] && [ $lasting -gt $((active + idle)) ]" \
	"$lost threads are in every snapshot, of $lasting"

counts=$(awk '/^Thread /{ total++; last = "" }
	/^#/ { last = $4 }
	/^$/ { if (last ~ /^_*(start_thread|clone3?|GI___clone3?|_start)$/) complete++; last = "" }
	END { print total, complete }' raw)
total=${counts% *} complete=${counts#* }
ok "[ $((complete * 1000)) -ge $((total * 995)) ]" \
	"$complete of $total stacks reach the root (99.5 % wanted)"
for name in do_command handle_one_connection poll start_thread; do
	ok "grep -Eq '^#.* in (__)?(GI___)?$name \(' raw" "$name is among the functions"
done

ok "'$PMP' -q -n 20 -i 20ms -o busy.pb.gz -p $mariadb_pid" "what it does is saved"

"$top_builddir/t/bench/blind" "$mariadb_pid" 200 30 >sums 2>&1
test_result $? "names contradict no lock" || diag "$(tail -n 20 sums)"
like "$(cat sums)" '^captures 200 waits [1-9]' "of waits that there are"
diag "$(tail -n 1 sums)"

# Frozen, so that both see the same. Nothing else than SIGSTOP holds it still.
equal=0 compared=0
for round in 1 2 3; do
	kill -STOP "$mariadb_pid"
	wait_for "! grep -l '^State:[[:space:]]*[RS]' /proc/$mariadb_pid/task/*/status"
	"$PMP" --raw --no-inline -p "$mariadb_pid" >"frozen.$round" 2>>err
	gdb -nx -batch -p "$mariadb_pid" -x "$top_srcdir/t/lib/gdb-stacks.py" \
		>"gdb.$round" 2>/dev/null
	[ "$round" -gt 1 ] || gcore -o core "$mariadb_pid" >gcore.log 2>&1
	kill -CONT "$mariadb_pid"
	line=$("$top_srcdir/t/lib/compare-stacks.pl" "gdb.$round" "frozen.$round" 2>"diff.$round")
	diag "$line"
	diag "$(head -9 "diff.$round")"
	# shellcheck disable=SC2086
	set -- $line
	compared=$((compared + ${2:-0})) equal=$((equal + ${4:-0}))
done
ok "[ $compared -gt 150 ]" "gdb shows $compared stacks in three rounds"
ok "[ $((equal * 100)) -ge $((compared * 99)) ]" "$equal of $compared equal gdb's (99 % wanted)"

"$PMP" --raw --no-inline "core.$mariadb_pid" >core.txt 2>err || diag "$(cat err gcore.log)"
rm -f "core.$mariadb_pid"
judged=$("$top_srcdir/t/bench/core-compare.py" core.txt live frozen.1)
like "$judged" '^threads ([1-9][0-9]+) same \1 shorter 0 longer 0 differ 0$' \
	"its core, as the living process: $(printf '%s\n' "$judged" | head -n 1)"

ok "untouched $mariadb_pid" "nothing is left traced or stopped"
mariadb_unload
unlike "$(cat "$mariadb_dir"/load.log "$mariadb_dir"/idle.log)" 'FATAL|error.*lost' \
	"no connection has failed"

# Without its load, compared with what it did before.
# The server itself may have started some threads meanwhile.
wait_for "[ \$(mariadb_threads) -le $((threads - active - idle + 5)) ]" 30
like "$("$PMP" -q -f flat -n 20 -i 20ms --diff busy.pb.gz -p "$mariadb_pid")" \
	' [1-9][0-9.]+       - -[0-9.]+  do_command \(mariadbd\)$' \
	"--diff shows that connections are gone"
done_testing
