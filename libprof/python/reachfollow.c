/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows references from object to object, the nearest first, many at once: one read brings the
 * objects, one their types, one what tells where their contents are, and one the contents.
 */
#include <string.h>

#include "core/clockpoll.h"
#include "pypriv.h"
#include "pytext.h"
#include "reachpriv.h"

#define EPOCH_NS 20000000ll
#define LOWEST 4096u
#ifdef __aarch64__
#define HIGHEST (UINT64_C(1) << 48) /* no program has more that does not ask for it */
#else
#define HIGHEST (UINT64_C(1) << 47)
#endif
#define TABLE_MAX 128u /* places of a set */
#define EDGE_PAGE UINT64_C(4096) /* no page is smaller */
#define LEAST_BYTES 16u /* of an object */
#define BLOCK_ITEMS 64u /* of a deque's block, behind a pointer to the one before */

enum form { /* of a piece */
	FORM_KEYS, /* the head of a dictionary's keys */
	FORM_VALUES, /* the head of values that tell their number */
	FORM_WORDS, /* each refers to an object */
	FORM_ATTRIBUTES, /* the same, to attributes of the class's names */
	FORM_PAIRS, /* the second of each two words does */
	FORM_TRIPLES, /* the third of each three */
	FORM_TABLE, /* the first of each two */
	/* none does: they name the words of the next piece, the first of each two */
	FORM_NAMES_PAIRS,
	FORM_NAMES_TRIPLES, /* the second of each three */
};

#define FORM_HEAD_LAST FORM_VALUES
#define KEYS_BYTES 40u

/* ---- what is offered ---- */

/*
 * A class is hardly made, used and freed, and its memory another one's, within the time of some
 * looks, all of which meet the same few dozen of classes.
 */
static void begin_epoch(struct prof_pyreach *r)
{
	int64_t now = r->lasts ? prof_mono_ns() : 0;

	if (r->lasts && now - r->epoch_ns < EPOCH_NS)
		return;
	r->epoch++;
	r->epoch_ns = now;
}

void prof_pyreach_begin(struct prof_py *py)
{
	struct prof_pyreach *r = &py->reach;

	begin_epoch(r);
	r->search++;
	r->seens = r->head = r->tail = r->laters = 0;
	memset(r->seen, 0, sizeof(r->seen));
}

