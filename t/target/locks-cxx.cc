/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * locks-cxx KIND: as t/target/locks.c, with what the C++ library has.
 */
#include "locks.h"

#include <chrono>
#include <mutex>
#include <shared_mutex>

static std::shared_mutex shared;
static std::timed_mutex timed;
static std::once_flag once;

static int lock_shared(void *)
{
	shared.lock_shared();
	return 0;
}

static int lock_exclusive(void *)
{
	shared.lock();
	return 0;
}

static void shared_write()
{
	actor_holds(lock_shared, nullptr);
	actor_holds(lock_shared, nullptr);
	truth(actor_waits(lock_exclusive, nullptr, CALL(futex)), 0,
	      locks_address(shared.native_handle()), "rwlock", " mode=write readers=2");
}

static void shared_read()
{
	actor *holder = actor_holds(lock_exclusive, nullptr);

	truth(actor_waits(lock_shared, nullptr, CALL(futex)), holder->tid,
	      locks_address(shared.native_handle()), "rwlock", " mode=read");
}

/* An object whose construction does not end. */
struct Endless {
	Endless()
	{
		actor_took();
		actor_rest();
	}
};

inline Endless &endless()
{
	static Endless value;

	return value;
}

/* The address of a variable for which C++ has no name. */
__asm__(".pushsection .data; .balign 8; .globl endless_guard\n"
	"endless_guard: .quad _ZGVZ7endlessvE5value\n"
	".popsection");
extern "C" const uint64_t endless_guard;

static int use_endless(void *)
{
	endless();
	return 0;
}

static void guard()
{
	actor *holder = actor_holds(use_endless, nullptr);

	truth(actor_waits(use_endless, nullptr, CALL(futex)), holder->tid, endless_guard,
	      "guard", nullptr);
}

static int use_once(void *)
{
	std::call_once(once, [] {
		actor_took();
		actor_rest();
	});
	return 0;
}

static void call_once()
{
	actor *holder = actor_holds(use_once, nullptr);

	truth(actor_waits(use_once, nullptr, CALL(futex)), holder->tid,
	      locks_address(&once), "once", nullptr);
}

static int lock_timed(void *)
{
	return timed.try_lock_for(std::chrono::seconds(LOCKS_TIMEOUT)) ? 0 : 1;
}

static void timed_mutex()
{
	actor *holder = actor_holds(lock_timed, nullptr);

	truth(actor_waits(lock_timed, nullptr, CALL(futex)), holder->tid,
	      locks_address(timed.native_handle()), "mutex", " timed=1");
}

static const struct kind kinds[] = {
	{ "cxx-shared-write", shared_write },
	{ "cxx-shared-read", shared_read },
	{ "cxx-guard", guard },
	{ "cxx-call-once", call_once },
	{ "cxx-timed-mutex", timed_mutex },
	{ nullptr, nullptr },
};

extern "C" const struct kind *const locks_groups[] = { kinds, nullptr };
