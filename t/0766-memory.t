#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a command allocates, lives and leaks: the format memory, values of the heap in other
# formats, and a leak that is found by what the manual says.
# shellcheck source-path=SCRIPTDIR
. "${top_srcdir:-.}/t/lib/test.sh"

allocator=$top_builddir/t/target/allocator
leaker=$top_builddir/t/target/leaker

# ---- the page -----------------------------------------------------------------------

"$PMP" -q --heap=exact --heap-only -o exact.memory -- "$allocator" mixed 20000 >truth
is "$?" 0 "a command is recorded: its status"
page=$(cat exact.memory)
# mallocs callocs aligned reallocs frees allocated freed
read -r mallocs callocs aligned reallocs frees allocated freed <truth
plain=$(printf '%s\n' "$page" | tr -d ,)
like "$plain" "^memory of allocator \[[0-9]+\] [0-9.]+ s every call$" "the first line says what it is"
like "$plain" "^  allocated +$allocated bytes .*malloc $mallocs  calloc $callocs  realloc $reallocs  memalign $aligned$" \
	"bytes and calls are exact"
like "$plain" "^  freed +$freed bytes +free $frees$" "and what was freed"
like "$plain" "^  live at the end +$((allocated - freed)) bytes +[0-9]+ blocks$" "what lives at the end"
like "$plain" "^  peak +[0-9]+ bytes +after [0-9.]+ s \(within 64 KiB a thread\)$" "the peak and its time"
like "$page" "^  failed allocations +0 +failed reallocs 0 +frees of unknown blocks [0-9]+$" "failures"
like "$page" "^  growth of the heap: .* by brk, .* by mmap, given back " "the growth of the heap"
like "$page" "^unfreed  [0-9.]+[kM]?B in [0-9,]+ blocks, largest first$" "what it did not free"
like "$page" "^  by age: under 1 s " "by age"
like "$page" "^allocated  [0-9.]+[kMG]?B in [0-9,]+ blocks, largest first$" "what it allocated"
unlike "$page" "~" "nothing is estimated"

# A program that allocates less than the distance of samples has no stacks, which is no zero.
"$PMP" -q --heap=1G --heap-only -o few.memory -- "$allocator" mixed 20 >truth
like "$(cat few.memory)" "^no block was sampled, so there are no stacks to show: try a smaller --heap=BYTES, or " \
	"nothing is sampled of a small program"
unlike "$(cat few.memory)" " in 0 blocks" "so that no table says it allocated nothing"
"$PMP" -q --heap=1G --heap-only --focus nosuch -o few.memory -- "$allocator" mixed 20 >truth
unlike "$(cat few.memory)" "no block was sampled" "with a filter it may have been"

# ---- records that are missing -------------------------------------------------------

# lossy OPTION...: of every call, by a pmp that does not read until the command has ended.
lossy() {
	command=
	start_pmp --heap=exact --heap-only "$@" -- "$allocator" mixed 1000000
	wait_for "command=\$(pgrep -x -P $pmp allocator)" &&
		wait_for "grep -q pmp-heap /proc/$command/maps"
	reader=$(sampler_of "$pmp")
	kill -STOP "$pmp" "$reader"
	wait_for "! alive $command" 60
	kill -CONT "$reader" "$pmp"
	wait "$pmp"
}
lossy -o lossy.pb.gz
like "$(cat err)" "^pmp: [0-9]+ records of what was allocated are missing: sums of stacks are not exact, totals are$" \
	"records are missing: a message at the end"
read -r mallocs callocs aligned reallocs frees allocated freed <out
"$PMP" -q lossy.pb.gz -f memory >lossy.memory
plain=$(tr -d , <lossy.memory)
calls=$((mallocs + callocs + aligned + reallocs))
like "$plain" "^memory of allocator .* every call but some see below$" "the page says so at once"
like "$plain" "^  allocated +$allocated bytes .*malloc $mallocs " "its totals are exact"
like "$plain" "^  of it in stacks +[0-9]+ bytes +[0-9]+ of $calls calls as [0-9]+ records are missing$" \
	"with what of it is in the stacks"
in_stacks=$(printf '%s\n' "$plain" | sed -n 's/^  of it in stacks .*bytes *\([0-9]*\) of .*/\1/p')
ok "[ ${in_stacks:-0} -gt 0 ] && [ ${in_stacks:-0} -lt $calls ]" "which are fewer calls: $in_stacks"
is "$(printf '%s\n' "$plain" | sed -n 's/^allocated  .* in \([0-9]*\) blocks largest first; not exact as .*/\1/p')" \
	"$in_stacks" "those that the stacks have"
