/* SPDX-License-Identifier: Apache-2.0 */
#include "mark_store.h"

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include "base/escape.h"

static int found(void *arg, const struct objects_seen *s)
{
	return coll_work_marks_add(arg, s->key, s->changed_s);
}

int coll_work_marks_list(struct coll_work_marks *all, struct objects *store,
			 const struct coll_work_place *place, struct objects_trouble *t)
{
	char folder[COLL_WORK_PLACE_BYTES];
	int err;

	coll_work_place_marks(folder, place);
	*all = (struct coll_work_marks){ .n = 0 };
	err = objects_browse(store, folder, false, 0, found, all, &all->now_s, t);
	for (size_t i = 0; i < all->n && !err; i++) /* a store without a clock: nothing is older */
		if (all->now_s < all->mark[i].changed_s)
			all->now_s = all->mark[i].changed_s;
	return err;
}

static void key_of(char out[OBJECTS_KEY_MAX + 1], const struct coll_work_place *place,
		   const struct coll_work_mark *m)
{
	char folder[COLL_WORK_PLACE_BYTES], name[COLL_WORK_NAME_BYTES];

	coll_work_place_marks(folder, place);
	coll_work_mark_name(name, m);
	snprintf(out, OBJECTS_KEY_MAX + 1, "%s%s", folder, name);
}

int coll_work_mark_put(struct objects *store, const struct coll_work_place *place,
		       const struct coll_work_mark *m, const void *bytes, size_t len,
		       struct objects_trouble *t)
{
	char key[OBJECTS_KEY_MAX + 1];

	key_of(key, place, m);
	return objects_put(store, key, bytes, len, false, t);
}

int coll_work_mark_remove(struct objects *store, const struct coll_work_place *place,
			  const struct coll_work_mark *m, struct objects_trouble *t)
{
	char key[OBJECTS_KEY_MAX + 1];

	key_of(key, place, m);
	return objects_remove(store, key, t);
}

void coll_work_mark_text(char *out, size_t room, struct objects *store,
			 const struct coll_work_place *place, const struct coll_work_mark *m)
{
	char key[OBJECTS_KEY_MAX + 1], text[COLL_WORK_MARK_TEXT + 1];
	struct objects_trouble t;
	ssize_t got;

	key_of(key, place, m);
	got = objects_get(store, key, 0, text, COLL_WORK_MARK_TEXT, &t);
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	base_escape_text(out, room, BASE_AS_TERMINAL, text);
}
