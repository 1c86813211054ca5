/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of ids, and bits of it by thread.
 */
#include "links.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "sockname.h"
#include "waitkind.h"

#define BIT(i) (UINT32_C(1) << (i))
#define NONE UINT8_MAX
#define SHARE 6u /* places of each depth that others do not take; all have less than all places */
#define PLACES 8u /* of a thread: others' that hold nothing make room */

/*
 * ---- who holds --------------------------------------------------------------------------------
 */

/* Its place among the few that it may have; else one that may be taken for it. */
static struct prof_link_holder *place_of(struct prof_links *l, uint32_t pid, uint32_t tid)
{
	uint32_t first = prof_hash_thread(pid, tid), i;
	struct prof_link_holder *h, *found = NULL;

	for (i = 0; i < PLACES; i++) {
		h = &l->holder[(first + i) % PROF_LINKS_HOLDERS];
		if (h->pid == pid && h->tid == tid)
			return h;
		if (!found && !h->holds && !h->awaits && !h->takes && !h->made_ns)
			found = h;
	}
	return found ? found : &l->holder[first % PROF_LINKS_HOLDERS];
}

struct prof_link_holder *prof_links_holder(struct prof_links *l, uint32_t pid, uint32_t tid)
{
	struct prof_link_holder *h = place_of(l, pid, tid);

	if (h->pid != pid || h->tid != tid)
		*h = (struct prof_link_holder){ .pid = pid, .tid = tid };
	return h;
}

void prof_links_found(struct prof_link_holder *h, uint32_t of, uint32_t gives, uint32_t holds,
		      uint32_t inherits)
{
	h->holds = (h->holds & ~of) | ((holds | gives) & of);
	h->alone &= h->holds;
	h->inherits = ((h->inherits & ~of) | (inherits & of)) & ~h->alone;
	h->sure &= h->holds;
	h->gives = (h->gives & ~of) | (gives & of) | h->sure;
	h->gave |= h->gives != 0;
}

uint32_t prof_links_lone(const struct prof_links *l)
{
	uint32_t once = 0, more = 0, gives = 0, i;

	for (i = 0; i < PROF_LINKS_HOLDERS; i++) {
		const struct prof_link_holder *h = &l->holder[i];

		if (h->pid != h->tid)
			continue;
		more |= once & h->holds;
		once |= h->holds;
		gives |= h->gives;
	}
	return once & ~more & ~gives & prof_links_of_ends(l);
}

/* Bits of what is memory: who has it may write there, or not. */
static uint32_t memory(const struct prof_links *l)
{
	uint32_t bits = 0, i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (*l->wanted[i].id == 'm')
			bits |= BIT(i);
	return bits;
}

void prof_links_sure(struct prof_links *l, uint32_t pid, uint32_t bits)
{
	struct prof_link_holder *h = place_of(l, pid, pid);

	if (h->pid != pid || h->tid != pid)
		return;
	h->alone |= h->holds & bits & memory(l);
	h->inherits &= ~h->alone;
	bits &= ~memory(l);
	h->gives |= h->holds & bits;
	h->sure |= h->holds & bits;
}

/*
 * A descriptor is held by the process: what its main thread holds of those all its threads do. That
 * it gives is taken from the object through which the same wait goes, for a forked child has all
 * descriptors of its parent.
 */
static uint32_t with(const struct prof_links *l, uint32_t gives)
{
	uint32_t bits = 0, i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (gives & BIT(i))
			bits |= l->wanted[i].with;
	return bits;
}

static void held_by(struct prof_links *l, uint32_t pid, uint32_t tid, uint32_t *gives,
		    uint32_t *holds)
{
	const struct prof_link_holder *h = place_of(l, pid, tid), *main = place_of(l, pid, pid);
	uint32_t ends = prof_links_of_ends(l), takes = 0, inherits = 0;

	*gives = *holds = 0;
	if (h->pid == pid && h->tid == tid) {
		*gives = h->gives;
		*holds = h->holds;
		inherits = h->inherits;
		takes = h->takes;
	}
	if (main->pid == pid && main->tid == pid) {
		*holds |= main->holds & ends;
		*gives |= (main->gives | with(l, main->gives & ~main->takes)) & *holds & ends;
		inherits |= main->inherits;
	}
	*gives |= with(l, *gives & ~takes) & *holds & ends;
	*holds &= ~inherits | *gives | with(l, *holds & ~ends);
	*gives &= ~takes;
	*holds &= ~takes;
}

