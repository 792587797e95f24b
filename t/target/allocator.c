/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Allocates, and counts for itself: "mallocs callocs aligned reallocs frees allocated freed
 * live blocks" in its last line, in usable bytes. Nothing else in it allocates. As
 * allocator MODE COUNT: what the modes do is at their functions.
 */
#include "target.h"

#include "../../libpmp/heap/protocol.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <sys/wait.h>

#define KEPT 1000
#define FIRST_SIZE (16u << 20)

static struct {
	uint64_t mallocs, callocs, aligned, reallocs, frees, allocated, freed;
} sums;

static void *blocks[KEPT];
static uint64_t state = 88172645463325252;

static unsigned draw(unsigned below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state % below);
}

static const char *plugin = "";

#define SOON 20 /* seconds; a mode that may hang ends by then */

static void *got(void *block, uint64_t *counter)
{
	if (!block)
		return NULL;
	++*counter;
	sums.allocated += malloc_usable_size(block);
	return block;
}

static void give(void *block)
{
	if (!block)
		return;
	sums.frees++;
	sums.freed += malloc_usable_size(block);
	free(block);
}

static void *resize(void *block, size_t size)
{
	const size_t before = block ? malloc_usable_size(block) : 0;
	void *moved = realloc(block, size);

	if (!moved)
		return block;
	if (!block)
		return got(moved, &sums.mallocs);
	sums.freed += before;
	return got(moved, &sums.reallocs);
}

static void *aligned(size_t size)
{
	void *block = NULL;

	switch (draw(4)) {
	case 0: block = aligned_alloc(64, size); break;
	case 1: block = memalign(4096, size); break;
	case 2: block = valloc(size); break;
	default:
		if (posix_memalign(&block, 128, size))
			block = NULL;
		break;
	}
	return got(block, &sums.aligned);
}

/* All calls, of all sizes. */
static void mixed(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		void **block = &blocks[draw(KEPT)];
		const size_t size = draw(10) ? draw(2000) : draw(300000);

		switch (draw(8)) {
		case 0: *block = resize(*block, size + 1); break;
		case 1:
			give(*block);
			*block = aligned(size);
			break;
		case 2:
			give(*block);
			*block = got(calloc(draw(10) + 1, size), &sums.callocs);
			break;
		default:
			give(*block);
			*block = got(malloc(size), &sums.mallocs);
			break;
		}
	}
}

/* What programs do most: for what a call takes. */
static void pairs(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		give(got(malloc(32), &sums.mallocs));
}

/* ---- stacks ------------------------------------------------------------------------- */

NOINLINE static void f0(unsigned how, size_t size)
{
	void *block = NULL;

	switch (how % 4) {
	case 0: block = got(malloc(size), &sums.mallocs); break;
	case 1: block = got(calloc(1, size), &sums.callocs); break;
	case 2: block = got(memalign(64, size), &sums.aligned); break;
	default: block = resize(got(malloc(1), &sums.mallocs), size); break;
	}
	give(block);
	__asm__ volatile("");
}

NOINLINE static void f1(unsigned how, size_t size)
{
	f0(how, size);
	__asm__ volatile("");
}

NOINLINE static void f2(unsigned how, size_t size)
{
	f1(how, size);
	__asm__ volatile("");
}

NOINLINE static void f3(unsigned how, size_t size)
{
	f2(how, size);
	__asm__ volatile("");
}

static int allocate(int size)
{
	f3(0, (size_t)size);
	return 0;
}

/* main < f3 < f2 < f1 < f0 < one of four calls, of 1000 bytes. */
static void chain(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		f3(i, 1000);
}

/* ---- others -------------------------------------------------------------------------- */