like "$plain" "^unfreed  .* largest first; not exact as [0-9]+ records are missing$" "so of what lives"
"$PMP" -q lossy.pb.gz -f heap -o lossy.heap
like "$(sed -n 2p lossy.heap)" \
	"^# not exact: [0-9]+ records are missing; allocated in all: $allocated usable bytes by $calls calls$" \
	"the text of gperftools says so"
"$PMP" -q lossy.pb.gz -f json --sample-type alloc_space >lossy.json
like "$(cat lossy.json)" "\"calls\":$calls,\"allocated\":$allocated,.*\"calls_in_stacks\":$in_stacks,.*\"records_missing\":[1-9]" \
	"and so does JSON"
if command -v go >/dev/null; then
	like "$(go tool pprof -comments lossy.pb.gz 2>&1)" "^not exact: [0-9]+ records are missing in the stacks" \
		"comments of pprof do as well"
	like "$(go tool pprof -top "$allocator" lossy.heap 2>&1)" " flat%" "go tool pprof reads the text"
else
	skip "no go"
fi
if command -v google-pprof >/dev/null; then
	like "$(google-pprof --text "$allocator" lossy.heap 2>&1)" "^Total: [0-9]" "google-pprof reads the text"
else
	skip "no google-pprof"
fi
unlike "$(cat exact.memory)" "missing|not exact" "nothing of that where all are there"

# Of others that are missing: as many digits.
gzip -dc lossy.pb.gz | LC_ALL=C sed 's/ stackless=0 unrecorded=0 / stackless=7 unrecorded=3 /' | gzip >less.pb.gz
"$PMP" less.pb.gz -f folded --sample-type inuse_space >less.folded 2>err
like "$(cat err)" "^pmp: [0-9]+ records of what was allocated are missing: " "a format that has no place for it: a message"
like "$(cat err)" "^pmp: 7 samples of what was allocated have no stack: " "also of stacks that are missing"
like "$(cat err)" "^pmp: 3 processes were not recorded: more than 64 at a time, or in a pid namespace of their own$" "and of processes"
"$PMP" -q less.pb.gz -f memory >less.memory
like "$(cat less.memory)" "^  without a stack +7 samples" "the page has them"
like "$(cat less.memory)" "^not recorded: 3 processes" "both"
"$PMP" -q less.pb.gz --sample-type inuse_space -o less.svg
like "$(cat less.svg)" \
	'id="subtitle".*; [0-9,]+ records missing; 7 samples without a stack; 3 processes not recorded; ' \
	"a flame graph says it below its title"
"$PMP" -q less.pb.gz -o less.html
like "$(cat less.html)" '^"missing":\{"records":[1-9][0-9]*,"stacks":7,"processes":3\}' "and so does the page"
PYTHONPATH=$top_srcdir/t/lib PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE
if python3 -c 'import browser, sys; sys.exit(not browser.found())' 2>/dev/null; then
	like "$(python3 -c "import browser
page = browser.Browser().__enter__()
page.open('file://$PWD/less.html')
page.wait(\"document.documentElement.classList.contains('loaded')\")
print(page.do(\"document.getElementById('notes').textContent\"))")" \
		" records missing: stacks are not exact . 7 samples without a stack . 3 processes not recorded" \
		"in its header"
else
	skip "no chromium"
fi

# ---- a program that is idle before its end ------------------------------------------

cat >idle.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 50; i++)
		((char *)malloc(100000))[0] = 1;
	printf("idle\n");
	fflush(stdout);
	sleep(3);
	_exit(0);
}
END
${CC:-cc} -o idle idle.c
"$PMP" -q --heap=64K --heap-age 1 -o idle.memory -f memory -- ./idle >ready &
pmp=$!
test_pids="$test_pids $pmp"
wait_for "grep -q idle ready"
sleep 2
kill -USR1 "$pmp"
wait_for "[ -s idle.memory ]"
like "$(cat idle.memory)" "^memory of idle .*, [12]\.[0-9] s, " "idle: it runs on, though nothing is allocated"
wait "$pmp"
like "$(cat idle.memory)" "^memory of idle .*, [34]\.[0-9] s, " "idle: its end is when it ended"
like "$(cat idle.memory)" "^unfreed +~[1-9].* blocks that are older than 1\.0 s" "idle: so are the ages of its blocks"

