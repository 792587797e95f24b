#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The part of the page that needs no document, in node: trees and numbers; and what the
# files of the page may be: small, without the name of a host, and without anything that
# makes text a part of the page in other ways than as text.

# shellcheck source=t/lib/test.sh
. "${top_srcdir:-.}/t/lib/test.sh"

serve=$top_srcdir/pmp/serve

# As they are sent: strings of C, without their quotes.
for file in html css js; do
	sed -e 's/^"//' -e 's/\\n"$//' -e 's/\\\(.\)/\1/g' "$top_builddir/libpmp/write/page-$file.h" \
		>page.$file
done
ok "[ $(cat page.js | wc -c) -le 61440 ]" "the script has $(cat page.js | wc -c) bytes, not more than 60 kB"
ok "[ $(gzip -9 <page.js | wc -c) -le 18432 ]" \
	"it has $(gzip -9 <page.js | wc -c) bytes compressed, not more than 18 kB"
ok "[ $(cat page.* | gzip -9 | wc -c) -le 22528 ]" \
	"all compressed $(cat page.* | gzip -9 | wc -c) bytes, not more than 22 kB"
is "$(cat page.* | grep -nE '[a-z]+://|\burl\(|@import|\bimport\b|XMLHttp|WebSocket|EventSource|sendBeacon')" \
	"" "no line of it names a host"
is "$(grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|createContextualFragment|DOMParser|srcdoc' page.js)" \
	"" "names become text only"
is "$(grep -nE ' style=| on[a-z]+=|<style|javascript:' page.html)" "" \
	"nothing stands in the page that a policy forbids"
is "$(grep -nE '</?script|<!--' page.js page.css)" "" "nothing in the files ends them"

need node
cat >want <<'END'
kinds: samples,lock
all: 9 nodes: 23
poll: poll 4/4
LOCK|mutex: 33.33
lock|MUTEX: 44.44
lock: 44.44
^poll$: 44.44
.: 100.00
(: SyntaxError
functions: a 21/23 b 10/30
hidden: a 5/7 b 10/14
only: a 16/16 b 0/16
groups: [{"name":"g-N","total":7,"part":7},{"name":"h","total":56,"part":16}]
callers of a: b 16, g-N 7
callees of a: b 6
apart: all 63 >p 63 >>g-N 7 >>>a 7 >>>>b 6 >>>>>a 4 >>h 56 >>>b 24 >>>>a 16 >>>… 32
together: all 63 >p 63 >>a 7 >>>b 6 >>>>a 4 >>b 24 >>>a 16 >>… 32
one: all 56 >p 56 >>b 24 >>>a 16 >>… 32
focus: all 30 >p 30 >>a 6 >>>b 6 >>>>a 4 >>b 24 >>>a 16
inverted: all 56 >a 16 >>b 16 >>>p 16 >b 8 >>p 8 >… 32 >>p 32
hottest: 0,1,6,9
found: 7 p,h,b,a
boxes: 0@0:0-126 1@1:0-126 6@2:14-126 +3@3:62-126 7@3:14-62 8@4:14-46 2@2:0-14 3@3:0-14 4@4:0-12 5@5:0-8
zoomed: 0@0:60 1@1:60 2@2:60 3@3:60 4@4:60 5@5:40
narrow: @0 @1 @2 3@3 @3 @4
few: true
manual: 4 0 6
empty: 0 0 0
hostile: 5 0 6
hostile-all: 5 0 6
diff: 9 16 15
diff-gone: 0 16 8
two: 10 0 15
change: 22.22
times: 200 ms, 90 ms, 100 ms, 110 ms
properties: __proto__ 0/5 constructor 12/12 
0B 1023B 1kB 1.50MB 4.66GB
7 us, 1.0 ms, 1.0 ms, 12 ms, 1.00 s, 1.23 s
std::map::find f operator<<(x) {anonymous}::g <alloc::Vec<T>_as_x>::fmt (a) x::z
0 999 1,000 1,234,567
large: 50000 true true
END
is "$(node "$top_srcdir/t/lib/page-model.js" "$serve" "$top_srcdir/t/data/golden" 2>&1)" \
	"$(cat want)" "the model in node"

done_testing
