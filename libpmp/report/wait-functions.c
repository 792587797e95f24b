/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/wait-functions.h"

#include <ctype.h>
#include <string.h>

#include "libpmp-program.h"
#include "sample.h"

/* ---- kinds ------------------------------------------------------------------------ */

#define BIT(kind) (UINT32_C(1) << PMP_WAIT_##kind)
#define ONLY_FUTEX BIT(FUTEX)
#define WITHIN(kind) (UINT32_C(1) << PMP_NAMED_##kind)

/* clang-format off */
const struct pmp_named_kind_info pmp_named_kinds[PMP_NAMED_COUNT] = {
	[PMP_NAMED_NONE] = { .text = "" },
	[PMP_NAMED_MUTEX] = { .text = "mutex", .lock = true,
			      .bytes = BIT(MUTEX) | BIT(FUTEX) },
	[PMP_NAMED_READ] = { .text = "rwlock", .lock = true,
			     .bytes = BIT(RWLOCK) | BIT(FUTEX) },
	[PMP_NAMED_WRITE] = { .text = "rwlock", .lock = true, .write = true,
			      .bytes = BIT(RWLOCK) | BIT(FUTEX) },
	/* Once signalled, the waiter waits for the mutex. */
	[PMP_NAMED_CONDITION] = { .text = "condition", .placeless = true,
				  .bytes = BIT(CONDITION) | BIT(MUTEX) | BIT(FUTEX) },
	[PMP_NAMED_JOIN] = { .text = "join", .lock = true,
			     .bytes = BIT(JOIN) | BIT(FUTEX) },
	[PMP_NAMED_SEMAPHORE] = { .text = "semaphore", .bytes = ONLY_FUTEX },
	[PMP_NAMED_BARRIER] = { .text = "barrier", .offset = -4,
				.musl_placeless = true, .bytes = ONLY_FUTEX },
	[PMP_NAMED_ONCE] = { .text = "once", .lock = true, .once = true,
			     .bytes = ONLY_FUTEX },
	[PMP_NAMED_GUARD] = { .text = "static initialisation", .lock = true, .once = true,
			      .bytes = ONLY_FUTEX },
	/* The lock of a FILE is one of these. */
	[PMP_NAMED_LIBC] = { .text = "lock of the C library", .lock = true,
			     .bytes = ~UINT32_C(0) },
	[PMP_NAMED_RUST_MUTEX] = { .text = "Rust mutex", .lock = true,
				   .bytes = ONLY_FUTEX },
	[PMP_NAMED_RUST_READ] = { .text = "Rust rwlock", .lock = true,
				  .bytes = ONLY_FUTEX },
	[PMP_NAMED_RUST_WRITE] = { .text = "Rust rwlock", .lock = true, .write = true,
				   .offset = -4, .bytes = ONLY_FUTEX },
	[PMP_NAMED_RUST_CONDVAR] = { .text = "Rust condvar",
				     .bytes = ONLY_FUTEX },
	[PMP_NAMED_RUST_PARK] = { .text = "Rust park",
				  .bytes = ONLY_FUTEX },
	[PMP_NAMED_PARKING_MUTEX] = { .text = "parking_lot mutex", .lock = true,
				      .placeless = true, .parked = true, .within = WITHIN(RUST_PARK) },
	[PMP_NAMED_PARKING_READ] = { .text = "parking_lot rwlock", .lock = true,
				     .placeless = true, .parked = true, .within = WITHIN(RUST_PARK) },
	[PMP_NAMED_PARKING_WRITE] = { .text = "parking_lot rwlock", .lock = true,
				      .write = true, .placeless = true,
				      .parked = true, .within = WITHIN(RUST_PARK) },
	[PMP_NAMED_PARKING_CONDVAR] = { .text = "parking_lot condvar", .placeless = true,
					.within = WITHIN(RUST_PARK) },
	[PMP_NAMED_ABSL_MUTEX] = { .text = "absl::Mutex", .lock = true,
				   .placeless = true, .bytes = ONLY_FUTEX },
	[PMP_NAMED_ABSL_CONDVAR] = { .text = "absl::CondVar",
				     .placeless = true, .bytes = ONLY_FUTEX },
	[PMP_NAMED_GMUTEX] = { .text = "GMutex", .lock = true, .bytes = ONLY_FUTEX },
	[PMP_NAMED_GCOND] = { .text = "GCond", .bytes = ONLY_FUTEX },
	[PMP_NAMED_OMP_LOCK] = { .text = "OpenMP lock", .lock = true,
				 .bytes = ONLY_FUTEX },
	[PMP_NAMED_OMP_BARRIER] = { .text = "OpenMP barrier", .bytes = ONLY_FUTEX },
	[PMP_NAMED_ATOMIC] = { .text = "atomic wait",
			       .bytes = ONLY_FUTEX },
	[PMP_NAMED_GO_LOCK] = { .text = "Go runtime lock", .lock = true,
				.bytes = ONLY_FUTEX },
	[PMP_NAMED_GO_IDLE] = { .text = "Go note", .bytes = ONLY_FUTEX },
	[PMP_NAMED_JAVA_MONITOR] = { .text = "Java monitor", .ask = "jstack",
				     .lock = true, .placeless = true,
				     .within = WITHIN(CONDITION) },
	[PMP_NAMED_JAVA_WAIT] = { .text = "Java wait", .placeless = true,
				  .within = WITHIN(CONDITION) },
	[PMP_NAMED_JAVA_PARK] = { .text = "Java park", .placeless = true,
				  .within = WITHIN(CONDITION) },
};
/* clang-format on */

