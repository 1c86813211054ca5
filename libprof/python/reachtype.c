/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of the types of objects. A type is looked at once in each search, since its memory
 * may be another's by now; what its name and its bases say is kept.
 */
#include <string.h>
#include <unistd.h>

#include "pypriv.h"
#include "pytext.h"
#include "reachpriv.h"

#define TYPE_BYTES 296u
#define TYPE_NAME 24u
#define TYPE_SIZE 32u
#define TYPE_FLAGS 168u
#define TYPE_WEAK 208u
#define TYPE_BASE 256u
#define TYPE_NAMES 264u
#define TYPE_DICTIONARY 288u

#define FLAG_HEAP (UINT64_C(1) << 9)
#define FLAG_READY (UINT64_C(1) << 12)
#define FLAG_COLLECTED (UINT64_C(1) << 14) /* only those refer to others */
#define FLAG_LONG (UINT64_C(1) << 24)
#define FLAG_LIST (UINT64_C(1) << 25)
#define FLAG_TUPLE (UINT64_C(1) << 26)
#define FLAG_BYTES (UINT64_C(1) << 27)
#define FLAG_TEXT (UINT64_C(1) << 28)
#define FLAG_DICT (UINT64_C(1) << 29)
#define FLAG_TYPE (UINT64_C(1) << 31)
#define FLAGS                                                                                 \
	(PROF_PYTYPE_INLINE | PROF_PYTYPE_MANAGED | FLAG_HEAP | FLAG_READY | FLAG_COLLECTED | \
	 FLAG_LONG | FLAG_LIST | FLAG_TUPLE | FLAG_BYTES | FLAG_TEXT | FLAG_DICT | FLAG_TYPE)

#define BASES_MAX 8u
#define NAME_ROOM 64u
#define MODULE_WITHIN 8u
#define KEYS_BYTES 40u
#define SIZE_MAX_SANE (1 << 20)
#define PROBES 8u

/* ---- names ---- */

static const struct {
	const char *name;
	enum prof_pykind kind;
} kinds[] = {
	{ "set", PROF_PYKIND_SET },
	{ "frozenset", PROF_PYKIND_SET },
	{ "collections.deque", PROF_PYKIND_DEQUE },
	{ "function", PROF_PYKIND_FUNCTION },
	{ "builtin_function_or_method", PROF_PYKIND_BUILTIN },
	{ "builtin_method", PROF_PYKIND_BUILTIN },
	{ "method", PROF_PYKIND_METHOD },
	{ "cell", PROF_PYKIND_CELL },
	{ "callable_iterator", PROF_PYKIND_CELL },
	{ "_queue.SimpleQueue", PROF_PYKIND_QUEUE },
	{ "module", PROF_PYKIND_NONE },
	{ "frame", PROF_PYKIND_NONE },
	{ "traceback", PROF_PYKIND_NONE },
	{ "code", PROF_PYKIND_NONE },
	{ "generator", PROF_PYKIND_NONE },
	{ "coroutine", PROF_PYKIND_NONE },
	{ "async_generator", PROF_PYKIND_NONE },
	{ "mappingproxy", PROF_PYKIND_NONE },
	{ "weakref", PROF_PYKIND_NONE },
	{ "weakref.ReferenceType", PROF_PYKIND_NONE },
	{ "weakproxy", PROF_PYKIND_NONE },
	{ "weakref.ProxyType", PROF_PYKIND_NONE },
	{ "method_descriptor", PROF_PYKIND_DESCRIPTOR },
	{ "member_descriptor", PROF_PYKIND_NONE },
	{ "getset_descriptor", PROF_PYKIND_NONE },
	{ "wrapper_descriptor", PROF_PYKIND_NONE },
	{ "classmethod_descriptor", PROF_PYKIND_NONE },
	{ "property", PROF_PYKIND_NONE },
	{ "staticmethod", PROF_PYKIND_NONE },
	{ "classmethod", PROF_PYKIND_NONE },
};

static const struct {
	const char *name;
	enum prof_pyawaits awaits;
} awaits[] = {
	{ "coroutine", PROF_PYAWAITS_FRAME },
	{ "generator", PROF_PYAWAITS_FRAME },
	{ "async_generator", PROF_PYAWAITS_FRAME },
	{ "coroutine_wrapper", PROF_PYAWAITS_INNER },
	{ "async_generator_asend", PROF_PYAWAITS_INNER },
	{ "async_generator_athrow", PROF_PYAWAITS_INNER },
	{ "anext_awaitable", PROF_PYAWAITS_INNER },
	{ "_asyncio.FutureIter", PROF_PYAWAITS_INNER },
	{ "_asyncio.Task", PROF_PYAWAITS_TASK },
};

