/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What waits are called: names with all that compilers and linkers put around them; what
 * the functions of a stack say, what the bytes of the lock have said, and both together.
 */
#include <sys/syscall.h>

#include "lib/tap.h"
#include "report/filter.h"
#include "report/report.h"
#include "report/wait-functions.h"
#include "report/wait-kinds.h"
#include "resolve/demangle.h"
#include "write/delays.h"

struct fake_function {
	const char *name, *file, *module;
	unsigned line;
	bool inlined, unnamed, signal, exact;
};

#define LIBC "/usr/lib/libc.so.6"
#define DEMO "/usr/bin/demo"
#define SERVER "/usr/sbin/mariadbd"

static const struct fake_function fake_functions[] = {
	{ .name = "__lll_lock_wait", .module = LIBC },
	{ .name = "___pthread_mutex_lock@@GLIBC_2.2.5", .module = LIBC },
	{ .name = "__pthread_rwlock_wrlock", .module = LIBC },
	{ .name = "___pthread_cond_wait", .module = LIBC },
	{ .name = "__new_sem_wait_slow64.constprop.0", .module = LIBC },
	{ .name = "__pthread_once_slow.isra.0", .module = LIBC },
	{ .name = "__lll_lock_wait_private", .module = LIBC },
	{ .name = "syscall", .module = LIBC },
	{ .name = "epoll_wait", .module = LIBC },
	{ .name = "[libc.so.6+0x1234]", .module = LIBC, .unnamed = true },
	{ .name = "[demo+0x1234]", .module = DEMO, .unnamed = true },
	{ .name = "initialise", .module = DEMO },
	{ .name = "main", .module = DEMO },
	{ .name = "std::sys::pal::unix::futex::futex_wait", .module = DEMO },
	{ .name = "std::sys::sync::mutex::futex::Mutex::lock_contended", .module = DEMO },
	{ .name = "std::sys::sync::rwlock::futex::RwLock::write_contended",
	  .module = DEMO },
	{ .name = "<parking_lot_core::thread_parker::imp::ThreadParker as "
		  "parking_lot_core::thread_parker::ThreadParkerT>::park",
	  .module = DEMO,
	  .inlined = true },
	{ .name = "parking_lot_core::parking_lot::park", .module = DEMO },
	{ .name = "parking_lot::raw_mutex::RawMutex::lock_slow", .module = DEMO },
	{ .name = "std::thread::park", .module = DEMO },
	{ .name = "os::PlatformEvent::park()", .module = "/usr/lib/jvm/libjvm.so" },
	{ .name = "ObjectMonitor::enter(JavaThread*)",
	  .module = "/usr/lib/jvm/libjvm.so" },
	{ .name = "MDL_wait::timed_wait(MDL_context_owner*, timespec*, bool)",
	  .module = SERVER },
	{ .name = "do_handle_one_connection(CONNECT*, bool)", .module = SERVER },
	{ .name = "ProcSleep", .module = "/usr/lib/postgresql/15/bin/postgres" },
	{ .name = "lock_wait", .module = DEMO },
	{ .name = "lock_wait(que_thr_t*)", .module = SERVER },
	{ .name = "__cxa_guard_acquire", .module = "/usr/lib/libstdc++.so.6" },
	{ .name = "[mariadbd+0xd5b024]", .module = SERVER, .unnamed = true },
	{ .name = "handler::ha_index_read_map(unsigned char*, unsigned char const*, "
		  "unsigned long, ha_rkey_function)",
	  .module = SERVER },
};

enum {
	LLL,
	MUTEX,
	WRLOCK,
	COND,
	SEM,
	ONCE,
	PRIVATE,
	SYSCALL,
	EPOLL,
	LIBC_UNNAMED,
	DEMO_UNNAMED,
	INIT,
	MAIN,
	RUST_FUTEX,
	RUST_MUTEX,
	RUST_WRITE,
	PARKER,
	PARKING,
	PARKING_MUTEX,
	PARK,
	JAVA_PARK,
	JAVA_ENTER,
	MDL,
	CONNECTION,
	PROC_SLEEP,
	OTHERS_LOCK_WAIT,
	LOCK_WAIT,
	GUARD,
	ENGINE_UNNAMED,
	HANDLER,
};

#include "lib/fakenames.h"

/* ---- names ------------------------------------------------------------------------ */

