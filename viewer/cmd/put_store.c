/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of what is there, and one of what was sent.
 */
#include "put_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/files.h"
#include "base/vec.h"
#include "core/log.h"
#include "segments/send.h"

int view_put_open(struct put_store *p, const char *url, const char *run)
{
	int err;

	p->url = url;
	p->run = run;
	err = objects_open(&p->objects, url, &p->trouble);
	return err ? view_put_trouble(p, url, err) : 0;
}

void view_put_close(struct put_store *p)
{
	objects_close(p->objects);
	free(p->there);
	free(p->sent);
	base_arena_fini(&p->mem);
}

int view_put_trouble(struct put_store *p, const char *what, int err)
{
	view_error("put: %s: %s", what, p->trouble.why[0] ? p->trouble.why : strerror(-err));
	return err;
}

static int found(void *arg, const char *key, uint64_t bytes)
{
	struct put_store *p = arg;

	if (!base_vec_more(p->there, p->theres, p->there_room))
		return -ENOMEM;
	p->there[p->theres++] = (struct put_object){ base_arena_text(&p->mem, key), bytes };
	return 0;
}

int view_put_look(struct put_store *p)
{
	const char *below = base_arena_printf(&p->mem, "%s/", p->run);
	int err;

	p->theres = 0;
	err = objects_list(p->objects, below, found, p, &p->trouble);
	return err ? view_put_trouble(p, p->url, err) : 0;
}

static int key_order(const void *a, const void *b)
{
	return strcmp(((const struct put_object *)a)->key, ((const struct put_object *)b)->key);
}

static const struct put_object *find(const struct put_store *p, const char *key)
{
	struct put_object wanted = { .key = key };

	return p->theres ? bsearch(&wanted, p->there, p->theres, sizeof(wanted), key_order) : NULL;
}

int view_put_segment(struct put_store *p, const char *key, const void *bytes, size_t len)
{
	const struct put_object *o = find(p, key);
	int got;

	p->trouble.why[0] = '\0';
	if (!base_vec_more(p->sent, p->sents, p->sent_room))
		return view_put_trouble(p, key, -ENOMEM);
	p->sent[p->sents++] = (struct put_object){ key, len };
	got = o ? segments_same(o->bytes, len, &p->trouble)
		: segments_send(p->objects, key, bytes, len, &p->trouble);
	if (got < 0)
		return view_put_trouble(p, key, got);
	p->segments++;
	p->old += o != NULL;
	p->bytes += o ? 0 : len;
	return 0;
}

int view_put_small(struct put_store *p, const char *path, const char *name)
{
	const char *key = base_arena_printf(&p->mem, "%s/%s", p->run, name);
	char *bytes;
	size_t len;
	int err = base_file_read(path, &bytes, &len);

	if (err)
		return view_put_trouble(p, name, err);
	err = objects_put(p->objects, key, bytes, len, false, &p->trouble);
	free(bytes);
	if (err)
		return view_put_trouble(p, key, err);
	p->bytes += len;
	return 0;
}

int view_put_check(struct put_store *p)
{
	int err = view_put_look(p);

	for (size_t i = 0; i < p->sents && !err; i++) {
		const struct put_object *o = find(p, p->sent[i].key);

		if (o && o->bytes == p->sent[i].bytes)
			continue;
		snprintf(p->trouble.why, sizeof(p->trouble.why),
			 "the store took it, and does not have it");
		err = view_put_trouble(p, p->sent[i].key, -EIO);
	}
	return err;
}