int prof_links_makes(struct prof_links *l, uint32_t pid, uint32_t tid)
{
	uint32_t gives, holds;

	held_by(l, pid, tid, &gives, &holds);
	return gives ? 2 : holds != 0;
}

void prof_links_looked(struct prof_links *l, struct prof_link_holder *h, int64_t now_ns)
{
	if (prof_links_makes(l, h->pid, h->tid))
		h->made_ns = now_ns;
}

/*
 * The depth of the first objects: a submitter that waits for another's thread of C (Keras') awaits
 * none itself.
 */
static uint8_t first_depth(const struct prof_links *l)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (l->wanted[i].object && !l->wanted[i].depth)
			return 0;
	return 1;
}

uint32_t prof_links_of_firsts(const struct prof_links *l, int64_t now_ns)
{
	const uint8_t depth = first_depth(l);
	uint32_t bits = 0, i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (l->wanted[i].object && l->wanted[i].depth == depth &&
		    l->wanted[i].seen_ns >= now_ns)
			bits |= BIT(i);
	return bits;
}

bool prof_links_held(const struct prof_links *l, uint32_t bits)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_HOLDERS; i++)
		if (l->holder[i].holds & bits & ~l->holder[i].takes)
			return true;
	return false;
}

bool prof_links_news(struct prof_links *l, uint32_t pid, uint32_t tid)
{
	const struct prof_link_holder *h = place_of(l, pid, tid);
	uint32_t gives, holds;

	if (h->pid != pid || h->tid != tid)
		return false;
	held_by(l, pid, tid, &gives, &holds);
	return (gives | holds) & ~h->told;
}

/* Those that were awaited last come first: room is short. */
static void add_words(const struct prof_links *l, char *text, enum prof_link_mark mark,
		      uint32_t bits)
{
	uint32_t i, last;

	for (; bits; bits &= ~BIT(last)) {
		last = PROF_LINKS_WANTED;
		for (i = 0; i < PROF_LINKS_WANTED; i++)
			if (bits & BIT(i) && (last == PROF_LINKS_WANTED ||
					      l->wanted[i].seen_ns > l->wanted[last].seen_ns))
				last = i;
		prof_link_add(text, mark, l->wanted[last].id);
	}
}

/* What it may be said to give or hold: it, or one like it, would have been seen to take it. */
static uint32_t past_trial(struct prof_links *l, const struct prof_thread_sample *s)
{
	const struct prof_link_holder *h = place_of(l, s->s.pid, s->s.tid);
	const struct prof_kindred *kind;
	uint16_t looks =
		s->s.flags & WIRE_SAMPLE_FL_BY_PARENT ? PROF_LINKS_TRIAL_FAR : PROF_LINKS_TRIAL;

	if (h->pid != s->s.pid || h->tid != s->s.tid)
		return 0;
	if (h->looks >= looks)
		return UINT32_MAX;
	kind = prof_kindred_of(l->kind, h->kind);
	return kind && kind->looks >= looks ? ~kind->takes : 0;
}

void prof_links_tell(struct prof_links *l, struct prof_thread_sample *s)
{
	struct prof_link_holder *h = place_of(l, s->s.pid, s->s.tid);
	uint32_t gives, holds, past = past_trial(l, s);

	held_by(l, s->s.pid, s->s.tid, &gives, &holds);
	if (h->pid == s->s.pid && h->tid == s->s.tid)
		h->told = gives | holds;
	if (s->s.wait == WIRE_WAIT_CHILD) /* what it has its child has from it */
		gives &= ~prof_links_of_ends(l);
	if (prof_wait_watches(s->stack))
		return;
	gives &= past;
	holds &= past;
	if (prof_wait_hands_out(s->stack))
		gives = 0;
	add_words(l, s->links, PROF_LINK_GIVES, gives);
	add_words(l, s->links, PROF_LINK_HOLDS, holds & ~gives);
}

/*
 * ---- what is awaited --------------------------------------------------------------------------
 */

uint32_t prof_links_of_objects(const struct prof_links *l)
{
	uint32_t bits = 0, i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (l->wanted[i].object)
			bits |= BIT(i);
	return bits;
}

uint32_t prof_links_of_ends(const struct prof_links *l)
{
	uint32_t bits = 0, i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (l->wanted[i].other[0])
			bits |= BIT(i);
	return bits;
}