# ---- more processes than there is room for ------------------------------------------

"$PMP" --heap=16K --children -f memory -- "$allocator" crowd 100 >crowd.memory 2>err
is "$?" 0 "a crowd of processes: its status"
like "$(cat err)" "^pmp: 37 processes were not recorded: more than 64 at a time, or in a pid namespace of their own$" \
	"how many have no record is said"
is "$(grep -c 'were not recorded' err)" 1 "once"
like "$(cat crowd.memory)" "^not recorded: 37 processes, too many at a time or in a pid namespace of their own$" "and on the page"

# Pids that are no pids out here: none is taken for another process, or for one that has ended.
if unshare -pf true 2>/dev/null; then
	"$PMP" -q --heap=16K --children -f memory -- unshare -pf "$allocator" crowd 3 >inside.memory 2>err
	is "$?" 0 "a pid namespace: status"
	like "$(cat inside.memory)" "^not recorded: [1-9][0-9]* processes, " "a pid namespace: what is in it is left out, and said"
	is "$(grep -c '^memory of' inside.memory)" 1 "a pid namespace: what is outside is recorded"
else
	skip "no pid namespaces"
fi

# ---- calls that fail ----------------------------------------------------------------

"$PMP" -q --heap=exact --heap-only -o fails.pb.gz -- "$allocator" fails 20000 >ready
"$PMP" -q fails.pb.gz -f memory >fails.memory
like "$(cat fails.memory)" "^  failed allocations +20,000 +failed reallocs 20,000 " "calls that fail are counted"
like "$(cat fails.memory)" "^failed  40,000 calls, most first$" "and have their stacks"
like "$(cat fails.memory)" "^ +[0-9,]+ calls  largest [0-9.]+[PE]B  malloc < fails < main" "those of malloc"
like "$(cat fails.memory)" "^ +[0-9,]+ calls  largest [0-9.]+[PE]B  realloc < fails < main" "and of realloc"
unlike "$(cat exact.memory)" "^failed  " "nothing of that where none has failed"

# ---- the leak -----------------------------------------------------------------------

# As the manual says, with times for those who cannot wait.
"$PMP" -q --heap=16K -f memory --heap-age 1 -- "$leaker" 3000 >leak.memory
is "$?" 0 "a server that leaks: its status"
like "$(grep -A 2 '^unfreed' leak.memory | tail -n 1)" \
	"^ *~.* malloc < get_memory < write_audit < handle_request < main" \
	"the stack that leaks comes first of what is older than a second"
like "$(cat leak.memory)" "blocks that are older than 1.0 s, largest first" "which is said"
like "$(sed -n '/^allocated/,$p' leak.memory | sed -n 2p)" "malloc < get_memory < render_page" \
	"what allocates most is another one"

# ---- the manual's recipe ------------------------------------------------------------

# recipe HEADING: the commands of the first example below it.
recipe() {
	sed -n "/^\\.S[hs] $1\$/,/^\\.Ed/p" "$top_srcdir/man/pmp.1" | sed -n '/^\.Bd/,/^\.Ed/{/^\./d;p;}'
}

# last_page: of those in the file pages.
last_page() {
	awk '/^memory of / { page = "" } { page = page $0 "\n" } END { printf "%s", page }' pages
}

# look COMMAND: have another page written. Does it have enough that is old?
look() {
	before=$(grep -c '^memory of ' pages)
	eval "$1"
	wait_for "[ \$(grep -c '^memory of ' pages) -gt $before ] && last_page | grep -q '^allocated '"
	last_page | grep -Eq '^live  ~([4-9]|[1-9][0-9]+)\.[0-9]*MB '
}

# Where it leaks is not known to the recipe; of 4 MB the most is what leaks.
place=$(($(od -An -N1 -tu1 /dev/urandom) % 4))
set -- write_audit fill_cache open_session render_page
shift "$place"
recipe 'Memory grows' >commands
is "$(wc -l <commands)" 2 "the manual's recipe for memory that grows has two commands"
first=$(sed -n "1{s|^pmp|exec '$PMP' -q|;s|10m|2|;s|\./server|'$leaker' 0 $place|;p;}" commands)
sh -c "$first" >pages 2>err &
second=$(sed -n "2s|PID-OF-PMP|$!|p" commands)
test_pids="$test_pids $!"
wait_for "grep -q ready pages"
ok "wait_for 'look \"$second\"' 60" "once there is something that is old"
like "$(last_page | sed -n '/^live/,$p' | grep ' oldest ' | head -n 1)" \
	"  malloc < get_memory < $1 < handle_request < main" "the first line is the place that leaks ($1)"
