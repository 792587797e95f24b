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
	bool adopts;	     /* what its processes leave: see command_reap() */
	int exec_errno;	     /* why it could not be executed */
	int status;	     /* of waitpid(), once ended */
	uint64_t left_alone; /* when it ended, while children went on; 0: that was said */
	uint64_t started_at;
	bool told_unloaded; /* that it has not loaded the recorder */
	bool told_waiting;  /* that it is waited for */
	struct command_terminal terminal;
};

/**
 * From now on processes of a command whose parents have ended are our children, and not
 * those of init. To be called before the fork.
 */
void command_adopt(struct command *command);
/** Reap those of them that have ended, and the command. Children that pmp has started for
 * itself (own) are left to the code that waits for them: until then their ids are not given to
 * other processes. */
void command_reap(struct command *command, struct own_processes *own);
/** Fork it. It waits for command_go(), and begins with recorder, unless that is NULL. 0, or a
 * negative code with err filled. */
int command_fork(struct command *command, char **argv, struct pmp_recorder *recorder,
		 struct pmp_error *err);
void command_go(struct command *command);
/** command->fd is readable: did the exec succeed? Sets started or exec_errno. */
void command_started(struct command *command);
/** Has it ended? Does not wait. */
bool command_poll(struct command *command);
/** The status pmp ends with on its behalf. */
int command_wait_status(const struct command *command);
/** Send it a signal. False: it does not run yet. */
bool command_signal(const struct command *command, int number);
/** A command that may not run yet ends; one that may is left alone. */
void command_close(struct command *command);

#endif