static bool is_one_of(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (!strcmp(name, *list))
			return true;
	return false;
}

static void learn_awaits(struct prof_pytype *t, const char *name, bool itself, bool heap)
{
	size_t i;

	if (!strcmp(name, "_asyncio.Future") && !t->awaits)
		t->awaits = itself ? PROF_PYAWAITS_FUTURE : PROF_PYAWAITS_OTHERS;
	for (i = 0; i < sizeof(awaits) / sizeof(*awaits); i++)
		if (!strcmp(name, awaits[i].name) && (!heap || strchr(name, '.')))
			t->awaits = (uint8_t)awaits[i].awaits;
}

/* What one name in the chain of bases tells. A class of the program's may be called "cell". */
static void learn_name(struct prof_pytype *t, const char *name, bool itself, bool heap)
{
	static const char *const waited[] = { "_queue.SimpleQueue", "_thread.lock", "_thread.RLock",
					      "_multiprocessing.SemLock", NULL };
	static const char *const locks[] = { "_thread.lock", "_thread.RLock", NULL };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(name, kinds[i].name) && (!heap || strchr(name, '.')))
			t->kind = (uint8_t)kinds[i].kind;
	learn_awaits(t, name, itself, heap);
	t->waited |= is_one_of(name, waited);
	t->lock |= is_one_of(name, locks);
	t->shared |= !strncmp(name, "_multiprocessing.", 17);
	t->asyncio |= itself && !strncmp(name, "_asyncio.", 9);
	t->plain_future |= itself && heap && !strcmp(name, "Future");
	t->thread |= itself && (!strcmp(name, "Thread") || !strcmp(name, "_MainThread"));
	if (!t->takes)
		t->takes = prof_pyreach_type_takes(name);
}

/* ---- one type ---- */

static struct prof_pytype describe(uint64_t at, const uint8_t *raw)
{
	return (struct prof_pytype){
		.at = at,
		.name = prof_pymem_word(raw, TYPE_NAME),
		.base = prof_pymem_word(raw, TYPE_BASE),
		.flags = prof_pymem_word(raw, TYPE_FLAGS) & FLAGS,
		.size = (int64_t)prof_pymem_word(raw, TYPE_SIZE),
		.dictionary = (int64_t)prof_pymem_word(raw, TYPE_DICTIONARY),
		.weak = (int64_t)prof_pymem_word(raw, TYPE_WEAK),
	};
}

static bool is_same(const struct prof_pytype *a, const struct prof_pytype *b)
{
	return a->at == b->at && a->name == b->name && a->base == b->base && a->flags == b->flags &&
	       a->size == b->size && a->dictionary == b->dictionary && a->weak == b->weak;
}

/* The type of a type is PyType_Type or a class of classes. */
static bool is_type(struct prof_py *py, const uint8_t *raw)
{
	struct prof_pyreach *r = &py->reach;
	uint64_t meta = prof_pymem_word(raw, PROF_PYOBJECT_TYPE), flags;
	int64_t size = (int64_t)prof_pymem_word(raw, TYPE_SIZE);

	if (size < 16 || size > SIZE_MAX_SANE)
		return false;
	if (!r->type_type && prof_pymem_read(&py->mem, py->at.code_type + PROF_PYOBJECT_TYPE,
					     &r->type_type, sizeof(r->type_type)))
		return false;
	/* to 3.9 some types of C are made ready when they are first looked into */
	if (meta == r->type_type)
		return prof_pymem_word(raw, TYPE_FLAGS) & FLAG_READY ||
		       !(prof_pymem_word(raw, TYPE_FLAGS) & FLAG_HEAP);
	return prof_pymem_word(raw, TYPE_FLAGS) & FLAG_READY && meta % 8 == 0 &&
	       !prof_pymem_read(&py->mem, meta + TYPE_FLAGS, &flags, sizeof(flags)) &&
	       flags & FLAG_TYPE && flags & FLAG_READY;
}

static bool read_type_name(struct prof_py *py, uint64_t at, char *name)
{
	return at && prof_pymem_text(&py->mem, at, name, NAME_ROOM) > 0;
}