stop_process "${second##* }"
kill "$(sed -n 's/^ready //p' pages)"

# ---- other formats ------------------------------------------------------------------

"$PMP" -q --heap=16K --heap-only -f folded --sample-type alloc_space -- "$leaker" 500 >all.folded
like "$(sort -n -k 2 -t ' ' all.folded | tail -n 1)" "handle_request;render_page;get_memory;malloc [0-9]{5,}$" \
	"folded has bytes"
"$PMP" -q --heap=16K --heap-only -f folded -- "$leaker" 500 >live.folded
unlike "$(cat live.folded)" "render_page" "those that live, unless others are asked for"
"$PMP" -q --heap=16K -f folded -- "$leaker" 500 >time.folded
like "$(cat time.folded)" "nanosleep" "without --heap-only samples of threads are shown"
"$PMP" -q --heap=16K --heap-only -o all.svg --focus render_page --sample-type alloc_objects -- "$leaker" 500 >ready
like "$(cat all.svg)" "render_page" "a flame graph"
unlike "$(cat all.svg)" "open_session" "with a filter"
"$PMP" --heap=16K --heap-only -f folded --not-threads leaker -- "$leaker" 500 >all.folded 2>err
like "$(cat all.folded)" "write_audit;get_memory;malloc [0-9]+$" "threads that are not to be sampled are recorded"
like "$(cat err)" '^pmp: --threads and --not-threads are for sampling: --heap records all threads$' \
	"which is said"

# The stacks of a program that executes another one need its mappings.
cat >executes.c <<'END'
#include <stdlib.h>
#include <unistd.h>

void *blocks[3000];

__attribute__((noinline)) static void before(void)
{
	for (int i = 0; i < 3000; i++)
		blocks[i] = malloc(100);
}

__attribute__((noinline)) static void after(void)
{
	for (int i = 0; i < 2000; i++)
		blocks[i] = malloc(100);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		before();
		execl(argv[1], argv[1], (char *)NULL);
		return 1;
	}
	after();
	return 0;
}
END
if ${CC:-cc} -g -O1 -o executes executes.c 2>cc.log && cp executes executed; then
	"$PMP" -q --heap=exact --heap-only --sample-type alloc_objects -f folded -- ./executes ./executed |
		sort >executed.folded
	is "$(sed 's/.*;main;/main;/; s/.*truncated.*/truncated/' executed.folded)" "main;after;malloc 2000
main;before;malloc 3000" "an executed program begins once all stacks of the one before it are known"
	like "$(cat executed.folded)" "^executes;.*;before;" "which keeps its name"
	PMP_FAULT=recorder-hurries "$PMP_FAULTY" -q --heap=exact --heap-only --sample-type alloc_objects -f folded \
		-- ./executes ./executed >hurried.folded
	unlike "$(cat hurried.folded)" ";before;malloc 3000$" "planted fault: one that does not wait"
else
	skip "executes.c cannot be compiled"
fi

# ---- saved, and read by others ------------------------------------------------------

"$PMP" -q --heap=16K -o both.pb.gz -- "$leaker" 2000 >ready
"$PMP" -q both.pb.gz -f memory >both.memory
like "$(cat both.memory)" "^memory of leaker \[[0-9]+\], " "a saved profile has the totals"
like "$(cat both.memory)" "^unfreed  ~.* ± " "and what lives, with its error"
"$PMP" -q both.pb.gz -o again.pb.gz
is "$("$PMP" -q again.pb.gz -f memory)" "$(cat both.memory)" "and so has one that is made of it"
like "$("$PMP" -q both.pb.gz -f folded)" "nanosleep [0-9]+$" "it has samples of threads as well"
like "$("$PMP" -q both.pb.gz -f folded --sample-type inuse_space)" "write_audit;get_memory;malloc [0-9]{5,}$" \
	"and each value of the heap"
is "$("$PMP" -q both.pb.gz -f folded --sample-type inuse_space --heap-age 1h)" "" \
	"of blocks of an hour or more, of which there are none"
is "$("$PMP" -q both.pb.gz -f folded --sample-type alloc_space --heap-age 1h)" \
	"$("$PMP" -q both.pb.gz -f folded --sample-type alloc_space)" "allocations have no age"