static void test_bare_names(void)
{
	static const struct {
		const char *name, *bare;
	} cases[] = {
		{ "pthread_mutex_lock", "pthread_mutex_lock" },
		{ "___pthread_mutex_lock", "pthread_mutex_lock" },
		{ "__GI___pthread_mutex_lock", "pthread_mutex_lock" },
		{ "pthread_mutex_lock@@GLIBC_2.2.5", "pthread_mutex_lock" },
		{ "__new_sem_wait_slow64.constprop.0", "new_sem_wait_slow64" },
		{ "runtime.lock2", "runtime.lock2" },
		{ "f(int, std::map<int, int>)", "f" },
		{ "MDL_wait::timed_wait(MDL_context_owner*) const",
		  "MDL_wait::timed_wait" },
		{ "void std::__detail::__platform_wait<int>(int const*, int)",
		  "std::__detail::__platform_wait" },
		{ "unsigned long a::b<c<d> >::e<f>(g<h>) [clone .cold]", "a::b::e" },
		{ "(anonymous namespace)::Pool::get(int)", "::Pool::get" },
		{ "f(int)::local::g()", "f::local::g" },
		{ "main.(*T).f", "main..f" },
		{ "<A<B> as C>::d", "A::d" },
		{ "<parking_lot::raw_mutex::RawMutex>::lock_slow",
		  "parking_lot::raw_mutex::RawMutex::lock_slow" },
		{ "std::sync::once::Once::call_once::{{closure}}",
		  "std::sync::once::Once::call_once::{{closure}}" },
		{ "a<b", "a" },
		{ "<", "" },
		{ "<a", "a" },
		{ "a(b", "a" },
		{ "", "" },
		{ "___", "" },
	};
	char buffer[PMP_BARE_NAME], name[3 * PMP_BARE_NAME];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is_str(pmp_bare_name(cases[i].name, buffer), cases[i].bare, "%s",
		       cases[i].name);
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	is_int((long long)strlen(pmp_bare_name(name, buffer)), PMP_BARE_NAME - 1,
	       "a long name is cut off");
}

static void test_patterns(void)
{
	char text[200];

	ok(pmp_pattern_matches("a*c", "abbc") && pmp_pattern_matches("a*c", "acac"),
	   "a star stands for anything");
	ok(!pmp_pattern_matches("a*c", "abbcd") && !pmp_pattern_matches("a", "ab"),
	   "but all of a text has to match");
	ok(pmp_pattern_matches("*", "") && pmp_pattern_matches("a**", "a"), "or nothing");
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	ok(!pmp_pattern_matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*ab", text),
	   "many stars take no time");
}

static const char *kind_of(const char *function)
{
	struct pmp_wait_function says;

	pmp_wait_function(function, DEMO, &says);
	return pmp_named_kinds[says.kind ? says.kind : says.outer].text;
}

