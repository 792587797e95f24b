/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See listen.h. Host names are not resolved: that could take long, and change. */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "serve/peer.h"
#include "sink/directory.h"

#define QUEUE 1024 /* connections not accepted yet; further ones are delayed */
#define UNIX_PREFIX "unix:"

/* ---- addresses -------------------------------------------------------------------------- */

static bool parse_port(const char *text, in_port_t *port)
{
	unsigned long number = 0;

	for (const char *at = text; *at; at++) {
		if (*at < '0' || *at > '9' || number > 65535)
			return false;
		number = number * 10 + (unsigned long)(*at - '0');
	}
	*port = htons((uint16_t)number);
	return *text && number <= 65535;
}

static bool parse_unix(const char *path, struct listen_address *address)
{
	struct sockaddr_un *file = (void *)&address->address;

	if (!*path || strlen(path) >= sizeof(file->sun_path))
		return false;
	file->sun_family = AF_UNIX;
	memcpy(file->sun_path, path, strlen(path) + 1);
	address->size = sizeof(*file);
	address->is_unix = true;
	return true;
}

static bool parse_v6(const char *text, struct listen_address *address)
{
	struct sockaddr_in6 *end = (void *)&address->address;
	size_t length = strcspn(text, "]");
	char host[INET6_ADDRSTRLEN];

	if (length >= sizeof(host) || text[length] != ']' || text[length + 1] != ':')
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	end->sin6_family = AF_INET6;
	address->size = sizeof(*end);
	return inet_pton(AF_INET6, host, &end->sin6_addr) == 1 &&
	       parse_port(text + length + 2, &end->sin6_port);
}

static bool parse_v4(const char *text, struct listen_address *address)
{
	struct sockaddr_in *end = (void *)&address->address;
	const char *colon = strchr(text, ':');
	size_t length = colon ? (size_t)(colon - text) : 0;
	char host[INET_ADDRSTRLEN] = "127.0.0.1";

	if (length >= sizeof(host))
		return false;
	if (colon && strncmp(text, "localhost:", length + 1) != 0) {
		memcpy(host, text, length);
		host[length] = '\0';
	}
	end->sin_family = AF_INET;
	address->size = sizeof(*end);
	return inet_pton(AF_INET, host, &end->sin_addr) == 1 &&
	       parse_port(colon ? colon + 1 : text, &end->sin_port);
}

bool listen_parse(const char *text, struct listen_address *address)
{
	*address = (struct listen_address){ 0 };
	if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
		return parse_unix(text + strlen(UNIX_PREFIX), address);
	return *text == '[' ? parse_v6(text + 1, address) : parse_v4(text, address);
}

bool listen_is_local(const struct listen_address *address)
{
	return peer_is_local(&address->address);
}

static const char *path_of(const struct listen_address *address)
{
	return ((const struct sockaddr_un *)(const void *)&address->address)->sun_path;
}

uint16_t listen_port(const struct listen_address *address)
{
	const void *end = &address->address;

	if (address->is_unix)
		return 0;
	/* sockaddr_in and sockaddr_in6 have the port at the same offset. */
	return ntohs(((const struct sockaddr_in *)end)->sin_port);
}

const char *listen_print(const struct listen_address *address, char *text)
{
	if (address->is_unix)
		snprintf(text, LISTEN_TEXT_SIZE, UNIX_PREFIX "%s", path_of(address));
	else
		peer_print(&address->address, text);
	return text;
}

/* ---- the socket --------------------------------------------------------------------------- */

static int failed(const struct listen_address *address, int number, struct pmp_error *err)
{
	char text[LISTEN_TEXT_SIZE];

	*err = (struct pmp_error){ .code = PMP_EIO, .sys_errno = number };
	snprintf(err->message, sizeof(err->message), "cannot serve at %s: %s",
		 listen_print(address, text), strerror(number));
	if (number == EADDRINUSE && !address->is_unix)
		snprintf(
			err->hint, sizeof(err->hint),
			"another pmp? --serve=PORT takes another port, --serve=0 any free one");
	return err->code;
}