/* The first match decides. */
static const struct {
	const char *pattern;
	enum pmp_named_kind kind;
} functions[] = {
	{ "pthread_mutex_lock*", PMP_NAMED_MUTEX },
	{ "pthread_mutex_timedlock*", PMP_NAMED_MUTEX },
	{ "pthread_mutex_clocklock*", PMP_NAMED_MUTEX },
	{ "pthread_mutex_cond_lock*", PMP_NAMED_MUTEX },
	{ "mtx_lock", PMP_NAMED_MUTEX },
	{ "mtx_timedlock", PMP_NAMED_MUTEX },
	{ "pthread_rwlock_rdlock*", PMP_NAMED_READ },
	{ "pthread_rwlock_timedrdlock*", PMP_NAMED_READ },
	{ "pthread_rwlock_clockrdlock*", PMP_NAMED_READ },
	{ "pthread_rwlock_wrlock*", PMP_NAMED_WRITE },
	{ "pthread_rwlock_timedwrlock*", PMP_NAMED_WRITE },
	{ "pthread_rwlock_clockwrlock*", PMP_NAMED_WRITE },
	{ "pthread_cond_wait*", PMP_NAMED_CONDITION },
	{ "pthread_cond_timedwait*", PMP_NAMED_CONDITION },
	{ "pthread_cond_clockwait*", PMP_NAMED_CONDITION },
	{ "cnd_wait", PMP_NAMED_CONDITION },
	{ "cnd_timedwait", PMP_NAMED_CONDITION },
	{ "pthread_join", PMP_NAMED_JOIN },
	{ "pthread_timedjoin*", PMP_NAMED_JOIN },
	{ "pthread_clockjoin*", PMP_NAMED_JOIN },
	{ "thrd_join", PMP_NAMED_JOIN },
	{ "sem_wait*", PMP_NAMED_SEMAPHORE },
	{ "sem_timedwait*", PMP_NAMED_SEMAPHORE },
	{ "sem_clockwait*", PMP_NAMED_SEMAPHORE },
	{ "new_sem_wait*", PMP_NAMED_SEMAPHORE },
	{ "pthread_barrier_wait", PMP_NAMED_BARRIER },
	{ "pthread_once*", PMP_NAMED_ONCE },
	{ "call_once", PMP_NAMED_ONCE },
	{ "*::Once::call*", PMP_NAMED_ONCE },
	{ "cxa_guard_acquire", PMP_NAMED_GUARD },
	{ "lll_lock_wait_private", PMP_NAMED_LIBC },
	{ "std::sys::*Mutex*::lock_contended", PMP_NAMED_RUST_MUTEX },
	{ "std::sys::*RwLock*::read_contended", PMP_NAMED_RUST_READ },
	{ "std::sys::*RwLock*::write_contended", PMP_NAMED_RUST_WRITE },
	{ "std::sys::*Condvar*::wait*", PMP_NAMED_RUST_CONDVAR },
	{ "std::thread::park*", PMP_NAMED_RUST_PARK },
	{ "*Parker*::park*", PMP_NAMED_RUST_PARK },
	{ "absl::*Mutex::LockSlow*", PMP_NAMED_ABSL_MUTEX },
	{ "absl::*CondVar::WaitCommon*", PMP_NAMED_ABSL_CONDVAR },
	{ "g_mutex_lock*", PMP_NAMED_GMUTEX },
	{ "g_rec_mutex_lock*", PMP_NAMED_GMUTEX },
	{ "g_cond_wait*", PMP_NAMED_GCOND },
	{ "gomp_mutex_lock_slow", PMP_NAMED_OMP_LOCK },
	{ "gomp_*barrier_wait*", PMP_NAMED_OMP_BARRIER },
	{ "std::__detail::__platform_wait*", PMP_NAMED_ATOMIC },
	{ "std::__detail::__wait*", PMP_NAMED_ATOMIC },
	{ "std::__atomic_wait*", PMP_NAMED_ATOMIC },
	{ "std::__atomic_futex_unsigned*", PMP_NAMED_ATOMIC },
	{ "runtime.lock", PMP_NAMED_GO_LOCK },
	{ "runtime.lock2", PMP_NAMED_GO_LOCK },
	{ "runtime.notesleep", PMP_NAMED_GO_IDLE },
	{ "runtime.notetsleep*", PMP_NAMED_GO_IDLE },
};

