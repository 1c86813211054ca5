/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command, run so that nobody notices the wrapper: same process group, terminal, descriptors,
 * signal mask and dispositions, limits, folder. Signals sent to the wrapper reach the command;
 * those that the terminal sends reach it by themselves, and the wrapper lets them pass.
 */
#ifndef VIEW_CHILD_H
#define VIEW_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct view_child {
	pid_t pid;
	int exec_errno; /* why the command could not be started, 0: it could */
	int wait_status; /* valid once ended */
	bool ended;
	sigset_t mask; /* as we found them */
	struct sigaction chld;
	int signals; /* signalfd */
	const struct view_child_watch *watch; /* while it is waited for */
	bool terminal; /* SIGTSTP is read from the signalfd too */
};

/* What is done while the command runs; any may be NULL. One thread. */
struct view_child_watch {
	void (*tick)(void *arg); /* each second */
	void (*resized)(void *arg); /* the terminal has another size */
	void (*pause)(void *arg); /* this process is about to be stopped */
	void *arg;
};

struct view_env { /* one variable of the command */
	const char *name, *value;
};

/* Takes the signals over. Call first, before anything that should survive a Ctrl-C is begun. */
int view_child_prepare(struct view_child *c);

/* Starts the command with @env added to our environment. 0, or negative errno of fork and pipe. */
int view_child_start(struct view_child *c, char *const *command, const struct view_env *env,
		     size_t envs);

/*
 * Waits until the command ends; @watch may be NULL. With @pause a stop from the terminal (Ctrl-Z)
 * waits for it; the shell sees this process stop of the same signal as without.
 */
void view_child_wait(struct view_child *c, const struct view_child_watch *watch);

/* Runs @work in a process of its own and waits; signals that are meant to end us end it. Its exit
 * status, or -1 if it could not run or was ended. */
int view_child_aside(struct view_child *c, int (*work)(void *arg), void *arg);

/* The status as a shell says it: 128 + signal. */
int view_child_status(const struct view_child *c);

/* Ends this process as the command ended: with its status, or of its signal. */
_Noreturn void view_child_end_like(const struct view_child *c);

#endif
