/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads and processes that hold and wait, for t/target/locks.c and locks-cxx.cc: the
 * main program of both.
 */
#include "target.h"
#include "locks.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define SKIPPED 77

enum { ACTOR_NEW, ACTOR_HOLDS, ACTOR_GO };

struct locks_shared *locks_shared;
const char *locks_file;
pid_t locks_shown;

static const struct kind *kind_shown;
static __thread struct actor *this_actor;

void locks_skip(const char *why)
{
	printf("skip %s: %s\n", kind_shown->name, why);
	fflush(stdout);
	_exit(SKIPPED);
}

void locks_must(int error, const char *what)
{
	if (!error)
		return;
	errno = error;
	target_die(what);
}

struct timespec locks_until(int clock)
{
	struct timespec until;

	clock_gettime(clock, &until);
	until.tv_sec += LOCKS_TIMEOUT;
	return until;
}

void *locks_shared_memory(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		target_die("mmap");
	return memory;
}

/* ---- threads -------------------------------------------------------------------- */

static int step_of(const struct actor *actor)
{
	return __atomic_load_n(&actor->step, __ATOMIC_ACQUIRE);
}

static void set_step(struct actor *actor, int step)
{
	__atomic_store_n(&actor->step, step, __ATOMIC_RELEASE);
}

void actor_rest(void)
{
	for (;;)
		pause();
}

void actor_took(void)
{
	set_step(this_actor, ACTOR_HOLDS);
}

static void *actor_main(void *arg)
{
	struct actor *actor = arg;
	sigset_t set;

	this_actor = actor;
	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_NAME, actor->name);
	actor->tid = gettid();
	if (actor->take)
		locks_must(actor->take(actor->held), "a lock that should be free");
	actor_took();
	if (!actor->wait)
		actor_rest();
	while (step_of(actor) != ACTOR_GO)
		target_nap(1);
	errno = actor->wait(actor->wanted);
	fprintf(stderr, "%s: the wait ended: %s\n", kind_shown->name, strerror(errno));
	__atomic_add_fetch(&locks_shared->returned, 1, __ATOMIC_RELEASE);
	actor_rest();
	return NULL;
}

struct actor *actor_new(const char *name, locks_call take, void *held, locks_call wait,
			void *wanted)
{
	struct actor *actor = calloc(1, sizeof *actor);
	pthread_attr_t attr;

	if (!actor)
		target_die("calloc");
	actor->name = name;
	actor->take = take;
	actor->held = held;
	actor->wait = wait;
	actor->wanted = wanted;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, TARGET_STACK);
	locks_must(pthread_create(&actor->thread, &attr, actor_main, actor),
		   "pthread_create");
	pthread_attr_destroy(&attr);
	while (step_of(actor) == ACTOR_NEW)
		target_nap(1);
	return actor;
}

struct actor *actor_holds(locks_call take, void *held)
{
	return actor_new("holder", take, held, NULL, NULL);
}

struct actor *actor_waits(locks_call wait, void *wanted, long call, const char *name)
{
	struct actor *actor = actor_new("waiter", NULL, NULL, wait, wanted);

	actor_go(actor, call, name);
	return actor;
}

/* What /proc says of the call in which a thread is blocked: false if it is not. */
static bool blocked_in(pid_t tid, long *call, uint64_t *argument)
{
	char path[64], text[256], *end;
	ssize_t length;
	int fd;

	snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		target_die(path);
	length = read(fd, text, sizeof text - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	*call = strtol(text, &end, 10);
	if (end == text || *call < 0)
		return false;
	*argument = strtoull(end, NULL, 16);
	return true;
}

/* Wait until it is asleep in this call, if wanted not with this first argument. */
static void settle(const struct actor *actor, long call, const uint64_t *unwanted)
{
	uint64_t end = target_now() + TARGET_PATIENCE * UINT64_C(1000000000), argument;
	long now;

	do {
		if (blocked_in(actor->tid, &now, &argument) && now == call &&
		    (!unwanted || argument != *unwanted)) {
			target_wait_asleep(actor->tid);
			return;
		}
		target_nap(1);
	} while (target_now() < end && !locks_shared->returned);
	errno = ETIMEDOUT;
	target_die("a thread does not wait");
}

void actor_go(struct actor *actor, long call, const char *name)
{
	actor->call = name;
	set_step(actor, ACTOR_GO);
	settle(actor, call, NULL);
}

void actor_moves(const struct actor *actor, uint64_t address)
{
	settle(actor, SYS_futex, &address);
}

void actor_end(struct actor *actor)
{
	set_step(actor, ACTOR_GO);
	while (target_state(actor->tid))
		target_nap(1);
}

uint64_t locks_futex_of(const struct actor *actor)
{
	uint64_t argument;
	long call;

	if (!blocked_in(actor->tid, &call, &argument) || call != SYS_futex)
		target_die("not in futex()");
	return argument;
}

/* ---- processes ------------------------------------------------------------------- */

pid_t process_new(const char *name, void (*begin)(void *arg), void *arg)
{
	int before = __atomic_load_n(&locks_shared->begun, __ATOMIC_ACQUIRE);
	pid_t parent = getpid(), child = fork();

	if (child < 0)
		target_die("fork");
	if (child > 0) {
		while (__atomic_load_n(&locks_shared->begun, __ATOMIC_ACQUIRE) ==
		       before) {
			if (waitpid(child, NULL, WNOHANG) == child)
				target_die("a child has died");
			target_nap(1);
		}
		return child;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, name);
	begin(arg);
	__atomic_add_fetch(&locks_shared->begun, 1, __ATOMIC_RELEASE);
	actor_rest();
}

/* ---- lines ----------------------------------------------------------------------- */

void truth(const struct actor *waiter, pid_t holder, uint64_t object, const char *wait,
	   const char *more, ...)
{
	va_list args;

	printf("truth %s waiter=%d holder=%d object=0x%llx wait=%s call=%s",
	       kind_shown->name, (int)waiter->tid, (int)holder,
	       (unsigned long long)object, wait, waiter->call);
	va_start(args, more);
	if (more)
		vprintf(more, args);
	va_end(args);
	printf("\n");
}

void truth_deadlock(const char *more, size_t count, struct actor *const *actors)
{
	size_t i;

	printf("truth %s deadlock=", kind_shown->name);
	for (i = 0; i < count; i++)
		printf("%s%d", i ? "," : "", (int)actors[i]->tid);
	printf("%s\n", more);
}

static const struct kind *find_kind(const char *name)
{
	const struct kind *const *group, *kind;

	for (group = locks_groups; *group; group++)
		for (kind = *group; kind->name; kind++)
			if (strcmp(kind->name, name) == 0)
				return kind;
	return NULL;
}

static void list_kinds(void)
{
	const struct kind *const *group, *kind;

	for (group = locks_groups; *group; group++)
		for (kind = *group; kind->name; kind++)
			puts(kind->name);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list_kinds();
		return 0;
	}
	kind_shown = argc == 2 || argc == 3 ? find_kind(argv[1]) : NULL;
	if (!kind_shown) {
		fprintf(stderr, "usage: %s KIND [FILE]\n       %s --list\n", argv[0],
			argv[0]);
		return 2;
	}
	locks_file = argv[2];
	target_begin();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	locks_shared = locks_shared_memory(sizeof *locks_shared);
	kind_shown->show();
	printf("ready %d\n", (int)(locks_shown ? locks_shown : getpid()));
	target_wait_end();
	if (locks_shared->returned)
		target_verdict("%d waits have ended", locks_shared->returned);
	target_verdict(NULL);
}
