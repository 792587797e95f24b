/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See input.h. */
#include "source/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "confine/judge.h"
#include "run/clock.h"
#include "say/message.h"
#include "source/spool.h"

#define HEAD 4096u /* bytes that tell the kind of file */
#define ELF_HEAD 64u
#define LOOK 64u			  /* bytes that tell text from other data */
#define PROFILE_MAX ((uint64_t)256 << 20) /* the library takes no larger one */

/* The magic numbers of files that a program unpacks. */
static const struct packing {
	const char *magic;
	size_t length;
	const char *program;
} packings[] = {
	{ "\x28\xb5\x2f\xfd", 4, "zstd" },
	{ "\x04\x22\x4d\x18", 4, "lz4" },
	{ "\xfd\x37\x7a\x58\x5a", 5, "xz" },
};

static const char gzip_magic[] = { '\x1f', '\x8b' };

/* ---- the kind of file ------------------------------------------------------------------------ */

/* Tells a core in gzip data from a saved profile, which is gzipped as well. */
static bool is_packed_core(const void *head, size_t length)
{
	unsigned char start[ELF_HEAD];
	z_stream stream = { .next_in = (Bytef *)head,
			    .avail_in = (uInt)length,
			    .next_out = start,
			    .avail_out = sizeof(start) };
	bool is;

	if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
		return false;
	inflate(&stream, Z_SYNC_FLUSH);
	is = pmp_core_is(start, sizeof(start) - stream.avail_out);
	inflateEnd(&stream);
	return is;
}

static bool is_gzipped_core(struct input *input, const void *head, size_t length,
			    bool with_rights)
{
	if (length < sizeof(gzip_magic) || memcmp(head, gzip_magic, sizeof(gzip_magic)))
		return false;
	return with_rights ? is_packed_core(head, length)
			   : confine_judge(is_packed_core, head, length,
					   &input->judge_missing);
}

/* The program that unpacks it; NULL: it is not packed, or a saved profile. */
static const char *find_unpacker(struct input *input, const void *head, size_t length,
				 bool with_rights)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++)
		if (length >= packings[i].length &&
		    memcmp(head, packings[i].magic, packings[i].length) == 0)
			return packings[i].program;
	return is_gzipped_core(input, head, length, with_rights) ? "gzip" : NULL;
}

static bool has_only(const char *head, size_t length, bool (*is)(char))
{
	const size_t most = length < LOOK ? length : LOOK;

	for (size_t i = 0; i < most; i++)
		if (!is(head[i]))
			return false;
	return true;
}

static bool is_zero(char c)
{
	return c == '\0';
}

static bool is_of_text(char c)
{
	return (c >= ' ' && c <= '~') || c == '\t' || c == '\n' || c == '\r';
}

/* Why pmp cannot read such a file, or NULL. */
static const char *find_problem(const char *head, size_t length)
{
	if (length == 0)
		return "it is empty";
	if (has_only(head, length, is_of_text))
		return "it is text; of pmp's formats only pprof can be read again";
	if (length >= LOOK && has_only(head, length, is_zero))
		return "it begins with zeros, like an unfinished core";
	return NULL;
}

/* ---- where it is ----------------------------------------------------------------------------- */

static void replace(struct input *input, int fd)
{
	if (input->fd != STDIN_FILENO)
		close(input->fd);
	input->fd = fd;
}

/* Read the first HEAD bytes, or all if there are fewer. Returns their
 * number or a negative errno. */
static ssize_t read_head(int fd, bool regular, char *head)
{
	size_t length = 0;
	ssize_t n = 1;

	if (regular) {
		n = pread(fd, head, HEAD, 0);
		return n < 0 ? -errno : n;
	}
	while (n > 0 && length < HEAD) {
		n = read(fd, head + length, HEAD - length);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			length += (size_t)n;
	}
	return n < 0 ? -errno : (ssize_t)length;
}

/* Copy a pipe: a core into a file, as it is read at random
 * offsets; a profile into memory. */