/* Locks built on one of the kinds above, which says little about them. */
static const struct {
	const char *pattern;
	enum pmp_named_kind kind;
} outer_functions[] = {
	{ "*RawMutex*::lock_slow", PMP_NAMED_PARKING_MUTEX },
	{ "*RawRwLock*::lock_shared_slow", PMP_NAMED_PARKING_READ },
	{ "*RawRwLock*::lock_*_slow", PMP_NAMED_PARKING_WRITE },
	{ "*Condvar::wait_until_internal", PMP_NAMED_PARKING_CONDVAR },
	{ "ObjectMonitor::enter*", PMP_NAMED_JAVA_MONITOR },
	{ "ObjectMonitor::EnterI", PMP_NAMED_JAVA_MONITOR },
	{ "ObjectMonitor::ReenterI", PMP_NAMED_JAVA_MONITOR },
	{ "ObjectMonitor::reenter_internal", PMP_NAMED_JAVA_MONITOR },
	{ "ObjectMonitor::wait*", PMP_NAMED_JAVA_WAIT },
	{ "Unsafe_Park", PMP_NAMED_JAVA_PARK },
};

/* ---- meanings --------------------------------------------------------------------- */

#define MYSQL "mysql|mariadb"
#define POSTGRES "postgres"
#define PYTHON "python"

/* Locks are held by a thread, events are not. */
#define LOCK .lock = true
#define EVENT .lock = false

static const struct pmp_wait_meaning meanings[] = {
	{ "MDL_wait::timed_wait", MYSQL, "metadata lock", "METADATA_LOCK_INFO", LOCK,
	  .else_see = "PROCESSLIST" },
	{ "lock_wait", MYSQL, "InnoDB row lock", "INNODB_LOCK_WAITS", LOCK },
	{ "lock_wait_suspend_thread", MYSQL, "InnoDB row lock", "data_lock_waits", LOCK },
	/* Usually a row lock. This is all that is known if the engine's functions have no
	 * names, as in Debian's packages. */
	{ "handler::ha_*", MYSQL, "storage engine wait", "INNODB_LOCK_WAITS", LOCK,
	  .condition = true },
	{ "wait_for_lock", MYSQL, "table lock", NULL, LOCK },
	{ "thr_lock", MYSQL, "table lock", NULL, LOCK },
	{ "my_rw_rdlock", MYSQL, "rwlock", NULL, LOCK },
	{ "my_rw_wrlock", MYSQL, "rwlock", NULL, LOCK },
	{ "rw_pr_wrlock", MYSQL, "rwlock", NULL, LOCK },
	{ "THD::wait_for_wakeup_ready", MYSQL, "group commit", NULL, EVENT },
	{ "group_commit_lock::acquire", MYSQL, "redo log write", NULL, EVENT },
	{ "do_handle_one_connection", MYSQL, "cached thread", NULL, EVENT,
	  .direct = true },
	{ "Per_thread_connection_handler::block_until_new_connection", MYSQL,
	  "cached thread", NULL, EVENT },
	{ "LWLockAcquire*", POSTGRES, "LWLock", NULL, LOCK, .call = true },
	{ "ProcSleep", POSTGRES, "heavyweight lock", "pg_blocking_pids()", LOCK,
	  .call = true },
	{ "take_gil", PYTHON, "GIL", NULL, LOCK },
	{ "PyEval_RestoreThread", PYTHON, "GIL", NULL, LOCK, .direct = true },
	{ "PyEval_AcquireThread", PYTHON, "GIL", NULL, LOCK, .direct = true },
	{ "boost::shared_mutex::lock*", NULL, "boost::shared_mutex", NULL, LOCK },
};

/* ---- names ------------------------------------------------------------------------ */

