/* SPDX-License-Identifier: Apache-2.0 */
/*
 * There are fewer keys than files: of a checkpoint of many shards, and of a restart that loads them
 * all, those with the smallest hashes stand, so that both have the same ones.
 */
#include "marks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/minmax.h"

#define SLACK_NS 10000000 /* times of change are as coarse as the kernel's tick */
#define FOLDERS_UP 2 /* so far above what was loaded the folder of its save may lie */
#define FILES_OF_MARK 4
#define FOLDERS_OF_MARK 2

static uint64_t file_hash(const struct live_file *f)
{
	uint64_t h = base_hash_text(BASE_HASH, "file");

	h = base_hash(h, &f->inode, sizeof(f->inode));
	h = base_hash(h, &f->size, sizeof(f->size));
	return base_hash(h, &f->mtime_ns, sizeof(f->mtime_ns));
}

static uint64_t path_hash(const char *what, const char *path, size_t len)
{
	while (len > 1 && path[len - 1] == '/')
		len--;
	return base_hash(base_hash_text(BASE_HASH, what), path, len);
}

static bool is_place(const struct live_file *f, const char *path)
{
	return !f->inode && strstr(path, "://");
}

/* Savers that write one file, in which nothing lies. */
static bool writes_file(const char *saver)
{
	return !strcmp(saver, "torch.save") || !strcmp(saver, "safetensors") ||
	       !strcmp(saver, "lightning");
}

/* Into those with the smallest hashes, each once; of a folder with the latest stamp. */
static void keep(struct saves_key *key, size_t *keys, size_t most, struct saves_key k)
{
	size_t at = 0;

	while (at < *keys && key[at].hash < k.hash)
		at++;
	if (at < *keys && key[at].hash == k.hash) {
		if (k.until_ns > key[at].until_ns)
			key[at] = k;
		return;
	}
	if (at == most)
		return;
	*keys += *keys < most;
	memmove(&key[at + 1], &key[at], (*keys - at - 1) * sizeof(*key));
	key[at] = k;
}

struct keys { /* of a mark */
	struct saves_key file[FILES_OF_MARK], folder[FOLDERS_OF_MARK];
	size_t files, folders;
};

static void mark_save(struct keys *k, const struct live_save *s)
{
	size_t len = strlen(s->path);

	if (is_place(&s->file, s->path))
		keep(k->file, &k->files, FILES_OF_MARK,
		     (struct saves_key){ path_hash("place", s->path, len), 0, 0 });
	if (!s->file.inode)
		return;
	keep(k->file, &k->files, FILES_OF_MARK, (struct saves_key){ file_hash(&s->file), 0, 0 });
	if (!writes_file(s->saver))
		keep(k->folder, &k->folders, FOLDERS_OF_MARK,
		     (struct saves_key){ path_hash("folder", s->path, len), s->start_ns - SLACK_NS,
					 s->whole_ns });
}

/* A file that was overwritten cannot be opened any more; what lies in a folder may. */
static bool add_mark(struct saves_chain *c, const struct saves_input *in,
		     const struct live_checkpoints *points, uint32_t checkpoint)
{
	struct saves_mark *m = &c->mark[c->marks];
	struct keys k = { 0 };
	bool file = true;
	size_t saves = 0;

	for (size_t i = 0; i < in->saves; i++) {
		if (points->of_save[i] != checkpoint)
			continue;
		saves++;
		file = writes_file(in->save[i].saver);
		if (in->save[i].whole_ns != LIVE_NEVER)
			mark_save(&k, &in->save[i]);
	}
	if (points->checkpoint[checkpoint].gone_ns != LIVE_NEVER && saves == 1 && file)
		return false;
	*m = (struct saves_mark){ .keys = k.files + k.folders };
	memcpy(m->key, k.file, k.files * sizeof(*k.file));
	memcpy(m->key + k.files, k.folder, k.folders * sizeof(*k.folder));
	return m->keys > 0;
}

void saves_chain_marks(struct saves_chain *c, int64_t from[SAVES_MARKS_MAX + 1],
		       const struct saves_input *in, const struct live_checkpoints *points)
{
	for (size_t i = points->checkpoints; i-- && c->marks < SAVES_MARKS_MAX;) {
		from[c->marks] = points->checkpoint[i].start_ns;
		c->marks += add_mark(c, in, points, (uint32_t)i);
	}
	from[c->marks] = INT64_MIN;
	c->mark[c->marks++] = (struct saves_mark){ 0 };
}

static void add_opened(struct saves_chain *c, const struct live_load *l)
{
	size_t len = strlen(l->path);

	if (is_place(&l->file, l->path)) {
		keep(c->opened, &c->openings, SAVES_OPENED_MAX,
		     (struct saves_key){ path_hash("place", l->path, len), 0, 0 });
		return;
	}
	if (!l->file.inode)
		return;
	keep(c->opened, &c->openings, SAVES_OPENED_MAX,
	     (struct saves_key){ file_hash(&l->file), 0, 0 });
	for (int up = 0; up < FOLDERS_UP; up++) {
		while (len && l->path[len - 1] != '/')
			len--;
		if (len < 2)
			return;
		len--;
		keep(c->opened, &c->openings, SAVES_OPENED_MAX,
		     (struct saves_key){ path_hash("folder", l->path, len), l->file.mtime_ns,
					 l->file.mtime_ns });
	}
}