/* False: it was there before, or there is no room. */
static bool is_new(struct prof_pyreach *r, uint64_t at)
{
	size_t i = (size_t)((at >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % PROF_PYREACH_SEEN;

	if (r->seens >= PROF_PYREACH_SEEN / 2)
		return false;
	for (; r->seen[i]; i = (i + 1) % PROF_PYREACH_SEEN)
		if (r->seen[i] == at)
			return false;
	r->seen[i] = at;
	r->seens++;
	return true;
}

static void note_found(struct prof_pyreach *r, uint64_t at, uint16_t gives,
		       const struct prof_pyway *way)
{
	size_t i;

	for (i = 0; i < r->wanteds; i++) {
		if (r->wanted[i] != at)
			continue;
		if (!r->found[i].held)
			r->found[i].way = *way;
		r->found[i].held = true;
		if (!r->found[i].gives && gives & r->takes[i]) {
			r->found[i].gives = true;
			r->open--;
		}
	}
}

/*
 * By a bound method of what is looked for: one that gives nothing does not tell that it is held
 * now.
 */
static void note_method(struct prof_pyreach *r, uint64_t at, uint16_t gives,
			const struct prof_pyway *way)
{
	size_t i;

	for (i = 0; i < r->wanteds; i++)
		if (r->wanted[i] == at && gives & r->takes[i])
			note_found(r, at, gives, way);
}

/* What the code gives that may mean what is reached so. */
static uint16_t gives_by(const struct prof_pyreach *r, const struct prof_pyway *way)
{
	uint16_t gives = r->frame_gives[way->frame];

	if (way->unnamed)
		return PROF_PYGIVES_KNOWN;
	if (way->name)
		prof_pyreach_named(r, way->name, way->frame, &gives);
	if (way->by_future && gives & PROF_PYGIVES_RESULT)
		gives |= PROF_PYGIVES_CALL; /* of the loop that goes on then */
	return gives | (way->how == PROF_PYHOW_STACK ? PROF_PYGIVES_RELEASE : 0);
}

void prof_pyreach_offer(struct prof_py *py, uint64_t at, const struct prof_pyway *way)
{
	struct prof_pyreach *r = &py->reach;
	struct prof_pynode node = { .at = at, .way = *way };

	if (at < LOWEST || at >= HIGHEST || at % 8)
		return;
	note_found(r, at, gives_by(r, way), way);
	if (way->depth >= r->depth)
		return;
	if (way->unnamed && r->laters < PROF_PYREACH_QUEUE)
		r->later[r->laters++] = node;
	else if (!way->unnamed && r->tail < PROF_PYREACH_QUEUE && is_new(r, at))
		r->queue[r->tail++] = node;
}

/* What has been left for later, when there is nothing else. */
static void take_later(struct prof_pyreach *r)
{
	size_t i;

	for (i = 0; i < r->laters && r->tail < PROF_PYREACH_QUEUE; i++)
		if (is_new(r, r->later[i].at))
			r->queue[r->tail++] = r->later[i];
	r->laters = 0;
}

/* ---- pieces ---- */

static void add_piece(struct prof_pyreach *r, size_t node, enum form form, uint64_t from,
		      uint64_t bytes)
{
	size_t words = (size_t)(bytes + 7) / 8;

	if (!bytes || from < LOWEST || from >= HIGHEST || from % 8 ||
	    r->pieces == PROF_PYREACH_PIECES || r->used + words > PROF_PYREACH_WORDS)
		return;
	r->piece[r->pieces++] = (struct prof_pypiece){ .from = from,
						       .bytes = (uint32_t)bytes,
						       .at = (uint32_t)r->used,
						       .form = (uint8_t)form,
						       .node = (uint8_t)node };
	r->used += words;
}

/* Of many items those at both ends. */
static void add_items(struct prof_pyreach *r, size_t node, enum form form, uint64_t from,
		      uint64_t count, unsigned int stride)
{
	const uint64_t half = PROF_PYREACH_ATTRIBUTES / 2;

	if (count > UINT32_MAX)
		return;
	if (count <= PROF_PYREACH_ATTRIBUTES) {
		add_piece(r, node, form, from, count * stride * 8);
		return;
	}
	add_piece(r, node, form, from, half * stride * 8);
	add_piece(r, node, form, from + (count - half) * stride * 8, half * stride * 8);
}

static int read_pieces(struct prof_py *py, size_t first)
{
	struct prof_pyreach *r = &py->reach;
	struct prof_pymem_part part[PROF_PYREACH_PIECES];
	size_t i;
	int rc;

	for (i = first; i < r->pieces; i++)
		part[i - first] =
			(struct prof_pymem_part){ r->piece[i].from, r->words + r->piece[i].at,
						  r->piece[i].bytes };
	rc = prof_pyreach_read(py, part, r->pieces - first);
	for (i = first; i < r->pieces; i++)
		r->piece[i].bytes = (uint32_t)part[i - first].bytes;
	return rc;
}

/* ---- dictionaries ---- */

/*
 * Where the entries of keys are, whose head is @head. Their values are apart if there are @values.
 */
static struct prof_pyentries entries_of(const struct prof_pyrefs *refs, uint64_t keys,
					const uint8_t *head, uint64_t values)
{
	struct prof_pyentries e = { .count = prof_pymem_word(head, refs->keys.count) };
	uint64_t size = prof_pymem_word(head, 8), indices;

	if (values) {
		e.at = values + refs->values;
		e.stride = 1;
		return e;
	}
	if (refs->keys.log2 == PROF_PYLAYOUT_NONE)
		indices = size * (size <= 0xff	       ? 1
				  : size <= 0xffff     ? 2
				  : size <= UINT32_MAX ? 4
						       : 8);
	else
		indices = UINT64_C(1) << (head[refs->keys.log2] & 63);
	e.stride = refs->keys.kind == PROF_PYLAYOUT_NONE || !head[refs->keys.kind] ? 3 : 2;
	e.at = keys + refs->keys.entries + indices;
	return e;
}

int prof_pyreach_entries(struct prof_py *py, uint64_t dict, struct prof_pyentries *e)
{
	uint64_t at[2];
	uint8_t head[KEYS_BYTES];
	int rc = prof_pymem_read(&py->mem, dict + PROF_PYDICT_KEYS, at, sizeof(at));

	if (!rc)
		rc = prof_pymem_read(&py->mem, at[0], head, sizeof(head));
	if (!rc)
		*e = entries_of(&py->layout.refs, at[0], head, at[1]);
	return rc;
}

static void add_entries(struct prof_py *py, size_t node, uint64_t keys, const uint8_t *head)
{
	const uint8_t *raw = (const uint8_t *)py->reach.head_of[node] + PROF_PYREACH_BEFORE;
	uint64_t values = prof_pymem_word(raw, PROF_PYDICT_KEYS + 8);
	struct prof_pyentries e = entries_of(&py->layout.refs, keys, head, 0);

	if (values && e.count <= PROF_PYREACH_ATTRIBUTES)
		add_items(&py->reach, node, e.stride == 2 ? FORM_NAMES_PAIRS : FORM_NAMES_TRIPLES,
			  e.at, e.count, e.stride);
	if (values)
		e = entries_of(&py->layout.refs, keys, head, values);
	add_items(&py->reach, node,
		  e.stride == 1	  ? FORM_WORDS
		  : e.stride == 2 ? FORM_PAIRS
				  : FORM_TRIPLES,
		  e.at, e.count, e.stride);
}

/* ---- what an object refers to by itself ---- */

struct object { /* one of the batch */
	const struct prof_pynode *node;
	const struct prof_pytype *type;
	const uint8_t *raw;
	size_t number;
};

static uint64_t word(const struct object *o, int offset)
{
	uint64_t value;

	memcpy(&value, o->raw + offset, sizeof(value));
	return value;
}

static void offer_at(struct prof_py *py, const struct object *o, uint64_t at, unsigned int depth,
		     enum prof_pyhow how)
{
	struct prof_pyway way = o->node->way;

	way.depth = (uint8_t)depth;
	way.how = (uint8_t)how;
	prof_pyreach_offer(py, at, &way);
}

static void offer_next(struct prof_py *py, const struct object *o, uint64_t at)
{
	offer_at(py, o, at, o->node->way.depth + 1u, PROF_PYHOW_REFERENCE);
}

/* What is no step of its own, such as a cell. */
static void offer_same(struct prof_py *py, const struct object *o, uint64_t at)
{
	offer_at(py, o, at, o->node->way.depth, PROF_PYHOW_REFERENCE);
}

/* A tuple of which this is no more than a wrapper. */
static void offer_before(struct prof_py *py, const struct object *o, uint64_t at)
{
	offer_at(py, o, at, o->node->way.depth ? o->node->way.depth - 1u : 0, PROF_PYHOW_REFERENCE);
}

/* An attribute of that name, 0: it is not known. */
static void offer_attribute(struct prof_py *py, const struct prof_pynode *of, uint64_t name,
			    uint64_t at)
{
	struct prof_pyway way = of->way;
	uint16_t gives;

	way.depth++;
	way.how = PROF_PYHOW_REFERENCE;
	if (!way.inside && name && py->reach.names_known) {
		way.name = name;
		way.unnamed |= !prof_pyreach_named(&py->reach, name, way.frame, &gives);
		if (!way.first_name) {
			way.first_name = name;
			way.first_owner = way.owner;
		}
	}
	prof_pyreach_offer(py, at, &way);
}

static void open_attributes(struct prof_py *py, const struct object *o)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	const struct prof_pytype *t = o->type;
	uint64_t values = 0, dict = 0;

	if (!(t->flags & PROF_PYTYPE_MANAGED)) {
		if (t->dictionary > 0 && t->dictionary + 8 <= (int64_t)PROF_PYREACH_OWN)
			offer_at(py, o, word(o, (int)t->dictionary), o->node->way.depth,
				 PROF_PYHOW_ATTRIBUTES);
		return;
	}
	dict = word(o, -24);
	if (refs->attributes == PROF_PYATTRIBUTES_TWO) {
		values = word(o, -32);
	} else if (refs->attributes == PROF_PYATTRIBUTES_TAGGED && dict & 1) {
		values = dict + 1;
		dict = 0;
	}
	offer_at(py, o, dict, o->node->way.depth, PROF_PYHOW_ATTRIBUTES);
	if (values)
		add_items(&py->reach, o->number, FORM_ATTRIBUTES, values + refs->values, t->values,
			  1);
	if (t->flags & PROF_PYTYPE_INLINE)
		add_piece(&py->reach, o->number, FORM_VALUES, o->node->at + (uint64_t)t->size, 8);
}

static void open_instance(struct prof_py *py, const struct object *o)
{
	const struct prof_pytype *t = o->type;
	int64_t at, end = t->size < (int64_t)PROF_PYREACH_OWN ? t->size : (int64_t)PROF_PYREACH_OWN;

	for (at = 16; at + 8 <= end; at += 8)
		if (at != t->dictionary && at != t->weak)
			offer_next(py, o, word(o, (int)at));
	if (t->size > (int64_t)PROF_PYREACH_OWN)
		add_items(&py->reach, o->number, FORM_WORDS, o->node->at + PROF_PYREACH_OWN,
			  (uint64_t)(t->size - PROF_PYREACH_OWN) / 8, 1);
	open_attributes(py, o);
}

static void open_deque(struct prof_py *py, const struct object *o)
{
	uint64_t items = word(o, PROF_PYVAR_SIZE), left = word(o, 24), right = word(o, 32);
	uint64_t first = word(o, 40), last = word(o, 48);

	if (!items || first >= BLOCK_ITEMS || last >= BLOCK_ITEMS ||
	    (left == right && last < first))
		return;
	if (left != right)
		add_piece(&py->reach, o->number, FORM_WORDS, right + 8, (last + 1) * 8);
	else
		last = last + 1 - first;
	if (left != right)
		last = BLOCK_ITEMS - first;
	add_piece(&py->reach, o->number, FORM_WORDS, left + 8 + first * 8, last * 8);
}

/* Is that what is looked for, and not yet known to be given? */
static bool is_open(const struct prof_pyreach *r, uint64_t at)
{
	size_t i;

	for (i = 0; i < r->wanteds; i++)
		if (r->wanted[i] == at && !r->found[i].gives)
			return true;
	return false;
}

static bool read_builtin_name(struct prof_py *py, const struct object *o, char *name, size_t room)
{
	uint64_t at;

	return !prof_pymem_read(&py->mem, word(o, 16), &at, sizeof(at)) &&
	       prof_pymem_text(&py->mem, at, name, room) > 0;
}

static bool read_method_name(struct prof_py *py, const struct object *o, char *name, size_t room)
{
	uint64_t at;

	return !prof_pymem_read(&py->mem, word(o, 16) + py->layout.refs.function.name, &at,
				sizeof(at)) &&
	       prof_pytext(&py->mem, &py->layout, at, false, name, room) > 0;
}

/* Who has a queue's put has what gives, whatever it is called where it is. */
static void open_method(struct prof_py *py, const struct object *o)
{
	uint64_t self = word(o, 24);
	char name[32];

	if (is_open(&py->reach, self) &&
	    (o->type->kind == PROF_PYKIND_BUILTIN ? read_builtin_name(py, o, name, sizeof(name))
						  : read_method_name(py, o, name, sizeof(name))))
		note_method(&py->reach, self, prof_pyreach_name_gives(name), &o->node->way);
	offer_same(py, o, self);
}

static void open_object(struct prof_py *py, const struct object *o)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	struct prof_pyreach *r = &py->reach;
	uint64_t size = word(o, PROF_PYVAR_SIZE);

	switch ((enum prof_pykind)o->type->kind) {
	case PROF_PYKIND_INSTANCE:
		if (!o->type->thread || o->node->way.how == PROF_PYHOW_SELF)
			open_instance(py, o);
		break;
	case PROF_PYKIND_LIST:
		add_items(r, o->number, FORM_WORDS, word(o, PROF_PYLIST_ITEMS), size, 1);
		break;
	case PROF_PYKIND_TUPLE:
		add_items(r, o->number, FORM_WORDS, o->node->at + refs->items, size, 1);
		break;
	case PROF_PYKIND_DICT:
		add_piece(r, o->number, FORM_KEYS, word(o, PROF_PYDICT_KEYS), KEYS_BYTES);
		break;
	case PROF_PYKIND_SET:
		size = word(o, 32); /* a mask */
		add_piece(r, o->number, FORM_TABLE, word(o, 40),
			  (size < TABLE_MAX ? size + 1 : TABLE_MAX) * 16);
		break;
	case PROF_PYKIND_DEQUE:
		open_deque(py, o);
		break;
	case PROF_PYKIND_FUNCTION:
		offer_before(py, o, word(o, (int)refs->function.closure));
		offer_before(py, o, word(o, (int)refs->function.defaults));
		break;
	case PROF_PYKIND_BUILTIN:
	case PROF_PYKIND_METHOD:
		open_method(py, o);
		break;
	case PROF_PYKIND_CELL:
		offer_same(py, o, word(o, 16));
		break;
	case PROF_PYKIND_QUEUE:
		if (refs->ring == PROF_PYLAYOUT_NONE)
			open_instance(py, o);
		else
			add_items(r, o->number, FORM_WORDS, word(o, (int)refs->ring),
				  word(o, (int)refs->ring + 8), 1);
		break;
	case PROF_PYKIND_DESCRIPTOR:
	case PROF_PYKIND_NONE:
		break;
	}
}

