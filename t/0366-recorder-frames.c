/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of a recorder in the sample of a thread: left out, or in their place the function
 * that was called. Stacks are written as words, innermost first: N a function of the
 * allocator, which "m" stands for; m the recorder's malloc(), c its calloc(), r another one of
 * its functions, t its trampoline where threads begin; S the trampoline of a signal; any other
 * letter is the program's.
 */
#include "lib/tap.h"

#include <string.h>

#include "capture/recorder-frames.h"

#define TEXT 0x7f0000000000ull
#define MALLOC (TEXT + 0x1000)
#define CALLOC (TEXT + 0x1080)
#define OTHER (TEXT + 0x2000)
#define NEXT 0x7e0000000000ull
#define PROGRAM 0x400000ull
#define FRAMES 32

static struct pmp_heap_process process = {
	.text_start = TEXT,
	.text_end = TEXT + 0x10000,
	.code_count = 3,
	.codes = { { MALLOC, NEXT, 0x80 },
		   { CALLOC, NEXT + 0x100, 0x80 },
		   { TEXT + 0x1100, 0, 0x10 } },
};

static uint64_t pc_of(char letter)
{
	switch (letter) {
	case 'm': return MALLOC + 0x20;
	case 'c': return CALLOC + 0x20;
	case 'n': return TEXT + 0x1108; /* one that nothing is behind */
	case 'r': return OTHER;
	case 't': return TEXT + 0x8000;
	case 'N': return NEXT;
	case 'C': return NEXT + 0x100;
	default: return PROGRAM + 0x1000u * (unsigned char)letter;
	}
}

static char letter_of(uint64_t pc)
{
	static const char letters[] = "mcnrtNC";

	for (size_t i = 0; letters[i]; i++)
		if (pc == pc_of(letters[i]))
			return letters[i];
	return (char)((pc - PROGRAM) / 0x1000);
}

static void hides(const char *stack, const char *wanted, const char *about)
{
	struct pmp_raw_frame frames[FRAMES];
	size_t count = strlen(stack);
	char got[FRAMES + 1] = "";

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct pmp_raw_frame){
			pc_of(stack[i]), (i == 0 ? PMP_FRAME_EXACT : 0) |
						 (stack[i] == 'S' ? PMP_FRAME_SIGNAL : 0)
		};
	count = pmp_recorder_frames_hide(&process, frames, count);
	for (size_t i = 0; i < count; i++)
		got[i] = letter_of(frames[i].pc);
	got[count] = '\0';
	is_str(got, wanted, "%s: %s", stack, about);
}

int main(void)
{
	struct pmp_raw_frame end = { MALLOC + 0x80, 0 },
			     first = { MALLOC, PMP_FRAME_EXACT };

	hides("fgh", "fgh", "nothing of it");
	hides("Nmfgh", "Nfgh", "in what it has called");
	hides("aNmfgh", "aNfgh", "or in what that has called");
	hides("mfgh", "Nfgh", "in its malloc()");
	hides("cfgh", "Cfgh", "in its calloc()");
	hides("rrmfgh", "Nfgh", "in functions of its own");
	hides("vrrmfgh", "Nfgh", "which have called others");
	hides("vwrcfgh", "Cfgh", "of several frames");
	hides("fgt", "fg", "its trampoline");
	hides("Nmfgt", "Nfg", "and the allocator");
	hides("rt", "", "nothing else");
	hides("nfg", "fg", "a function that nothing is behind");
	hides("hSrmfg", "hSNfg", "a signal has interrupted it");
	hides("hSmfg", "hSNfg", "in malloc() itself");
	hides("hSNmfg", "hSNfg", "or what it has called");
	hides("NmhSrrmfg", "NhSNfg", "and the handler allocates");
	hides("rmhSvrmfgt", "NhSNfg", "in the recorder");
	hides("", "", "an empty stack");

	process.codes[0].start = MALLOC;
	is_int(pmp_recorder_frames_hide(&process, &end, 1), 1,
	       "a return address after the end of a function");
	is_int(end.pc, NEXT, "belongs to it");
	is_int(pmp_recorder_frames_hide(&process, &first, 1), 1, "its first instruction");
	is_int(first.pc, NEXT, "does, too");
	process.code_count = UINT32_MAX;
	hides("rrrfgh", "fgh", "a number of functions that cannot be");
	process.text_start = UINT64_MAX;
	hides("mfgh", "mfgh", "no code");
	return done_testing();
}