static const struct {
	const char *kind, *names[8];
} functions[] = {
	{ "mutex",
	  { "pthread_mutex_lock", "__pthread_mutex_lock_full", "pthread_mutex_timedlock",
	    "__pthread_mutex_clocklock_common", "__pthread_mutex_cond_lock", "mtx_lock",
	    "mtx_timedlock" } },
	{ "rwlock",
	  { "pthread_rwlock_rdlock", "__pthread_rwlock_wrlock_full64.isra.0",
	    "pthread_rwlock_timedrdlock", "pthread_rwlock_clockwrlock",
	    "pthread_rwlock_timedwrlock@GLIBC_2.34" } },
	{ "condition",
	  { "pthread_cond_wait", "___pthread_cond_clockwait64",
	    "__pthread_cond_wait_common", "pthread_cond_timedwait", "cnd_wait",
	    "cnd_timedwait" } },
	{ "join", { "pthread_join", "__pthread_clockjoin_ex", "thrd_join" } },
	{ "semaphore",
	  { "sem_wait", "sem_timedwait", "sem_clockwait", "__new_sem_wait_slow64",
	    "__new_sem_wait" } },
	{ "barrier", { "pthread_barrier_wait", "__pthread_barrier_wait" } },
	{ "once",
	  { "pthread_once", "__pthread_once_slow", "call_once",
	    "std::sync::once::Once::call_once", "std::sys::sync::once::futex::Once::call",
	    "std::sync::poison::once::Once::call_once_force::{{closure}}" } },
	{ "static initialisation", { "__cxa_guard_acquire" } },
	{ "lock of the C library", { "__lll_lock_wait_private" } },
	{ "Rust mutex",
	  { "std::sys::sync::mutex::futex::Mutex::lock_contended",
	    "std::sys::unix::locks::futex_mutex::Mutex::lock_contended",
	    "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE",
	    "_RNvMs_NtNtNtNtCsbmNqQUJIY6D_3std3sys4sync5mutex5futexNtB4_5Mutex14lock_"
	    "contended" } },
	{ "Rust rwlock",
	  { "std::sys::sync::rwlock::futex::RwLock::read_contended",
	    "std::sys::unix::locks::futex_rwlock::RwLock::write_contended" } },
	{ "Rust condvar",
	  { "std::sys::sync::condvar::futex::Condvar::wait_optional_timeout" } },
	{ "Rust park",
	  { "std::thread::park", "std::thread::park_timeout",
	    "std::sys::sync::thread_parking::futex::Parker::park" } },
	{ "parking_lot mutex",
	  { "parking_lot::raw_mutex::RawMutex::lock_slow",
	    "<parking_lot::raw_mutex::RawMutex>::lock_slow" } },
	{ "parking_lot rwlock",
	  { "parking_lot::raw_rwlock::RawRwLock::lock_shared_slow",
	    "parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow" } },
	{ "absl::Mutex",
	  { "absl::lts_20220623::Mutex::LockSlow(absl::MuHow, int)",
	    "absl::Mutex::LockSlowLoop(absl::SynchWaitParams*, int)",
	    "_ZN4absl12lts_202206235Mutex8LockSlowE5MuHowi" } },
	{ "absl::CondVar", { "absl::lts_20220623::CondVar::WaitCommon(absl::Mutex*)" } },
	{ "GMutex", { "g_mutex_lock_slowpath", "g_mutex_lock" } },
	{ "GCond", { "g_cond_wait", "g_cond_wait_until" } },
	{ "OpenMP lock", { "gomp_mutex_lock_slow" } },
	{ "OpenMP barrier", { "gomp_team_barrier_wait_end", "gomp_barrier_wait" } },
	{ "atomic wait",
	  { "std::__atomic_futex_unsigned_base::_M_futex_wait_until(unsigned*)",
	    "void std::__atomic_wait_address_bare<int>(int const*)",
	    "void std::__detail::__platform_wait<int>(int const*, int)" } },
	{ "Go runtime lock", { "runtime.lock2", "runtime.lock" } },
	{ "Go note", { "runtime.notesleep", "runtime.notetsleep_internal" } },
	{ "Java monitor",
	  { "ObjectMonitor::enter(JavaThread*)", "ObjectMonitor::EnterI(JavaThread*)",
	    "ObjectMonitor::ReenterI(JavaThread*, ObjectWaiter*)",
	    "ObjectMonitor::reenter_internal(JavaThread*, ObjectWaiter*)",
	    "_ZN13ObjectMonitor5enterEP10JavaThread" } },
	{ "Java wait", { "ObjectMonitor::wait(long, bool, JavaThread*)" } },
	{ "Java park", { "Unsafe_Park" } },
	{ "",
	  { "main", "futex", "pthread_create", "my_pthread_mutex_lock",
	    "runtime.futexsleep", "xsem_wait", "semaphore" } },
};

/* As by the process that reads names; only there may what a target chose be demangled. */
static void check_function(const char *name, const char *kind)
{
	struct pmp_buf readable = { 0 };

	if (pmp_demangle(name, &readable)) {
		is_str(kind_of(name), "", "%s is not demangled", name);
		is_str(kind_of(readable.data), kind, "kind of %s", readable.data);
	} else {
		is_str(kind_of(name), kind, "kind of %s", name);
	}
	pmp_buf_free(&readable);
}

static void test_functions(void)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		for (size_t k = 0; k < 8 && functions[i].names[k]; k++)
			check_function(functions[i].names[k], functions[i].kind);
}

/* ---- stacks ------------------------------------------------------------------------ */

#define STACK(...) \
	(const int[]) \
	{ \
		__VA_ARGS__, -1 \
	}

struct wait_case {
	enum pmp_wait_kind bytes;
	const int *stack;
	const char *kind, *meaning;
	bool lock, vetoed;
	uint64_t object;
	const char *text;
};

#define OBJECT 0x5000

