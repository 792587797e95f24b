#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# run.sh SECONDS FUZZER...: each of them for so long, with what the last run has found to be
# new; make fuzz calls it. What crashes, hangs or takes too much memory is in
# fuzz-findings/NAME-*; t/fuzz/NAME.t FILE shows it again. The inputs that reach all code
# that any input has reached are in fuzz-corpus/NAME.

seconds=$1
: "${top_srcdir:?make fuzz sets it}"
shift
status=0
mkdir -p fuzz-corpus fuzz-findings || exit 1
for fuzzer; do
	name=$(basename "$fuzzer" .t)
	name=${name#fuzz-}
	corpus=fuzz-corpus/$name
	kept=$top_srcdir/t/fuzz/corpus/$name
	mkdir -p "$corpus" || exit 1
	[ -d "$kept" ] || kept=
	if FUZZ_SEEDS=$corpus "$fuzzer" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="fuzz-findings/$name-" \
		"$corpus" ${kept:+"$kept"} >"fuzz-findings/$name.log" 2>&1; then
		result=nothing
	else
		result="see fuzz-findings/$name.log"
		status=1
	fi
	rm -rf "$corpus.less"
	mkdir "$corpus.less" &&
		"$fuzzer" -merge=1 "$corpus.less" "$corpus" >/dev/null 2>&1 &&
		rm -r "$corpus" && mv "$corpus.less" "$corpus"
	printf '%-12s %9s runs  %5s inputs  found: %s\n' "$name" \
		"$(sed -n 's/^stat::number_of_executed_units: *//p' "fuzz-findings/$name.log")" \
		"$(find "$corpus" -type f | wc -l)" "$result"
done
exit $status