/* A child that allocates: none of that is the parent's. */
static void forked(unsigned count)
{
	pid_t pid = fork();

	if (pid == 0) {
		mixed(count);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	mixed(count);
}

static void *small_thread(void *arg)
{
	const unsigned *count = arg;

	for (unsigned i = 0; i < *count; i++)
		f3(i, 1000);
	return NULL;
}

/* Threads with 16 KiB of stack, one after the other. */
static void small(unsigned count)
{
	pthread_attr_t attr;
	pthread_t thread;
	unsigned each = count / 10;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (unsigned i = 0; i < 10; i++) {
		if (pthread_create(&thread, &attr, small_thread, &each))
			target_die("pthread_create");
		pthread_join(thread, NULL);
	}
}

/* Dies in the middle. */
static void killed(unsigned count)
{
	chain(count);
	kill(getpid(), SIGKILL);
}

static void on_signal(int number)
{
	(void)number;
	give(got(malloc(3000), &sums.mallocs));
}

static void signal_stack(unsigned count)
{
	static char stack[65536];
	const stack_t other = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const struct sigaction action = { .sa_handler = on_signal,
					  .sa_flags = SA_ONSTACK };

	sigaltstack(&other, NULL);
	sigaction(SIGUSR2, &action, NULL);
	for (unsigned i = 0; i < count; i++)
		raise(SIGUSR2);
}

/* Fails, again and again. */
static void fails(unsigned count)
{
	void *block = got(malloc(100), &sums.mallocs);

	for (unsigned i = 0; i < count; i++) {
		void *none = malloc(PTRDIFF_MAX);
		void *moved = realloc(block, PTRDIFF_MAX);

		if (none || moved)
			target_die("malloc");
	}
	give(block);
}

/* Until it is killed, slowly; "ready PID" when it has begun. */
static void endless(unsigned count)
{
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	for (;;) {
		mixed(100 * count);
		usleep(1000);
	}
}

/* The same below so many frames, which take long to unwind. */
NOINLINE static void deep(unsigned count)
{
	void (*volatile next)(unsigned) = count ? deep : endless;

	next(count ? count - 1 : 1);
	__asm__ volatile("");
}

/* Writes noise over all that it shares, where it can; cutting it must fail. */
static void noise(unsigned count)
{
	unsigned char *shared;
	const size_t size = 8 << 20;

	chain(1000);
	for (int fd = 3; fd < 1024; fd++) {
		off_t length = lseek(fd, 0, SEEK_END);

		if (length < (off_t)size)
			continue;
		if (ftruncate(fd, 0) == 0)
			target_die("it can be cut");
		shared = mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_SHARED,
			      fd, 0);
		if (shared == MAP_FAILED)
			target_die("mmap");
		for (unsigned i = 0; i < count * 1000; i++) {
			/* The ring, mostly; and the head of it all. */
			const size_t at =
				i % 16 ? (size_t)length - 1 - draw(size) : draw(4096);

			shared[at] = (unsigned char)draw(256);
		}
	}
	_exit(0);
}

/* Allocates in a library that is closed before anybody can have looked. */
static void closed(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		int (*outer)(int (*work)(int), int) = NULL;
		void *library = dlopen(plugin, RTLD_NOW);

		if (!library)
			target_die(plugin);
		*(void **)&outer = dlsym(library, "plugin_outer");
		for (unsigned k = 0; k < 100; k++)
			outer(allocate, 1000);
		dlclose(library);
	}
}

/* A file is no memory: mapped, moved, and unmapped in parts, after a call that fails. */
static void map_file(int fd)
{
	char *at = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE, fd, 0);

	if (at == MAP_FAILED)
		target_die("mmap of a file");
	at = mremap(at, 65536, 131072, MREMAP_MAYMOVE);
	if (at == MAP_FAILED || !munmap(at + 1, 4096) || munmap(at + 65536, 4096) ||
	    munmap(at, 65536) || munmap(at + 69632, 61440))
		target_die("munmap of a file");
}

/* Maps and unmaps memory of its own. */
static void maps(unsigned count)
{
	const int fd = open("/proc/self/exe", O_RDONLY);

	for (unsigned i = 0; i < count; i++)
		map_file(fd);
	for (unsigned i = 0; i < count; i++) {
		void *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (at == MAP_FAILED || munmap(at, i % 2 ? 65536 : 32768))
			target_die("mmap");
	}
}

static void *counted_thread(void *arg)
{
	/* Only malloc(), of a size that each thread knows of each call. */
	uint64_t *got_bytes = arg;

	for (unsigned i = 0; i < 50000; i++) {
		void *block = malloc(1 + i % 3000);

		*got_bytes += malloc_usable_size(block);
		free(block);
	}
	return NULL;
}

