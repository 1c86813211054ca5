/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wait, a name, and what is held, in this order: a text has room for eight words.
 */
#include "nativesample.h"

#include "waitkind.h"

static void add_wait(struct prof_nativelink *l, const struct prof_nativesample *of,
		     struct prof_thread_sample *s)
{
	struct prof_nativelink_look look = {
		.tid = of->tid,
		.python = of->python || *s->stack,
		.depth = of->role != WIRE_ROLE_SUBMITTER,
		.submits = of->role == WIRE_ROLE_SUBMITTER,
		.futex = s->futex,
		.arg = s->arg,
		.sp = s->sp,
		.pc = s->pc,
		.now_ns = of->now_ns,
	};
	char word[PROF_LINK_ID];
	uint64_t id;

	if (!s->futex || !(s->s.flags & WIRE_SAMPLE_FL_STEADY) || prof_wait_in_threading(s->stack))
		return;
	id = prof_nativelink_await(l, &look);
	if (!id)
		return;
	prof_link_native(word, id);
	prof_link_add(s->links, PROF_LINK_AWAITS, word);
	if (s->s.wait == WIRE_WAIT_OTHER) /* an event's */
		s->s.wait = WIRE_WAIT_LOCK;
}

static void add_held(const struct prof_nativelink *l, pid_t tid, struct prof_thread_sample *s)
{
	char word[PROF_LINK_ID];
	uint64_t id;
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		enum prof_nativelink_kind kind = prof_nativelink_of(l, tid, i, &id);

		if (!kind || (kind == PROF_NATIVELINK_LIBRARY && s->s.wait == WIRE_WAIT_SLEEP))
			continue; /* libraries have threads that look round from time to time */
		prof_link_native(word, id);
		prof_link_add(s->links,
			      kind == PROF_NATIVELINK_OBJECT ? PROF_LINK_GIVES : PROF_LINK_HOLDS,
			      word);
	}
}

/* A native thread has no line of Python to be known by. */
static void add_place(const struct prof_nativelink *l, pid_t tid, struct prof_thread_sample *s)
{
	char word[PROF_LINK_ID];

	prof_link_name(word, prof_nativelink_name(l, tid));
	prof_link_add(s->links, PROF_LINK_NAMED, word);
	if (s->s.state == WIRE_STATE_RUNNING)
		prof_nativelink_stack(l, tid, s->native, sizeof(s->native));
}

void prof_nativesample_link(struct prof_nativelink *l, const struct prof_nativesample *of,
			    struct prof_thread_sample *s)
{
	add_wait(l, of, s);
	if (of->role == WIRE_ROLE_PRODUCER && !of->python)
		add_place(l, of->tid, s);
	add_held(l, of->tid, s);
}
