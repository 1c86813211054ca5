/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor_missed.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/escape.h"
#include "core/log.h"
#include "run/missed.h"
#include "run/process.h"
#include "top/fetch.h"
#include "cmd.h"

/* ---- words ---- */

static bool is_missed(const struct view_missed *m)
{
	return m->link != VIEW_MISSED_NOTHING && m->link != VIEW_MISSED_NO_CUDA &&
	       m->link != VIEW_MISSED_WRAPPER;
}

static const char *heading(const struct view_missed *m)
{
	switch (m->link) {
	case VIEW_MISSED_NOTHING:
		return "recorded";
	case VIEW_MISSED_NO_CUDA:
	case VIEW_MISSED_WRAPPER:
		return "nothing to record so far";
	case VIEW_MISSED_UPSTREAM:
		return "recorded on this machine alone";
	case VIEW_MISSED_UNTOLD:
		return "cannot be told";
	default:
		return "not recorded";
	}
}

static void say(const char *who, int more, const struct view_missed *m)
{
	base_put(stdout, BASE_AS_TERMINAL, who);
	if (more)
		printf(" and %d more", more);
	printf(": %s: %s%s%s\n", heading(m), m->what, m->remedy[0] ? "; " : "", m->remedy);
}

/* ---- the collector that `run` sends to ---- */

struct upstream {
	const char *url;
	char token[PATH_MAX], ca[PATH_MAX]; /* as we find them; "": none */
};

__attribute__((format(printf, 3, 4))) static void tell_upstream(struct view_missed *out,
								const char *remedy, const char *fmt,
								...)
{
	va_list list;

	va_start(list, fmt);
	view_missed_vtell(out, VIEW_MISSED_UPSTREAM, fmt, list);
	va_end(list);
	out->remedy = remedy;
}

static void tell_status(const struct upstream *u, long status, const char *why,
			struct view_missed *out)
{
	if (status == 401)
		tell_upstream(out,
			      "set GPUSTARVE_UPSTREAM_TOKEN_FILE to a token that may write; until "
			      "then the run stays on this machine",
			      "the collector at %s refuses it: HTTP 401: %s", u->url,
			      u->token[0] ? "it does not know this token"
					  : "GPUSTARVE_UPSTREAM_TOKEN_FILE names no token");
	else if (status == 403)
		tell_upstream(out,
			      "set GPUSTARVE_UPSTREAM_TOKEN_FILE to a token that may write; until "
			      "then the run stays on this machine",
			      "the collector at %s refuses it: HTTP 403: this token may not write",
			      u->url);
	else if (status)
		tell_upstream(out,
			      "look whether it is a gpustarve-collector; until then the run stays "
			      "on this machine",
			      "what answers at %s is not a collector that takes it: HTTP %ld",
			      u->url, status);
	else
		tell_upstream(out,
			      "look whether it runs, and whether GPUSTARVE_UPSTREAM_CA has the "
			      "authority of its certificate; until then the run stays on this "
			      "machine",
			      "the collector at %s cannot be asked: %s", u->url, why);
}

/*
 * Asked with the job's token what every node asks. What would be taken there, or goes to no
 * collector beyond this machine, stays as it is.
 */
static void ask_collector(const struct upstream *u, struct view_missed *out)
{
	char asked[2048], why[256] = "";
	struct top_fetch *f;
	const char *text;
	size_t len;

	if (!u->url || strncmp(u->url, "http", 4) != 0 ||
	    snprintf(asked, sizeof(asked), "%s/v1/clock", u->url) >= (int)sizeof(asked))
		return;
	if (u->token[0] && access(u->token, R_OK)) {
		tell_upstream(out,
			      "name it by its whole path, or let its user read it; until then the "
			      "run stays on this machine",
			      "its token, %s, cannot be read: %s", u->token, strerror(errno));
		return;
	}
	f = top_fetch_new(u->token[0] ? u->token : NULL, u->ca[0] ? u->ca : NULL);
	if (f && !top_fetch_get(f, asked, &text, &len, why))
		tell_status(u, top_fetch_status(f), why, out);
	top_fetch_free(f);
}

/* A file that it names, by its root and its folder. */
static void find_file(char out[PATH_MAX], const struct view_process *p, const char *variable)
{
	const char *path = view_process_env(p, variable);

	out[0] = '\0';
	if (path && path[0] &&
	    snprintf(out, PATH_MAX, "/proc/%d/%s%s%s", (int)p->pid, path[0] == '/' ? "root" : "cwd",
		     path[0] == '/' ? "" : "/", path) >= PATH_MAX)
		out[0] = '\0';
}

static void ask_upstream(const struct view_process *p, struct view_missed *m)
{
	struct upstream u = { .url = view_process_env(p, "GPUSTARVE_COLLECTOR") };

	find_file(u.token, p, "GPUSTARVE_UPSTREAM_TOKEN_FILE");
	find_file(u.ca, p, "GPUSTARVE_UPSTREAM_CA");
	if (!is_missed(m))
		ask_collector(&u, m);
}

/* ---- one ---- */

static int of_pid(const char *given)
{
	struct view_process p;
	struct view_missed m;
	char *end, who[80];
	long pid = strtol(given, &end, 10);
	int err = *end || pid <= 0 || pid > INT32_MAX ? -EINVAL : view_process_read(&p, (pid_t)pid);

	if (err) {
		view_error("--pid %s: %s", given,
			   err == -ECHILD   ? "it has ended, and its parent has not taken note (a "
					      "zombie)"
			   : err == -EACCES ? "it is another user's, or its program is privileged; "
					      "ask as root"
			   : err == -ESRCH  ? "there is no such process here"
					    : "not the number of a process");
		return VIEW_EXIT_ERROR;
	}
	view_missed_process(&p, &m);
	ask_upstream(&p, &m);
	snprintf(who, sizeof(who), "pid %d (%s)", (int)p.pid, p.name);
	say(who, 0, &m);
	view_process_fini(&p);
	return is_missed(&m) ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}

