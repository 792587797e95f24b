# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# Tests with a server of debug files, t/lib/debuginfod.py. Sourced after test.sh.

# shellcheck disable=SC2154,SC2034 # what test.sh has set; what tests use

# debuginfod_start: a server of files/ is asked, and only that; its pid is in $server, what it
# is asked in the file $requests. Nothing is in the cache, cache/.
debuginfod_start() {
	unset DEBUGINFOD_TIMEOUT DEBUGINFOD_MAXTIME DEBUGINFOD_MAXSIZE DEBUGINFOD_RETRY_LIMIT \
		DEBUGINFOD_VERBOSE DEBUGINFOD_CACHE_PATH http_proxy HTTP_PROXY all_proxy ALL_PROXY
	XDG_CACHE_HOME=$tmp/cache
	start_process python3 "$top_srcdir/t/lib/debuginfod.py" files
	server=$target_pid requests=$target_out
	wait_for "grep -q ^ready '$requests'" || skip_all "no server: $(cat "$target_err")"
	DEBUGINFOD_URLS=http://127.0.0.1:$(sed -n 's/^ready //p' "$requests")
	export XDG_CACHE_HOME DEBUGINFOD_URLS
}
