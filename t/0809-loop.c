/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop: who is called, in which mode, and what may be done in a call. */
#include "lib/tap.h"

#include <poll.h>
#include <unistd.h>

#include "run/loop.h"

struct end {
	struct loop *loop;
	int fds[2];
	int calls;
	short revents;
	struct end *other; /* removed in the call, or made a turn for */
	bool turns;
};

static void ready(void *arg, short revents)
{
	struct end *end = arg;
	char byte;

	end->calls++;
	end->revents = revents;
	if (revents & POLLIN && read(end->fds[0], &byte, 1) != 1)
		end->calls = -1;
	if (end->other && end->turns)
		loop_turn(end->loop, LOOP_URGENT, 0);
	else if (end->other)
		loop_remove(end->loop, end->other->fds[0]);
}

static void open_end(struct end *end, struct loop *loop, bool urgent)
{
	*end = (struct end){ .loop = loop };
	ok(pipe(end->fds) == 0 && loop_add(loop, end->fds[0], urgent, ready, end),
	   "a pipe is added");
}

static void poke(struct end *end)
{
	ok(write(end->fds[1], "", 1) == 1, "a byte is written");
}

static int befores, afters;

static void before(void *arg)
{
	(void)arg;
	befores++;
}

static void after(void *arg)
{
	(void)arg;
	afters++;
}

int main(void)
{
	struct loop *loop = loop_new();
	struct end a, b, c;

	open_end(&a, loop, true);
	open_end(&b, loop, false);
	open_end(&c, loop, false);
	loop_around(loop, before, after, NULL);
	is_int(loop_turn(loop, LOOP_ALL, 0), 0, "nothing is ready");
	is_int(befores + afters, 2, "the lock is let go around a wait");

	poke(&a);
	poke(&b);
	is_int(loop_turn(loop, LOOP_URGENT, -1), 1,
	       "a turn for what is urgent calls one");
	is_int(a.calls, 1, "the urgent one");
	is_int(b.calls, 0, "not the other");
	is_int(befores + afters, 2, "the lock is kept in such a turn");
	is_int(loop_turn(loop, LOOP_ALL, -1), 1,
	       "the other one is called in the next turn");
	is_int(b.calls, 1, "once");

	poke(&b);
	poke(&c);
	b.other = &c;
	is_int(loop_turn(loop, LOOP_ALL, -1), 1,
	       "who is removed by another is not called");
	is_int(c.calls, 0, "although it was ready");
	poke(&b);
	is_int(loop_turn(loop, LOOP_ALL, 0), 1, "nor is it waited for any more");

	b.other = &a;
	b.turns = true;
	poke(&a);
	poke(&b);
	loop_turn(loop, LOOP_ALL, -1);
	is_int(a.calls, 2, "a turn within a call calls no function twice");
	is_int(b.calls, 4, "the one whose call it is, neither");

	close(a.fds[1]);
	is_int(loop_turn(loop, LOOP_ALL, -1), 1, "the end of a pipe is reported");
	ok(a.revents & POLLHUP, "as such");
	ok(loop_add(loop, -1, false, ready, &a), "no descriptor is nothing to wait for");
	loop_free(loop);
	return done_testing();
}