/* ---- the batch ---- */

/*
 * A head is read at a length that some objects do not have: where nothing is mapped before or
 * behind one, as at the ends of an arena, what its own page has of it.
 */
static void read_at_edge(struct prof_py *py, uint64_t at, uint64_t head[PROF_PYREACH_HEAD / 8],
			 struct prof_pymem_part *part)
{
	uint64_t page = at & ~(EDGE_PAGE - 1), from = part->from < page ? page : part->from;
	uint64_t end = at - PROF_PYREACH_BEFORE + PROF_PYREACH_HEAD;

	if (at + LEAST_BYTES > page + EDGE_PAGE)
		return;
	if (end > page + EDGE_PAGE)
		end = page + EDGE_PAGE;
	memset(head, 0, PROF_PYREACH_HEAD);
	if (!prof_pymem_read(&py->mem, from, (uint8_t *)head + (from - part->from), end - from))
		part->bytes = end - from;
}

static int read_heads(struct prof_py *py, const struct prof_pynode *node, size_t n)
{
	struct prof_pyreach *r = &py->reach;
	struct prof_pymem_part part[PROF_PYREACH_BATCH];
	uint64_t type[PROF_PYREACH_BATCH];
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ node[i].at - PROF_PYREACH_BEFORE, r->head_of[i],
						    PROF_PYREACH_HEAD };
	rc = prof_pyreach_read(py, part, n);
	if (rc)
		return rc;
	for (i = 0; i < n; i++)
		if (!part[i].bytes)
			read_at_edge(py, node[i].at, r->head_of[i], &part[i]);
	for (i = 0; i < n; i++)
		type[i] = part[i].bytes ? r->head_of[i][(PROF_PYREACH_BEFORE + 8) / 8] : 0;
	return prof_pyreach_types(py, type, n, true, r->type_of);
}

