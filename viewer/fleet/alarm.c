/* SPDX-License-Identifier: Apache-2.0 */
#include "alarm.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"

#define VARIABLES 10

extern char **environ;

struct variables {
	struct view_arena mem;
	char **env; /* ours, then what we have ourselves without those */
	size_t count;
};

__attribute__((format(printf, 2, 3))) static void set(struct variables *v, const char *fmt, ...)
{
	char text[1024];
	va_list list;

	va_start(list, fmt);
	vsnprintf(text, sizeof(text), fmt, list);
	va_end(list);
	v->env[v->count++] = view_arena_text(&v->mem, text);
}

static void inherit(struct variables *v)
{
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "GPUSTARVE=", 10) != 0 && strncmp(*e, "GPUSTARVE_ALERT_=", 16) != 0)
			v->env[v->count++] = *e;
}

static void tell(struct variables *v, const struct fleet_budget_state *b, const char *text,
		 int64_t at_ns)
{
	size_t have = 0;

	while (environ && environ[have])
		have++;
	v->env = view_arena_array(&v->mem, have + VARIABLES + 1, sizeof(*v->env));
	set(v, "GPUSTARVE=0");
	set(v, "GPUSTARVE_ALERT_CONDITION=%s at %d %%", b->condition, b->level);
	set(v, "GPUSTARVE_ALERT_METRIC=usd");
	set(v, "GPUSTARVE_ALERT_VALUE=%" PRId64, b->usd);
	set(v, "GPUSTARVE_ALERT_UNIT=nano_usd");
	set(v, "GPUSTARVE_ALERT_TEXT=%s", text);
	set(v, "GPUSTARVE_ALERT_BY=fleet");
	set(v, "GPUSTARVE_ALERT_TIME_NS=%" PRId64, at_ns);
	if (b->run)
		set(v, "GPUSTARVE_ALERT_RUN_ID=%s", b->run);
	else
		set(v, "GPUSTARVE_ALERT_TEAM=%s", b->team);
	inherit(v);
}

/* A session of its own, no signal blocked or ignored, nothing of ours to read or write. */
static int start(const char *command, char **env)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	int err = posix_spawn(&pid, "/bin/sh", &files, &attr, argv, env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return err;
}

void fleet_alarm(const char *command, const struct fleet_budget_state *b, const char *text,
		 int64_t at_ns)
{
	struct variables v = { 0 };

	tell(&v, b, text, at_ns);
	int err = start(command, v.env);
	if (err)
		view_error("--exec %s: %s; it was not told", command, strerror(err));
	view_arena_fini(&v.mem);
}
