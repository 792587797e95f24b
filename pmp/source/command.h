/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmp -- COMMAND: a child that runs a command once the sampler has opened it. */
#ifndef PMP_SOURCE_COMMAND_H
#define PMP_SOURCE_COMMAND_H

#include "libpmp.h"
#include "source/terminal.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct own_processes;
struct pmp_recorder;

struct command {
	pid_t pid;	     /* 0: none */
	int fd;		     /* readable when it has exec'ed or failed to; -1: closed */
	bool went;	     /* it may run: command_go() */
	bool started;	     /* it runs */
	bool ended;	     /* it has been reaped */
	bool adopts;	     /* pmp adopts orphans: see command_reap() */
	int exec_errno;	     /* why it could not be executed */
	int status;	     /* of waitpid(), once ended */
	uint64_t left_alone; /* when it ended and children went on; 0: already said */
	uint64_t started_at;
	bool told_unloaded; /* said that it has not loaded the recorder */
	bool told_waiting;  /* said that pmp waits for it */
	struct command_terminal terminal;
};

/**
 * From now on orphans of a command become children of pmp, not of init. Must be called
 * before command_fork().
 */
void command_adopt(struct command *command);
/** Reap the command and adopted orphans that have ended. pmp's own children (own) are left
 * to the code that waits for them: until then the kernel does not reuse their pids. */
void command_reap(struct command *command, struct own_processes *own);
/** Fork a child that waits for command_go() and then runs argv, with recorder preloaded
 * unless that is NULL. 0, or a negative code with err filled. */
int command_fork(struct command *command, char **argv, struct pmp_recorder *recorder,
		 struct pmp_error *err);
void command_go(struct command *command);
/** command->fd is readable: has exec() succeeded? Sets started or exec_errno. */
void command_started(struct command *command);
/** Has it ended? Does not wait. */
bool command_poll(struct command *command);
/** The status that pmp must exit with for the command. */
int command_wait_status(const struct command *command);
/** Send the command a signal. False: it does not run yet. */
bool command_signal(const struct command *command, int number);
/** Ends a command that may not run yet; does not touch one that may. */
void command_close(struct command *command);

#endif