static int of_command(char *const *words)
{
	struct upstream u = { .url = getenv("GPUSTARVE_COLLECTOR") };
	const char *token = getenv("GPUSTARVE_UPSTREAM_TOKEN_FILE");
	const char *ca = getenv("GPUSTARVE_UPSTREAM_CA");
	struct view_missed m;

	snprintf(u.token, sizeof(u.token), "%s", token ? token : "");
	snprintf(u.ca, sizeof(u.ca), "%s", ca ? ca : "");
	view_missed_command(words, &m);
	if (!is_missed(&m))
		ask_collector(&u, &m);
	if (is_missed(&m)) {
		say(words[0], 0, &m);
		return VIEW_EXIT_ERROR;
	}
	base_put(stdout, BASE_AS_TERMINAL, words[0]);
	printf(": %s\n", m.what);
	return VIEW_EXIT_OK;
}

/* ---- all of a job or a pod ---- */

struct found {
	pid_t pid, parent;
	bool has_cuda;
	char name[32];
	struct view_missed missed;
};

struct crowd {
	struct found *at;
	size_t count, room;
	int closed; /* other users' */
};

static bool first_line_is(const struct view_process *p, const char *file, const char *want)
{
	char path[128], line[256] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)p->pid, file);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return !strcmp(line, want);
}

static bool is_of(const struct view_process *p, const struct view_doctor_asked *asked)
{
	static const char *const ids[] = { "SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID",
					   "LSB_JOBID",	   "JOB_ID",	  "GPUSTARVE_RUN_ID" };
	const char *have = view_process_env(p, "HOSTNAME");

	if (asked->pod)
		return (have && !strcmp(have, asked->pod)) ||
		       first_line_is(p, "/etc/hostname", asked->pod);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		have = view_process_env(p, ids[i]);
		if (have && !strcmp(have, asked->job))
			return true;
	}
	return false;
}

static int note(struct crowd *c, const struct view_process *p)
{
	struct found *f;

	if (c->count == c->room) {
		size_t room = c->room ? c->room * 2 : 64;
		struct found *more = realloc(c->at, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->at = more;
		c->room = room;
	}
	f = &c->at[c->count++];
	*f = (struct found){ .pid = p->pid, .parent = p->parent, .has_cuda = p->has_cuda };
	memcpy(f->name, p->name, sizeof(f->name));
	view_missed_process(p, &f->missed);
	ask_upstream(p, &f->missed);
	return 0;
}

static int look_at_all(struct crowd *c, const struct view_doctor_asked *asked)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int err = d ? 0 : -errno;

	while (d && !err && (e = readdir(d))) {
		struct view_process p;
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		int got;

		if (!isdigit((unsigned char)e->d_name[0]) || pid == getpid())
			continue;
		got = view_process_read(&p, pid);
		c->closed += got == -EACCES;
		if (got)
			continue;
		if (is_of(&p, asked))
			err = note(c, &p);
		view_process_fini(&p);
	}
	if (d)
		closedir(d);
	return err;
}

/* Not shells and launchers of the job were to be recorded, but who uses CUDA, else the last. */
static bool counts(const struct crowd *c, const struct found *f, bool cuda)
{
	if (cuda)
		return f->has_cuda;
	for (size_t i = 0; i < c->count; i++)
		if (c->at[i].parent == f->pid)
			return false;
	return true;
}

static int say_all(struct crowd *c)
{
	bool cuda = false, missed = false;
	size_t kept = 0;

	for (size_t i = 0; i < c->count; i++)
		cuda |= c->at[i].has_cuda;
	for (size_t i = 0; i < c->count; i++) {
		c->at[i].parent = counts(c, &c->at[i], cuda) ? c->at[i].parent : -1;
		kept += c->at[i].parent != -1;
	}
	for (size_t i = 0; kept && i < c->count; i++) {
		struct found *f = &c->at[i];
		char who[80];
		int more = 0;

		if (f->parent == -1)
			continue;
		for (size_t j = i + 1; j < c->count; j++)
			if (c->at[j].parent != -1 && c->at[j].missed.link == f->missed.link) {
				c->at[j].parent = -1;
				more++;
			}
		snprintf(who, sizeof(who), "pid %d (%s)", (int)f->pid, f->name);
		say(who, more, &f->missed);
		missed |= is_missed(&f->missed);
	}
	return missed ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
}

static int of_all(const struct view_doctor_asked *asked)
{
	const char *kind = asked->pod ? "pod" : "job", *name = asked->pod ? asked->pod : asked->job;
	struct crowd c = { 0 };
	int err = look_at_all(&c, asked), status = VIEW_EXIT_ERROR;

	if (err)
		view_error("/proc: %s", strerror(-err));
	else if (!c.count)
		view_error("--%s %s: no process of it that you may look at is on this machine%s",
			   kind, name, c.closed ? "; for other users' ask as root" : "");
	else
		status = say_all(&c);
	free(c.at);
	return status;
}

int view_doctor_missed(const struct view_doctor_asked *asked)
{
	if (asked->pid)
		return of_pid(asked->pid);
	if (asked->command)
		return of_command(asked->command);
	return of_all(asked);
}
