#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The static pmp (--enable-static-exe) is complete: it needs no dynamic loader and maps no
# code while it runs, neither by itself nor through dlopen in one of its libraries.
. "${top_srcdir:-.}/t/lib/test.sh"
need readelf strace curl

unlike "$(readelf -lW "$PMP")" INTERP "no dynamic loader is asked for"
unlike "$(readelf -dW "$PMP")" NEEDED "no shared library is needed"

start_target demo
ok "strace -f -o '$tmp/trace' '$PMP' --raw -p $target_pid >'$tmp/raw' 2>'$tmp/err'" \
	"pmp --raw works"
like "$(cat "$tmp/raw")" 'update_table' "and shows names"
like "$(cat "$tmp/trace")" 'ptrace\(PTRACE_SEIZE' "the trace has the sampler as well"
is "$(grep -E 'mmap\(.*PROT_EXEC' "$tmp/trace")" "" "no code is mapped while it runs"
is "$(grep -E 'open.*/(libc|ld-linux|libcurl|libdebuginfod|libnss)[^/]*\.so.*O_RDONLY\|O_CLOEXEC\) = [0-9]' \
	"$tmp/trace" | grep -v 'openat2\|/proc/\|O_NONBLOCK')" "" "no shared library is loaded"

# Where there is nothing but pmp itself and /proc it profiles a process outside.
if [ "$(id -u)" = 0 ]; then
	mkdir -p jail/proc && cp "$PMP" jail/pmp
	unshare -m sh -c "mount -t proc proc jail/proc && exec chroot jail /pmp --raw -p $target_pid" \
		>raw 2>err
	is $? 0 "pmp runs in an empty root" || diag "$(cat err)"
	like "$(cat raw)" 'update_table' "and shows names"
	unshare -m sh -c "mount -t proc proc jail/proc &&
		exec chroot jail /pmp --serve=0 -F 20 -p $target_pid" 2>serve.err &
	served=$!
	test_pids="$test_pids $served"
	wait_for "grep -q 'serving demo .* at ' serve.err" || diag "$(cat serve.err)"
	url=$(sed -n 's/.* at \(http:[^?]*\).*/\1/p' serve.err)
	like "$(curl -s "${url}folded?seconds=1")" 'update_table' "it serves profiles there"
	like "$(curl -s --compressed "$url")" '<script src="page.js">' "and the page"
	like "$(curl -s "${url}api/tree?from=-2000")" 'update_table' "with its tree"
	kill -INT "$served"
	wait "$served"
	is $? 0 "and ends in order"
	if command -v tmux >/dev/null; then
		for term in screen-256color no-such-terminal; do
			tmux -L "pmp$$" -f /dev/null new-session -d -x 80 -y 24 \
				"cd '$PWD' && exec unshare -m sh -c 'mount -t proc proc jail/proc &&
				TERM=$term exec chroot jail /pmp -p $target_pid'"
			ok "wait_for 'tmux -L pmp$$ capture-pane -p | grep -q update_table'" \
				"the live view needs no description of the terminal ($term)"
			is "$(tmux -L "pmp$$" display-message -p '#{alternate_on}')" 1 \
				"and has a screen of its own"
			tmux -L "pmp$$" kill-server
			wait_for "! tmux -L pmp$$ list-sessions >/dev/null 2>&1"
		done
	else
		skip "no tmux"
	fi
else
	skip "only root can change the root"
fi

done_testing