bool pmp_pattern_matches(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			again = text;
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++again;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

/* Returns the end of the bracket that opens here, or of the text if it is not closed. */
static const char *skip_group(const char *at)
{
	char open = *at, close = open == '<' ? '>' : ')';
	size_t depth = 0;

	for (; *at; at++) {
		if (*at == open)
			depth++;
		else if (*at == close && (close != '>' || at[-1] != '-') && !--depth)
			return at + 1;
	}
	return at;
}

/* Enter the T of a Rust name that begins with `<T as U>`, up to *end. */
static const char *enter_type(const char *at, const char **end)
{
	const char *as;

	*end = skip_group(at);
	as = strstr(at, " as ");
	if (as && as < *end)
		*end = as;
	else if (*end > at + 1 && (*end)[-1] == '>')
		(*end)--;
	return at + 1;
}

/* Suffixes that the compiler adds: f.constprop.0 */
static bool is_clone(const char *at)
{
	static const char *const suffixes[] = { ".part.", ".constprop.", ".isra.",
						".cold", ".lto_priv." };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strncmp(at, suffixes[i], strlen(suffixes[i])) == 0)
			return true;
	return false;
}

/* Skip leading underscores and GI_. */
static char *skip_prefix(char *name)
{
	name += strspn(name, "_");
	if (strncmp(name, "GI_", 3) == 0)
		name += 3 + strspn(name + 3, "_");
	return name;
}

char *pmp_bare_name(const char *function, char *buffer)
{
	const char *at = function, *type_end = NULL, *after = NULL;
	size_t length = 0;
	bool listed = false;
	char *begin;

	while (*at && *at != '@' && !is_clone(at) && length < PMP_BARE_NAME - 1) {
		if (at == type_end) {
			at = after;
			type_end = NULL;
		} else if (*at == '<' && !length && !type_end) {
			after = skip_group(at);
			at = enter_type(at, &type_end);
		} else if (*at == '<' || *at == '(') {
			listed |= *at == '(';
			at = skip_group(at);
		} else if (*at == ' ') {
			/* What precedes a blank is a type; what follows parameters, or
			 * begins with [, is no name. */
			if (listed || at[1] == '[')
				break;
			length = 0;
			at++;
		} else {
			listed = false;
			buffer[length++] = *at++;
		}
	}
	buffer[length] = '\0';
	begin = skip_prefix(buffer);
	memmove(buffer, begin, strlen(begin) + 1);
	return buffer;
}

/* Helpers that wait on behalf of other functions have one of these in their names. */
static bool is_internal(const char *name)
{
	static const char *const words[] = { "futex", "wait", "lock",
					     "sleep", "park", "syscall" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasestr(name, words[i]))
			return true;
	return false;
}

bool pmp_wait_is_internal(const char *function)
{
	static const char *const begins[] = { "futex_",	   "lll_",
					      "GI___",	   "syscall",
					      "internal_", "pthread_cond_wait_common" };

	function += strspn(function, "_");
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (strncmp(function, begins[i], strlen(begins[i])) == 0)
			return true;
	return strncmp(function, "pthread_", 8) == 0 &&
	       (strstr(function, "_full") || strstr(function, "64"));
}

/* ---- a function -------------------------------------------------------------------- */

/* Is the file one of these programs, or one of their libraries? */
static bool is_of(const char *module, const char *program)
{
	const char *slash = strrchr(module, '/');
	const char *name = slash ? slash + 1 : module;
	char word[16];

	while (program && *program) {
		size_t length = strcspn(program, "|");

		if (length < sizeof(word)) {
			memcpy(word, program, length);
			word[length] = '\0';
			if (strstr(name, word))
				return true;
		}
		program += length + (program[length] == '|');
	}
	return !program;
}

static const struct pmp_wait_meaning *find_meaning(const char *name, const char *module)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (pmp_pattern_matches(meanings[i].pattern, name) &&
		    is_of(module, meanings[i].program))
			return &meanings[i];
	return NULL;
}

void pmp_wait_function(const char *function, const char *module,
		       struct pmp_wait_function *says)
{
	char name[PMP_BARE_NAME];

	*says = (struct pmp_wait_function){ 0 };
	pmp_bare_name(function, name);
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (pmp_pattern_matches(functions[i].pattern, name)) {
			says->kind = functions[i].kind;
			break;
		}
	for (size_t i = 0; i < sizeof(outer_functions) / sizeof(*outer_functions); i++)
		if (pmp_pattern_matches(outer_functions[i].pattern, name)) {
			says->outer = outer_functions[i].kind;
			break;
		}
	says->meaning = find_meaning(name, module);
	says->internal = is_internal(name);
}