static const char *name_of(const struct listen_address *address)
{
	const char *path = path_of(address), *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* An address in the open directory: by its path, the owner of a parent directory could
 * replace it meanwhile. 0 or an errno. */
static int address_there(const struct listen_address *address, const char *suffix,
			 struct sockaddr_un *there)
{
	int n;

	*there = (struct sockaddr_un){ .sun_family = AF_UNIX };
	n = snprintf(there->sun_path, sizeof(there->sun_path), "/proc/self/fd/%d/%s%s",
		     address->directory, name_of(address), suffix);
	return n < 0 || (size_t)n >= sizeof(there->sun_path) ? ENAMETOOLONG : 0;
}

static int look_there(const struct listen_address *address, struct stat *info)
{
	return fstatat(address->directory, name_of(address), info, AT_SYMLINK_NOFOLLOW);
}

/* 0 if the path is free, or has a socket of ours that no process listens at
 * any more; else an errno. */
static int find_obstacle(const struct listen_address *address)
{
	struct sockaddr_un there;
	struct stat info;
	int fd, number;

	if (look_there(address, &info) < 0)
		return errno == ENOENT ? 0 : errno;
	if (!S_ISSOCK(info.st_mode) || info.st_uid != geteuid())
		return EEXIST;
	number = address_there(address, "", &there);
	if (number)
		return number;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	number = connect(fd, (const struct sockaddr *)&there, sizeof(there)) < 0 ? errno
										 : 0;
	close(fd);
	return number == ECONNREFUSED ? 0 : EADDRINUSE;
}

/* Bind to another name first, then rename: clients never find a socket that does not listen
 * yet. 0 or an errno. */
static int bind_there(int fd, struct listen_address *address)
{
	int number = find_obstacle(address);
	struct sockaddr_un other;
	const char *other_name;
	struct stat info;
	char suffix[16];

	snprintf(suffix, sizeof(suffix), ".%d", (int)getpid());
	if (!number)
		number = address_there(address, suffix, &other);
	if (number)
		return number;
	other_name = strrchr(other.sun_path, '/') + 1;
	/* bind() creates the file with this mode. */
	if (fchmod(fd, 0600) < 0 ||
	    bind(fd, (const struct sockaddr *)&other, sizeof(other)) < 0)
		return errno;
	if (listen(fd, QUEUE) == 0 &&
	    renameat(address->directory, other_name, address->directory,
		     name_of(address)) == 0 &&
	    look_there(address, &info) == 0) {
		address->inode = info.st_ino;
		return 0;
	}
	number = errno;
	unlinkat(address->directory, other_name, 0);
	return number;
}

static int bind_unix(int fd, struct listen_address *address)
{
	bool foreign;
	int number;

	address->directory = directory_open(path_of(address), &foreign);
	if (address->directory < 0) {
		number = -address->directory;
		address->directory = 0;
		return number;
	}
	number = bind_there(fd, address);
	if (number) {
		close(address->directory);
		address->directory = 0;
	}
	return number;
}

/* Send short data without waiting for acknowledgements. Connections inherit
 * this from their listener. */
static void send_at_once(int fd)
{
	const int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static int bind_tcp(int fd, struct listen_address *address)
{
	const int on = 1;

	/* Connections that have just ended still occupy the port. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	send_at_once(fd);
	if (bind(fd, (const struct sockaddr *)&address->address, address->size) < 0 ||
	    listen(fd, QUEUE) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address->address, &address->size) < 0)
		return errno;
	return 0;
}

/* The first descriptor that sd_listen_fds(3) passes. */
#define PASSED 3

static bool is_listening(int fd)
{
	int type = 0, listens = 0;
	socklen_t size = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
	       type == SOCK_STREAM &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens;
}

static int bad_socket(struct pmp_error *err, const char *why)
{
	*err = (struct pmp_error){ .code = PMP_EINVAL };
	snprintf(err->message, sizeof(err->message),
		 "cannot serve at the socket that was passed: %s", why);
	return err->code;
}

static bool is_for_us(void)
{
	const char *pid = getenv("LISTEN_PID");

	return pid && strtol(pid, NULL, 10) == getpid();
}

/* Programs that pmp starts must not take the socket for theirs. */
static void forget_passed(void)
{
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
}

int listen_passed(struct listen_address *address, struct pmp_error *err)
{
	const char *count = getenv("LISTEN_FDS");
	const bool ours = count && is_for_us(), one = ours && strcmp(count, "1") == 0;
	struct listen_address found = { .size = sizeof(found.address), .passed = true };

	forget_passed();
	if (!ours)
		return 0;
	if (!one)
		return bad_socket(err, "one is wanted, not several");
	if (!is_listening(PASSED) ||
	    getsockname(PASSED, (struct sockaddr *)&found.address, &found.size) < 0)
		return bad_socket(err, "it is none that listens for connections");
	fcntl(PASSED, F_SETFD, FD_CLOEXEC);
	fcntl(PASSED, F_SETFL, fcntl(PASSED, F_GETFL) | O_NONBLOCK);
	found.is_unix = found.address.ss_family == AF_UNIX;
	if (!found.is_unix)
		send_at_once(PASSED);
	*address = found;
	return PASSED;
}

int listen_open(struct listen_address *address, struct pmp_error *err)
{
	int fd = socket(address->address.ss_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int number;

	if (fd < 0)
		return failed(address, errno, err);
	number = address->is_unix ? bind_unix(fd, address) : bind_tcp(fd, address);
	if (!number)
		return fd;
	close(fd);
	return failed(address, number, err);
}

void listen_remove(struct listen_address *address)
{
	struct stat info;

	if (!address->directory)
		return;
	if (look_there(address, &info) == 0 && info.st_ino == address->inode)
		unlinkat(address->directory, name_of(address), 0);
	close(address->directory);
	address->directory = 0;
}