static void forget(struct prof_links *l, uint32_t bits)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_WANTED; i++) {
		l->wanted[i].with &= ~bits;
		if (bits & BIT(i))
			l->wanted[i] = (struct prof_link_wanted){ .id = "" };
	}
	for (i = 0; i < PROF_KINDRED_MAX; i++)
		l->kind[i].takes &= ~bits;
	for (i = 0; bits && i < PROF_LINKS_HOLDERS; i++) {
		l->holder[i].gives &= ~bits;
		l->holder[i].holds &= ~bits;
		l->holder[i].inherits &= ~bits;
		l->holder[i].alone &= ~bits;
		l->holder[i].sure &= ~bits;
		l->holder[i].takes &= ~bits;
		l->holder[i].awaits &= ~bits;
		l->holder[i].told &= ~bits;
	}
}

static void forget_makers(struct prof_links *l, int64_t now_ns)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_HOLDERS; i++)
		if (now_ns - l->holder[i].made_ns > PROF_LINKS_MADE_NS)
			l->holder[i].made_ns = 0;
}

static int64_t old_ns(const struct prof_link_wanted *w)
{
	return w->other[0] ? PROF_LINKS_OLD_END_NS : PROF_LINKS_OLD_NS;
}

void prof_links_age(struct prof_links *l, int64_t now_ns)
{
	uint32_t bits = 0, i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (*l->wanted[i].id && now_ns - l->wanted[i].seen_ns > old_ns(&l->wanted[i]))
			bits |= BIT(i);
	if (bits)
		forget(l, bits);
	forget_makers(l, now_ns);
}

static bool goes_before(const struct prof_link_wanted *a, const struct prof_link_wanted *b)
{
	return a->depth > b->depth || (a->depth == b->depth && a->seen_ns < b->seen_ns);
}

/* Whether what is awaited at that depth may make room for one more at @depth. */
static bool gives_way(const uint32_t count[PROF_LINKS_DEPTH + 1], uint8_t its, uint8_t depth)
{
	if (count[depth] < SHARE)
		return count[its] > SHARE;
	return its == depth || (its > depth && count[its] > SHARE);
}

/*
 * A free place, or that of one that is farther from a submitter, of several the farthest one that
 * was awaited longest ago. A submitter may wait for another object each time, and who makes for it
 * always for the same: so much of the room is each depth's that the next one forward does not take
 * it. PROF_LINKS_WANTED: there is none.
 */
static uint32_t room_for_one(struct prof_links *l, uint8_t depth, int64_t now_ns)
{
	uint32_t count[PROF_LINKS_DEPTH + 1] = { 0 }, i, first = PROF_LINKS_WANTED;

	for (i = 0; i < PROF_LINKS_WANTED; i++) {
		if (!*l->wanted[i].id)
			return i;
		count[l->wanted[i].depth]++;
	}
	for (i = 0; i < PROF_LINKS_WANTED; i++) {
		const struct prof_link_wanted *w = &l->wanted[i];

		if (gives_way(count, w->depth, depth) &&
		    (w->depth != depth || w->seen_ns < now_ns) &&
		    (first == PROF_LINKS_WANTED || goes_before(w, &l->wanted[first])))
			first = i;
	}
	if (first != PROF_LINKS_WANTED)
		forget(l, BIT(first));
	return first;
}

/* Who can give has the other end of a connection, or of a pipe one that writes. */
static void set_ends(struct prof_link_wanted *w, uint64_t end)
{
	uint64_t both[2] = { 0, 0 };
	char *rest;

	w->end = end;
	if (*w->id == 'p') {
		w->other[0] = strtoull(w->id + 1, NULL, 10);
		return;
	}
	if (*w->id == 'm') {
		w->other[0] = end;
		return;
	}
	if (*w->id == 'u') {
		both[0] = strtoull(w->id + 1, &rest, 10);
		both[1] = *rest == '-' ? strtoull(rest + 1, NULL, 10) : 0;
	} else if (*w->id == 't') {
		prof_socket_ends(w->id, both);
	}
	w->other[0] = both[0] == end ? both[1] : both[0];
	w->other[1] = both[0] == end || both[1] == end ? 0 : both[1];
}

/* Its place; PROF_LINKS_WANTED: there is no room. */
static uint32_t add(struct prof_links *l, const char *id, uint64_t end, uint8_t depth,
		    int64_t now_ns)
{
	uint32_t i = room_for_one(l, depth, now_ns);
	struct prof_link_wanted *w = &l->wanted[i];

	if (i == PROF_LINKS_WANTED)
		return i;
	memcpy(w->id, id, strlen(id) + 1);
	w->depth = depth;
	w->object = prof_link_address(id);
	set_ends(w, end);
	l->objects += w->object != 0;
	l->firsts += w->object && depth == first_depth(l);
	l->ends += w->other[0] != 0;
	return i;
}