/* What the heads of contents tell of the contents. */
static void add_contents(struct prof_py *py, size_t heads)
{
	struct prof_pyreach *r = &py->reach;
	size_t i;

	for (i = 0; i < heads; i++) {
		const struct prof_pypiece *p = &r->piece[i];
		const uint8_t *raw = (const uint8_t *)(r->words + p->at);

		if (!p->bytes)
			continue;
		if (p->form == FORM_KEYS)
			add_entries(py, p->node, p->from, raw);
		else if (p->form == FORM_VALUES && raw[3] && raw[0] <= PROF_PYREACH_ATTRIBUTES)
			add_items(r, p->node, FORM_ATTRIBUTES, p->from + py->layout.refs.values,
				  raw[0], 1);
	}
}

/* The name of an attribute among those of this piece; 0: not known. */
static uint64_t name_of(const struct prof_pyreach *r, const struct prof_pypiece *p, size_t i)
{
	const struct prof_pypiece *names = p - 1;

	if (p->form == FORM_ATTRIBUTES)
		return i < PROF_PYREACH_KEYS ? r->type_of[p->node]->key[i] : 0;
	if (p->form == FORM_PAIRS || p->form == FORM_TRIPLES)
		return r->words[p->at + (i + 1) * (p->form == FORM_PAIRS ? 2 : 3) - 2];
	if (p == r->piece || names->node != p->node || !names->bytes)
		return 0;
	if (names->form == FORM_NAMES_PAIRS)
		return r->words[names->at + i * 2];
	return names->form == FORM_NAMES_TRIPLES ? r->words[names->at + i * 3 + 1] : 0;
}

