/* SPDX-License-Identifier: Apache-2.0 */
#include "communicators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

#define ROOM_FIRST 8u
#define OPEN_EVENTS ((size_t)1 << 17) /* of blocks that overlap: what does not fit tells nothing */

/* "ncclAllReduce", but no kernel's name as "ncclDevKernel_AllReduce_Sum_f32_RING_LL". */
static bool is_call(const char *text)
{
	return !strncmp(text, "nccl", 4) && text[4] >= 'A' && text[4] <= 'Z' &&
	       !strpbrk(text, "_(<: ");
}

static bool has_calls(const struct ana_names *names)
{
	uint32_t i;

	for (i = 1; i <= names->count; i++)
		if (is_call(wire_strtab_get(names->table, i, NULL)))
			return true;
	return false;
}

int ana_communicators_new(struct ana_communicators **out, struct view_trace *trace,
			  const struct view_stream *s, struct ana_names *names,
			  struct wire_scratch *scratch)
{
	struct ana_communicators *c;

	*out = NULL;
	if (!has_calls(names))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->names = names;
	if (ana_feed_init(&c->feed, trace, s, WIRE_KIND_RANGE, scratch)) {
		ana_communicators_free(c);
		return -ENOMEM;
	}
	c->feed.own.most = OPEN_EVENTS;
	*out = c;
	return 0;
}

void ana_communicators_free(struct ana_communicators *c)
{
	uint32_t i;

	if (!c)
		return;
	for (i = 0; i < c->threads; i++)
		free(c->thread[i].call);
	free(c->thread);
	ana_map_fini(&c->thread_of);
	ana_feed_fini(&c->feed);
	free(c);
}

static struct ana_comm_thread *thread_of(struct ana_communicators *c, uint32_t tid)
{
	uint32_t i = ana_map_get(&c->thread_of, tid);

	if (i != ANA_MAP_NONE)
		return &c->thread[i];
	i = c->threads;
	if (!base_vec_more(c->thread, i, c->thread_room) || ana_map_put(&c->thread_of, tid, i)) {
		c->err = -ENOMEM;
		return NULL;
	}
	c->thread[i] = (struct ana_comm_thread){ 0 };
	c->threads++;
	return &c->thread[i];
}

static struct ana_comm_call *call_at(const struct ana_comm_thread *t, uint32_t i)
{
	return &t->call[(t->first + i) % t->room];
}

/* False: no memory, or others have all the room there is. */
static bool more_room(struct ana_communicators *c, struct ana_comm_thread *t)
{
	uint32_t room = t->room ? t->room * 2 : ROOM_FIRST, i;
	struct ana_comm_call *call;

	if (c->held + (room - t->room) > ANA_COMM_CALLS_ALL)
		return false;
	call = malloc(room * sizeof(*call));
	if (!call) {
		c->err = -ENOMEM;
		return false;
	}
	for (i = 0; i < t->calls; i++)
		call[i] = *call_at(t, i);
	free(t->call);
	t->call = call;
	t->first = 0;
	c->held += room - t->room;
	t->room = room;
	return true;
}

static void add_call(struct ana_communicators *c, struct ana_comm_thread *t,
		     const struct wire_event *e, uint64_t comm)
{
	if (t->calls == t->room && (t->room == ANA_COMM_CALLS_MAX || !more_room(c, t))) {
		if (!t->room)
			return;
		t->first = (t->first + 1) % t->room;
		t->calls--;
	}
	*call_at(t, t->calls++) = (struct ana_comm_call){ e->start_ns, e->end_ns, comm };
}

static void begin_group(struct ana_comm_thread *t)
{
	if (t->depth++)
		return;
	t->group = 0;
	t->mixed = false;
}

/* What only ends an inner one launches nothing. */
static void end_group(struct ana_communicators *c, struct ana_comm_thread *t,
		      const struct wire_event *e)
{
	if (!t->depth || --t->depth)
		return;
	t->ended = t->mixed ? 0 : t->group;
	if (t->ended)
		add_call(c, t, e, t->ended);
}

static void take_call(struct ana_communicators *c, struct ana_comm_thread *t,
		      const struct wire_event *e)
{
	if (!t->depth) {
		add_call(c, t, e, e->bytes);
		return;
	}
	t->mixed |= t->group && t->group != e->bytes;
	t->group = e->bytes;
}

static void take(struct ana_communicators *c, const struct wire_event *e)
{
	uint16_t group =
		ana_names_flags(c->names, e->name) & (ANA_NAME_GROUP_BEGIN | ANA_NAME_GROUP_END);
	bool piece = e->flags & WIRE_EV_FL_CONT;
	struct ana_comm_thread *t;

	if (e->op != WIRE_RANGE_USER || (!group && !e->bytes))
		return;
	t = thread_of(c, e->tid);
	if (!t)
		return;
	if (!group)
		take_call(c, t, e);
	else if (piece && group & ANA_NAME_GROUP_END && t->ended)
		add_call(c, t, e, t->ended);
	else if (!piece && group & ANA_NAME_GROUP_END)
		end_group(c, t, e);
	else if (!piece)
		begin_group(t);
}

/* The last call that begins no later than @at; NULL: none that is kept. */
static const struct ana_comm_call *last_upto(const struct ana_comm_thread *t, int64_t at)
{
	uint32_t low = 0, high = t->calls;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (call_at(t, mid)->start <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? call_at(t, low - 1) : NULL;
}

uint64_t ana_communicator_of(struct ana_communicators *c, uint32_t tid, int64_t at)
{
	const struct ana_comm_call *call;
	const struct wire_event *e;
	uint32_t i;

	if (!c)
		return 0;
	while (!c->err && (e = ana_feed_peek(&c->feed)) && e->start_ns <= at) {
		take(c, e);
		ana_feed_pop(&c->feed);
	}
	i = ana_map_get(&c->thread_of, tid);
	call = i == ANA_MAP_NONE ? NULL : last_upto(&c->thread[i], at);
	return call && at <= call->end ? call->comm : 0;
}