/* Of one end: the same pair may be awaited at both. */
static uint32_t find(const struct prof_links *l, const char *id, uint64_t end)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (*l->wanted[i].id && !strcmp(l->wanted[i].id, id) && l->wanted[i].end == end)
			return i;
	return PROF_LINKS_WANTED;
}

/* How far a thread is from a submitter; NONE: its waits are not followed. */
static uint8_t depth_of(struct prof_links *l, const struct wire_sample *s)
{
	uint32_t gives, holds, i;
	uint8_t depth = NONE;

	if (s->role == WIRE_ROLE_SUBMITTER || s->role == WIRE_ROLE_FEEDER)
		return 0;
	held_by(l, s->pid, s->tid, &gives, &holds);
	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (holds & BIT(i) && l->wanted[i].depth < depth)
			depth = l->wanted[i].depth;
	if (depth < PROF_LINKS_DEPTH)
		return (uint8_t)(depth + 1);
	/* Who makes and holds nothing here is a native thread (nativelink.h). */
	return s->role == WIRE_ROLE_WORKER || s->role == WIRE_ROLE_PIN ||
			       s->role == WIRE_ROLE_PRODUCER
		       ? 1
		       : NONE;
}

/* A lock, or an address at which one listens, is no thing that is made. */
static bool is_followed(const char *id)
{
	return *id == 'o' || *id == 'q' || *id == 'p' || *id == 'u' || *id == 't' || *id == 'f' ||
	       *id == 'm';
}

/* One id that a thread waits for. Its bit; 0: it is not followed. */
static uint32_t await(struct prof_links *l, const char *id, uint64_t end, uint8_t depth,
		      uint32_t pid, int64_t now_ns)
{
	uint32_t i = find(l, id, end);

	if (i == PROF_LINKS_WANTED && depth != NONE)
		i = add(l, id, end, depth, now_ns);
	if (i == PROF_LINKS_WANTED)
		return 0;
	if (depth < l->wanted[i].depth)
		l->wanted[i].depth = depth;
	l->wanted[i].seen_ns = now_ns;
	if (l->wanted[i].pid != pid && !l->wanted[i].shared) {
		l->wanted[i].pid = pid;
		l->wanted[i].judged = false;
	}
	return BIT(i);
}

static void looked(struct prof_links *l, struct prof_link_holder *h)
{
	struct prof_kindred *kind = prof_kindred_of(l->kind, h->kind);

	h->looks += h->looks < PROF_LINKS_TRIAL;
	if (!kind)
		return;
	kind->looks += kind->looks < PROF_LINKS_TRIAL;
	kind->takes |= h->takes;
}

void prof_links_await(struct prof_links *l, const struct prof_thread_sample *s, int64_t now_ns)
{
	struct prof_link_holder *h = prof_links_holder(l, s->s.pid, s->s.tid);
	const char *at = s->links;
	char id[PROF_LINK_ID], mark;
	uint8_t depth = depth_of(l, &s->s);
	uint32_t bits = 0, n, i;

	for (n = 0; n < PROF_LINKS_WORDS && (mark = prof_link_next(&at, id)); n++)
		if (mark == PROF_LINK_AWAITS && is_followed(id))
			bits |= await(l, id, s->end[n], depth, s->s.pid, now_ns);
	for (i = 0; i < PROF_LINKS_WANTED; i++) {
		if (!(bits & BIT(i)))
			continue;
		l->wanted[i].with = bits & ~BIT(i);
		if (*l->wanted[i].id == 'p' && *s->target == '/')
			l->wanted[i].path = prof_hash_text(s->target);
	}
	if (prof_wait_takes(s->stack) || s->s.wait == WIRE_WAIT_SLEEP)
		h->takes |= bits;
	h->awaits = bits;
	if (*s->stack)
		h->kind = prof_kindred_key(s->s.pid, s->stack);
	looked(l, h);
}

void prof_links_await_on(struct prof_links *l, uint32_t pid, uint32_t tid, int64_t now_ns)
{
	struct prof_link_holder *h = place_of(l, pid, tid);
	uint32_t i;

	if (h->pid != pid || h->tid != tid)
		return;
	looked(l, h);
	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (h->awaits & BIT(i))
			l->wanted[i].seen_ns = now_ns;
}
