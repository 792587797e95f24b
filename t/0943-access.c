/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may ask: the rules, one by one, and what the kernel says of the other end. */
#include "lib/tap.h"

#include "serve/access.h"
#include "serve/peer.h"

#include <netinet/in.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOKEN "0123456789abcdef"
#define OTHERS 4711

static struct access_rules rules = {
	.token = TOKEN, .names = { "db1" }, .name_count = 1, .port = 7670, .own = 1000
};

static struct access_verdict verdict;

/* A request with these lines of head by this user; -1: nobody knows who it is. */
static int ask(const char *target, const char *lines, long user)
{
	static struct http_request request;
	const struct access_peer peer = { user >= 0, (uid_t)user };
	char head[HTTP_HEAD_MAX];
	int n = snprintf(head, sizeof(head), "GET %s HTTP/1.1\r\n%s\r\n", target, lines);

	if (http_parse(head, (size_t)n, &request))
		return -1;
	verdict = access_check(&rules, &request, &peer);
	return verdict.status;
}

static int ask_host(const char *host)
{
	char line[128];

	snprintf(line, sizeof(line), "Host: %s\r\n", host);
	return ask("/folded", line, 0);
}

#define HOST "Host: 127.0.0.1:7670\r\n"
#define BASIC "Authorization: Basic cG1wOjAxMjM0NTY3ODlhYmNkZWY=\r\n"

static void check_tokens(void)
{
	is_int(ask("/folded", "Host: evil\r\nAuthorization: Bearer " TOKEN "\r\n", -1), 0,
	       "the token, by whatever name");
	is_int(ask("/folded", HOST "Authorization: bearer  " TOKEN "\r\n", OTHERS), 0,
	       "the scheme in lower case");
	is_int(ask("/folded", HOST BASIC, -1), 0, "as the password of a user");
	is_int(ask("/folded", HOST "Authorization: Basic OjAxMjM0NTY3ODlhYmNkZWY\r\n",
		   -1),
	       0, "of no user");
	is_int(ask("/folded", HOST "Authorization: Bearer " TOKEN "0\r\n", 0), 401,
	       "a longer one");
	ok(verdict.guessed, "it was guessed");
	is_int(ask("/folded", HOST "Authorization: Bearer 0123456789abcde\r\n", 0), 401,
	       "a shorter one");
	is_int(ask("/folded", HOST "Authorization: Bearer\r\n", 0), 401, "none");
	is_int(ask("/folded", HOST "Authorization: Basic ****\r\n", 0), 401, "no base64");
	is_int(ask("/folded", HOST "Authorization: Digest x\r\n", 0), 401, "a digest");
	is_int(ask("/?token=" TOKEN, HOST, -1), 0, "in the address of the page");
	is_int(ask("/?token=x", HOST, 0), 401, "a wrong one there");
	is_int(ask("/folded?token=" TOKEN, HOST, -1), 401, "not of another page");
	ok(!verdict.guessed, "that is no guess");
	*rules.token = '\0';
	is_int(ask("/folded", HOST "Authorization: Bearer \r\n", -1), 401,
	       "no token is right if there is none");
	is_int(ask("/folded", HOST "Authorization: Bearer x\r\n", 0), 0,
	       "but others may ask");
	memcpy(rules.token, TOKEN, sizeof(TOKEN));
}

static void check_names(void)
{
	is_int(ask_host("127.0.0.1:7670"), 0, "an address");
	is_int(ask_host("127.0.0.1"), 0, "without a port");
	is_int(ask_host("[::1]:7670"), 0, "an address of IPv6");
	is_int(ask_host("[::1]"), 0, "without a port");
	is_int(ask_host("LOCALHOST:7670"), 0, "localhost");
	is_int(ask_host("db1:7670"), 0, "a name that was given");
	is_int(ask_host("db1:80"), 421, "another port");
	is_int(ask_host("db1:"), 421, "a colon without a port");
	is_int(ask_host("db1.evil.example:7670"), 421, "a longer name");
	is_int(ask_host("evil.example"), 421, "another name");
	is_int(ask_host("127.0.0.1.evil.example"), 421, "one that begins as an address");
	is_int(ask_host("[::1].evil.example"), 421, "and one of IPv6");
	is_int(ask_host("[::1"), 421, "half an address");
	is_int(ask_host(""), 421, "nothing");
}

static void check_pages(void)
{
	is_int(ask("/", HOST "Origin: http://127.0.0.1:7670\r\n", 0), 0, "its own page");
	is_int(ask("/", HOST "Origin: http://evil\r\n", 0), 403, "another page");
	is_int(ask("/", HOST "Origin: https://127.0.0.1:7670\r\n", 0), 403, "by TLS");
	is_int(ask("/", HOST "Origin: null\r\n", 0), 403, "a page of nowhere");
	is_int(ask("/", HOST "Sec-Fetch-Site: none\r\n", 0), 0, "typed in");
	is_int(ask("/", HOST "Sec-Fetch-Site: same-origin\r\n", 0), 0, "its own");
	is_int(ask("/", HOST "Sec-Fetch-Site: same-site\r\n", 0), 403, "the same site");
	is_int(ask("/", HOST "Sec-Fetch-Site: cross-site\r\n", 0), 403, "another site");
	is_int(ask("/folded", HOST BASIC "Sec-Fetch-Site: cross-site\r\n", -1), 403,
	       "another site, with a password that the browser knows");
	is_int(ask("/", HOST BASIC "Sec-Fetch-Site: cross-site\r\n", -1), 0,
	       "a link to the page");
	is_int(ask("/folded", HOST BASIC "Sec-Fetch-Site: same-origin\r\n", -1), 0,
	       "what the page itself asks for");
	is_int(ask("/folded",
		   HOST "Authorization: Bearer " TOKEN
			"\r\nSec-Fetch-Site: cross-site\r\n",
		   -1),
	       0, "a token that no browser sends by itself");
}