/* Is it a class of multiprocessing's? One of the first words of its dictionary says so. */
static bool is_shared(struct prof_py *py, const struct prof_pytype *t)
{
	uint64_t word[3 * MODULE_WITHIN], dict;
	struct prof_pyentries e;
	char text[32];
	size_t i, n;

	if (!(t->flags & FLAG_HEAP) ||
	    prof_pymem_read(&py->mem, t->at + TYPE_NAMES, &dict, sizeof(dict)) ||
	    prof_pyreach_entries(py, dict, &e) || e.stride < 2)
		return false;
	n = e.count < MODULE_WITHIN ? e.count : MODULE_WITHIN;
	if (prof_pymem_read(&py->mem, e.at, word, n * e.stride * sizeof(*word)))
		return false;
	for (i = 0; i < n; i++) {
		uint64_t *of = word + (i + 1) * e.stride - 2;

		if (prof_pytext(&py->mem, &py->layout, of[0], false, text, sizeof(text)) > 0 &&
		    !strcmp(text, "__module__"))
			return prof_pytext(&py->mem, &py->layout, of[1], false, text,
					   sizeof(text)) > 0 &&
			       !strncmp(text, "multiprocessing.", 16);
	}
	return false;
}

/* From the type itself to the one before object. */
static void learn_bases(struct prof_py *py, struct prof_pytype *t)
{
	struct prof_pytype one = *t;
	uint8_t raw[TYPE_BYTES];
	char name[NAME_ROOM];
	unsigned int n;

	for (n = 0; n < BASES_MAX; n++) {
		if (!read_type_name(py, one.name, name))
			return;
		learn_name(t, name, !n, one.flags & FLAG_HEAP);
		t->shared |= py->mem.pid != getpid() && is_shared(py, &one);
		if (!one.base || one.base % 8 ||
		    prof_pymem_read(&py->mem, one.base, raw, sizeof(raw)))
			return;
		one = describe(one.base, raw);
		if (!one.base)
			return; /* object */
	}
}

static void learn(struct prof_py *py, struct prof_pytype *t)
{
	t->kind = PROF_PYKIND_INSTANCE;
	learn_bases(py, t);
	if (t->flags & (FLAG_TYPE | FLAG_LONG | FLAG_BYTES | FLAG_TEXT) ||
	    !(t->flags & FLAG_COLLECTED))
		t->kind = PROF_PYKIND_NONE;
	else if (t->flags & FLAG_LIST)
		t->kind = PROF_PYKIND_LIST;
	else if (t->flags & FLAG_TUPLE)
		t->kind = PROF_PYKIND_TUPLE;
	else if (t->flags & FLAG_DICT)
		t->kind = PROF_PYKIND_DICT;
}

/* ---- the table ---- */

/* Its place: where it is, or one that this search does not need. NULL: all of them are in use. */
static struct prof_pytype *place(struct prof_pyreach *r, uint64_t at)
{
	size_t first = (size_t)(at >> 4 ^ at >> 13) % PROF_PYREACH_TYPES, i;
	struct prof_pytype *free = NULL;

	for (i = 0; i < PROBES; i++) {
		struct prof_pytype *t = &r->type[(first + i) % PROF_PYREACH_TYPES];

		if (t->at == at)
			return t;
		if (!free && (!t->at || t->search != r->search))
			free = t;
	}
	return free;
}

static struct prof_pytype *take(struct prof_py *py, uint64_t at, const uint8_t *raw)
{
	struct prof_pytype now = describe(at, raw), *t = place(&py->reach, at);

	if (!t || !is_type(py, raw))
		return NULL;
	if (!is_same(t, &now)) {
		*t = now;
		learn(py, t);
	}
	t->search = py->reach.search;
	t->checked = py->reach.epoch;
	return t;
}

/* What is read at once of the keys that the objects of a class share. */
struct shared_keys {
	uint64_t at;
	uint8_t head[KEYS_BYTES];
	uint64_t entry[2 * PROF_PYREACH_KEYS];
};

static size_t count_of(const struct prof_py *py, const struct shared_keys *k)
{
	uint64_t n = prof_pymem_word(k->head, py->layout.refs.keys.count);

	return n <= PROF_PYREACH_KEYS ? (size_t)n : 0;
}

static void take_keys(struct prof_py *py, struct prof_pytype *t, const struct shared_keys *k,
		      bool known)
{
	size_t n = count_of(py, k), i;

	t->keys = known ? k->at : 0;
	t->values = (uint32_t)n;
	memset(t->key, 0, sizeof(t->key));
	for (i = 0; i < n && known; i++)
		t->key[i] = k->entry[2 * i];
}

/*
 * Leaves those of the types whose keys are not as they were: such keys only grow, and in another
 * place if there is no room. Their number, or an error of reading.
 */
