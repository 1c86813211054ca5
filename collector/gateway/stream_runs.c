/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of lists by a keyed hash, and one small object each.
 */
#include "stream_runs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS COLL_STREAM_RUNS /* a power of two */
#define KEY_BYTES 256
#define NO_SUCH_KEY "NoSuchKey"

struct coll_stream_run {
	struct coll_stream_run *next;
	uint8_t id[WIRE_STREAM_ID_BYTES];
	char *team, *run; /* in text */
	char text[];
};

static size_t slot_of(const struct coll_stream_runs *r, const uint8_t *id)
{
	return wire_keyed_hash(id, WIRE_STREAM_ID_BYTES, &r->secret) & (SLOTS - 1);
}

const char *coll_stream_runs_find(const struct coll_stream_runs *r, const char *team,
				  const uint8_t id[WIRE_STREAM_ID_BYTES])
{
	const struct coll_stream_run *s = r->at ? r->at[slot_of(r, id)] : NULL;

	while (s && (memcmp(s->id, id, sizeof(s->id)) || strcmp(s->team, team)))
		s = s->next;
	return s ? s->run : NULL;
}

static struct coll_stream_run *stream_run_new(const char *team, const uint8_t *id, const char *run)
{
	size_t a = strlen(team) + 1, b = strlen(run) + 1;
	struct coll_stream_run *s = malloc(sizeof(*s) + a + b);

	if (!s)
		return NULL;
	memcpy(s->id, id, sizeof(s->id));
	s->team = memcpy(s->text, team, a);
	s->run = memcpy(s->text + a, run, b);
	return s;
}

static void forget_all(struct coll_stream_runs *r)
{
	for (size_t i = 0; r->at && i < SLOTS; i++)
		while (r->at[i]) {
			struct coll_stream_run *s = r->at[i];

			r->at[i] = s->next;
			free(s);
		}
	r->count = 0;
}

void coll_stream_runs_note(struct coll_stream_runs *r, const char *team,
			   const uint8_t id[WIRE_STREAM_ID_BYTES], const char *run)
{
	struct coll_stream_run *s, **at;

	if (!r->at) {
		r->secret = wire_secret();
		r->at = calloc(SLOTS, sizeof(*r->at));
	}
	if (!r->at || coll_stream_runs_find(r, team, id))
		return;
	if (r->count == COLL_STREAM_RUNS)
		forget_all(r);
	s = stream_run_new(team, id, run);
	if (!s)
		return;
	at = &r->at[slot_of(r, id)];
	s->next = *at;
	*at = s;
	r->count++;
}

void coll_stream_runs_fini(struct coll_stream_runs *r)
{
	forget_all(r);
	free(r->at);
	r->at = NULL;
}

static void make_key(char key[KEY_BYTES], const char *team, const char *hex)
{
	snprintf(key, KEY_BYTES, COLL_STREAMS_FOLDER "/%s%s%s", team, *team ? "/" : "", hex);
}

/* What the store says is to be a name of a run, whoever wrote it. */
static bool take_name(char run[COLL_RUN_BYTES], const char *text, size_t len)
{
	size_t n = strspn(text, COLL_NAME_CHARACTERS);

	if (!n || n >= COLL_RUN_BYTES || *text == '.' || n + 1 != len || text[n] != '\n')
		return false;
	memcpy(run, text, n);
	run[n] = '\0';
	return true;
}

int coll_stream_run_read(struct objects *o, const char *team, const char *hex,
			 char run[COLL_RUN_BYTES], struct objects_trouble *t)
{
	char key[KEY_BYTES], text[COLL_RUN_BYTES + 2];
	ssize_t got;

	make_key(key, team, hex);
	got = objects_get(o, key, 0, text, sizeof(text) - 1, t);
	/* A bucket that is gone, or a stranger on the way, knows nothing of the stream. */
	if (got == -ENOENT && strncmp(t->why, NO_SUCH_KEY, strlen(NO_SUCH_KEY)) != 0)
		return -EIO;
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	return take_name(run, text, (size_t)got) ? 0 : -ENOENT;
}

int coll_stream_run_write(struct objects *o, const char *team, const char *hex, const char *run,
			  struct objects_trouble *t)
{
	char key[KEY_BYTES], text[COLL_RUN_BYTES + 1];

	make_key(key, team, hex);
	snprintf(text, sizeof(text), "%s\n", run);
	return objects_put(o, key, text, strlen(text), false, t);
}
