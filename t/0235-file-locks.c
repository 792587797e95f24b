/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks of files, descriptors and sockets, as /proc lists them. */
#include "lib/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/reads.h"
#include "proc/descriptors.h"
#include "proc/file-locks.h"
#include "proc/sockets.h"

/* No byte more than the text: the sanitizer sees what is read beyond it. */
static char *exact(const char *text)
{
	char *copy = malloc(strlen(text) ? strlen(text) : 1);

	memcpy(copy, text, strlen(text));
	return copy;
}

/* ---- locks ------------------------------------------------------------------------- */

static bool parse(const char *text, struct pmp_file_lock *lock)
{
	char *copy = exact(text);
	bool understood = pmp_file_lock_parse(copy, strlen(text), lock);

	free(copy);
	return understood;
}

static void test_lines(void)
{
	static const struct {
		const char *text;
		struct pmp_file_lock lock;
	} lines[] = {
		{ "1: FLOCK  ADVISORY  WRITE 30127 fe:00:10952886 0 EOF",
		  { 1, PMP_OUTSIDE_FLOCK, false, true, 30127, 254, 0, 10952886, 0,
		    UINT64_MAX } },
		{ "12: -> FLOCK  ADVISORY  READ 30170 fe:10:10952886 0 EOF",
		  { 12, PMP_OUTSIDE_FLOCK, true, false, 30170, 254, 16, 10952886, 0,
		    UINT64_MAX } },
		{ "3:     -> POSIX  ADVISORY  WRITE 7 00:1a:5 100 199",
		  { 3, PMP_OUTSIDE_FCNTL, true, true, 7, 0, 26, 5, 100, 199 } },
		{ "4: POSIX  MANDATORY READ  0 103:02:18446744073709551615 0 0",
		  { 4, PMP_OUTSIDE_FCNTL, false, false, 0, 259, 2, UINT64_MAX, 0, 0 } },
		{ "5: OFDLCK ADVISORY  WRITE -1 08:01:523 9223372036854775807 EOF\n",
		  { 5, PMP_OUTSIDE_OFD, false, true, -1, 8, 1, 523, INT64_MAX,
		    UINT64_MAX } },
	};
	static const char *const others[] = {
		"",
		"1:",
		"1: LEASE  ACTIVE    READ  4100 08:01:523 0 EOF",
		"1: DELEG  ACTIVE    READ  4100 08:01:523 0 EOF",
		"1: ACCESS ADVISORY  WRITE 4100 08:01:523 0 EOF",
		"1: POSIX  ADVISORY  UNLCK 4100 08:01:523 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 4100 <none>:0 0 EOF",
		"1: FLOCK  ADVISORY  WRITE -2 08:01:523 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 99999999999 08:01:523 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 4100 08:523 0 EOF",
		"1: FLOCK  ADVISORY  WRITE 4100 08:01:523 0",
		"1: FLOCK  ADVISORY  WRITE 4100 08:01:523 9 8",
		"-1: FLOCK  ADVISORY  WRITE 4100 08:01:523 0 EOF",
	};
	struct pmp_file_lock lock;

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const struct pmp_file_lock *is = &lines[i].lock;

		ok(parse(lines[i].text, &lock), "'%s'", lines[i].text);
		ok(lock.id == is->id && lock.type == is->type &&
			   lock.waits == is->waits && lock.write == is->write &&
			   lock.pid == is->pid && lock.major == is->major &&
			   lock.minor == is->minor && lock.inode == is->inode &&
			   lock.first == is->first && lock.last == is->last,
		   "its fields");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ok(!parse(others[i], &lock), "no lock: '%s'", others[i]);
}

static const char list[] = "1: FLOCK  ADVISORY  WRITE 10 fe:00:5 0 EOF\n"
			   "1: -> FLOCK  ADVISORY  WRITE 11 fe:00:5 0 EOF\n"
			   "1:  -> FLOCK  ADVISORY  READ 12 fe:00:5 0 EOF\n"
			   "2: LEASE  ACTIVE    READ  4100 08:01:523 0 EOF\n"
			   "3: POSIX  ADVISORY  WRITE 13 fe:00:6 0 9\n"
			   "4: -> POSIX  ADVISORY  WRITE 14 fe:00:6 0 9\n";

