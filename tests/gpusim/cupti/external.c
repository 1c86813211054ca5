/* SPDX-License-Identifier: Apache-2.0 */
/*
 * external.c - stacks of external ids.
 */
#include "external.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct stack {
	uint64_t *id;
	size_t n, room;
};

struct stacks {
	struct stack kind[EXT_KINDS];
	unsigned round; /* of forgetting, in which they were pushed */
};

static __thread struct stacks *mine;
static atomic_uint rounds;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void drop(void *arg)
{
	struct stacks *s = arg;
	int kind;

	for (kind = 1; kind < EXT_KINDS; kind++)
		free(s->kind[kind].id);
	free(s);
	mine = NULL;
}

static void make_key(void)
{
	pthread_key_create(&key, drop);
}

/* The thread's own, freed with it; NULL: it has none. */
static struct stacks *current(void)
{
	unsigned round = atomic_load(&rounds);
	int kind;

	if (!mine || mine->round == round)
		return mine;
	for (kind = 1; kind < EXT_KINDS; kind++)
		mine->kind[kind].n = 0;
	mine->round = round;
	return mine;
}

static struct stacks *made(void)
{
	struct stacks *s = current();

	if (s)
		return s;
	pthread_once(&once, make_key);
	s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->round = atomic_load(&rounds);
	mine = s;
	pthread_setspecific(key, s);
	return s;
}

static bool grow(struct stack *s)
{
	size_t room = s->room ? 2 * s->room : 16;
	uint64_t *id = realloc(s->id, room * sizeof *id);

	if (!id)
		return false;
	s->id = id;
	s->room = room;
	return true;
}

bool ext_push(int kind, uint64_t id)
{
	struct stacks *all = made();
	struct stack *s;

	if (!all)
		return false;
	s = &all->kind[kind];
	if (s->n == s->room && !grow(s))
		return false;
	s->id[s->n++] = id;
	return true;
}

bool ext_top(int kind, uint64_t *id)
{
	const struct stacks *all = current();

	if (!all || !all->kind[kind].n)
		return false;
	*id = all->kind[kind].id[all->kind[kind].n - 1];
	return true;
}

bool ext_pop(int kind, uint64_t *id)
{
	if (!ext_top(kind, id))
		return false;
	mine->kind[kind].n--;
	return true;
}

void ext_forget(void)
{
	atomic_fetch_add(&rounds, 1);
}
