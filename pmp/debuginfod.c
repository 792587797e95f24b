/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Behind a socket: elfutils' client of debuginfod, loaded when the first file is asked
 * for. Servers, cache and limits are those of its environment variables.
 */
#include "debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "message.h"
#include "signals.h"

#define LIBRARY "libdebuginfod.so.1"
#define URLS "DEBUGINFOD_URLS"
#define BLANKS " \t\n"
#define FILE_MAX \
	((rlim_t)8 << 30) /* bytes that a server may have us write to the disk \
			   */
#define PROGRESS_NS UINT64_C(100000000) /* from one message to the next */

/* Its header is not there where only the library is installed, which is enough. */
struct debuginfod_client;
typedef struct debuginfod_client *begin_function(void);
typedef int find_function(struct debuginfod_client *client, const unsigned char *build_id,
			  int build_id_size, char **path);
typedef int progress_function(struct debuginfod_client *client, long done, long total);
typedef void set_progress_function(struct debuginfod_client *client,
				   progress_function *progress);

/* All of this process: the library's call for progress knows nothing of it. */
static struct {
	int fd;
	struct debuginfod_client *client; /* NULL: not loaded */
	find_function *find_debuginfo, *find_executable;
	char *urls;    /* of the servers that are asked, with blanks between */
	uint64_t told; /* ns: when progress was */
} service;

/* file: to be passed on, or -1. False: nobody listens any more. */
static bool answer(const struct pmp_debuginfod_reply *reply, int file)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .space = { 0 } };
	struct iovec part = { (void *)reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	if (file >= 0) {
		message.msg_control = control.space;
		message.msg_controllen = sizeof(control.space);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	}
	return sendmsg(service.fd, &message, MSG_NOSIGNAL) >= 0;
}

#ifdef PMP_STATIC_EXE
bool pmp_debuginfod_built(void)
{
	return false;
}

static const char *load(void)
{
	return "a static executable loads no libraries";
}
#else
bool pmp_debuginfod_built(void)
{
	return true;
}

/* The library calls it at least once a second; not 0: it is to give up. */
static int tell_progress(struct debuginfod_client *client, long done, long total)
{
	const struct pmp_debuginfod_reply reply = {
		.answer = PMP_DEBUGINFOD_PROGRESS,
		.done = done > 0 ? (uint64_t)done : 0,
		.total = total > 0 ? (uint64_t)total : 0,
	};
	uint64_t now = pmp_now();

	(void)client;
	if (now - service.told < PROGRESS_NS)
		return 0;
	service.told = now;
	return !answer(&reply, -1);
}

/* NULL, or why it cannot be had. */
static const char *load(void)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	begin_function *begin;
	set_progress_function *set_progress;

	if (!library)
		return dlerror();
	begin = (begin_function *)dlsym(library, "debuginfod_begin");
	set_progress =
		(set_progress_function *)dlsym(library, "debuginfod_set_progressfn");
	service.find_debuginfo =
		(find_function *)dlsym(library, "debuginfod_find_debuginfo");
	service.find_executable =
		(find_function *)dlsym(library, "debuginfod_find_executable");
	if (!begin || !set_progress || !service.find_debuginfo ||
	    !service.find_executable)
		return LIBRARY ": not all of its functions are there";
	service.client = begin();
	if (!service.client)
		return LIBRARY ": cannot begin";
	set_progress(service.client, tell_progress);
	return NULL;
}
#endif

/* ---- servers ----------------------------------------------------------------------- */

/* Ask those in urls. A descriptor or a negative errno. */
static int query(const struct pmp_debuginfod_request *request, const char *urls)
{
	char *path = NULL;
	int file;

	if (setenv(URLS, urls, 1) < 0)
		return -ENOMEM;
	/* The size 0 stands for text. */
	file = (request->executable ? service.find_executable : service.find_debuginfo)(
		service.client, (const unsigned char *)request->build_id, 0, &path);
	free(path);
	return file;
}

/* Some server has answered; EFBIG is of DEBUGINFOD_MAXSIZE. */
static bool is_answer(int file)
{
	return file >= 0 || file == -ENOENT || file == -EFBIG;
}

/*
 * All are asked at once, and one of them has failed, nobody says which. Each is asked
 * alone, and left out from now on if it fails. One that does not have the file ends
 * that, as the cache then says so for all: it goes to the end of the list, so that the
 * others come before it the next time.
 */
static int query_each(const struct pmp_debuginfod_request *request, char *urls,
		      struct pmp_debuginfod_reply *reply)
{
	const struct pmp_debuginfod_reply again = { .answer = PMP_DEBUGINFOD_AGAIN };
	char *copy = strdup(urls), *at = copy, *end, *rest;
	const size_t size = strlen(urls) + 1; /* enough: a blank was there, too */
	int file = -ENOMEM;

	*urls = '\0';
	while (copy && *(at += strspn(at, BLANKS))) {
		end = at + strcspn(at, BLANKS);
		rest = *end ? end + 1 : end;
		*end = '\0';
		if (!answer(&again, -1))
			break;
		file = query(request, at);
		if (is_answer(file)) {
			snprintf(urls, size, "%s %s", rest, at);
			break;
		}
		reply->number = -file;
		snprintf(reply->text, sizeof(reply->text), "%s", at);
		at = rest;
	}
	free(copy);
	return file;
}

/* False: nobody listens any more. */
static bool find(const struct pmp_debuginfod_request *request)
{
	struct pmp_debuginfod_reply reply = { .answer = PMP_DEBUGINFOD_NO_LIBRARY };
	const char *problem = service.client ? NULL : load();
	int file;
	bool heard;

	if (problem) {
		snprintf(reply.text, sizeof(reply.text), "%s", problem);
		return answer(&reply, -1);
	}
	file = query(request, service.urls);
	if (!is_answer(file) && strpbrk(service.urls, BLANKS))
		file = query_each(request, service.urls, &reply);
	if (file >= 0) {
		reply.answer = PMP_DEBUGINFOD_FOUND;
	} else if (is_answer(file)) {
		reply.answer = PMP_DEBUGINFOD_MISSING;
	} else {
		reply.answer = PMP_DEBUGINFOD_FAILED;
		reply.number = -file;
	}
	heard = answer(&reply, file);
	if (file >= 0)
		close(file);
	return heard;
}

static void isolate(pid_t parent)
{
	const struct rlimit size = { FILE_MAX, FILE_MAX };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* What hangs in the library ends with its parent. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(PMP_EXIT_FAILED);
	prctl(PR_SET_NAME, "pmp-debuginfod");
	pmp_signals_block();
	setsid();
	/* Standard error is for DEBUGINFOD_VERBOSE. */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (service.fd > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, (unsigned)service.fd - 1, 0);
	close_range((unsigned)service.fd + 1, ~0U, 0);
	setrlimit(RLIMIT_FSIZE, &size);
}

void pmp_debuginfod_serve(int fd, pid_t parent)
{
	struct pmp_debuginfod_request request;

	service.fd = fd;
	isolate(parent);
	/* By itself it tries twice more, each time for as long; and of a file that ended
	 * in the middle the second time may say that there is none, and keep that (0868).
	 */
	setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
	service.urls = strdup(getenv(URLS) ? getenv(URLS) : "");
	if (!service.urls)
		_exit(PMP_EXIT_FAILED);
	while (recv(fd, &request, sizeof(request), 0) == sizeof(request) &&
	       memchr(request.build_id, '\0', sizeof(request.build_id)) && find(&request))
		;
	_exit(PMP_EXIT_OK);
}