static const struct wait_case cases[] = {
	{ PMP_WAIT_MUTEX, STACK(LLL, MUTEX, MAIN), "mutex", NULL, true, false, OBJECT,
	  "bytes and names agree" },
	{ PMP_WAIT_MUTEX, STACK(MAIN), "mutex", NULL, true, false, OBJECT,
	  "bytes need no names" },
	{ PMP_WAIT_MUTEX, STACK(LLL, COND, MAIN), "mutex", NULL, true, false, OBJECT,
	  "a condition that was signalled waits for its mutex" },
	{ PMP_WAIT_FUTEX, STACK(LLL, MUTEX), "mutex", NULL, true, false, OBJECT,
	  "names alone: a mutex" },
	{ PMP_WAIT_MUTEX, STACK(SYSCALL, RUST_FUTEX, RUST_MUTEX), "Rust mutex", NULL,
	  true, true, 0, "what looks like a mutex is one of Rust's" },
	{ PMP_WAIT_CONDITION, STACK(SYSCALL, RUST_FUTEX, PARK), "Rust park", NULL, false,
	  true, 0, "what looks like a condition is a parking place" },
	{ PMP_WAIT_RWLOCK, STACK(LLL, MUTEX), "mutex", NULL, true, true, 0,
	  "what looks like a rwlock is a mutex" },
	{ PMP_WAIT_MUTEX, STACK(SEM, MAIN), "semaphore", NULL, false, true, 0,
	  "what looks like a mutex is a semaphore" },
	{ PMP_WAIT_STDIO, STACK(PRIVATE, MAIN), "stdio", NULL, true, false, OBJECT,
	  "the lock of a FILE is one of the library's" },
	{ PMP_WAIT_FUTEX, STACK(PRIVATE, MAIN), "lock of the C library", NULL, true,
	  false, OBJECT, "which may be another one" },
	{ PMP_WAIT_FUTEX, STACK(SYSCALL, RUST_FUTEX, RUST_WRITE), "Rust rwlock", NULL,
	  true, false, OBJECT - 4, "writers wait by the second word" },
	{ PMP_WAIT_FUTEX, STACK(ONCE, MAIN), "once", NULL, true, false, OBJECT, "once" },
	{ PMP_WAIT_FUTEX, STACK(LIBC_UNNAMED, ONCE, MAIN), "once", NULL, true, false,
	  OBJECT, "with a function of the same library in it" },
	{ PMP_WAIT_FUTEX, STACK(SYSCALL, INIT, ONCE, MAIN), "futex", NULL, false, false,
	  OBJECT, "who runs what is done once waits for something else" },
	{ PMP_WAIT_FUTEX, STACK(SYSCALL, DEMO_UNNAMED, ONCE, MAIN), "futex", NULL, false,
	  false, OBJECT, "also if that has no name" },
	{ PMP_WAIT_MUTEX, STACK(LLL, MUTEX, INIT, ONCE), "mutex", NULL, true, false,
	  OBJECT, "or for a lock" },
	{ PMP_WAIT_FUTEX, STACK(SYSCALL, PARKER, PARKING_MUTEX), "parking_lot mutex",
	  NULL, true, false, 0, "a mutex made of a parking place" },
	{ PMP_WAIT_CONDITION, STACK(COND, JAVA_PARK, JAVA_ENTER), "Java monitor", NULL,
	  true, false, 0, "a monitor made of a condition" },
	{ PMP_WAIT_MUTEX, STACK(LLL, COND, JAVA_PARK, JAVA_ENTER), "mutex", NULL, true,
	  false, OBJECT, "whose mutex is one" },
	{ PMP_WAIT_CONDITION, STACK(COND, MDL, MAIN), "condition", "metadata lock", true,
	  false, OBJECT, "a meaning" },
	{ PMP_WAIT_FUTEX, STACK(COND, MDL, MAIN), "condition", "metadata lock", true,
	  false, 0, "of a condition that the bytes do not show" },
	{ PMP_WAIT_MUTEX, STACK(LLL, MUTEX, MDL), "mutex", NULL, true, false, OBJECT,
	  "not of what is a lock by itself" },
	{ PMP_WAIT_CONDITION, STACK(COND, CONNECTION), "condition", "cached thread",
	  false, false, OBJECT, "an event that has a meaning" },
	{ PMP_WAIT_CONDITION, STACK(COND, INIT, CONNECTION), "condition", NULL, false,
	  false, OBJECT, "only right in that function" },
	{ PMP_WAIT_CONDITION, STACK(COND, DEMO_UNNAMED, CONNECTION), "condition", NULL,
	  false, false, OBJECT, "not in one without a name" },
	{ PMP_WAIT_CONDITION, STACK(COND, OTHERS_LOCK_WAIT), "condition", NULL, false,
	  false, OBJECT, "a function of that name in another program" },
	{ PMP_WAIT_CONDITION, STACK(COND, LOCK_WAIT), "condition", "InnoDB row lock",
	  true, false, OBJECT, "and in the right one" },
	{ PMP_WAIT_CONDITION, STACK(COND, LOCK_WAIT, HANDLER), "condition",
	  "InnoDB row lock", true, false, OBJECT, "the nearest meaning counts" },
	{ PMP_WAIT_CONDITION, STACK(COND, ENGINE_UNNAMED, HANDLER), "condition",
	  "storage engine wait", true, false, OBJECT,
	  "a condition in functions without names" },
	{ PMP_WAIT_FUTEX, STACK(COND, ENGINE_UNNAMED, HANDLER), "condition",
	  "storage engine wait", true, false, 0, "or one by its name" },
	{ PMP_WAIT_FUTEX, STACK(SYSCALL, ENGINE_UNNAMED, HANDLER), "futex", NULL, false,
	  false, OBJECT, "a futex there may be anything" },
	{ PMP_WAIT_NONE, STACK(EPOLL, PROC_SLEEP), "wait", "heavyweight lock", true,
	  false, 0, "a lock that waits by another system call" },
	{ PMP_WAIT_NONE, STACK(EPOLL, MDL), "", NULL, false, false, 0,
	  "which others do not" },
	{ PMP_WAIT_FUTEX,
	  STACK(SYSCALL, RUST_FUTEX, RUST_FUTEX, RUST_FUTEX, RUST_FUTEX, RUST_FUTEX,
		RUST_FUTEX, RUST_FUTEX, RUST_FUTEX, RUST_FUTEX, RUST_FUTEX, RUST_FUTEX,
		RUST_MUTEX),
	  "futex", NULL, false, false, OBJECT, "the thirteenth frame says nothing" },
};

