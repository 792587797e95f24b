#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Five thousand snapshots take no more memory and no more descriptors than a thousand,
# in neither of the two processes.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

start_target threads 6 1
start_process "$PMP" -f folded -n 5000 -i 100us -q -p "$target_pid"
front=$target_pid
sampler=
wait_for "sampler=\$(cat /proc/$front/task/$front/children) && [ -n \"\$sampler\" ]"
# shellcheck disable=SC2086
set -- $sampler
sampler=$1

# Every 100 ms: KiB and descriptors of both, as long as there is the sampler.
while figures=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$sampler/status" 2>/dev/null) &&
	[ -n "$figures" ]; do
	printf '%s %s %s %s\n' "$figures" \
		"$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$front/status")" \
		"$(find "/proc/$sampler/fd" 2>/dev/null | wc -l)" \
		"$(find "/proc/$front/fd" 2>/dev/null | wc -l)" >>figures
	sleep 0.1
done
wait "$front"
is $? 0 "pmp has taken its snapshots"
is "$(awk '{ sum += $NF } END { print (sum == 40000) ? "all" : sum }' "$target_out")" all \
	"5000 of each of 8 threads"
lines=$(grep -c . figures)
ok "[ $lines -ge 8 ]" "$lines readings of it"

# After a fifth of the time all that is needed is there; the last reading may meet the end.
growth=$(awk -v lines="$lines" 'NF == 4 { at[++n] = $0 }
	END { split(at[int(n / 5) + 1], a); split(at[n - 1], b)
	      print b[1] - a[1], b[2] - a[2], b[3] - a[3], b[4] - a[4] }' figures)
# shellcheck disable=SC2086
set -- $growth
ok "[ $1 -le 256 ]" "the sampler has grown by $1 KiB"
ok "[ $2 -le 512 ]" "the front by $2 KiB"
ok "[ $3 -le 1 ] && [ $4 -le 1 ]" "descriptors: $3 and $4"
done_testing
