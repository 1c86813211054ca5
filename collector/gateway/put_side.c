/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose file it is, what is there, and then ours.
 */
#include "put_side.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "wire/keys.h"

#define KEY_BYTES 1024

struct coll_put_side *coll_put_side_new(struct coll_gateway *g, const char *team,
					const struct coll_side *s, struct wire_buf *bytes)
{
	struct coll_put_side *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->gateway = g;
	p->team = strdup(team);
	p->run = strdup(s->run);
	p->name = strdup(s->name);
	p->condition = strdup(s->condition);
	coll_side_node(p->node, s->node);
	if (!p->team || !p->run || !p->name || !p->condition) {
		coll_put_side_free(p);
		return NULL;
	}
	p->bytes = *bytes;
	*bytes = (struct wire_buf){ .data = NULL };
	return p;
}

void coll_put_side_free(struct coll_put_side *p)
{
	if (!p)
		return;
	p->done = NULL;
	if (p->out)
		return;
	free(p->team);
	free(p->run);
	free(p->name);
	free(p->condition);
	wire_buf_fini(&p->bytes);
	free(p);
}

static bool is_run_json(const struct coll_put_side *p)
{
	return !strcmp(p->name, "run.json");
}

/* The run's folder in the store, or the job's. */
static bool make_key(const struct coll_put_side *p, const char *name, char key[KEY_BYTES])
{
	char folder[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)], below[KEY_BYTES / 2];
	size_t len;

	coll_side_directory(folder, p->run, p->name);
	len = strlen(folder);
	if (coll_run_dir_is(folder))
		folder[len - strlen(COLL_RUN_SUFFIX)] = '\0';
	return snprintf(below, sizeof(below), "%s/%s", folder, name) < (int)sizeof(below) &&
	       coll_gateway_below(key, KEY_BYTES, p->team, below);
}

/* The small object there, with a zero behind it: its bytes, -ENOENT, or an error. */
static ssize_t get(struct coll_put_side *p, const char *key, char **bytes, size_t most)
{
	ssize_t got = -ENOMEM;

	*bytes = malloc(most + 1);
	if (*bytes)
		got = objects_get(p->gateway->objects, key, 0, *bytes, most, &p->trouble);
	if (got >= 0) {
		(*bytes)[got] = '\0';
		return got;
	}
	free(*bytes);
	*bytes = NULL;
	return got;
}

static int read_owner(struct coll_put_side *p, const char *key, bool *own)
{
	char *owner;
	ssize_t got = get(p, key, &owner, COLL_SIDE_NODE_BYTES);

	if (got < 0)
		return (int)got;
	*own = !strcmp(owner, p->node);
	free(owner);
	return 0;
}

/*
 * The first node to come has the run's run.json. Who said so last has it, where two come together
 * and the store knows no conditions; so it is read once more.
 */
static int find_owner(struct coll_put_side *p, bool *own)
{
	char key[KEY_BYTES];
	int err;

	*own = true;
	if (!is_run_json(p))
		return 0;
	if (!make_key(p, COLL_SIDE_OWNER, key))
		return -ENAMETOOLONG;
	err = read_owner(p, key, own);
	if (err != -ENOENT)
		return err;
	err = objects_put(p->gateway->objects, key, p->node, strlen(p->node), true, &p->trouble);
	return err && err != -EEXIST ? err : read_owner(p, key, own);
}

static bool is_meant(const struct coll_put_side *p)
{
	if (!p->condition[0])
		return true;
	return !strcmp(p->condition, p->tag[0] ? p->tag : COLL_SIDE_NOTHING);
}

static bool is_allocation(const struct coll_put_side *p)
{
	return coll_job_dir_is(p->run) && coll_side_is_allocation(p->name);
}

