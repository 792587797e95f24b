/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmp -- COMMAND: a child that runs a command once the sampler has opened it. */
#ifndef PMP_PMP_COMMAND_H
#define PMP_PMP_COMMAND_H

#include "libpmp.h"

#include <stdbool.h>
#include <sys/types.h>

struct pmp_command {
	pid_t pid;	/* 0: none */
	int fd;		/* readable when it has exec'ed or failed to; -1: closed */
	bool started;	/* it runs */
	bool ended;	/* it has been reaped */
	bool adopts;	/* what its processes leave behind: see pmp_command_reap() */
	int exec_errno; /* why it could not be executed */
	int status;	/* of waitpid(), once ended */
};

/**
 * From now on processes of a command whose parents have ended are our children, and not
 * those of init. To be called before the fork.
 */
void pmp_command_adopt(struct pmp_command *command);
/** Reap those of them that have ended, and the command; not the sampler. */
void pmp_command_reap(struct pmp_command *command, pid_t sampler);
/** Fork it. It waits for pmp_command_go(). 0, or a negative code with err filled. */
int pmp_command_fork(struct pmp_command *command, char **argv, struct pmp_error *err);
void pmp_command_go(struct pmp_command *command);
/** command->fd is readable: did the exec succeed? Sets started or exec_errno. */
void pmp_command_started(struct pmp_command *command);
/** Has it ended? Does not wait. */
bool pmp_command_poll(struct pmp_command *command);
/** The status pmp ends with on its behalf. */
int pmp_command_status(const struct pmp_command *command);
/** Send it a signal. False: it does not run yet. */
bool pmp_command_signal(const struct pmp_command *command, int number);
/** A command that does not run yet ends; one that runs is left alone. */
void pmp_command_close(struct pmp_command *command);

#endif