#define CASES (sizeof(cases) / sizeof(*cases))

static struct pmp_profile *profile_of_cases(void)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .keep_snapshot = true };
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_profile *profile;

	if (!sample || pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	for (size_t i = 0; i < CASES; i++) {
		struct pmp_thread *thread =
			fake_thread(sample, (pid_t)(10 + i), "waiter", cases[i].stack);

		thread->syscall = SYS_futex;
		if (!cases[i].bytes)
			continue;
		thread->wait = (struct pmp_wait){ .kind = (uint8_t)cases[i].bytes,
						  .flags = PMP_WAIT_PROVEN,
						  .object = OBJECT };
		if (!pmp_wait_is_lock(&thread->wait))
			continue;
		thread->wait.holder_is = PMP_HOLDER_THREAD;
		thread->wait.holder = 99;
	}
	sample->seen = sample->thread_count;
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	pmp_sample_free(sample);
	return profile;
}

static struct pmp_report *report_of(struct pmp_profile *profile,
				    const struct pmp_filter *filter)
{
	const struct pmp_report_options options = { .size = sizeof(options),
						    .snapshot = true };
	struct pmp_report *report;

	if (pmp_report_new(profile, filter, &options, &report, NULL))
		abort();
	return report;
}

static void check_case(const struct wait_case *expected,
		       const struct pmp_named_wait *named)
{
	const char *meaning = named->meaning ? named->meaning : "";
	pid_t holder = named->wait.holder;

	is_str(named->kind, expected->kind, "%s", expected->text);
	is_str(meaning, expected->meaning ? expected->meaning : "", "its meaning");
	ok(named->lock == expected->lock, "%s: a lock: %d", expected->text, named->lock);
	ok(named->vetoed == expected->vetoed, "%s: not what the bytes say: %d",
	   expected->text, named->vetoed);
	ok(named->wait.object == expected->object, "%s: its address", expected->text);
	ok((holder == 99) == (pmp_wait_is_lock(&named->wait) && !named->vetoed) &&
		   (holder == 99 || !holder),
	   "%s: its holder: %d", expected->text, (int)holder);
}

static void test_stacks(void)
{
	struct pmp_profile *profile = profile_of_cases();
	struct pmp_report *report = report_of(profile, NULL);
	struct pmp_named_wait named;
	size_t asked;

	for (size_t i = 0; i < CASES; i++) {
		pmp_report_name_row(report, &report->snapshot->rows[i], &named);
		check_case(&cases[i], &named);
	}
	asked = fake_names;
	for (size_t i = 0; i < CASES; i++)
		pmp_report_name_row(report, &report->snapshot->rows[i], &named);
	is_int((long long)(fake_names - asked), 0, "no name is asked for twice");
	pmp_report_free(report);
	pmp_profile_free(profile);
}

/* Whatever is hidden or called otherwise: what they wait for is the same. */
static void test_filtered(void)
{
	struct pmp_profile *profile = profile_of_cases();
	struct pmp_filter *filter;
	struct pmp_report *report;
	struct pmp_named_wait named;

	if (pmp_filter_new(&filter, NULL))
		abort();
	pmp_filter_add(filter, PMP_FILTER_HIDE, "lock|cond|sem|once|sys|ark", NULL);
	pmp_filter_add(filter, PMP_FILTER_RENAME, "s/.*wait.*/x/", NULL);
	report = report_of(profile, filter);
	is_int((long long)report->snapshot->row_count, (long long)CASES,
	       "filtered: all rows are there");
	for (size_t i = 0; i < report->snapshot->row_count; i++) {
		const struct pmp_row *row = &report->snapshot->rows[i];

		pmp_report_name_row(report, row, &named);
		check_case(&cases[row->thread->tid - 10], &named);
	}
	pmp_report_free(report);
	pmp_filter_free(filter);
	pmp_profile_free(profile);
}