"$PMP" -q both.pb.gz --sample-type inuse_space -o live.svg
like "$(cat live.svg)" ">leaker: live bytes<" "a flame graph of live bytes"
"$PMP" -q both.pb.gz --focus write_audit -o audit.pb.gz
like "$("$PMP" -q audit.pb.gz -f memory)" "malloc < get_memory < write_audit" "filters apply to the heap"
unlike "$("$PMP" -q audit.pb.gz -f memory)" "render_page" "of which only what they want is written"
"$PMP" -q --heap=16K --heap-only -o later.pb.gz -- "$leaker" 4000 >ready
"$PMP" -q --diff both.pb.gz later.pb.gz -f folded --sample-type inuse_space >grown.folded
ok "awk '/write_audit;get_memory;malloc/ { found = \$NF > \$(NF - 1) } END { exit !found }' grown.folded" \
	"of two the later one has more of what leaks"
# Bytes are so many, however long the snapshots beside them went on.
"$PMP" -q -F 100 --heap=16K -o longer.pb.gz -- "$leaker" 1000 >ready
"$PMP" -q --diff both.pb.gz longer.pb.gz -f folded --sample-type inuse_space >grown.folded
"$PMP" -q both.pb.gz -f folded --sample-type inuse_space >both.folded
is "$(awk '{ sum += $(NF - 1) } END { print sum }' grown.folded)" \
	"$(awk '{ sum += $NF } END { print sum }' both.folded)" "a base has the bytes that it has"
"$PMP" -q --diff both.pb.gz --heap=16K --sample-type inuse_space -f folded -- "$leaker" 1000 \
	>grown.folded 2>err
is "$? $(sed -n '/^pmp:/p' err)" "0 " "a command is compared with a saved heap: status 0"
like "$(cat grown.folded)" "write_audit;get_memory;malloc [0-9]+ [0-9]+$" "both have what leaks"
"$PMP" -q -n 1 -o stacks.pb.gz -p $$
echo old >kept.folded
"$PMP" -q --diff stacks.pb.gz --heap=16K --heap-only -o kept.folded -- touch started 2>err
is "$? $(cat kept.folded) $(ls started 2>/dev/null)" "2 old " "with stacks it is not, and not even started"
like "$(cat err)" "^pmp: cannot compare inuse_space with a base of stacks$" "which is said"

"$PMP" -q both.pb.gz -f heap -o both.heap
"$PMP" -q later.pb.gz -f heap -o later.heap
like "$(head -n 1 both.heap)" '^heap profile: +[0-9]+: +[0-9]+ \[ *[0-9]+: +[0-9]+\] @ heapprofile$' \
	"the text of gperftools"
# Of heap.pb.gz and of heap.heap, by their three readers: the sum of a value.
sum_go() {
	case $1 in
	*_space) go tool pprof -symbolize=none -unit=bytes -sample_index="$1" -top "$leaker" "$2" ;;
	*) go tool pprof -symbolize=none -sample_index="$1" -top "$leaker" "$2" ;;
	esac 2>/dev/null | sed -n 's/.* of \([0-9]*\)B* total$/\1/p'
}
sum_text() {
	head -n 1 "$2" | tr '[:@]' '    ' | tr ']' ' ' | awk -v column="$1" '{ print $(column + 2) }'
}
if command -v go >/dev/null; then
	column=1
	for value in inuse_objects inuse_space alloc_objects alloc_space; do
		is "$(sum_go $value both.pb.gz)" "$(sum_text $column both.heap)" "go tool pprof: $value"
		is "$(sum_go $value both.heap)" "$(sum_text $column both.heap)" "the same of the text"
		column=$((column + 1))
	done
else
	skip "no go"
fi
# google-pprof: of the function that leaks, in bytes.
perl_sum() {
	google-pprof --text "$1" --show_bytes "$leaker" "$2" 2>/dev/null |
		sed -n 's/^Total: \([0-9]*\) .*/\1/p; s/^Total: \([0-9]*\)$/\1/p'
}
if command -v google-pprof >/dev/null; then
	is "$(perl_sum --inuse_space ./both.heap)" "$(sum_text 2 both.heap)" "google-pprof: --inuse_space"
	is "$(perl_sum --inuse_objects ./both.heap)" "$(sum_text 1 both.heap)" "--inuse_objects"
	is "$(perl_sum --alloc_space ./both.heap)" "$(sum_text 4 both.heap)" "--alloc_space"
	like "$(google-pprof --text --inuse_space "$leaker" ./both.heap 2>/dev/null)" "write_audit" "with names"
