#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# pmp --serve asked for all of its pages again and again: none of its processes keeps a
# descriptor, or more and more memory. With PMP_SOAK=SECONDS for so long, a round each second.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"
# shellcheck source=t/lib/serve.sh
. "$top_srcdir/t/lib/serve.sh"
need python3
need pgrep

seconds=${PMP_SOAK:-16} pause=${PMP_SOAK:+1}
# Sanitizers keep what is freed for a while: 256 MiB of it.
more=1024
! grep -q '^PMP_CFLAGS = .*-fsanitize' "$top_builddir/Makefile" 2>/dev/null || more=307200

start_target contend $((seconds + 600))
start_server soak --serve=0 -F 20 -p "$target_pid"
wait_for "[ \$(status ${url}healthz) = 200 ]"
python3 "$top_srcdir/t/lib/soak.py" "$url" "$server_pid" "$seconds" "${pause:-0}" >seen 2>&1
diag "$(cat seen)"
ok "awk '/^rounds:/ { exit !(\$2 >= 5) }' seen" "all pages, several times"
like "$(cat seen)" '^rounds: .* odd: 0$' "each with the status that it should have"
for name in pmp pmp-sampler pmp-keeper pmp-server pmp-namer; do
	like "$(cat seen)" "^$name descriptors: ([0-9]+) \\1 " "$name has as many descriptors as before"
	ok "awk '\$1 == \"$name\" { exit !(\$7 <= \$6 + $more) }' seen" "and no more memory, but for $more KiB"
done
end_server
is $? 0 "it ends in order"
stop_process "$target_pid"

done_testing