/* ---- what memory says of kinds that names tell ----------------------------------------- */

/* Of the only thread of a sample, with these functions, which waits by a futex. */
static struct pmp_named_wait name_words(const int *stack,
					const struct pmp_wait_words *words)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .keep_snapshot = true };
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_named_wait named;
	struct pmp_profile *profile;
	struct pmp_report *report;
	struct pmp_thread *thread;

	if (!sample || pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	thread = fake_thread(sample, 10, "waiter", stack);
	thread->syscall = SYS_futex;
	thread->wait = (struct pmp_wait){ .kind = PMP_WAIT_FUTEX,
					  .object = OBJECT,
					  .words = *words };
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	report = report_of(profile, NULL);
	pmp_report_name_row(report, &report->snapshot->rows[0], &named);
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_sample_free(sample);
	return named;
}

static void test_words(void)
{
	const struct pmp_wait_words free_mutex = { .flags = PMP_WORD_FREE_MUTEX };
	const struct pmp_wait_words readers = { .flags = PMP_WORD_BEFORE | PMP_WORD_AT,
						.before = 0x80000002,
						.at = 7 };
	const struct pmp_wait_words writer = { .flags = PMP_WORD_BEFORE,
					       .before = UINT32_MAX };
	const struct pmp_wait_words posted = { .flags = PMP_WORD_AT, .at = 1 };
	struct pmp_named_wait named;

	named = name_words(STACK(LLL, MUTEX, MAIN), &free_mutex);
	is_int(named.wait.holder_is, PMP_HOLDER_FREE, "a mutex by name is free");
	named = name_words(STACK(LLL, COND, MAIN), &free_mutex);
	is_int(named.wait.holder_is, PMP_HOLDER_NONE, "another kind is not");
	named = name_words(STACK(SYSCALL, RUST_FUTEX, RUST_WRITE), &readers);
	ok(named.wait.count == 2 && !named.wait.holder && !named.wait.holder_is,
	   "readers are counted");
	ok(named.wait.object == OBJECT - 4, "of the lock before the word");
	named = name_words(STACK(SYSCALL, RUST_FUTEX, RUST_WRITE), &writer);
	ok(named.said.what == PMP_SAYS_WRITER && !named.wait.count &&
		   !named.wait.holder_is && !named.wait.holder,
	   "a writer that is not known is no holder");
	named = name_words(STACK(SEM, MAIN), &posted);
	ok(named.said.what == PMP_SAYS_VALUE && named.said.count == 1,
	   "a semaphore has a value");
	named = name_words(STACK(SYSCALL, PARKER, PARKING_MUTEX), &posted);
	ok(!named.parked && !named.wait.object && named.said.what == PMP_SAYS_NOTHING,
	   "what is parked under nothing known has no address");
	named = name_words(STACK(MAIN), &writer);
	ok(named.said.what == PMP_SAYS_NOTHING && named.wait.object == OBJECT,
	   "without a name nothing is said");
}

/* What the time of a thread that waits by a futex is charged to, where it is only counted. */
static const char *charged_to(const int *stack, const struct pmp_wait_words *words)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .waits = true };
	const struct pmp_report_options none = { .size = sizeof(none) };
	struct pmp_sample *sample = pmp_sample_new();
	static char mark[64];
	struct pmp_delays delays = { 0 };
	struct pmp_profile *profile;
	struct pmp_report *report;

	if (!sample || pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	fake_thread(sample, 10, "waiter", stack)->wait = (struct pmp_wait){
		.kind = PMP_WAIT_FUTEX, .object = OBJECT, .words = *words
	};
	if (pmp_profile_add(profile, sample, NULL) ||
	    pmp_report_new(profile, NULL, &none, &report, NULL) ||
	    pmp_delays_make(&delays, report, PMP_DELAYS_OF_HOLDERS))
		abort();
	snprintf(mark, sizeof(mark), "%s",
		 delays.count == 1 ? delays.items[0].mark : "nothing");
	pmp_delays_free(&delays);
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_sample_free(sample);
	return mark;
}

