/* SPDX-License-Identifier: Apache-2.0 */
#include "look.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/vec.h"
#include "core/clock.h"
#include "retain/run_json.h"
#include "store/side.h"
#include "wire/keys.h"

static uint64_t hash_piece(uint64_t h, const struct objects_seen *s)
{
	char size[32];

	snprintf(size, sizeof(size), "\n%" PRIu64 "\n", s->bytes);
	h = base_hash_text(base_hash_text(h, s->key), size);
	return base_hash_text(base_hash_text(h, s->etag), "\n");
}

static bool is_small(const struct coll_work_look *l, const char *key)
{
	return l->job ? coll_side_is_of_job(key) || coll_side_is_begun(key)
		      : wire_key_is_small(key);
}

void coll_work_look_begin(struct coll_work_look *l)
{
	l->content = BASE_HASH;
}

/* What else lies there is nobody's concern. */
int coll_work_look_add(struct coll_work_look *l, const struct objects_seen *s)
{
	bool segment = !l->job && wire_key_is_segment(s->key);
	const char *key;

	if (!segment && !is_small(l, s->key))
		return 0;
	if (l->pieces == COLL_WORK_PIECES_MAX || (!segment && s->bytes > COLL_WORK_SMALL_MAX))
		return -E2BIG;
	if (!base_vec_more(l->piece, l->pieces, l->room))
		return -ENOMEM;
	key = base_arena_text(&l->mem, s->key);
	l->piece[l->pieces++] = (struct coll_work_piece){
		.key = key, .file = key, .bytes = s->bytes, .segment = segment
	};
	l->segments += segment;
	l->bytes += s->bytes;
	l->has_run_json |= !strcmp(s->key, "run.json");
	l->allocations += coll_side_is_allocation(s->key);
	l->content = hash_piece(l->content, s);
	if (l->pieces == 1 || l->oldest_s > s->changed_s)
		l->oldest_s = s->changed_s;
	if (l->newest_s < s->changed_s)
		l->newest_s = s->changed_s;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct coll_work_piece *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static bool has(const struct coll_work_look *l, const char *key)
{
	const struct coll_work_piece wanted = { .key = key };

	return bsearch(&wanted, l->piece, l->pieces, sizeof(wanted), by_key);
}

/* What says that a run goes on, or that a job has its GPUs, counts where nothing says its end. */
static void name_begun(struct coll_work_look *l, struct coll_work_piece *p)
{
	const char *file;

	if (!l->job) {
		if (!l->has_run_json && !strcmp(p->key, WIRE_KEY_RUN_BEGUN))
			p->file = "run.json";
		return;
	}
	if (!coll_side_is_begun(p->key))
		return;
	file = base_arena_printf(&l->mem, COLL_SIDE_ALLOCATION "%s",
				 p->key + strlen(WIRE_KEY_ALLOC_BEGUN));
	if (has(l, file))
		return;
	p->file = file;
	l->allocations++;
	l->goes_on = true;
}

void coll_work_look_end(struct coll_work_look *l)
{
	for (size_t i = 0; i < l->pieces; i++)
		name_begun(l, &l->piece[i]);
	l->revision = l->newest_s * COLL_SECOND_NS + (int64_t)l->pieces;
}

static int found(void *arg, const struct objects_seen *s)
{
	return coll_work_look_add(arg, s);
}

int coll_work_look(struct coll_work_look *l, struct objects *o, const char *folder,
		   struct objects_trouble *t)
{
	int err;

	coll_work_look_begin(l);
	err = objects_browse(o, folder, false, 0, found, l, &l->now_s, t);
	if (err == -E2BIG)
		snprintf(t->why, sizeof(t->why),
			 "more lies there than a run is made of, or a small file that is none");
	if (!l->now_s) /* nothing seems older than it is */
		l->now_s = l->newest_s;
	coll_work_look_end(l);
	return err;
}

void coll_work_look_fini(struct coll_work_look *l)
{
	free(l->piece);
	base_arena_fini(&l->mem);
	*l = (struct coll_work_look){ .piece = NULL };
}

int coll_work_look_ended(const struct coll_work_look *l, struct objects *o, const char *folder,
			 struct objects_trouble *t)
{
	struct coll_run_json json;
	char key[OBJECTS_KEY_MAX + 1];
	int64_t status;
	char *text;
	ssize_t got;
	bool ended;

	if (!l->has_run_json)
		return 0;
	text = malloc(COLL_WORK_SMALL_MAX + 1);
	if (!text)
		return -ENOMEM;
	snprintf(key, sizeof(key), "%srun.json", folder);
	got = objects_get(o, key, 0, text, COLL_WORK_SMALL_MAX, t);
	if (got < 0) {
		free(text);
		return (int)got;
	}
	text[got] = '\0';
	coll_run_json_parse(&json, text);
	ended = coll_run_json_number(&json, "exit_status", &status);
	coll_run_json_fini(&json);
	free(text);
	return ended;
}
