/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks of one capture may have been read by several maps: the code of a frame is the same
 * only if it is by all of them. A library may have come and gone meanwhile.
 */
#include "lib/tap.h"

#include <sys/mman.h>

#include "capture/maps-refresh.h"
#include "lib/child.h"
#include "lib/folder.h"

#define PAGE 4096u

static struct folder folder;
static char *place; /* the same address in the test and in its children */

static bool map_code(int fd)
{
	return mmap(place, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
	       place;
}

static int file_of(const char *name)
{
	char path[PATH_MAX];
	int fd = open(folder_path(&folder, name, path), O_RDWR | O_CREAT | O_CLOEXEC,
		      0700);

	return fd >= 0 && ftruncate(fd, PAGE) == 0 ? fd : -1;
}

/* Each letter of turns is what the next order brings to the place: a or b, files; or -. */
static bool take_turns(const struct child *self, void *turns)
{
	const int a = file_of("a"), b = file_of("b");

	for (const char *turn = turns; *turn; turn++) {
		const bool done = *turn == '-' ? munmap(place, PAGE) == 0
					       : map_code(*turn == 'a' ? a : b);

		child_answer(self, done);
		child_wait(self);
	}
	return true;
}

/*
 * What is at the place when a capture begins, when the maps are read again because an address
 * was not in them, and at the end; a space: they are not read then. Is a frame there the same?
 */
static void check(const char *turns, bool wanted, const char *about)
{
	const bool reads = turns[1] != ' ';
	char orders[4];
	struct child child = { 0 };
	struct pmp_target *target = NULL;
	struct pmp_capture capture = { 0 };
	bool done;

	snprintf(orders, sizeof(orders), "%c%s", turns[0], turns + 1 + !reads);
	done = child_start(&child, take_turns, orders) &&
	       pmp_target_open(child.pid, NULL, &target, NULL) == 0;
	capture.target = target;
	done = done && pmp_maps_refresh_begin(&capture, NULL) == 0 &&
	       pmp_maps_refresh_update(&capture, NULL) == 0 && child_order(&child);
	if (reads)
		done = done && pmp_maps_refresh_now(&capture, NULL) == 0 &&
		       child_order(&child);
	if (done)
		pmp_maps_refresh_settle(&capture);
	ok(done && pmp_maps_refresh_is_same(&capture, (uintptr_t)place) == wanted,
	   "%s: %s", turns, about);
	ok(done && pmp_maps_refresh_is_same(&capture, (uintptr_t)check),
	   "%s: other code is the same", turns);
	pmp_maps_refresh_forget(&capture);
	pmp_target_close(target);
	child_end(&child);
}

int main(void)
{
	place = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED || !folder_make(&folder))
		return done_testing();
	check("aaa", true, "code that stays");
	check("a a", true, "as no address was missed");
	check("--a", true, "what has come");
	check("-aa", true, "before the maps were read again");
	check("a -", false, "what has gone");
	check("a b", false, "what was replaced");
	check("aab", false, "after the maps were read again");
	check("-a-", false, "what has come and gone");
	check("-ab", false, "what has come and was replaced");
	folder_remove(&folder);
	return done_testing();
}