void saves_chain_opened(struct saves_chain *c, const struct saves_input *in, int64_t start_ns,
			int64_t end_ns, int64_t until_ns)
{
	for (size_t i = 0; i < in->loads; i++) {
		const struct live_load *l = &in->load[i];

		if (l->t_ns >= start_ns && l->t_ns < end_ns && l->t_ns <= until_ns)
			add_opened(c, l);
	}
}

bool saves_key_opened(const struct saves_key *mark, const struct saves_key *opened)
{
	return mark->hash == opened->hash && opened->from_ns >= mark->from_ns &&
	       opened->until_ns <= mark->until_ns;
}

/* --- JSON --- */

static void put_key(struct base_jsonout *j, const struct saves_key *k)
{
	char hash[17];

	snprintf(hash, sizeof(hash), "%016" PRIx64, k->hash);
	if (!k->until_ns) {
		base_json_string(j, NULL, hash);
		return;
	}
	base_json_array(j, NULL);
	base_json_string(j, NULL, hash);
	base_json_int(j, NULL, k->from_ns);
	if (k->until_ns != k->from_ns)
		base_json_int(j, NULL, k->until_ns);
	base_json_end(j);
}

static void put_mark(struct base_jsonout *j, const struct saves_mark *m)
{
	base_json_array(j, NULL);
	for (int p = 0; p < SAVES_MOVED; p++) {
		base_json_int(j, NULL, m->ns[p]);
		base_json_int(j, NULL, m->usd[p]);
	}
	for (size_t i = 0; i < m->keys; i++)
		put_key(j, &m->key[i]);
	base_json_end(j);
}

void saves_chain_put(struct base_jsonout *j, const struct saves_chain *c)
{
	if (!c->known)
		return;
	base_json_flat_object(j, "chain");
	base_json_int(j, "start_ns", c->start_ns);
	base_json_int(j, "word_ns", c->word_ns);
	base_json_array(j, "marks");
	for (size_t i = 0; i < c->marks; i++)
		put_mark(j, &c->mark[i]);
	base_json_end(j);
	base_json_array(j, "opened");
	for (size_t i = 0; i < c->openings; i++)
		put_key(j, &c->opened[i]);
	base_json_end(j);
	base_json_end(j);
}

static bool read_hash(uint64_t *hash, const struct base_json *n)
{
	char *end;

	if (!n || n->type != BASE_JSON_STRING || strlen(n->text) != 16 ||
	    strspn(n->text, "0123456789abcdef") != 16)
		return false;
	*hash = strtoull(n->text, &end, 16);
	return true;
}

static bool read_key(struct saves_key *k, const struct base_json *n)
{
	*k = (struct saves_key){ 0 };
	if (n->type != BASE_JSON_ARRAY)
		return read_hash(&k->hash, n);
	if (!read_hash(&k->hash, n->child) || !base_json_to_int(n->child->next, &k->from_ns))
		return false;
	k->until_ns = k->from_ns;
	n = n->child->next->next;
	return !n || (base_json_to_int(n, &k->until_ns) && !n->next);
}

static bool read_mark(struct saves_mark *m, const struct base_json *mark)
{
	const struct base_json *n = mark->type == BASE_JSON_ARRAY ? mark->child : NULL;

	*m = (struct saves_mark){ 0 };
	for (int i = 0; i < 2 * SAVES_MOVED; i++, n = n->next) {
		int64_t *v = i % 2 ? &m->usd[i / 2] : &m->ns[i / 2];

		if (!n || !base_json_to_int(n, v) || *v == INT64_MIN)
			return false;
	}
	for (; n; n = n->next)
		if (m->keys == SAVES_MARK_KEYS_MAX || !read_key(&m->key[m->keys++], n))
			return false;
	return true;
}

bool saves_chain_read(struct saves_chain *c, const struct base_json *chain)
{
	*c = (struct saves_chain){ 0 };
	if (!chain)
		return true;
	c->known = base_json_to_int(base_json_get(chain, "start_ns"), &c->start_ns) &&
		   base_json_to_int(base_json_get(chain, "word_ns"), &c->word_ns);
	BASE_JSON_EACH(n, base_json_get(chain, "marks"))
		c->known = c->known && c->marks <= SAVES_MARKS_MAX &&
			   read_mark(&c->mark[c->marks++], n);
	BASE_JSON_EACH(n, base_json_get(chain, "opened"))
		c->known = c->known && c->openings < SAVES_OPENED_MAX &&
			   read_key(&c->opened[c->openings++], n);
	return c->known;
}
