# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
#
# A sampler that stands still or ends while it holds threads. After test.sh; it is in $sampler.
# shellcheck disable=SC2154 # what the test has set

state_of() {
	sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null
}

stop_sampler() {
	kill -STOP "$sampler"
	wait_for "[ \"\$(state_of $sampler)\" = T ]" 2
}

# catch PID STILL ON: make the sampler stand still at a moment at which it holds threads of
# that process, which is found by trying.
catch() {
	tries=0
	while [ "$tries" -lt 300 ]; do
		eval "$2"
		untouched "$1" || break
		eval "$3"
		sleep 0.01
		tries=$((tries + 1))
	done
	ok "! untouched $1" "it stands still while it holds threads (try $tries)"
}
