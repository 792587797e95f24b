/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What single instructions tell about a frame: may its size vary, how large is it, where
 * does the code jump to?
 */
#include "unwind/arch.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#ifdef __x86_64__

#define CODE(bytes) (const uint8_t *)(bytes), sizeof(bytes) - 1

static void test_moves(void)
{
	static const struct {
		const char *what;
		const char *code;
		size_t length;
		bool moves;
	} cases[] = {
#define CASE(what, bytes, moves) { what, bytes, sizeof(bytes) - 1, moves }
		CASE("sub %rcx,%rsp", "\x90\x48\x29\xcc\x90", true),
		CASE("sub %r9,%rsp", "\x4c\x29\xcc", true),
		CASE("sub %rax,%rsp, the other way round", "\x48\x2b\xe0", true),
		CASE("add %rdx,%rsp", "\x48\x01\xd4", true),
		CASE("and $-32,%rsp", "\x48\x83\xe4\xe0", true),
		CASE("and $-4096,%rsp", "\x48\x81\xe4\x00\xf0\xff\xff", true),
		CASE("and %rax,%rsp", "\x48\x21\xc4", true),
		CASE("sub $8,%rsp", "\x48\x83\xec\x08", false),
		CASE("sub %rcx,%r12", "\x49\x29\xcc", false),
		CASE("sub %rcx,%rdi", "\x48\x29\xcf", false),
		CASE("sub %rcx,(%rsp)", "\x48\x29\x0c\x24", false),
		CASE("lea -8(%rbp),%rsp", "\x48\x8d\x65\xf8", false),
		CASE("an instruction cut off", "\x48\x29", false),
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(pmp_arch_here->moves_sp((const uint8_t *)cases[i].code,
					   cases[i].length) == cases[i].moves,
		   "%s", cases[i].what);
}

static void test_sizes(void)
{
	uint64_t size = 1;

	ok(pmp_arch_here->frame_size(CODE("\x55\x48\x89\xe5\xe8\0\0\0\0"), &size) &&
		   size == 0,
	   "push %%rbp; mov %%rsp,%%rbp; call: 0");
	ok(pmp_arch_here->frame_size(
		   CODE("\xf3\x0f\x1e\xfa\x55\x31\xc0\x48\x89\xe5\x41\x57\x41\x56"
			"\x53\x48\x83\xec\x18\x89\xfb\xff\x15\0\0\0\0"),
		   &size),
	   "endbr64, pushes and a subtraction, with other instructions between them");
	is_int(size, 3 * 8 + 0x18, "what they take");
	ok(pmp_arch_here->frame_size(
		   CODE("\x55\x48\x89\xe5\x48\x81\xec\x00\x10\0\0"
			"\x64\x48\x8b\x04\x25\x28\0\0\0\x48\x89\x45\xf8\xe8\0\0\0\0"),
		   &size) &&
		   size == 0x1000,
	   "a large frame with a canary");
	ok(!pmp_arch_here->frame_size(CODE("\x48\x83\xec\x18\xe8\0\0\0\0"), &size),
	   "no frame pointer");
	ok(!pmp_arch_here->frame_size(CODE("\x55\x48\x89\xe5\x62\xf1\xe8\0\0\0\0"),
				      &size),
	   "what is not understood");
	ok(!pmp_arch_here->frame_size(CODE("\x55\x48\x89\xe5\x48\x83\xec"), &size),
	   "an end in the middle");
	ok(!pmp_arch_here->frame_size(CODE(""), &size), "nothing");
}

/* Each part of some instructions in memory of just that length: a sanitizer sees more read. */
static void test_cut_off(void)
{
	static const uint8_t code[] =
		"\x55\x48\x50\x48\x89\xe5\x48\x8b\xec\x48\x83\xec\x18\x48\x81\xec\0\x10\0\0"
		"\x48\x29\xcc\x48\x83\xe4\xe0\x0f\x85\0\0\0\0\xff\x25\0\0\0\0\xe9\0\0\0\0";
	const size_t length = sizeof(code) - 1;
	size_t parts = 0;

	for (size_t from = 0; from < length; from++) {
		for (size_t size = 1; size <= length - from; size++, parts++) {
			uint8_t *part = malloc(size);
			struct pmp_arch_jump jump = { .code = part, .length = size };
			uint64_t frame;

			memcpy(part, code + from, size);
			pmp_arch_here->frame_size(part, size, &frame);
			pmp_arch_here->moves_sp(part, size);
			while (pmp_arch_here->next_jump(&jump))
				;
			free(part);
		}
	}
	is_int(parts, length * (length + 1) / 2, "parts of instructions");
}

static void test_jumps(void)
{
	static const uint8_t code[] =
		"\xe9\x10\0\0\0\x90\x75\xfe\x0f\x84\x00\x01\0\0\xff\xe0";
	struct pmp_arch_jump jump = {
		.code = code,
		.length = sizeof(code) - 1,
		.address = 0x1000,
	};

	ok(pmp_arch_here->next_jump(&jump), "jmp");
	is_int(jump.target, 0x1015, "to there");
	ok(pmp_arch_here->next_jump(&jump), "jne");
	is_int(jump.target, 0x1006, "back to itself");
	ok(pmp_arch_here->next_jump(&jump), "je with four bytes");
	is_int(jump.target, 0x110e, "ahead");
	ok(pmp_arch_here->next_jump(&jump), "jmp *%%rax");
	is_int(jump.target, 0, "to wherever");
	ok(!pmp_arch_here->next_jump(&jump), "no more");
}

int main(void)
{
	test_moves();
	test_sizes();
	test_cut_off();
	test_jumps();
	return done_testing();
}

#else

int main(void)
{
	ok(true, "nothing to tell on this processor");
	return done_testing();
}

#endif