static int take_pipe(struct input *input, const char *path, const char *head,
		     size_t length, bool is_profile, struct pmp_error *err)
{
	const struct spool_input copied = { head, length, input->fd, path };
	int fd = is_profile ? memfd_create("profile", MFD_CLOEXEC) : spool_open(err);
	int code;

	if (fd < 0)
		return is_profile
			       ? message_fill(err, PMP_EIO, errno, "cannot keep %s", path)
			       : fd;
	code = spool_copy(fd, &copied, is_profile ? PROFILE_MAX + 1 : UINT64_MAX, err);
	replace(input, fd);
	return code;
}

/* gzip exits with 2 for warnings, of trailing bytes for example (gzip(1)). */
static bool is_whole(const char *program, int status)
{
	return !status || (strcmp(program, "gzip") == 0 && WIFEXITED(status) &&
			   WEXITSTATUS(status) == 2);
}

static int unpack(struct input *input, struct spool_packed *packed, struct pmp_error *err)
{
	char shown[256], head[ELF_HEAD];
	int spool = spool_open(err), status = 0, code;
	ssize_t n;

	if (spool < 0)
		return spool;
	code = spool_unpack(spool, packed, &status, err);
	input->unpacker = packed->program;
	input->unpacker_missing = packed->missing;
	replace(input, spool);
	if (code)
		return code;
	n = pread(spool, head, sizeof(head), 0);
	if (n > 0 && pmp_core_is(head, (size_t)n)) {
		input->is_core = true;
		if (!is_whole(packed->program, status))
			input->cut = "the packed file is damaged, or cut off";
		return 0;
	}
	pmp_escape(packed->name, shown, sizeof(shown));
	if (!is_whole(packed->program, status))
		return message_fill(err, PMP_EFORMAT, 0,
				    "cannot unpack %s: %s says that it is damaged", shown,
				    packed->program);
	return message_fill(err, PMP_EFORMAT, 0, "%s, unpacked, is not a core file",
			    shown);
}

static int look(struct input *input, const char *path, bool with_rights,
		struct pmp_error *err)
{
	struct spool_packed packed = { .name = path, .with_rights = with_rights };
	struct stat status;
	char head[HEAD], shown[256];
	const char *problem;
	bool regular;
	ssize_t n;
	int code = 0;

	if (fstat(input->fd, &status) < 0)
		return message_fill(err, PMP_EIO, errno, "cannot read %s",
				    pmp_escape(path, shown, sizeof(shown)));
	regular = S_ISREG(status.st_mode) && lseek(input->fd, 0, SEEK_CUR) == 0;
	n = S_ISDIR(status.st_mode) ? 0 : read_head(input->fd, regular, head);
	/* The reader of profiles reports the error. */
	if (n < 0 || S_ISDIR(status.st_mode))
		return 0;
	if (S_ISREG(status.st_mode)) {
		input->is_program = status.st_mode & S_IXUSR;
		input->written = (uint64_t)status.st_mtim.tv_sec * NS_PER_S +
				 (uint64_t)status.st_mtim.tv_nsec;
	}
	input->is_core = pmp_core_is(head, (size_t)n);
	problem = find_problem(head, (size_t)n);
	if (problem)
		return message_fill(err, PMP_EFORMAT, 0, "cannot read %s: %s",
				    pmp_escape(path, shown, sizeof(shown)), problem);
	packed.program = find_unpacker(input, head, (size_t)n, with_rights);
	if (!regular)
		code = take_pipe(input, path, head, (size_t)n,
				 !input->is_core && !packed.program, err);
	packed.fd = input->fd;
	return code || !packed.program ? code : unpack(input, &packed, err);
}

int input_open(struct input *input, const char *path, bool with_rights,
	       struct pmp_error *err)
{
	char shown[512];

	*input = (struct input){ .fd = STDIN_FILENO };
	if (strcmp(path, "-") != 0)
		input->fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (input->fd < 0)
		return message_fill(err, PMP_EINVAL, errno, "cannot open %s",
				    pmp_escape(path, shown, sizeof(shown)));
	return look(input, path, with_rights, err);
}

void input_close(struct input *input)
{
	if (input->fd >= 0 && input->fd != STDIN_FILENO)
		close(input->fd);
	input->fd = -1;
}