else
	skip "no google-pprof"
fi
"$PMP" -q --heap=16K --heap-only -f growth -- "$leaker" 500 >leaker.growth
like "$(grep '^heap profile' leaker.growth)" "@ growth$" "calls for which the heap has grown"

# ---- served -------------------------------------------------------------------------

if command -v curl >/dev/null; then
	"$PMP" --heap=16K --serve=0 -- "$leaker" 60000 >ready 2>served &
	server=$!
	test_pids="$test_pids $server"
	wait_for "grep -q 'serving .* at ' served"
	url=$(sed -n 's/.* at \(http:[^?]*\).*/\1/p' served)
	wait_for "curl -s '${url}pprof/heap' | grep -q 'heap profile: .*[1-9].* @ heapprofile'"
	like "$(curl -s "${url}debug/pprof/heap?debug=1")" "@ heapprofile$" "served: the heap as text"
	like "$(curl -s "${url}pprof/growth")" "@ growth$" "its growth"
	curl -s -o allocs.pb.gz "${url}debug/pprof/allocs"
	like "$("$PMP" -q allocs.pb.gz -f folded)" "render_page" "what was allocated, as Go's pages have it"
	stop_process "$server"
else
	skip "no curl"
fi

# ---- what cannot be -----------------------------------------------------------------

refused() {
	want=$1
	shift
	like "$("$PMP" "$@" 2>&1 >/dev/null)" "$want" "refused: $*"
}
refused "the format memory needs a recorded heap: use --heap" -f memory -p $$
refused "--heap has no sample type 'space'" --heap --sample-type space -f flat -- true
for format in raw json perf locks contention mutex threadz; do
	refused "the format $format shows threads, which --heap-only does not sample" \
		--heap --heap-only -o there.out -f $format -- true
done
for format in raw json perf locks contention mutex threadz; do
	refused "the format $format has no sample type 'inuse_space'" \
		--heap --sample-type inuse_space -o there.out -f $format -- true
done
is "$(ls there* 2>/dev/null)" "" "and there is no file"
"$PMP" -q --heap=exact --heap-only -f threads -- "$allocator" mixed 20 >out 2>err
is "$?,$(cat err)" "0," "formats that can count the heap are written with --heap-only"

"$PMP" --heap=exact --heap-only -f folded --focus nosuch -- "$allocator" mixed 20 >out 2>err
like "$(cat err)" "^pmp: the filters show 0 of [0-9.]+[kM]?B? inuse_space \(0[.]0%\)$" \
	"what filters show of a heap is no number of stacks"

# A saved profile of stacks alone; of a command that allocates nothing the heap is empty.
for format in memory heap; do
	refused "the format $format needs a recorded heap: there is none in stacks.pb.gz" \
		stacks.pb.gz -f $format
done
# Of a saved profile it would be empty.
for file in both.pb.gz stacks.pb.gz; do
	"$PMP" -q -f growth $file >out 2>err
	is "$?,$(cat out)" "2," "$file has no growth: refused, and nothing is written"
	like "$(cat err)" \
		"^pmp: the format growth is written while a heap is recorded: a saved profile does not have it$" \
		"its message"
done
"$PMP" --heap --heap-only -o nothing.pb.gz -- true 2>err || diag "$(cat err)"
"$PMP" nothing.pb.gz -f memory >out 2>err
is $? 0 "what has recorded nothing is written"

for format in contention mutex; do
	refused "the format $format has no sample type 'inuse_space'" \
		both.pb.gz --sample-type inuse_space -f $format
done
"$PMP" --diff both.pb.gz later.pb.gz --sample-type inuse_space -f flat >out 2>err
unlike "$(cat err)" "what is rare" "how long heaps were recorded is no reason for a message"

# Bytes and blocks are no threads.
refused "it cannot show inuse_objects" both.pb.gz --sample-type inuse_objects -f threadz
echo old >kept.threadz
"$PMP" -q both.pb.gz --sample-type inuse_space -o kept.threadz 2>err
is "$? $(cat kept.threadz)" "1 old" "no thread for each byte"
like "$(cat err)" "^pmp: the format threadz repeats each stack as often as it was found: it cannot show inuse_space$" \
	"which is said"

done_testing