static void test_list(void)
{
	struct pmp_file_locks locks = { 0 };
	const struct pmp_file_lock *held;

	is_int(pmp_file_locks_parse(&locks, list, strlen(list)), 0, "a list");
	if (!is_int((long)locks.count, 5, "without its lease"))
		return;
	held = pmp_file_locks_held(&locks, &locks.items[1]);
	ok(held && held->pid == 10, "what stands in the way of a waiter");
	held = pmp_file_locks_held(&locks, &locks.items[2]);
	ok(held && held->pid == 10, "and of one that waits behind that");
	ok(!pmp_file_locks_held(&locks, &locks.items[4]),
	   "one whose holder is not listed has none");
	pmp_file_locks_free(&locks);
}

static const char files[] = "1: POSIX  ADVISORY  WRITE 10 fe:00:6 0 9\n"
			    "1: -> POSIX  ADVISORY  WRITE 11 fe:00:6 5 9\n"
			    "1: -> POSIX  ADVISORY  WRITE 11 fe:00:6 0 4\n"
			    "2: FLOCK  ADVISORY  READ 12 fe:00:5 0 EOF\n"
			    "3: POSIX  ADVISORY  READ 12 fe:00:6 20 29\n"
			    "3: -> POSIX  ADVISORY  WRITE 11 fe:00:6 20 EOF\n"
			    "4: OFDLCK ADVISORY  READ -1 fe:01:6 0 9\n";

static void test_search(void)
{
	static const struct {
		struct pmp_file_lock wanted;
		bool range;
		int found; /* the item; -1: none */
	} cases[] = {
		{ { .first = 0, .last = 4 }, true, 2 },
		{ { .first = 5, .last = 9 }, true, 1 },
		{ { .first = 20, .last = UINT64_MAX }, true, 5 },
		{ { .first = 0, .last = 9 }, true, -1 },
		{ { .first = 7, .last = 7 }, false, 2 },
	};
	struct pmp_file_locks locks = { 0 };
	size_t first;

	ok(pmp_file_locks_parse(&locks, files, strlen(files)) == 0 &&
		   pmp_file_locks_sort(&locks) == 0 && locks.count == 7,
	   "locks of two files");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pmp_file_lock wanted = cases[i].wanted;
		const struct pmp_file_lock *found;

		wanted.type = PMP_OUTSIDE_FCNTL;
		wanted.pid = 11;
		wanted.write = true;
		wanted.inode = 6;
		found = pmp_file_locks_waiter(&locks, &wanted, cases[i].range);
		is_int(found ? found - locks.items : -1, cases[i].found,
		       "who waits for a part of a file");
		wanted.pid = 10;
		ok(!pmp_file_locks_waiter(&locks, &wanted, cases[i].range),
		   "not who has it");
	}
	first = pmp_file_locks_first_held(&locks, 6);
	is_int((long)first, 1, "those of a file that are held");
	ok(locks.sorted[1] == &locks.items[0] && locks.sorted[2] == &locks.items[4] &&
		   locks.sorted[3] == &locks.items[6] && locks.sorted[4]->waits,
	   "are in the order of the list, before who waits");
	is_int((long)pmp_file_locks_first_held(&locks, 7), 7, "no locks of another file");
	pmp_file_locks_free(&locks);
}

static bool has_lock(const char *text, const struct pmp_file_lock *lock)
{
	struct pmp_file_lock found[2];
	size_t count = pmp_fdinfo_locks(text, strlen(text), found, 2);

	return count == 1 && pmp_file_lock_is_same(&found[0], lock);
}