/* Eight at a time, a few times over. */
static void threads(unsigned count)
{
	pthread_t handles[8];
	uint64_t bytes[8] = { 0 };

	(void)count;
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 8; i++)
			if (pthread_create(&handles[i], NULL, counted_thread, &bytes[i]))
				target_die("pthread_create");
		for (unsigned i = 0; i < 8; i++)
			pthread_join(handles[i], NULL);
	}
	for (unsigned i = 0; i < 8; i++)
		sums.allocated += bytes[i];
	sums.mallocs += 3 * 8 * 50000;
}

static pthread_barrier_t all_begun;

static void *first_thread(void *arg)
{
	*(void **)arg = malloc(FIRST_SIZE);
	pthread_barrier_wait(&all_begun);
	return NULL;
}

/* Threads, all of them at one time, each with one block: its first. */
static void firsts(unsigned count)
{
	pthread_t handles[KEPT];

	if (count > KEPT || pthread_barrier_init(&all_begun, NULL, count))
		target_die("pthread_barrier_init");
	for (unsigned i = 0; i < count; i++)
		if (pthread_create(&handles[i], NULL, first_thread, &blocks[i]))
			target_die("pthread_create");
	for (unsigned i = 0; i < count; i++)
		pthread_join(handles[i], NULL);
}

#define KEYS 40 /* more than a thread has room for without allocating */
#define AT_END 20

static pthread_key_t keys[KEYS];

static void allocate_at_end(void *arg)
{
	for (unsigned i = 0; i < AT_END; i++)
		f3(0, 1000);
	(void)arg;
}

static void *ending_thread(void *arg)
{
	f3(0, 1000);
	if (pthread_setspecific(keys[KEYS - 1], arg))
		target_die("pthread_setspecific");
	return NULL;
}

static void *staying_thread(void *arg)
{
	f3(0, 1000);
	pthread_barrier_wait(&all_begun);
	pthread_barrier_wait(&all_begun);
	return arg;
}

static void run_thread(void *(*work)(void *arg), void *arg)
{
	pthread_t handle;

	if (pthread_create(&handle, NULL, work, arg))
		target_die("pthread_create");
	pthread_join(handle, NULL);
}

/* Threads, one after the other, that allocate at their end; for which the C library frees
 * memory when all of that is over. Then, beside another one, one that does as much as chain. */
static void ending(unsigned count)
{
	unsigned more = 200000;
	pthread_t handle;

	for (unsigned i = 0; i < KEYS; i++)
		if (pthread_key_create(&keys[i], allocate_at_end))
			target_die("pthread_key_create");
	for (unsigned i = 0; i < count; i++)
		run_thread(ending_thread, keys);
	if (pthread_barrier_init(&all_begun, NULL, 2) ||
	    pthread_create(&handle, NULL, staying_thread, NULL))
		target_die("pthread_create");
	pthread_barrier_wait(&all_begun);
	run_thread(small_thread, &more);
	pthread_barrier_wait(&all_begun);
	pthread_join(handle, NULL);
}

/* As chain, but for what asks for samples: that is something else at each call. */
static void rates(unsigned count)
{
	struct pmp_heap_header *header =
		mmap(NULL, sizeof(*header), PROT_READ | PROT_WRITE, MAP_SHARED,
		     atoi(getenv("PMP_HEAP")), 0);

	if (header == MAP_FAILED)
		target_die("mmap");
	for (unsigned i = 0; i < count; i++) {
		__atomic_store_n(&header->rate, i % 2 ? 65536 : 262144, __ATOMIC_RELAXED);
		f3(i, 1000);
	}
}

/* Takes from the kernel, and says how much: by brk() and mapped, "grown BRK MAPPED". */
static void grow(unsigned count)
{
	void *mapped[10];
	char text[100];
	int n;

	for (unsigned i = 0; i < count; i++)
		blocks[i % KEPT] = got(malloc(1000 + i * 50 % 50000), &sums.mallocs);
	for (unsigned i = 0; i < 10; i++)
		mapped[i] = got(malloc(1000000), &sums.mallocs);
	for (unsigned i = 0; i < 10; i++)
		give(mapped[i]);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	n = snprintf(text, sizeof(text), "grown %zu %llu\n", mallinfo2().arena,
		     10 * 1003520ULL);
#else
	n = snprintf(text, sizeof(text), "not known\n");
#endif
	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		target_die("write");
}

