/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * To be preloaded: a sampler that has libelf or zlib read something ends with status 99. It
 * may open files, even when it is confined: so it knows by its name what it is.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void check(void)
{
	static const char sampler[] = "pmp-sampler";
	char name[32] = "";
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, name, sizeof(name) - 1) > 0 &&
	    strncmp(name, sampler, sizeof(sampler) - 1) == 0)
		_exit(99);
	close(fd);
}

#define WATCH(type, name, parameters, arguments) \
	type name parameters; \
	type name parameters \
	{ \
		__typeof__(name) *next; \
\
		check(); \
		*(void **)&next = dlsym(RTLD_NEXT, #name); \
		return next arguments; \
	}

WATCH(void *, elf_begin, (int fd, int command, void *elf), (fd, command, elf))
WATCH(void *, elf_memory, (char *image, size_t size), (image, size))
WATCH(int, inflateInit_, (void *zip, const char *version, int size), (zip, version, size))
WATCH(int, inflateInit2_, (void *zip, int bits, const char *version, int size),
      (zip, bits, version, size))
WATCH(int, uncompress,
      (void *to, unsigned long *size, const void *from, unsigned long length),
      (to, size, from, length))