static void test_fdinfo(void)
{
	static const char text[] = "pos:\t0\nflags:\t02100001\nmnt_id:\t27\nino:\t5\n"
				   "lock:\t1: FLOCK  ADVISORY  WRITE 10 fe:00:5 0 EOF\n";
	struct pmp_file_lock lock;
	struct pmp_fdinfo info;

	ok(pmp_fdinfo_parse(text, strlen(text), &info), "fdinfo");
	is_int(info.flags & O_ACCMODE, O_WRONLY, "its access");
	is_int((long)info.inode, 5, "its inode");
	is_int(info.pid, 0, "it is no pidfd");
	ok(pmp_fdinfo_parse("flags:\t02\nPid:\t4100\n", 20, &info) && info.pid == 4100,
	   "a pidfd");
	ok(pmp_fdinfo_parse("flags:\t02\nPid:\t-1\n", 18, &info) && info.pid == 0,
	   "one of a process that has ended");
	ok(pmp_fdinfo_parse("flags:\t02\ntfd: 4 events: 1f\ntfd: 5 events: 1f\n", 47,
			    &info) &&
		   info.watched == 2,
	   "those of an epoll set");
	ok(!pmp_fdinfo_parse("pos:\t0\nflags:\t9\n", 16, &info), "no octal number");
	ok(!pmp_fdinfo_parse("", 0, &info), "nothing");
	parse("7: FLOCK  ADVISORY  WRITE 10 fe:00:5 0 EOF", &lock);
	ok(has_lock(text, &lock), "it has that lock");
	lock.inode = 6;
	ok(!has_lock(text, &lock), "not that of another file");
	parse("7: FLOCK  ADVISORY  WRITE 11 fe:00:5 0 EOF", &lock);
	ok(!has_lock(text, &lock), "nor one that another process took");
	parse("7: OFDLCK ADVISORY  WRITE -1 fe:00:5 0 EOF", &lock);
	ok(!has_lock(text, &lock), "nor of another kind");
	is_int((long)pmp_fdinfo_locks(files, strlen(files), &lock, 1), 0,
	       "other lines are none");
}

/* ---- descriptors ------------------------------------------------------------------- */

static void test_links(void)
{
	static const char *const others[] = {
		"",	     "pipe:[]",	       "pipe:[12",	"pipe:[12]x",
		"pipe:[-1]", "/tmp/pipe:[12]", "socket:[0x12]", "anon_inode:[eventfd]"
	};
	enum pmp_descriptor_type type;
	uint64_t inode;

	ok(pmp_descriptor_parse("pipe:[442102]", &type, &inode) &&
		   type == PMP_DESCRIPTOR_PIPE && inode == 442102,
	   "a pipe");
	ok(pmp_descriptor_parse("socket:[7]", &type, &inode) &&
		   type == PMP_DESCRIPTOR_SOCKET && inode == 7,
	   "a socket");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ok(!pmp_descriptor_parse(others[i], &type, &inode), "neither: '%s'",
		   others[i]);
}

static void test_names(void)
{
	static const char *const others[] = { "", "anon_inode:", "anon_inode:[]",
					      "/anon_inode:[eventfd]", "pipe:[7]" };
	char name[PMP_OUTSIDE_TEXT], link[2 * PMP_OUTSIDE_TEXT];

	ok(pmp_descriptor_parse_name("anon_inode:[eventfd]", name), "an eventfd");
	is_str(name, "eventfd", "its name");
	ok(pmp_descriptor_parse_name("anon_inode:inotify", name), "one without brackets");
	is_str(name, "inotify", "its name");
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		ok(!pmp_descriptor_parse_name(others[i], name), "neither: '%s'",
		   others[i]);
	snprintf(link, sizeof(link), "anon_inode:[%0*d]", PMP_OUTSIDE_TEXT, 0);
	ok(!pmp_descriptor_parse_name(link, name), "a name that is too long");
}

struct seen {
	size_t count;
	int fd;
	unsigned flags;
};

static int on_found(void *arg, const struct pmp_seek *seek, pid_t pid, int fd,
		    unsigned flags)
{
	struct seen *seen = arg;

	(void)seek;
	if (pid != getpid())
		return 0;
	seen->count++;
	if (flags & (O_WRONLY | O_RDWR)) {
		seen->fd = fd;
		seen->flags = flags;
	}
	return 0;
}

static struct seen look_for(struct pmp_seek seek)
{
	struct seen seen = { 0 };
	struct pmp_seeker seeker = { .seeks = &seek,
				     .count = 1,
				     .time = PMP_DESCRIPTORS_TIME,
				     .found = on_found,
				     .arg = &seen };