static void check_users(void)
{
	is_int(ask("/", HOST, 0), 0, "root");
	is_int(ask("/", HOST, 1000), 0, "who runs pmp");
	is_int(ask("/", HOST, OTHERS), 401, "somebody else");
	is_int(ask("/", HOST, -1), 401, "nobody knows who");
	rules.has_target = true;
	rules.target = OTHERS;
	is_int(ask("/", HOST, OTHERS), 0, "whose the target is");
	is_int(ask("/", HOST, OTHERS + 1), 401, "somebody else");
	rules.has_target = false;
}

static void check_make(void)
{
	const unsigned char random[24] = { 0,	 0x10, 0x83, 0xff, 0xff,
					   0xff, 0xfb, 0xef, 0xbe };
	char token[33];

	access_make_token(random, token);
	is_str(token, "ABCD____----AAAAAAAAAAAAAAAAAAAA", "bytes in base64");
	ok(access_is_token("ABCD-._~+/=12345"), "a token");
	ok(!access_is_token("ABCD-._~+/=1234"), "one that is too short");
	ok(!access_is_token("ABCD-._~+/=1234 "), "one with a blank");
}

/* Two ends of a connection to ourselves; -1: it could not be made. */
static int connect_v4(int family, int *client, int *listener)
{
	struct sockaddr_storage address = { .ss_family = (sa_family_t)family };
	socklen_t size = sizeof(address);

	if (family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr =
			htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	*listener = socket(family, SOCK_STREAM, 0);
	*client = socket(family, SOCK_STREAM, 0);
	if (bind(*listener, (void *)&address,
		 family == AF_INET ? sizeof(struct sockaddr_in)
				   : sizeof(struct sockaddr_in6)) < 0 ||
	    listen(*listener, 4) < 0 ||
	    getsockname(*listener, (void *)&address, &size) < 0 ||
	    connect(*client, (void *)&address, size) < 0)
		return -1;
	return accept(*listener, NULL, NULL);
}

static void check_tcp(int netlink, int family, const char *name)
{
	int client, listener, fd = connect_v4(family, &client, &listener);
	struct access_peer peer;

	if (fd < 0) {
		skip(name);
		return;
	}
	peer = peer_find(netlink, fd);
	ok(peer.known && peer.user == getuid(), "%s: it is our socket", name);
	shutdown(client, SHUT_WR);
	peer = peer_find(netlink, fd);
	ok(peer.known && peer.user == getuid(), "%s: also when it sends no more", name);
	/* What the kernel keeps after the close it shows as root's. */
	close(client);
	usleep(20000);
	ok(!peer_find(netlink, fd).known, "%s: of one that was closed nothing", name);
	close(fd);
	close(listener);
}

static void check_unix(int netlink)
{
	struct access_peer peer;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		return;
	peer = peer_find(netlink, fds[0]);
	ok(peer.known && peer.user == geteuid(), "unix: it is our socket");
	close(fds[0]);
	close(fds[1]);
}

/* The socket of a process that is another user's. */
static void check_other(int netlink)
{
	int client = -1, listener = -1, fd, status, ends[2];
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t size = sizeof(address);
	char byte;
	pid_t pid;

	if (getuid() != 0 || pipe(ends) < 0) {
		skip("not root");
		return;
	}
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (void *)&address, sizeof(address)) < 0 ||
	    listen(listener, 4) < 0 || getsockname(listener, (void *)&address, &size) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		if (setuid(OTHERS) < 0)
			_exit(1);
		client = socket(AF_INET, SOCK_STREAM, 0);
		status = connect(client, (void *)&address, size);
		_exit(status < 0 || read(ends[0], &byte, 1) != 0);
	}
	close(ends[0]);
	fd = accept(listener, NULL, NULL);
	ok(peer_find(netlink, fd).user == OTHERS, "the socket of another user is his");
	close(ends[1]);
	is_int(waitpid(pid, &status, 0), pid, "he ends");
	close(fd);
	close(listener);
}

int main(void)
{
	int netlink;

	check_tokens();
	check_names();
	check_pages();
	check_users();
	check_make();
	netlink = peer_open();
	ok(netlink >= 0, "the kernel can be asked");
	check_tcp(netlink, AF_INET, "IPv4");
	check_tcp(netlink, AF_INET6, "IPv6");
	check_unix(netlink);
	check_other(netlink);
	return done_testing();
}