/* Children that no handler of fork() is called for, as some programs make theirs: they free
 * and move what their parent has, and allocate. */
static void cloned(unsigned count)
{
	mixed(count);
	for (unsigned i = 0; i < 20; i++) {
		pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

		if (pid == 0) {
			if (i % 2)
				free(malloc(100 + i));
			for (unsigned k = i; k < KEPT; k++) {
				free(k % 4 ? blocks[k] : realloc(blocks[k], 30000));
				blocks[k] = NULL;
			}
			mixed(count);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	mixed(count);
}

/* What signal handlers allocate in the middle of it, 20,000 times a second; of a size that
 * the thread has a few freed ones of, so that the allocator itself bears it. */
static uint64_t handled, handled_bytes;

static void on_timer(int number)
{
	void *block = malloc(24);

	(void)number;
	handled++;
	handled_bytes += malloc_usable_size(block);
	free(block);
}

static void timer(unsigned count)
{
	const struct sigaction action = { .sa_handler = on_timer,
					  .sa_flags = SA_RESTART };
	const struct itimerval often = { { 0, 50 }, { 0, 50 } },
			       never = { { 0, 0 }, { 0, 0 } };
	void *spare[7];

	const struct rlimit soon = { SOON, SOON };

	setrlimit(RLIMIT_CPU, &soon);
	for (unsigned i = 0; i < 7; i++)
		spare[i] = got(malloc(24), &sums.mallocs);
	for (unsigned i = 0; i < 7; i++)
		give(spare[i]);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	chain(count);
	setitimer(ITIMER_REAL, &never, NULL);
	sums.mallocs += handled;
	sums.frees += handled;
	sums.allocated += handled_bytes;
	sums.freed += handled_bytes;
}

/* A stack that nothing knows of. */
static ucontext_t own, other;

static void on_other(void)
{
	for (unsigned i = 0; i < 10000; i++)
		f3(i, 1000);
	swapcontext(&other, &own);
}

static void context(unsigned count)
{
	static char stack[65536];

	(void)count;
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof(stack);
	makecontext(&other, on_other, 0);
	swapcontext(&own, &other);
}

/* Runs out of memory by its limit. */
static void limited(unsigned count)
{
	const struct rlimit limit = { 256 << 20, 256 << 20 };
	unsigned failed = 0;

	setrlimit(RLIMIT_AS, &limit);
	for (unsigned i = 0; i < count; i++) {
		void *block = got(malloc(10 << 20), &sums.mallocs);

		failed += !block;
		blocks[i % KEPT] = block;
	}
	if (!failed)
		target_die("limit");
}

/* ---- families ------------------------------------------------------------------------- */

static void report(const char *who);

/* Each process reports for itself, with its pid. */
static bool family;

static const char *own_name(void)
{
	static char text[32];

	snprintf(text, sizeof(text), "%d ", (int)getpid());
	return text;
}

/* What a process counts starts with it, but it has the blocks of its parent. */
static void begin_child(void)
{
	memset(&sums, 0, sizeof(sums));
}

static void end_child(void)
{
	report(own_name());
	_exit(0);
}

static void wait_for_child(pid_t pid)
{
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		target_die("fork");
}

static const char *program;

static void execute(unsigned count)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", count);
	execl(program, program, "relative", text, (char *)NULL);
	_exit(1);
}

/* fork, fork and exec, vfork and exec, a grandchild; the parent goes on beside them. */
static void children(unsigned count)
{
	pid_t pids[4];

	family = true;
	mixed(count);
	for (unsigned i = 0; i < 4; i++) {
		pids[i] = i == 3 ? vfork() : fork();
		if (pids[i])
			continue;
		if (i == 3)
			execute(count);
		begin_child();
		mixed(count);
		if (i == 1) {
			execute(count);
		} else if (i == 2) {
			pid_t pid = fork();

			if (pid == 0) {
				begin_child();
				mixed(count);
				end_child();
			}
			mixed(count);
			wait_for_child(pid);
		}
		end_child();
	}
	mixed(count);
	for (unsigned i = 0; i < 4; i++)
		wait_for_child(pids[i]);
}

/* A program that one of them executes. */
static void relative(unsigned count)
{
	family = true;
	mixed(count);
}

/* More than there is room for at one time, one after the other, each for a moment. */
static void brief(unsigned count)
{
	family = true;
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			begin_child();
			mixed(i);
			end_child();
		}
		mixed(10);
		wait_for_child(pid);
		/* So that 64 of them are not there and gone before they are looked for. */
		usleep(5000);
	}
}

