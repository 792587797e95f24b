/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel tells of where a thread waits in it, and how that gets into maps. */
#include "lib/tap.h"

#include <string.h>
#include <unistd.h>

#include "proc/kernel-stack.h"
#include "libpmp.h"

static struct pmp_kernel kernel;
static struct pmp_kernel_stack stack;

static size_t parse(const char *text)
{
	is_int(pmp_kernel_parse(&kernel, text, strlen(text), &stack), 0, "parsed");
	return stack.count;
}

static uint64_t address_of(const char *name)
{
	return pmp_kernel_address(name, strlen(name));
}

static bool frame_is(size_t i, const char *name)
{
	return i < stack.count && stack.frames[i].pc == address_of(name) &&
	       stack.frames[i].flags == PMP_FRAME_EXACT;
}

static void test_lines(void)
{
	is_int((long long)parse("[<0>] do_sys_poll+0x400/0x590\n"
				"[<0>] do_syscall_64+0x71/0x280\n"),
	       2, "two functions");
	ok(frame_is(0, "do_sys_poll") && frame_is(1, "do_syscall_64"), "these");
	is_int((long long)parse("[<ffffffff8123abcd>] futex_wait_queue_me+0xcd/0x110\n"
				"[<ffffffffc0123456>] nfs_wait+0x1/0x2 [nfs]\n"
				"[<ffffffffffffffff>] 0xffffffffffffffff\n"),
	       2, "as older kernels write it, with a module and an end");
	ok(frame_is(0, "futex_wait_queue_me") && frame_is(1, "nfs_wait"),
	   "without what does not belong to the name");
	is_int((long long)parse(""), 0, "nothing");
	is_int((long long)parse("[<0>] no_end+0x1/0x2"), 0, "a line that was cut");
	is_int((long long)parse("\n]\n] \n[<0>]\n[<0>] \n[<0>] +0x1\nx\n[<0>] 0x1234\n"),
	       0, "lines without a name");
	is_int((long long)parse("nonsense\n[<0>] fine+0x0/0x1\n\n[<0>] no\tblank+0x0\n"),
	       2, "among others");
	ok(frame_is(0, "fine") && frame_is(1, "no"), "those that have one");
}

static void test_limits(void)
{
	char text[16384] = "", line[700];
	size_t n;

	for (int i = 0; i < PMP_KERNEL_DEPTH + 10; i++) {
		snprintf(line, sizeof(line), "[<0>] deep_%d+0x1/0x2\n", i);
		strcat(text, line);
	}
	is_int((long long)parse(text), PMP_KERNEL_DEPTH,
	       "no more than there is room for");
	memset(line, 'x', sizeof(line));
	memcpy(line, "[<0>] ", 6);
	line[6 + 511] = '+';
	line[6 + 512] = '\n';
	line[6 + 513] = '\0';
	is_int((long long)parse(line), 1, "a name may be long");
	line[6 + 511] = 'x';
	line[6 + 512] = '\n';
	is_int((long long)parse(line), 0, "but not for ever");
	n = kernel.names.length;
	parse("[<0>] fine+0x0/0x1\n");
	is_int((long long)kernel.names.length, (long long)n, "a name is kept once");
}

/* The kernel is not to fill our memory with names. */
static void test_many(void)
{
	struct pmp_kernel many = { 0 };
	char line[600];
	bool all = true;

	memset(line, 'x', sizeof(line));
	for (int i = 0; i < 5000 && all; i++) {
		int length = snprintf(line, sizeof(line), "[<0>] %0500d+0x1\n", i);

		all = pmp_kernel_parse(&many, line, (size_t)length, &stack) == 0;
	}
	ok(all && stack.count == 0 && many.names.length <= 1 << 20 &&
		   pmp_intern_count(many.seen) > 2000,
	   "there is a limit to all names: %zu bytes", many.names.length);
	pmp_kernel_free(&many);
}

static struct pmp_maps *user_maps(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *program = pmp_module_new(1, PMP_MODULE_FILE, "/bin/x");
	struct pmp_module *page = pmp_module_new(2, PMP_MODULE_SPECIAL, "[vsyscall]");
	struct pmp_region low = { 0x1000, 0x2000, 0, program, PMP_PROT_EXEC };
	struct pmp_region high = { 0xffffffffff600000, 0xffffffffff601000, 0, page,
				   PMP_PROT_EXEC };

	maps->generation = 7;
	maps->exec_generation = 5;
	if (pmp_maps_add_module(maps, program) || pmp_maps_add_module(maps, page) ||
	    pmp_maps_add_region(maps, &low) || pmp_maps_add_region(maps, &high))
		exit(99);
	return maps;
}

static void test_maps(void)
{
	struct pmp_maps *user = user_maps(), *first, *again, *more;
	struct pmp_kernel empty = { 0 };
	const struct pmp_region *region;
	uint32_t id = 3;

	first = pmp_kernel_maps(&empty, user, &id);
	ok(first == user && id == 3, "no function seen: the maps as they are");
	pmp_maps_unref(first);
	first = pmp_kernel_maps(&kernel, user, &id);
	is_int((long long)first->region_count, 3, "one region more");
	is_int((long long)first->module_count, 3, "and one module");
	ok(first->generation == 7 && first->exec_generation == 5, "the same generation");
	is_int(id, 4, "that took a number");
	region = pmp_maps_find(first, address_of("do_syscall_64"));
	ok(region && region->module->kind == PMP_MODULE_KERNEL,
	   "the functions are in it");
	is_str(region->module->path, PMP_KERNEL_MODULE, "its name");
	region = pmp_maps_find(first, 0xffffffffff600000);
	is_str(region ? region->module->path : "", "[vsyscall]",
	       "what is above is found");
	region = pmp_maps_find(first, 0x1fff);
	is_str(region ? region->module->path : "", "/bin/x", "and what is below");
	again = pmp_kernel_maps(&kernel, user, &id);
	ok(again == first && id == 4, "the same maps as long as nothing is new");
	parse("[<0>] not_seen_yet+0x0/0x1\n");
	more = pmp_kernel_maps(&kernel, user, &id);
	ok(more != first && id == 5, "a new function makes others");
	region = pmp_maps_find(more, address_of("not_seen_yet"));
	ok(memmem(region->module->image, region->module->image_size, "\0not_seen_yet",
		  14),
	   "with its name");
	pmp_maps_unref(first);
	pmp_maps_unref(again);
	pmp_maps_unref(more);
	pmp_maps_unref(user);
}

static void test_addresses(void)
{
	uint64_t address = address_of("do_sys_poll");

	ok(address >= PMP_KERNEL_START && address < PMP_KERNEL_END,
	   "where nobody else is");
	ok(address == address_of("do_sys_poll") && address != address_of("do_sys_pol"),
	   "an address for each name");
}

int main(void)
{
	test_addresses();
	test_lines();
	test_limits();
	test_many();
	test_maps();
	pmp_kernel_free(&kernel);
	return done_testing();
}