static void offer_piece(struct prof_py *py, const struct prof_pynode *of,
			const struct prof_pypiece *p)
{
	const uint64_t *word = py->reach.words + p->at;
	size_t stride = p->form <= FORM_ATTRIBUTES ? 1 : p->form == FORM_TRIPLES ? 3 : 2, i;
	bool named = p->form == FORM_ATTRIBUTES || of->way.how == PROF_PYHOW_ATTRIBUTES;
	struct prof_pyway way = of->way;

	way.depth++;
	way.how = PROF_PYHOW_REFERENCE;
	for (i = 0; i < p->bytes / 8 / stride; i++, word += stride) {
		uint64_t at = p->form == FORM_TABLE ? *word : word[stride - 1];

		if (named)
			offer_attribute(py, of, name_of(&py->reach, p, i), at);
		else
			prof_pyreach_offer(py, at, &way);
	}
}

static void offer_contents(struct prof_py *py, const struct prof_pynode *node)
{
	const struct prof_pypiece *p = py->reach.piece, *end = p + py->reach.pieces;

	for (; p < end; p++)
		if (p->form > FORM_HEAD_LAST && p->form < FORM_NAMES_PAIRS)
			offer_piece(py, &node[p->node], p);
}

/* An object of a class is where the names of attributes begin to matter, or end to. */
static void enter(struct prof_pyway *way, const struct prof_pytype *type)
{
	way->by_future |= type->plain_future;
	if (type->takes)
		way->inside = true;
	else if (type->kind == PROF_PYKIND_INSTANCE && !way->inside)
		way->owner = type->at;
}

