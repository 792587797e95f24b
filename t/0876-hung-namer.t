#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A process that reads files and hangs in the kernel, on a file whose server does not answer
# it: SIGKILL does not end it. One file is without names, all others have theirs.

# shellcheck source=t/lib/hangfs.sh
. "${top_srcdir:-.}/t/lib/hangfs.sh"

# hung PARENT: the process that reads files, if it hangs.
hung() {
	for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
		grep -q '^State:.D' "/proc/$child/status" 2>/dev/null && echo "$child"
	done
}

need pgrep
serve but pmp-namer || skip_all "no file system can be mounted here: $(head -n 1 "$target_err")"
start_target "$PWD/fs/file"
chain=$target_pid
start_target sleeper || skip_all "no second target"
sleeper=$target_pid
"$PMP" -f folded -n 2 -i 1ms -p "$chain" -p "$sleeper" -o out.folded </dev/null >out 2>err &
pmp=$!
test_pids="$test_pids $pmp"
parent=
wait_for "parent=\$(pgrep -x -P $pmp pmp-namers)"
namer=
# Killed after its silence, it waits on.
wait_for "namer=\$(hung $parent) && [ -n \"\$namer\" ]" 60
isnt "$namer" "" "the process that reads files hangs on a file of one target"
ok "wait_for '! alive $pmp' 60" "pmp ends"
wait "$pmp"
is $? 0 "its status"
ok "grep -q '^State:.D' /proc/$namer/status" "but the process that hangs does not"
is "$(awk '{ n += $NF } END { print n }' out.folded)" 4 "all samples are there"
like "$(cat out.folded)" '^file-.*\[file\+0x' "the file that cannot be read has addresses"
like "$(cat out.folded)" '^file-.*__libc_start_main' "the others have names, in the same process"
like "$(cat out.folded)" '^sleeper-.*main' "and in another one"
like "$(cat err)" 'fs/file: the process that reads files gave no answer and was killed$' \
	"the message"
is "$(grep -c 'that reads files' err)" 1 "which is said once" || diag "$(cat err)"
unserve
ok "wait_for '! alive $namer'" "with the server that process ends, too"
done_testing