	pmp_descriptors_walk(&seeker);
	return seen;
}

/* How many descriptors were looked at between two signs of life, at most. */
struct beats {
	const struct pmp_seeker *seeker;
	size_t last, longest;
};

static void on_alive(void *arg)
{
	struct beats *beats = arg;
	const size_t now = beats->seeker->descriptors;

	if (now > beats->last && now - beats->last > beats->longest)
		beats->longest = now - beats->last;
	beats->last = now;
}

/* What the kernel has to say of a descriptor may be much: of a file with thousands of locks,
 * which is open hundreds of times, some milliseconds each time. */
static void test_many_locks(void)
{
	int file = open("locked", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct beats beats = { 0 };
	int locks = 0, opened = 0;
	struct seen seen = { 0 };
	struct stat stat;
	struct pmp_seek seek = { .type = PMP_DESCRIPTOR_FILE,
				 .lock = { .type = PMP_OUTSIDE_FLOCK } };
	struct pmp_seeker seeker = { .seeks = &seek,
				     .count = 1,
				     .time = 10 * PMP_MS,
				     .found = on_found,
				     .alive = on_alive,
				     .arg = &seen,
				     .alive_arg = &beats };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	if (!ok(file >= 0 && fstat(file, &stat) == 0, "a file"))
		return;
	for (lock.l_start = 0; lock.l_start < 10000; lock.l_start += 2)
		locks += fcntl(file, F_SETLK, &lock) == 0;
	for (int i = 0; i < 512; i++)
		opened += dup(file) >= 0;
	beats.seeker = &seeker;
	seek.inode = stat.st_ino;
	seek.device = stat.st_dev;
	is_int(locks, 5000, "with 5000 locks");
	is_int(opened, 512, "that is open 512 times");
	is_int(pmp_descriptors_walk(&seeker), 0, "is looked for");
	ok(seeker.cut, "a walk ends when its time is over");
	seeker.time = 600 * PMP_S;
	is_int(pmp_descriptors_walk(&seeker), 0, "with more time");
	ok(!seeker.cut && seeker.descriptors > 512, "it sees all");
	ok(beats.longest <= 64, "and gives signs of life in between: after %zu at most",
	   beats.longest);
	close_range((unsigned)file, ~0U, 0);
	unlink("locked");
}

/* What is read of a descriptor is read once, for all locks that are looked for. */
static void test_many_seeks(void)
{
	enum { SEEKS = 10000 };
	int file = open("locked", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct pmp_seek *seeks = calloc(SEEKS, sizeof(*seeks));
	struct pmp_seeker seeker = {
		.seeks = seeks, .count = SEEKS, .time = 600 * PMP_S, .found = on_found
	};
	unsigned long before, after;
	struct stat stat;

	if (!ok(seeks && file >= 0 && fstat(file, &stat) == 0, "a file"))
		return;
	for (size_t i = 0; i < SEEKS; i++)
		seeks[i] = (struct pmp_seek){ .type = PMP_DESCRIPTOR_FILE,
					      .inode = stat.st_ino,
					      .device = stat.st_dev,
					      .lock = { .type = PMP_OUTSIDE_FLOCK } };
	before = reads();
	is_int(pmp_descriptors_walk(&seeker), 0, "many locks of it are looked for");
	after = reads();
	if (before)
		ok(after - before < SEEKS, "reads: %lu", after - before);
	else
		skip("this kernel does not count reads");
	close(file);
	unlink("locked");
	free(seeks);
}

/* A file of the name of a pipe is none. */
static void test_walk(void)
{
	struct stat stat;
	struct seen seen;
	int ends[2], fifo;

	if (pipe(ends) || fstat(ends[0], &stat))
		return;
	seen = look_for(
		(struct pmp_seek){ .type = PMP_DESCRIPTOR_PIPE, .inode = stat.st_ino });
	is_int((long)seen.count, 2, "both ends of a pipe are found");
	is_int(seen.fd, ends[1], "and which can be written");
	seen = look_for(
		(struct pmp_seek){ .type = PMP_DESCRIPTOR_SOCKET, .inode = stat.st_ino });
	is_int((long)seen.count, 0, "no socket has its number");
	if (mkfifo("fifo", 0600) || (fifo = open("fifo", O_RDWR)) < 0 ||
	    fstat(fifo, &stat))
		return;
	seen = look_for((struct pmp_seek){ .type = PMP_DESCRIPTOR_FIFO,
					   .inode = stat.st_ino,
					   .device = stat.st_dev });
	is_int((long)seen.count, 1, "a FIFO is found");
	is_int(seen.fd, fifo, "its descriptor");
	seen = look_for((struct pmp_seek){ .type = PMP_DESCRIPTOR_FIFO,
					   .inode = stat.st_ino,
					   .device = stat.st_dev + 1 });
	is_int((long)seen.count, 0, "not that of another device");
	close(fifo);
	unlink("fifo");
	close(ends[0]);
	close(ends[1]);
}

/* ---- sockets ----------------------------------------------------------------------- */

static const char tcp[] =
	"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid"
	"  timeout inode\n"
	"   0: 0100007F:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0"
	"        0 1061 1 00000000504828e9 100 0 0 10 0\n"
	"   1: 0100007F:C350 0100007F:07E8 01 00000000:00000000 00:00000000 00000000     0"
	"        0 77 1 00000000504828e9 20 4 30 10 -1\n";
static const char tcp6[] =
	"   0: 0000000000000000FFFF00000100007F:07E8 0000000000000000FFFF00000100007F:C350"
	" 01 00000000:00000000 00:00000000 00000000     0        0 78 1 0 20 4 30 10 -1\n"
	"   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000"
	" 0A 00000000:00000000 00:00000000 00000000     0        0 79 1 0 20 4 30 10 -1\n";

/* By inode; one that does not exist: zero. */
static struct pmp_tcp_row row_of(const struct pmp_tcp_table *table, uint64_t inode)
{
	const struct pmp_tcp_row *row = pmp_tcp_find(table, inode);

	return row ? *row : (struct pmp_tcp_row){ 0 };
}

static void test_tcp(void)
{
	struct pmp_tcp_table table = { 0 };
	char text[PMP_ADDRESS_SIZE];
	struct pmp_tcp_row row;

	ok(pmp_tcp_table_sort(&table) == 0 && !pmp_tcp_find(&table, 77),
	   "an empty table");
	ok(pmp_tcp_table_add(&table, tcp, strlen(tcp)) == 0 &&
		   pmp_tcp_table_sort(&table) == 0 && table.count == 2,
	   "a table");
	ok(!pmp_tcp_find(&table, 5), "no such socket");
	ok(row_of(&table, 1061).listens, "one that listens");
	row = row_of(&table, 77);
	ok(row.inode == 77 && !row.listens, "one that does not");
	pmp_tcp_print(&row.local, text);
	is_str(text, "127.0.0.1:50000", "its address");
	is_int((long)pmp_tcp_find_other(&table, &row), 0,
	       "who listens is not the other end");
	is_int((long)pmp_tcp_find_listener(&table, &row), 1061, "who listens there");
	ok(pmp_tcp_table_add(&table, tcp6, strlen(tcp6)) == 0 &&
		   pmp_tcp_table_sort(&table) == 0 && table.count == 4,
	   "with those of IPv6");
	is_int((long)pmp_tcp_find_other(&table, &row), 78,
	       "one of these may be the other end");
	row = row_of(&table, 78);
	is_int((long)pmp_tcp_find_other(&table, &row), 77, "and the other way round");
	row = row_of(&table, 79);
	pmp_tcp_print(&row.local, text);
	is_str(text, "[::1]:80", "an address of IPv6");
	pmp_tcp_print(&row.remote, text);
	is_str(text, "[::]:0", "and that of nobody");
	is_int((long)pmp_tcp_find_listener(&table, &row), 0, "nobody listens there");
	pmp_tcp_table_free(&table);
}

/* Each of many finds itself and its other end. */
static void test_many(void)
{
	struct pmp_tcp_table table = { 0 };
	struct pmp_buf rows = { 0 };
	unsigned wrong = 0;

	for (unsigned i = 0; i < 2000; i++)
		pmp_buf_printf(&rows,
			       " %u: 0100007F:%04X 0100007F:%04X 01 00000000:00000000 "
			       "00:00000000 00000000 0 0 %u 1 0 20\n",
			       i, i % 2 ? 80 : 1000 + i, i % 2 ? 1000 + i - 1 : 80,
			       5000 - i);
	ok(pmp_tcp_table_add(&table, rows.data, rows.length) == 0 &&
		   pmp_tcp_table_sort(&table) == 0 && table.count == 2000,
	   "many of them");
	for (unsigned i = 0; i < 2000; i++) {
		const struct pmp_tcp_row row = row_of(&table, 5000 - i);

		wrong += row.inode != 5000 - i ||
			 pmp_tcp_find_other(&table, &row) != 5000 - (i ^ 1);
	}
	is_int(wrong, 0, "each is found, and the other end of each");
	pmp_tcp_table_free(&table);
	pmp_buf_free(&rows);
}

static void test_v6(void)
{
	static const struct {
		const char *bytes, *text;
	} addresses[] = {
		{ "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1", "[2001:db8::1]:1" },
		{ "\x20\x01\0\0\0\1\0\0\0\0\0\0\0\1\0\1", "[2001:0:1::1:1]:1" },
		{ "\0\1\0\2\0\3\0\4\0\5\0\6\0\7\0\x8", "[1:2:3:4:5:6:7:8]:1" },
		{ "\0\1\0\0\0\3\0\4\0\5\0\6\0\7\0\0", "[1:0:3:4:5:6:7:0]:1" },
		{ "\xfe\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "[fe80::]:1" },
	};

	for (size_t i = 0; i < sizeof(addresses) / sizeof(*addresses); i++) {
		struct pmp_tcp_end end = { .port = 1 };
		char text[PMP_ADDRESS_SIZE];

		memcpy(end.address, addresses[i].bytes, sizeof(end.address));
		pmp_tcp_print(&end, text);
		is_str(text, addresses[i].text, "an address");
	}
}

static uint64_t listener(const char *line, const char *path)
{
	char *copy = exact(line);
	uint64_t inode = pmp_unix_parse_listener(copy, strlen(line), path);

	free(copy);
	return inode;
}

static void test_unix_lines(void)
{
	static const char line[] = "ffff9a3c: 00000002 00000000 00010000 0001 01 4711 "
				   "/run/x.sock";

	is_int((long)listener(line, "/run/x.sock"), 4711, "one that listens");
	is_int((long)listener(line, "/run/x.soc"), 0, "not at this path");
	is_int((long)listener(line, ""), 0, "nor at none");
	is_int((long)listener("ffff9a3c: 00000002 00000000 00000000 0001 01 4711 /x",
			      "/x"),
	       0, "one that does not");
	is_int((long)listener("", "/x"), 0, "an empty line");
}

static void test_unix(void)
{
	int fd = pmp_unix_open(), ends[2];
	struct pmp_unix_socket answer;
	struct stat one, other;

	if (fd < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || fstat(ends[0], &one) ||
	    fstat(ends[1], &other)) {
		skip("no sockets to ask");
		return;
	}
	if (!pmp_unix_ask(fd, one.st_ino, &answer)) {
		skip("the kernel has no unix_diag");
		return;
	}
	is_int((long)answer.peer, (long)other.st_ino, "the other end of a socket");
	ok(!answer.listens && !answer.path[0], "which neither listens nor has a name");
	ok(!pmp_unix_ask(fd, 1, &answer), "no such socket");
	ok(!pmp_unix_ask(fd, UINT64_C(1) << 40, &answer), "nor of a huge number");
	ok(!pmp_unix_ask(-1, one.st_ino, &answer), "nobody to ask");
	close(ends[0]);
	close(ends[1]);
	close(fd);
}

int main(void)
{
	test_lines();
	test_list();
	test_search();
	test_fdinfo();
	test_links();
	test_names();
	test_walk();
	test_many_locks();
	test_many_seeks();
	test_tcp();
	test_many();
	test_v6();
	test_unix_lines();
	test_unix();
	return done_testing();
}
