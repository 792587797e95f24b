/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which programs inherit the recorder: those that this process executes in its own place,
 * so that wrappers lead to the command; other processes only with --children. After the
 * program has closed the descriptor nothing is inherited, as a loader would complain about
 * a file that it cannot preload.
 */
#include "heap/recorder-exec.h"

#include "heap/recorder-syscall.h"
#include "heap/recorder.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PRELOAD_MOST 1024   /* bytes of LD_PRELOAD */
#define ARGUMENTS_MOST 4096 /* of execl() */

static const char preload[] = "LD_PRELOAD=/proc/self/fd/",
		  own[] = "PMP_HEAP=", preload_only[] = "LD_PRELOAD=";

static size_t length_of(const char *text)
{
	size_t n = 0;

	while (text[n])
		n++;
	return n;
}

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

int exec_read_environment(char **environment)
{
	int fd = 0;

	for (; *environment; environment++)
		if (begins(*environment, own))
			break;
	if (!*environment)
		return -1;
	for (const char *c = *environment + sizeof(own) - 1;
	     *c >= '0' && *c <= '9' && fd < 100000; c++)
		fd = fd * 10 + (*c - '0');
	return fd;
}

/* ---- other programs ------------------------------------------------------------------- */

/* Does an executed program inherit the recorder? Only if the recorder can still be loaded,
 * and the program replaces this one or children are wanted. */
static bool is_inherited(bool same_process)
{
	if (!recorder.header || sys_call(SYS_fcntl, recorder.fd, F_GET_SEALS, 0) <= 0 ||
	    sys_call(SYS_fcntl, recorder.fd + 1, F_GET_SEALS, 0) <= 0)
		return false;
	if (recorder.header->flags & PMP_HEAP_FLAG_CHILDREN)
		return true;
	return same_process && recorder.process && !recorder.gone &&
	       (uint32_t)sys_call(SYS_getpid, 0, 0, 0) == recorder.pid;
}

static size_t count_variables(char *const *environment)
{
	size_t count = 0;

	while (environment[count])
		count++;
	return count;
}

static void copy_text(char *to, const char *text)
{
	while ((*to++ = *text++))
		;
}

/* LD_PRELOAD without its first word, which is ours; NULL: nothing is left. */
static char *without_first(const char *variable, char *text)
{
	const char *rest = variable + sizeof(preload) - 1;
	const size_t n = sizeof(preload_only) - 1;

	while (*rest && *rest != ':' && *rest != ' ')
		rest++;
	if (!*rest || !rest[1] || n + length_of(rest) > PRELOAD_MOST)
		return NULL;
	copy_text(text, preload_only);
	copy_text(text + n, rest + 1);
	return text;
}

/* Copy the environment without our variables; text: room for LD_PRELOAD. */
static void fill_without(char *const *from, char **to, char *text)
{
	for (; *from; from++) {
		char *variable = *from;

		if (begins(variable, own))
			continue;
		if (begins(variable, preload))
			variable = without_first(variable, text);
		if (variable)
			*to++ = variable;
	}
	*to = NULL;
}

/* A call that executes a program. */
struct executed {
	const char *path;
	int fd;
	char *const *argv;
	pid_t *pid;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attr;
};

typedef int run_function(const struct executed *program, char *const *environment);

/*
 * Room for an environment. It is mapped, as the caller's stack may be small. A child of
 * vfork() that executes a program leaves its room behind in the parent, whose memory it
 * shares. The next call in the same thread, which has waited for that child, frees it.
 */
struct room {
	struct room *before; /* in use, interrupted by a signal handler; or NULL */
	size_t size;
	uint32_t tid; /* of the thread that took it */
	char text[PRELOAD_MOST + 1];
	char *kept[];
};

static void give_room_back(struct room *room)
{
	thread.room = room->before;
	sys_call(SYS_munmap, (long)room, (long)room->size, 0);
}

/* NULL: out of memory. */
static struct room *take_room(size_t count)
{
	const size_t size = sizeof(struct room) + (count + 1) * sizeof(char *);
	const uint32_t tid = (uint32_t)sys_call(SYS_gettid, 0, 0, 0);
	struct room *room = thread.room;

	if (room && room->tid != tid && room->tid != thread.tid)
		give_room_back(room);
	room = sys_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (!room)
		return NULL;
	room->before = thread.room;
	room->size = size;
	room->tid = tid;
	thread.room = room;
	return room;
}

static int run_without(const struct executed *program, char *const *environment,
		       run_function *how)
{
	struct room *room = take_room(count_variables(environment));
	int result;

	if (!room)
		return how(program, environment);
	fill_without(environment, room->kept, room->text);
	result = how(program, room->kept);
	give_room_back(room);
	return result;
}

void exec_end_thread(void)
{
	if (thread.room)
		give_room_back(thread.room);
}

void exec_keep_memory(bool keeps)
{
	sys_call(SYS_fcntl, recorder.fd, F_SETFD, keeps ? 0 : FD_CLOEXEC);
}

static int run_with(const struct executed *program, char *const *environment,
		    run_function *how)
{
	const bool closes = sys_call(SYS_fcntl, recorder.fd, F_GETFD, 0) == FD_CLOEXEC;
	int result;

	if (closes)
		exec_keep_memory(true);
	result = how(program, environment);
	if (closes)
		exec_keep_memory(false);
	return result;
}

/* Stacks that were recorded need the mappings, which are about to go. Children do not wait,
 * as the command does not when it begins. */
