/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an object is called, a lock for instance, and where it lies. */
#include "lib/names.h"

#include "base/buf.h"
#include "report/report.h"
#include "tally/profile.h"
#include "write/wait-names.h"

static const struct pmp_symbolizer_options defaults;

/* ---- address spaces --------------------------------------------------------- */

static struct pmp_module *add_module(struct pmp_maps *maps, enum pmp_module_kind kind,
				     const char *path)
{
	static uint32_t id = 100;
	struct pmp_module *module = pmp_module_new(id++, kind, path);

	if (!module || pmp_maps_add_module(maps, module))
		exit(99);
	return module;
}

static void add_region(struct pmp_maps *maps, struct pmp_module *module, uint64_t start,
		       uint64_t end, unsigned prot)
{
	const struct pmp_region region = { start, end, 0, module, prot };

	if (pmp_maps_add_region(maps, &region))
		exit(99);
}

/* ---- one object ------------------------------------------------------------- */

/* Its name, or else where it lies; the text is valid until the next call. */
static const char *text_of(const struct pmp_object *object)
{
	static struct pmp_buf text;

	pmp_buf_clear(&text);
	if (!pmp_object_name(object, &text))
		pmp_object_place(object, &text);
	return text.length ? text.data : "";
}

/* ---- places ----------------------------------------------------------------- */

#define RW (PMP_PROT_READ | PMP_PROT_WRITE)

/* heap, two thread stacks and other memory, something shared, the first stack. */
static struct pmp_maps *make_maps(void)
{
	struct pmp_maps *maps = pmp_maps_new();
	struct pmp_module *heap = add_module(maps, PMP_MODULE_SPECIAL, "[heap]");
	struct pmp_module *anon = add_module(maps, PMP_MODULE_ANON, "[anon]");
	struct pmp_module *shared = add_module(maps, PMP_MODULE_FILE, "/dev/shm/queue");
	struct pmp_module *stack = add_module(maps, PMP_MODULE_SPECIAL, "[stack]");
	struct pmp_module *vvar = add_module(maps, PMP_MODULE_SPECIAL, "[vvar]");

	add_region(maps, heap, 0x10000, 0x20000, RW);
	add_region(maps, anon, 0x40000, 0x41000, 0);
	add_region(maps, anon, 0x41000, 0x50000, RW);
	add_region(maps, anon, 0x50000, 0x51000, 0);
	add_region(maps, anon, 0x51000, 0x60000, RW);
	add_region(maps, shared, 0x70000, 0x71000, RW | PMP_PROT_SHARED);
	add_region(maps, vvar, 0x78000, 0x79000, PMP_PROT_READ);
	add_region(maps, stack, 0x80000, 0x90000, RW);
	return maps;
}

static void add_waiter(struct pmp_sample *sample, pid_t tid, uint64_t sp, uint64_t object)
{
	struct pmp_thread *thread = pmp_sample_add_thread(sample);

	thread->tid = tid;
	thread->sp = sp;
	thread->syscall = PMP_SYSCALL_UNKNOWN;
	thread->wait.kind = object ? PMP_WAIT_MUTEX : PMP_WAIT_NONE;
	thread->wait.object = object;
}

static struct pmp_sample *make_sample(void)
{
	struct pmp_sample *sample = pmp_sample_new();

	sample->pid = 10;
	sample->maps = make_maps();
	add_waiter(sample, 19, 0, 0);
	add_waiter(sample, 18, 0, 0x30000);
	add_waiter(sample, 17, 0, 0x78010);
	add_waiter(sample, 16, 0, 0x70010);
	add_waiter(sample, 15, 0, 0x59000);
	add_waiter(sample, 14, 0x58000, 0x57fff);
	add_waiter(sample, 13, 0x42000, 0x58000);
	add_waiter(sample, 12, 0x11000, 0x4ffff);
	add_waiter(sample, 11, 0, 0x12000);
	add_waiter(sample, 10, 0, 0x80010);
	return sample;
}

static void test_places(void)
{
	static const char *const expected[] = {
		"on the stack of 10",
		"in the heap",
		"on the stack of 13",
		"on the stack of 14",
		"in the heap",
		"on the stack of 14",
		"in shared memory /dev/shm/queue",
		"",
		"",
	};
	const struct pmp_profile_options options = { .size = sizeof(options),
						     .keep_snapshot = true };
	const struct pmp_report_options of_snapshot = { .size = sizeof(of_snapshot),
							.snapshot = true };
	struct pmp_symbolizer *symbolizer = symbolizer_of(defaults);
	struct pmp_sample *sample = make_sample();
	struct pmp_profile *profile;
	struct pmp_report *report;
	struct pmp_object object;
	size_t i;

	if (pmp_profile_new(&options, symbolizer, &profile, NULL) ||
	    pmp_profile_add(profile, sample, NULL))
		exit(99);
	/* Nothing of the sample is needed any more. */
	pmp_sample_free(sample);
	if (pmp_report_new(profile, NULL, &of_snapshot, &report, NULL))
		exit(99);
	for (i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		ok(pmp_report_object(report, &report->snapshot->rows[i], &object),
		   "thread %zu waits", i + 10);
		is_str(text_of(&object), expected[i], "for an object %s",
		       *expected[i] ? expected[i] : "nowhere");
	}
	ok(!pmp_report_object(report, &report->snapshot->rows[i], &object),
	   "who waits for nothing has none");
	pmp_report_free(report);
	pmp_profile_free(profile);
	pmp_symbolizer_free(symbolizer);
}

int main(void)
{
	enter_tmp();
	test_places();
	leave_tmp();
	return done_testing();
}
