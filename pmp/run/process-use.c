/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See process-use.h, and proc(5) for the fields of /proc/PID/stat. */
#include "run/process-use.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"

enum { USER_TIME = 14, SYSTEM_TIME = 15, RESIDENT = 24 };

/* A numeric field after the name, which itself may have spaces and parentheses. */
static uint64_t field(const char *text, int number)
{
	const char *at = strrchr(text, ')');

	/* Field 2 ends there. */
	for (int i = 2; at && i < number; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

struct process_use process_use(pid_t pid)
{
	struct process_use use = { 0 };
	char path[32], text[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return use;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	use.cpu = (field(text, USER_TIME) + field(text, SYSTEM_TIME)) *
		  (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	use.memory = field(text, RESIDENT) * (uint64_t)sysconf(_SC_PAGESIZE);
	return use;
}

bool process_memory(pid_t pid, struct process_memory *memory)
{
	const struct {
		const char *name;
		uint64_t *value;
	} lines[] = {
		{ "VmRSS:", &memory->resident },
		{ "VmHWM:", &memory->resident_peak },
		{ "VmData:", &memory->data },
	};
	char path[32], *line = NULL;
	size_t size = 0, found = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	while (status && getline(&line, &size, status) > 0) {
		for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
			const size_t length = strlen(lines[i].name);

			if (strncmp(line, lines[i].name, length) != 0)
				continue;
			*lines[i].value = strtoull(line + length, NULL, 10) * 1024;
			found++;
		}
	}
	free(line);
	if (status)
		fclose(status);
	return found == sizeof(lines) / sizeof(*lines);
}