static void wait_to_be_read(void)
{
	const uint32_t pid = (uint32_t)sys_call(SYS_getpid, 0, 0, 0);

	if (recorder.process && recorder.records && recorder.header->pid == pid &&
	    !RECORDER_FAULT(HURRIES))
		ring_wait_to_be_read();
}

static int run(const struct executed *program, char *const *environment,
	       bool same_process, run_function *how)
{
	recorder_start();
	if (same_process)
		wait_to_be_read();
	if (is_inherited(same_process))
		return run_with(program, environment, how);
	if (recorder.fd < 0 || !environment)
		return how(program, environment);
	return run_without(program, environment, how);
}

static int run_path(const struct executed *program, char *const *environment)
{
	return next.execve(program->path, program->argv, environment);
}

static int run_file(const struct executed *program, char *const *environment)
{
	return next.execvpe(program->path, program->argv, environment);
}

static int run_fd(const struct executed *program, char *const *environment)
{
	return next.fexecve(program->fd, program->argv, environment);
}

static int spawn_path(const struct executed *program, char *const *environment)
{
	return next.posix_spawn(program->pid, program->path, program->actions,
				program->attr, program->argv, environment);
}

static int spawn_file(const struct executed *program, char *const *environment)
{
	return next.posix_spawnp(program->pid, program->path, program->actions,
				 program->attr, program->argv, environment);
}

static char *const *current(void)
{
	recorder_start();
	return next.environ ? *next.environ : NULL;
}

/*
 * Programs that the C library executes itself get the environment unchanged. Once the
 * recorder's descriptor is closed, or is another file, loaders must not look for it: our
 * word in LD_PRELOAD is overwritten with blanks, byte by byte, so that other threads may
 * read it meanwhile.
 */
static void blank_closed(void)
{
	char *const *variable;
	char *c;

	recorder_start();
	variable = current();
	if (recorder.fd < 0 || sys_call(SYS_fcntl, recorder.fd + 1, F_GET_SEALS, 0) > 0)
		return;
	for (; variable && *variable; variable++) {
		if (!begins(*variable, preload))
			continue;
		for (c = *variable + sizeof(preload_only) - 1;
		     *c && *c != ':' && *c != ' '; c++)
			__atomic_store_n(c, ' ', __ATOMIC_RELAXED);
	}
}

INTERPOSED int system(const char *command)
{
	blank_closed();
	return next.system(command);
}

INTERPOSED FILE *popen(const char *command, const char *type)
{
	blank_closed();
	return next.popen(command, type);
}

INTERPOSED int execve(const char *path, char *const argv[], char *const envp[])
{
	const struct executed program = { .path = path, .argv = argv };

	return run(&program, envp, true, run_path);
}

INTERPOSED int execv(const char *path, char *const argv[])
{
	const struct executed program = { .path = path, .argv = argv };

	return run(&program, current(), true, run_path);
}

INTERPOSED int execvpe(const char *file, char *const argv[], char *const envp[])
{
	const struct executed program = { .path = file, .argv = argv };

	return run(&program, envp, true, run_file);
}

INTERPOSED int execvp(const char *file, char *const argv[])
{
	const struct executed program = { .path = file, .argv = argv };

	return run(&program, current(), true, run_file);
}

INTERPOSED int fexecve(int fd, char *const argv[], char *const envp[])
{
	const struct executed program = { .fd = fd, .argv = argv };

	return run(&program, envp, true, run_fd);
}

INTERPOSED int posix_spawn(pid_t *pid, const char *path,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, char *const argv[],
			   char *const envp[])
{
	const struct executed program = { path, -1, argv, pid, actions, attr };

	return run(&program, envp, false, spawn_path);
}

INTERPOSED int posix_spawnp(pid_t *pid, const char *file,
			    const posix_spawn_file_actions_t *actions,
			    const posix_spawnattr_t *attr, char *const argv[],
			    char *const envp[])
{
	const struct executed program = { file, -1, argv, pid, actions, attr };

	return run(&program, envp, false, spawn_file);
}

/* ---- functions with a variable list of arguments ------------------------------------- */

static size_t count_arguments(va_list *list)
{
	size_t count = 1;

	while (count < ARGUMENTS_MOST && va_arg(*list, char *))
		count++;
	return count;
}

static void fill_arguments(char **argv, const char *first, va_list *list, size_t count)
{
	argv[0] = (char *)(uintptr_t)first;
	for (size_t i = 1; i < count; i++)
		argv[i] = va_arg(*list, char *);
	argv[count] = NULL;
}

static int run_list(const struct executed *program, va_list *list, size_t count,
		    char *const *environment, run_function *how)
{
	struct executed listed = *program;
	char *argv[count + 1];

	fill_arguments(argv, program->argv[0], list, count);
	listed.argv = argv;
	return run(&listed, environment, true, how);
}

/* The body of a function with such a list after first. environment: evaluated when the list
 * has been read. */
#define RUN_LIST(how, where, first, environment) \
	char *const one[] = { (char *)(uintptr_t)(first) }; \
	const struct executed program = { .path = (where), .argv = one }; \
	va_list list, again; \
	size_t count; \
	int status; \
	va_start(list, first); \
	va_copy(again, list); \
	count = count_arguments(&list); \
	status = run_list(&program, &again, count, environment, how); \
	va_end(again); \
	va_end(list); \
	return status

INTERPOSED int execl(const char *path, const char *first, ...)
{
	RUN_LIST(run_path, path, first, current());
}

INTERPOSED int execlp(const char *file, const char *first, ...)
{
	RUN_LIST(run_file, file, first, current());
}

INTERPOSED int execle(const char *path, const char *first, ...)
{
	RUN_LIST(run_path, path, first, va_arg(list, char *const *));
}