static void test_charged(void)
{
	const struct pmp_wait_words none = { 0 };
	const struct pmp_wait_words free_mutex = { .flags = PMP_WORD_FREE_MUTEX };
	const struct pmp_wait_words zero = { .flags = PMP_WORD_AT };
	const struct pmp_wait_words held = { .flags = PMP_WORD_AT | PMP_WORD_SAME,
					     .at = 2 };
	const struct pmp_wait_words idle = { .flags = PMP_WORD_AT | PMP_WORD_SAME };
	const struct pmp_wait_words readers = { .flags = PMP_WORD_BEFORE | PMP_WORD_AT,
						.before = 0x80000002,
						.at = 7 };
	const struct pmp_wait_words left = { .flags = PMP_WORD_BEFORE | PMP_WORD_AT,
					     .before = 0x80000000,
					     .at = 7 };

	is_str(charged_to(STACK(LLL, MUTEX, MAIN), &free_mutex), "[no holder]",
	       "nobody is charged with the time for a mutex that is free");
	is_str(charged_to(STACK(LLL, MUTEX, MAIN), &none), "[holder unknown]",
	       "else somebody who is not known");
	is_str(charged_to(STACK(SYSCALL, RUST_FUTEX, RUST_MUTEX), &zero), "[no holder]",
	       "nor for a mutex of Rust that is free");
	is_str(charged_to(STACK(SYSCALL, RUST_FUTEX, RUST_MUTEX), &held),
	       "[holder unknown]", "else somebody");
	is_str(charged_to(STACK(SYSCALL, RUST_FUTEX, RUST_WRITE), &left), "[no holder]",
	       "nor for a rwlock of Rust that is free");
	is_str(charged_to(STACK(SYSCALL, RUST_FUTEX, RUST_WRITE), &readers),
	       "[holder unknown]", "but for one that readers hold");
	is_str(charged_to(STACK(LLL, MUTEX, MAIN), &zero), "[holder unknown]",
	       "a word that is 0 is not enough for a mutex of glibc");
	is_str(charged_to(STACK(PRIVATE, MAIN), &idle), "[holder unknown]",
	       "nothing was released as long as the word is what is waited by");
	is_str(charged_to(STACK(SEM, MAIN), &zero), "nothing",
	       "nobody is charged with an event");
}

/* ---- meanings of the user ------------------------------------------------------------ */

static const struct pmp_row *row_with(const struct pmp_report *report, const char *text)
{
	for (size_t i = 0; i < CASES; i++)
		if (strcmp(cases[i].text, text) == 0)
			return &report->snapshot->rows[i];
	abort();
}

static void test_users(void)
{
	struct pmp_profile *profile = profile_of_cases();
	struct pmp_filter *filter;
	struct pmp_report *report;
	struct pmp_named_wait named;

	if (pmp_filter_new(&filter, NULL))
		abort();
	is_int(pmp_filter_add(filter, PMP_FILTER_LOCK_MEANING,
			      "s/^(do_handle)_one_(c[a-z]*)/\\2 of \\1/", NULL),
	       0, "a meaning is taken");
	is_int(pmp_filter_add(filter, PMP_FILTER_LOCK_MEANING, "s/^MDL_wait::.*//", NULL),
	       0, "and one without a text");
	ok(!pmp_filter_is_active(filter), "they filter nothing");
	report = report_of(profile, filter);
	pmp_report_name_row(report, row_with(report, "an event that has a meaning"),
			    &named);
	is_str(named.meaning, "connection of do_handle", "the user's comes first");
	ok(named.lock, "and makes it a lock");
	pmp_report_name_row(report, row_with(report, "only right in that function"),
			    &named);
	is_str(named.meaning, "connection of do_handle", "of any function nearby");
	pmp_report_name_row(report, row_with(report, "a meaning"), &named);
	ok(!named.meaning && !named.lock, "without a text there is no meaning");
	pmp_report_name_row(report, row_with(report, "bytes and names agree"), &named);
	ok(!named.meaning && named.lock, "others stay as they are");
	pmp_report_free(report);
	pmp_filter_free(filter);
	pmp_profile_free(profile);
}

/* ---- what is done once ----------------------------------------------------------------- */

struct once_case {
	const int *stacks[4]; /* of threads 10, 11, ...; the first one waits */
	uint64_t objects[4];  /* 0: it waits for nothing */
	enum pmp_end end;     /* of the last stack */
	pid_t holder;
	const char *text;
};

/* object: what it waits for; 0: nothing. */
static struct pmp_thread *add_once(struct pmp_sample *sample, pid_t tid, const int *stack,
				   uint64_t object)
{
	struct pmp_thread *thread = fake_thread(sample, tid, "once", stack);

	thread->syscall = SYS_futex;
	thread->end = PMP_END_ROOT;
	if (object)
		thread->wait =
			(struct pmp_wait){ .kind = PMP_WAIT_FUTEX, .object = object };
	return thread;
}

