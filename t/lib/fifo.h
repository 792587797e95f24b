/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A FIFO with a process that waits to write into it. Opening it for reading, even for a
 * moment, lets that process continue: so it cannot be opened unnoticed.
 *
 *	pid_t writer = fifo_new("bait");
 *	...
 *	ok(fifo_untouched(writer), "not opened");
 */
#ifndef PMP_T_FIFO_H
#define PMP_T_FIFO_H

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* As in /proc/PID/stat; 'Z': it has ended. */
static inline char fifo_writer_state(pid_t writer)
{
	char path[64], state = 'Z';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)writer);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	if (file)
		fclose(file);
	return state;
}

/* Create it, and wait until its writer blocks. */
static inline pid_t fifo_new(const char *path)
{
	int ready[2];
	pid_t writer;
	char byte = 0;

	if (mkfifo(path, 0600) != 0 || pipe(ready) != 0) {
		perror(path);
		exit(99);
	}
	writer = fork();
	if (writer == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		_exit(open(path, O_WRONLY) < 0);
	}
	if (writer < 0 || read(ready[0], &byte, 1) != 1)
		exit(99);
	close(ready[0]);
	close(ready[1]);
	while (fifo_writer_state(writer) == 'R')
		usleep(1000);
	return writer;
}

/* Does the writer still wait? Ends it. */
static inline bool fifo_untouched(pid_t writer)
{
	int status;

	/* A writer that was woken is about to end. */
	while (fifo_writer_state(writer) == 'R')
		usleep(1000);
	kill(writer, SIGKILL);
	return waitpid(writer, &status, 0) == writer && WIFSIGNALED(status);
}

#endif