static int sort_out_known(struct prof_py *py, struct prof_pytype **type, size_t n)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	struct prof_pymem_part part[2 * PROF_PYREACH_BATCH];
	uint64_t now[PROF_PYREACH_BATCH][2];
	size_t left = 0, i;
	int rc;

	for (i = 0; i < n; i++) {
		part[2 * i] =
			(struct prof_pymem_part){ type[i]->at + refs->cached_keys, &now[i][0], 8 };
		part[2 * i + 1] =
			(struct prof_pymem_part){ type[i]->keys + refs->keys.count, &now[i][1], 8 };
	}
	rc = prof_pyreach_read(py, part, 2 * n);
	if (rc)
		return rc;
	for (i = 0; i < n; i++)
		if (!type[i]->keys || !part[2 * i].bytes || !part[2 * i + 1].bytes ||
		    now[i][0] != type[i]->keys || now[i][1] != type[i]->values)
			type[left++] = type[i];
	return (int)left;
}

/*
 * How many attributes the objects of these classes have and their names: by the keys that they
 * share.
 */
static int read_keys(struct prof_py *py, struct prof_pytype **type, size_t n)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	struct prof_pymem_part part[PROF_PYREACH_BATCH];
	struct shared_keys *k = (struct shared_keys *)py->reach.words;
	size_t i;
	int rc;

	_Static_assert(sizeof(*k) * PROF_PYREACH_BATCH <= sizeof(py->reach.words), "their room");
	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ type[i]->at + refs->cached_keys, &k[i].at, 8 };
	rc = prof_pyreach_read(py, part, n);
	for (i = 0; i < n; i++) {
		k[i].at = part[i].bytes ? k[i].at : 0;
		part[i] = (struct prof_pymem_part){ k[i].at, k[i].head, KEYS_BYTES };
	}
	if (!rc)
		rc = prof_pyreach_read(py, part, n);
	for (i = 0; i < n; i++) {
		if (!part[i].bytes)
			memset(k[i].head, 0, sizeof(k[i].head));
		part[i] = (struct prof_pymem_part){ k[i].at + refs->keys.entries +
							    (UINT64_C(1)
							     << (k[i].head[refs->keys.log2] & 63)),
						    k[i].entry, count_of(py, &k[i]) * 16 };
	}
	if (!rc)
		rc = prof_pyreach_read(py, part, n);
	for (i = 0; i < n && !rc; i++)
		take_keys(py, type[i], &k[i], part[i].bytes);
	return rc;
}

static struct prof_pytype *known(struct prof_pyreach *r, uint64_t at)
{
	struct prof_pytype *t = place(r, at);

	if (!t || t->at != at || t->checked != r->epoch)
		return NULL;
	t->search = r->search;
	return t;
}

/* Not seen in this epoch, though the objects of the class share some. */
static bool lacks_keys(const struct prof_py *py, const struct prof_pytype *t)
{
	return t->flags & PROF_PYTYPE_MANAGED && t->keyed != py->reach.epoch &&
	       py->layout.refs.cached_keys != PROF_PYLAYOUT_NONE;
}

/* Adds one that is known, once. */
static void add_managed(const struct prof_py *py, struct prof_pytype *t, struct prof_pytype **list,
			size_t *n)
{
	if (!lacks_keys(py, t))
		return;
	t->keyed = py->reach.epoch;
	list[(*n)++] = t;
}

static bool is_asked(const uint64_t *asked, size_t n, uint64_t at)
{
	while (n--)
		if (asked[n] == at)
			return true;
	return false;
}

int prof_pyreach_types(struct prof_py *py, const uint64_t *at, size_t n, bool keys,
		       struct prof_pytype **out)
{
	uint8_t raw[PROF_PYREACH_BATCH][TYPE_BYTES];
	struct prof_pymem_part part[PROF_PYREACH_BATCH];
	struct prof_pytype *managed[PROF_PYREACH_BATCH];
	uint64_t asked[PROF_PYREACH_BATCH];
	size_t asks = 0, counts = 0, i;
	int rc;

	for (i = 0; i < n; i++) {
		struct prof_pytype *t = at[i] && at[i] % 8 == 0 ? known(&py->reach, at[i]) : NULL;

		if (t && keys)
			add_managed(py, t, managed, &counts);
		if (t || !at[i] || at[i] % 8 || is_asked(asked, asks, at[i]))
			continue;
		part[asks] = (struct prof_pymem_part){ at[i], raw[asks], TYPE_BYTES };
		asked[asks++] = at[i];
	}
	rc = prof_pyreach_read(py, part, asks);
	for (i = 0; i < asks && !rc; i++) {
		struct prof_pytype *t = part[i].bytes ? take(py, asked[i], raw[i]) : NULL;

		if (keys && t)
			add_managed(py, t, managed, &counts);
	}
	if (!rc && counts)
		rc = sort_out_known(py, managed, counts);
	if (rc > 0)
		rc = read_keys(py, managed, (size_t)rc);
	for (i = 0; i < n; i++)
		out[i] = at[i] && !rc ? known(&py->reach, at[i]) : NULL;
	return rc;
}