/* All at one time: each lives until all have begun. */
static void crowd(unsigned count)
{
	int begun[2], gate[2];
	char byte = 0;

	family = true;
	if (pipe(begun) || pipe(gate))
		target_die("pipe");
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			target_die("fork");
		if (pid)
			continue;
		begin_child();
		chain(10);
		close(gate[1]);
		_exit(write(begun[1], &byte, 1) != 1 || read(gate[0], &byte, 1) != 0);
	}
	for (unsigned i = 0; i < count; i++)
		if (read(begun[0], &byte, 1) != 1)
			target_die("read");
	close(gate[1]);
	while (wait(NULL) > 0)
		;
}

static pid_t vfork_one(unsigned number)
{
	pid_t pid = vfork();

	if (pid)
		return pid;
	f3(number, 1000);
	blocks[number % KEPT] = resize(blocks[number % KEPT], 100 + number % 5000);
	if (number % 100 == 0)
		execl("/bin/true", "true", (char *)NULL);
	_exit(0);
}

/* Children that share all memory with their parent, which waits: what they allocate is in the
 * same heap, and counted by the same thread. */
static void vforked(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		pid_t pid = vfork_one(i);

		f3(i, 1000);
		wait_for_child(pid);
	}
}

#define VARIABLES 2040

static char *many[VARIABLES + 1];
static char *const shell[] = {
	"sh", "-c", "test -z \"$PMP_HEAP$LD_PRELOAD\" && test \"$VARIABLE\" = here", NULL
};

static void fill_many(void)
{
	size_t count = 0;

	for (; environ[count] && count < VARIABLES / 2; count++)
		many[count] = environ[count];
	while (count < VARIABLES)
		many[count++] = "VARIABLE=here";
}

static void wait_for_shell(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		target_die("a program with a large environment");
}

static unsigned own_pages(void)
{
	char text[100] = "";
	int fd = open("/proc/self/statm", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		target_die("statm");
	close(fd);
	return (unsigned)atoi(text);
}

NOINLINE static pid_t vfork_shell(void)
{
	pid_t pid = vfork();

	if (pid)
		return pid;
	execve("/nowhere", shell, many);
	execve("/bin/sh", shell, many);
	_exit(1);
}

static void *execute_many(void *arg)
{
	const unsigned *count = arg;
	unsigned pages = 0;
	pid_t pid;

	for (unsigned i = 0; i <= *count; i++) {
		if (i == 1)
			pages = own_pages();
		if (posix_spawn(&pid, "/bin/sh", NULL, NULL, shell, many))
			target_die("posix_spawn");
		wait_for_shell(pid);
		wait_for_shell(vfork_shell());
	}
	if (own_pages() > pages + *count)
		target_die("what it has executed is left in memory");
	return NULL;
}

/* Other programs, with a large environment, from a thread with a small stack. */
static void environment(unsigned count)
{
	pthread_attr_t attr;
	pthread_t handle;

	fill_many();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	if (pthread_create(&handle, &attr, execute_many, &count))
		target_die("pthread_create");
	pthread_join(handle, NULL);
}

/* ---- what a recorder must not do ------------------------------------------------------ */

/* No system call from now on but those that end it: whoever makes another one is killed. */
static void quiet(unsigned count)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_brk, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program_of = { sizeof(filter) / sizeof(*filter), filter };

	f3(0, 1000);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program_of))
		target_die("seccomp");
	chain(count);
}

/* Nothing but read(), write() and exit(), which the kernel itself watches. */
static void strict(unsigned count)
{
	for (unsigned i = 0; i < KEPT; i++)
		blocks[i] = got(malloc(2000), &sums.mallocs);
	for (unsigned i = 0; i < KEPT; i++)
		give(blocks[i]);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		target_die("seccomp");
	for (unsigned i = 0; i < count; i++)
		f3(0, 1000);
	report("");
	syscall(SYS_exit, 0);
}