static int open_batch(struct prof_py *py, struct prof_pynode *node, size_t n)
{
	struct prof_pyreach *r = &py->reach;
	size_t i, heads;
	int rc = read_heads(py, node, n);

	r->pieces = r->used = 0;
	for (i = 0; i < n && !rc; i++) {
		struct object o = { .node = &node[i],
				    .type = r->type_of[i],
				    .raw = (const uint8_t *)r->head_of[i] + PROF_PYREACH_BEFORE,
				    .number = i };

		if (!o.type || (r->looks_behind && !prof_pyreach_leads_behind(r, &node[i], o.type)))
			continue;
		enter(&node[i].way, o.type);
		open_object(py, &o);
	}
	heads = r->pieces;
	if (!rc)
		rc = read_pieces(py, 0);
	if (!rc)
		add_contents(py, heads);
	if (!rc)
		rc = read_pieces(py, heads);
	if (!rc)
		offer_contents(py, node);
	return rc;
}

int prof_pyreach_follow(struct prof_py *py)
{
	struct prof_pyreach *r = &py->reach;
	struct prof_pynode batch[PROF_PYREACH_BATCH];
	int rc = 0;

	while (!rc && r->open && r->head < r->objects) {
		size_t n;

		if (r->head == r->tail)
			take_later(r);
		n = r->tail - r->head;
		if (!n)
			break;
		if (n > PROF_PYREACH_BATCH)
			n = PROF_PYREACH_BATCH;
		memcpy(batch, r->queue + r->head, n * sizeof(*batch));
		r->head += n;
		rc = open_batch(py, batch, n);
	}
	return rc;
}
