/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of an alert or a budget: /bin/sh -c in a session of its own, with every signal as it
 * is by default, /dev/null as its input and output and no other descriptor of ours. Nobody waits
 * for it. Its variables come before ours in its environment; GPUSTARVE=0 is always one, and no
 * GPUSTARVE_ALERT_* of ours is passed on.
 */
#ifndef LIVE_COMMAND_H
#define LIVE_COMMAND_H

#include <sys/types.h>

#define LIVE_COMMAND_VARIABLES 9 /* variables, besides GPUSTARVE */

struct live_command;

struct live_command *live_command_new(void); /* NULL: no memory */
void live_command_free(struct live_command *c);

/* One more "NAME=value"; cut after 8,191 bytes. At most LIVE_COMMAND_VARIABLES times. */
__attribute__((format(printf, 2, 3))) void live_command_variable(struct live_command *c,
								 const char *fmt, ...);

/* Starts it; @pid is to be reaped by the caller, some time. 0 or -errno. */
int live_command_start(const struct live_command *c, const char *command, pid_t *pid);

#endif
