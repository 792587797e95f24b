/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "proc/maps-query.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* As in <linux/fs.h>, which may be older than the kernel. */
struct procmap_query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t device_major, device_minor;
	uint32_t name_size, build_id_size;
	uint64_t name_address, build_id_address;
};
#define QUERY _IOWR('f', 17, struct procmap_query)
enum { IS_READABLE = 1, IS_WRITABLE = 2, IS_EXECUTABLE = 4, IS_SHARED = 8, OR_NEXT = 16 };

#define KERNEL_HALF (UINT64_C(1) << 63) /* [vsyscall] is only in the text */

static unsigned prot_of(const struct procmap_query *query)
{
	return (query->vma_flags & IS_READABLE ? PMP_PROT_READ : 0) |
	       (query->vma_flags & IS_WRITABLE ? PMP_PROT_WRITE : 0) |
	       (query->vma_flags & IS_EXECUTABLE ? PMP_PROT_EXEC : 0) |
	       (query->vma_flags & IS_SHARED ? PMP_PROT_SHARED : 0);
}

/* Code in a shared memory object, which has an inode, is an anonymous module in the maps:
 * then the text must be read. */
static bool is_module(const struct procmap_query *query, const struct pmp_module *module)
{
	if (module->kind != PMP_MODULE_FILE)
		return query->inode == 0;
	return query->inode == module->inode &&
	       makedev(query->device_major, query->device_minor) == module->device;
}

static bool is_region(const struct procmap_query *query, const struct pmp_region *region)
{
	return query->start == region->start && query->end == region->end &&
	       query->offset == region->offset && prot_of(query) == region->prot &&
	       is_module(query, region->module);
}

/* The first region with code at or above address. 0 or a negative errno; -ENOENT: none. */
static int next_mapped(int fd, uint64_t address, struct procmap_query *query)
{
	*query = (struct procmap_query){ .size = sizeof(*query),
					 .flags = IS_EXECUTABLE | OR_NEXT,
					 .address = address };
	return ioctl(fd, QUERY, query) < 0 ? -errno : 0;
}

static const struct pmp_region *next_known(const struct pmp_maps *maps, size_t *i)
{
	while (*i < maps->region_count) {
		const struct pmp_region *region = &maps->regions[(*i)++];

		if (region->prot & PMP_PROT_EXEC && region->start < KERNEL_HALF)
			return region;
	}
	return NULL;
}

static int compare(int fd, const struct pmp_maps *maps)
{
	const struct pmp_region *region;
	struct procmap_query query;
	uint64_t address = 0;
	size_t i = 0;
	int r;

	while ((region = next_known(maps, &i))) {
		r = next_mapped(fd, address, &query);
		if (r < 0 && r != -ENOENT)
			return r;
		if (r == -ENOENT || !is_region(&query, region))
			return 0;
		address = query.end;
	}
	r = next_mapped(fd, address, &query);
	return r == -ENOENT ? 1 : r;
}

int pmp_maps_query_code(const struct pmp_process *process, const struct pmp_maps *maps)
{
	int fd = openat(process->proc, "maps", O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = compare(fd, maps);
	close(fd);
	return r;
}
