/* SPDX-License-Identifier: Apache-2.0 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 8192

extern char **environ;

struct live_command {
	char text[1 + LIVE_COMMAND_VARIABLES][TEXT_BYTES];
	size_t count;
};

struct live_command *live_command_new(void)
{
	struct live_command *c = malloc(sizeof(*c));

	if (c) {
		c->count = 0;
		live_command_variable(c, "GPUSTARVE=0");
	}
	return c;
}

void live_command_free(struct live_command *c)
{
	free(c);
}

void live_command_variable(struct live_command *c, const char *fmt, ...)
{
	va_list list;

	if (c->count == sizeof(c->text) / sizeof(c->text[0]))
		return;
	va_start(list, fmt);
	vsnprintf(c->text[c->count++], TEXT_BYTES, fmt, list);
	va_end(list);
}

/* Ours in front, then what we have ourselves without those. NULL: no memory. */
static char **environment(const struct live_command *c)
{
	static char *none[] = { NULL };
	char **own = environ ? environ : none, **env;
	size_t have = 0, n = 0;

	while (own[have])
		have++;
	env = calloc(have + c->count + 1, sizeof(*env));
	if (!env)
		return NULL;
	for (; n < c->count; n++)
		env[n] = (char *)(uintptr_t)c->text[n];
	for (size_t i = 0; i < have; i++)
		if (strncmp(own[i], "GPUSTARVE=", 10) != 0 &&
		    strncmp(own[i], "GPUSTARVE_ALERT_", 16) != 0)
			env[n++] = own[i];
	return env;
}

static int set_up(posix_spawnattr_t *attr, posix_spawn_file_actions_t *files)
{
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	err = posix_spawnattr_setsigmask(attr, &none);
	if (!err)
		err = posix_spawnattr_setsigdefault(attr, &all);
	if (!err)
		err = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
							     POSIX_SPAWN_SETSIGDEF);
	if (!err)
		err = posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_addopen(files, 1, "/dev/null", O_WRONLY, 0);
	if (!err)
		err = posix_spawn_file_actions_adddup2(files, 1, 2);
	if (!err)
		err = posix_spawn_file_actions_addclosefrom_np(files, 3);
	return err;
}

static int start(const char *command, char *const *env, pid_t *pid)
{
	char sh[] = "sh", run[] = "-c", *argv[] = { sh, run, (char *)(uintptr_t)command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int err;

	err = posix_spawnattr_init(&attr);
	if (err)
		return -err;
	err = posix_spawn_file_actions_init(&files);
	if (err)
		goto destroy_attr;
	err = set_up(&attr, &files);
	if (!err)
		err = posix_spawn(pid, "/bin/sh", &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
destroy_attr:
	posix_spawnattr_destroy(&attr);
	return -err;
}

int live_command_start(const struct live_command *c, const char *command, pid_t *pid)
{
	char **env = environment(c);
	int err = env ? start(command, env, pid) : -ENOMEM;

	free(env);
	return err;
}