/* The holder that the first thread waits for; 0: none. */
static pid_t inferred(const struct once_case *once)
{
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .keep_snapshot = true };
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_profile *profile;
	struct pmp_report *report;
	struct pmp_named_wait named;
	struct pmp_thread *thread = NULL;

	if (!sample || pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	for (size_t i = 0; i < 4 && once->stacks[i]; i++) {
		thread = add_once(sample, (pid_t)(10 + i), once->stacks[i],
				  once->objects[i]);
	}
	thread->end = once->end;
	sample->seen = sample->thread_count;
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	report = report_of(profile, NULL);
	pmp_report_name_row(report, &report->snapshot->rows[0], &named);
	ok(named.inferred == (named.wait.holder != 0), "%s: is said", once->text);
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_sample_free(sample);
	return named.wait.holder;
}

/* What was found out for one of them goes for all. */
static void test_once_many(void)
{
	enum { MANY = 300 };
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .keep_snapshot = true };
	struct pmp_sample *sample = pmp_sample_new();
	struct pmp_profile *profile;
	struct pmp_report *report;
	struct pmp_named_wait named;
	size_t found = 0;

	if (!sample || pmp_profile_new(&options, NULL, &profile, NULL))
		abort();
	for (int i = 0; i < MANY; i++)
		add_once(sample, 10 + i, i ? STACK(GUARD, MAIN) : STACK(INIT, MAIN),
			 i ? OBJECT : 0);
	sample->seen = sample->thread_count;
	if (pmp_profile_add(profile, sample, NULL))
		abort();
	report = report_of(profile, NULL);
	for (size_t i = 1; i < MANY; i++) {
		pmp_report_name_row(report, &report->snapshot->rows[i], &named);
		found += named.wait.holder == 10;
	}
	is_int((long long)found, MANY - 1, "%d threads wait for one that does it once",
	       MANY);
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_sample_free(sample);
}

static void test_once(void)
{
	const struct once_case once_cases[] = {
		{ { STACK(ONCE, MAIN), STACK(INIT, ONCE, MAIN), STACK(MAIN) },
		  { 1 },
		  PMP_END_ROOT,
		  11,
		  "one other thread does what is done once" },
		{ { STACK(ONCE, MAIN), STACK(ONCE, MAIN), STACK(INIT, ONCE, MAIN) },
		  { 1, 1 },
		  PMP_END_ROOT,
		  12,
		  "who waits for it as well does not" },
		{ { STACK(ONCE, MAIN), STACK(INIT, ONCE), STACK(INIT, ONCE) },
		  { 1 },
		  PMP_END_ROOT,
		  0,
		  "two do: it may be either" },
		{ { STACK(ONCE, MAIN), STACK(MAIN) },
		  { 1 },
		  PMP_END_ROOT,
		  0,
		  "none does" },
		{ { STACK(ONCE, MAIN), STACK(INIT, ONCE), STACK(MAIN) },
		  { 1 },
		  PMP_END_NO_INFO,
		  0,
		  "a stack is not complete" },
		{ { STACK(ONCE, MAIN), STACK(INIT, ONCE), STACK(ONCE, MAIN) },
		  { 1, 0, 2 },
		  PMP_END_ROOT,
		  0,
		  "another one is waited for" },
		{ { STACK(GUARD, MAIN), STACK(INIT, MAIN), STACK(INIT) },
		  { 1 },
		  PMP_END_ROOT,
		  11,
		  "one is in the function of the variable" },
		{ { STACK(GUARD, MAIN), STACK(INIT, MAIN), STACK(MAIN) },
		  { 1 },
		  PMP_END_ROOT,
		  0,
		  "two are" },
		{ { STACK(GUARD, MAIN), STACK(GUARD, MAIN), STACK(INIT, MAIN) },
		  { 1, 1 },
		  PMP_END_ROOT,
		  12,
		  "one beside two that wait" },
		{ { STACK(GUARD, DEMO_UNNAMED), STACK(INIT, DEMO_UNNAMED) },
		  { 1 },
		  PMP_END_ROOT,
		  0,
		  "a function without a name is not known again" },
	};

	for (size_t i = 0; i < sizeof(once_cases) / sizeof(*once_cases); i++)
		is_int(inferred(&once_cases[i]), once_cases[i].holder, "once: %s",
		       once_cases[i].text);
}

int main(void)
{
	test_bare_names();
	test_once();
	test_once_many();
	test_patterns();
	test_functions();
	test_stacks();
	test_filtered();
	test_words();
	test_charged();
	test_users();
	return done_testing();
}