/* An allocator behind the recorder counts its calls (t/target/bump.c): it has seen those of the
 * program, and no others. */
static void bump(unsigned count)
{
	uint64_t (*calls)(void) = NULL;
	uint64_t before;
	char text[64];
	int n;

	*(void **)&calls = dlsym(RTLD_DEFAULT, "bump_calls");
	if (!calls)
		target_die("bump_calls");
	f3(0, 1000);
	before = calls();
	for (unsigned i = 0; i < count; i++)
		f3(0, 1000);
	n = snprintf(text, sizeof(text), "below %llu\n",
		     (unsigned long long)(calls() - before));
	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		target_die("write");
}

static int in_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)info, (void)size, (void)arg;
	usleep(100);
	return 0;
}

/* Has the loader's lock, nearly always. */
static void *loading_thread(void *arg)
{
	for (;;)
		dl_iterate_phdr(in_loader, arg);
	return NULL;
}

static void *allocating_thread(void *arg)
{
	for (;;) {
		void *block = malloc(1000);

		/* Of the family nothing is counted here. */
		__asm__ volatile("" : : "r"(block) : "memory");
		free(block);
	}
	return arg;
}

static pid_t hanging;

static void end_hanging(int number)
{
	(void)number;
	kill(hanging, SIGKILL);
	_exit(1);
}

/* Children of fork() while another thread does something. */
static void fork_beside(void *(*work)(void *arg), unsigned count)
{
	pthread_t thread;

	family = true;
	signal(SIGALRM, end_hanging);
	alarm(SOON);
	if (pthread_create(&thread, NULL, work, NULL))
		target_die("pthread_create");
	for (unsigned i = 0; i < count; i++) {
		pid_t pid;

		usleep(1000);
		pid = fork();
		if (pid == 0) {
			begin_child();
			chain(100);
			end_child();
		}
		hanging = pid;
		wait_for_child(pid);
	}
	_exit(0);
}

static void loading(unsigned count)
{
	fork_beside(loading_thread, count);
}

static void allocating(unsigned count)
{
	fork_beside(allocating_thread, count);
}

/* What it has counted, as a line; who: "" or "PID ". */
static void report(const char *who)
{
	char text[256];
	int n = snprintf(
		text, sizeof(text), "%s%llu %llu %llu %llu %llu %llu %llu\n", who,
		(unsigned long long)sums.mallocs, (unsigned long long)sums.callocs,
		(unsigned long long)sums.aligned, (unsigned long long)sums.reallocs,
		(unsigned long long)sums.frees, (unsigned long long)sums.allocated,
		(unsigned long long)sums.freed);

	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		target_die("write");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned count);
	} modes[] = {
		{ "mixed", mixed },	  { "pairs", pairs },
		{ "chain", chain },	  { "forked", forked },
		{ "small", small },	  { "killed", killed },
		{ "fails", fails },	  { "signal", signal_stack },
		{ "grow", grow },	  { "cloned", cloned },
		{ "timer", timer },	  { "context", context },
		{ "limited", limited },	  { "endless", endless },
		{ "deep", deep },	  { "noise", noise },
		{ "closed", closed },	  { "maps", maps },
		{ "threads", threads },	  { "children", children },
		{ "relative", relative }, { "brief", brief },
		{ "crowd", crowd },	  { "vforked", vforked },
		{ "quiet", quiet },	  { "bump", bump },
		{ "loading", loading },	  { "allocating", allocating },
		{ "firsts", firsts },	  { "rates", rates },
		{ "ending", ending },	  { "environment", environment },
		{ "strict", strict },
	};
	const unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;

	if (argc > 3)
		plugin = argv[3];
	program = argv[0];
	alarm(TARGET_LIFETIME);
	/* exec COUNT: as mixed, after another program of the same process. */
	if (argc > 2 && strcmp(argv[1], "exec") == 0) {
		mixed(count);
		execl(argv[0], argv[0], "mixed", argv[2], (char *)NULL);
		target_die(argv[0]);
	}
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			modes[i].run(count);
	report(family ? own_name() : "");
	return 0;
}
