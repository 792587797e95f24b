# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2016,SC2034,SC2154
#
# The live view on a real terminal, which tmux plays. After lib/test.sh and lib/live.sh.

XDG_CONFIG_HOME=$tmp/config
export XDG_CONFIG_HOME
unset TMUX NO_COLOR
LC_ALL=C.UTF-8

tm() {
	tmux -L "pmp$$" -f /dev/null "$@"
}

screen() {
	tm capture-pane -p -t pmp 2>/dev/null
}

# shows ERE [SECONDS]: wait until the screen shows it.
shows() {
	shown_ere=$1
	wait_for 'screen | grep -Eq -e "$shown_ere"' "${2:-20}" && return
	diag "the screen has no $1:"
	screen | diag_input
	return 1
}

keys() {
	tm send-keys -t pmp "$@"
}

# No terminal is left from before.
no_terminal() {
	tm kill-server 2>/dev/null
	wait_for '! tm list-sessions >/dev/null 2>&1'
}

# For trap ... EXIT; test_cleanup keeps the status it finds.
end_terminal() {
	status=$?
	tm kill-server 2>/dev/null
	(exit "$status")
	test_cleanup
}

# In a build with sanitizers it is the program that deals with a crash.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_abort=0
export ASAN_OPTIONS

# terminal COMMAND: of 80 x 24. A server that is about to end may still answer, or take the
# session with it.
terminal() {
	terminal_command=$1
	no_terminal
	wait_for 'tm new-session -d -s pmp -x 80 -y 24 "$terminal_command" 2>/dev/null &&
		tm has-session -t pmp 2>/dev/null'
}

# begin COMMAND...: a shell runs it in a terminal of 80 x 24, then says how it ended and
# whether the modes of the terminal are those of before. Its process is in $front.
begin() {
	rm -f pid over
	cat >run.sh <<-END
		trap : INT
		export ASAN_OPTIONS='$ASAN_OPTIONS'
		before=\$(stty -g)
		sh -c 'echo \$\$ >pid; exec "\$@"' - $*
		echo "status \$?"
		[ "\$(stty -g)" = "\$before" ] && echo 'modes as before'
		stty sane
		: >over
		exec cat
	END
	terminal "cd '$PWD' && exec sh run.sh"
	tm set-option -g remain-on-exit on >/dev/null
	wait_for '[ -s pid ]'
	front=$(cat pid)
}

# ended STATUS TEXT: pmp has ended so, and the terminal is as before.
ended() {
	wait_for '[ -e over ]' 20
	ok "shows '^status $1\$'" "$2: status $1"
	ok "shows 'modes as before'" "the modes of the terminal are as before"
	is "$(tm display-message -p -t pmp '#{alternate_on} #{cursor_flag} #{mouse_any_flag}')" \
		"0 1 0" "the screen, the cursor and the mouse are as well"
}