/* It says that its run goes on, or that the job has its GPUs. */
static bool goes_on(const struct coll_put_side *p)
{
	if (is_allocation(p))
		return !coll_side_alloc_has_end(p->bytes.data, p->bytes.len);
	return is_run_json(p) && !coll_side_tells_end(p->name, p->bytes.data, p->bytes.len);
}

/* Where that lies of a run.json or an allocation that says so. */
static void begun_name(const struct coll_put_side *p, bool own, char name[COLL_RUN_BYTES])
{
	if (is_allocation(p))
		snprintf(name, COLL_RUN_BYTES, WIRE_KEY_ALLOC_BEGUN "%s",
			 p->name + strlen(COLL_SIDE_ALLOCATION));
	else if (own)
		snprintf(name, COLL_RUN_BYTES, WIRE_KEY_RUN_BEGUN);
	else
		snprintf(name, COLL_RUN_BYTES, ".run-begun-%s.json", p->node);
}

/* The tag of what is under this name. 0, -ENOENT, or an error. */
static int look(struct coll_put_side *p, const char *name)
{
	char key[KEY_BYTES], *there;
	ssize_t got;
	bool good;

	if (!make_key(p, name, key))
		return -ENAMETOOLONG;
	got = get(p, key, &there, COLL_SIDE_MAX);
	if (got < 0)
		return (int)got;
	good = coll_side_tag_of(p->tag, there, (size_t)got);
	free(there);
	return good ? 0 : -ENOMEM;
}

/* What is there now is under the first of these names under which there is something. */
static int look_at_both(struct coll_put_side *p, const char *first, const char *second)
{
	int err = look(p, first);

	if (err == -ENOENT && strcmp(first, second) != 0)
		err = look(p, second);
	return err == -ENOENT ? 0 : err;
}

static int replace(struct coll_put_side *p, const char *name)
{
	const void *ours = p->bytes.len ? (const void *)p->bytes.data : "";
	char key[KEY_BYTES], tag[COLL_SIDE_TAG_BYTES];
	int err;

	if (!coll_side_tag_of(tag, ours, p->bytes.len))
		return -ENOMEM;
	if (!strcmp(tag, p->tag)) /* it came again */
		return 0;
	if (!is_meant(p))
		return -EEXIST;
	if (!make_key(p, name, key))
		return -ENAMETOOLONG;
	err = objects_put(p->gateway->objects, key, ours, p->bytes.len, false, &p->trouble);
	snprintf(p->tag, sizeof(p->tag), "%s", err ? "" : tag);
	return err;
}

/* In a thread. */
static void work(struct coll_job *job)
{
	struct coll_put_side *p = (struct coll_put_side *)job;
	char name[COLL_RUN_BYTES], begun[COLL_RUN_BYTES];
	bool own;

	p->err = find_owner(p, &own);
	if (p->err)
		return;
	coll_side_name(name, sizeof(name), p->name, p->node, own);
	begun_name(p, own, begun);
	p->err = look_at_both(p, name, is_run_json(p) || is_allocation(p) ? begun : name);
	if (!p->err)
		p->err = replace(p, goes_on(p) ? begun : name);
}

static void over(struct coll_job *job)
{
	struct coll_put_side *p = (struct coll_put_side *)job;
	void (*done)(struct coll_put_side *, int) = p->done;

	p->out = false;
	if (p->err && p->err != -EEXIST)
		coll_gateway_trouble(p->gateway, p->err, &p->trouble);
	else
		coll_store_watch_heard(&p->gateway->watch);
	if (done)
		done(p, p->err);
	else
		coll_put_side_free(p);
}

void coll_put_side_start(struct coll_put_side *p, void (*done)(struct coll_put_side *p, int err),
			 void *owner)
{
	uint64_t key = base_hash_text(base_hash_text(BASE_HASH, p->run), p->name);

	p->job = (struct coll_job){ .work = work, .done = over };
	p->done = done;
	p->owner = owner;
	p->out = true;
	coll_hands_give_keyed(&p->gateway->hands, &p->job, key);
}
