/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `sacct -P` prints: a line of names, then a line per job, with | between. What stands there
 * holds no |, but a job's name may: such a line has too many fields and is bad. Jobs without GPUs
 * and steps of jobs are passed over. Times are UTC (TZ=UTC sacct ...) or seconds since 1970.
 */
#include <errno.h>
#include <string.h>
#include <time.h>
#include "whole.h"

#define FIELDS 128
#define LINE_MAX_BYTES 65536
#define GPUS_MAX 1000000
#define ELAPSED_MAX INT64_C(9000000000) /* 285 years: as ns they fit an int64 */
#define NS INT64_C(1000000000)

enum field {
	ID,
	ACCOUNT,
	ELAPSED,
	TRES,
	CLUSTER,
	START,
	ADMIN_COMMENT,
	COMMENT,
	WANTED
};

struct table {
	int at[WANTED]; /* -1: there is no such column */
	int columns;
};

/* Cuts in place. How many; FIELDS + 1: too many. */
static int split(char *line, char *field[FIELDS])
{
	int n = 0;

	for (char *p = line; p; n++) {
		char *bar = strchr(p, '|');

		if (n == FIELDS)
			return FIELDS + 1;
		field[n] = p;
		if (bar)
			*bar++ = '\0';
		p = bar;
	}
	return n;
}

static void take(struct table *t, enum field f, int at, bool better)
{
	if (t->at[f] < 0 || better)
		t->at[f] = at;
}

static const char *read_head(struct table *t, char *field[FIELDS], int n)
{
	static const struct {
		const char *name;
		enum field field;
		bool better;
	} known[] = {
		{ "JobID", ID, false },
		{ "JobIDRaw", ID, true },
		{ "Account", ACCOUNT, false },
		{ "ElapsedRaw", ELAPSED, false },
		{ "AllocTRES", TRES, true },
		{ "ReqTRES", TRES, false },
		{ "Cluster", CLUSTER, false },
		{ "Start", START, false },
		{ "AdminComment", ADMIN_COMMENT, false },
		{ "Comment", COMMENT, false },
	};

	for (int f = 0; f < WANTED; f++)
		t->at[f] = -1;
	t->columns = n;
	for (int i = 0; i < n && n <= FIELDS; i++)
		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (!strcasecmp(field[i], known[k].name))
				take(t, known[k].field, i, known[k].better);
	if (t->at[ID] < 0 || t->at[ACCOUNT] < 0 || t->at[ELAPSED] < 0 || t->at[TRES] < 0)
		return "its first line names no JobIDRaw, Account, ElapsedRaw and AllocTRES; "
		       "print it by TZ=UTC sacct -aXP -o "
		       "Cluster,JobIDRaw,Account,Start,ElapsedRaw,AllocTRES,AdminComment";
	return NULL;
}

static bool number(const char *text, size_t len, int64_t most, int64_t *v)
{
	*v = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*v = *v * 10 + (text[i] - '0');
		if (*v > most)
			return false;
	}
	return len > 0;
}

/* Of "billing=8,gres/gpu=4,gres/gpu:h100=4": the sum, else what is there of each kind. */
static bool read_gpus(const char *tres, int64_t *gpus)
{
	static const char name[] = "gres/gpu";
	int64_t all = -1, kinds = 0, n;

	while (*tres) {
		size_t len = strcspn(tres, ",");
		const char *eq = memchr(tres, '=', len);

		if (!strncmp(tres, name, 8) && eq && (tres + 8 == eq || tres[8] == ':')) {
			if (!number(eq + 1, len - (size_t)(eq + 1 - tres), GPUS_MAX, &n))
				return false;
			if (tres + 8 == eq)
				all = n;
			else if ((kinds += n) > GPUS_MAX)
				return false;
		}
		tres += len + (tres[len] == ',');
	}
	*gpus = all >= 0 ? all : kinds;
	return true;
}

static int64_t read_start(const char *text)
{
	struct tm tm = { 0 };
	const char *end;
	int64_t s;

	if (number(text, strlen(text), INT64_MAX / NS, &s))
		return s * NS;
	end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!end || *end || tm.tm_year < 70 || tm.tm_year > 200)
		return INT64_MIN;
	return (int64_t)timegm(&tm) * NS;
}

/* A word of a comment: as the hooks leave it, and as users may write it. */
static bool says_off(const char *comment)
{
	static const char word[] = "gpustarve=off";
	const char *at = strstr(comment, word);

	return at && (at == comment || at[-1] == ' ' || at[-1] == ',' || at[-1] == ';') &&
	       strchr(" ,;", at[sizeof(word) - 1]);
}

static const char *cell(const struct table *t, char *field[FIELDS], enum field f)
{
	return t->at[f] < 0 ? "" : field[t->at[f]];
}

/* 1: a job with GPUs, 0: something else, -1: it cannot be read. */
static int read_job(const struct table *t, char *field[FIELDS], int n, struct fleet_sacct_job *job)
{
	const char *id = cell(t, field, ID), *elapsed;
	int64_t raw;

	if (n != t->columns || !*id)
		return -1;
	if (strchr(id, '.'))
		return 0; /* a step */
	*job = (struct fleet_sacct_job){ .cluster = cell(t, field, CLUSTER),
					 .id = id,
					 .account = cell(t, field, ACCOUNT),
					 .start_ns = read_start(cell(t, field, START)) };
	elapsed = cell(t, field, ELAPSED);
	if (!number(id, strspn(id, "0123456789"), INT64_MAX / 16, &raw) ||
	    !read_gpus(cell(t, field, TRES), &job->gpus) ||
	    !number(elapsed, strlen(elapsed), ELAPSED_MAX, &job->elapsed_s))
		return -1;
	job->opted_out =
		says_off(cell(t, field, ADMIN_COMMENT)) || says_off(cell(t, field, COMMENT));
	return job->gpus > 0 && job->elapsed_s > 0;
}

/* The next line without its end, copied; false: there is none. Longer ones are cut. */
static bool next_line(const char **p, const char *end, char line[LINE_MAX_BYTES])
{
	const char *nl;
	size_t len;

	if (*p >= end)
		return false;
	nl = memchr(*p, '\n', (size_t)(end - *p));
	len = (size_t)((nl ? nl : end) - *p);
	if (len >= LINE_MAX_BYTES)
		len = LINE_MAX_BYTES - 1;
	memcpy(line, *p, len);
	if (len && line[len - 1] == '\r')
		len--;
	line[len] = '\0';
	*p = nl ? nl + 1 : end;
	return true;
}

int fleet_sacct_read(const char *text, size_t len, fleet_on_job *on_job, void *arg, uint64_t *bad,
		     const char **why)
{
	static char line[LINE_MAX_BYTES]; /* the command has one thread */
	const char *p = text, *end = text + len;
	struct fleet_sacct_job job;
	char *field[FIELDS];
	struct table t;

	*bad = 0;
	*why = "it is empty";
	if (!next_line(&p, end, line))
		return -EBADMSG;
	*why = read_head(&t, field, split(line, field));
	if (*why)
		return -EBADMSG;
	while (next_line(&p, end, line)) {
		int is = *line ? read_job(&t, field, split(line, field), &job) : 0;

		*bad += is < 0;
		if (is > 0)
			on_job(arg, &job);
	}
	return 0;
}
