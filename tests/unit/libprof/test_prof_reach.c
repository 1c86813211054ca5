/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects of every version of Python, made by hand in this process: what is reached through each
 * kind of them, and that nothing breaks when any word of them is any other. With real Pythons:
 * tests/e2e/libprof/test_prof_awaited.py.
 */
#include <errno.h>

#include "harness.h"
#include "python/pypriv.h"
#include "python/pystack.h"
#include "python/reach.h"

#define ARENA_WORDS 16384
#define FLAG_HEAP (UINT64_C(1) << 9)
#define FLAG_READY (UINT64_C(1) << 12)
#define FLAG_COLLECTED (UINT64_C(1) << 14)
#define FLAG_LIST (UINT64_C(1) << 25)
#define FLAG_TUPLE (UINT64_C(1) << 26)
#define FLAG_DICT (UINT64_C(1) << 29)
#define FLAG_TYPE (UINT64_C(1) << 31)

static const struct {
	uint32_t minor;
	struct prof_pyrefs refs;
} versions[] = {
#define NONE PROF_PYLAYOUT_NONE
#define FACTS_PYTHON_OBJECTS(number, ...) { .minor = number, .refs = { __VA_ARGS__ } },
#include "facts/pythons.def"
};

static uint64_t arena[ARENA_WORDS];
static size_t used; /* words */
static struct prof_py py;
static struct prof_pylayout *const l = &py.layout;
static struct prof_py_thread thread;
static uint64_t type_type, object_type, plain_type, list_type, tuple_type, dict_type, text_type;
static uint64_t class, queue, target, attribute[2];

/* ---- making ---- */

static uint64_t make(size_t bytes)
{
	uint64_t *at = arena + used;

	used += (bytes + 15) / 16 * 2;
	REQUIRE(used <= ARENA_WORDS);
	return (uintptr_t)at;
}

static void put(uint64_t at, uint32_t offset, uint64_t value, size_t bytes)
{
	memcpy((void *)(uintptr_t)(at + offset), &value, bytes);
}

static void put_word(uint64_t at, uint32_t offset, uint64_t value)
{
	put(at, offset, value, 8);
}

static uint64_t make_c_text(const char *text)
{
	uint64_t at = make(strlen(text) + 1);

	memcpy((void *)(uintptr_t)at, text, strlen(text) + 1);
	return at;
}

static uint64_t make_text(const char *text)
{
	uint64_t at = make(l->ascii + strlen(text) + 1);

	put_word(at, 8, text_type);
	put_word(at, 16, strlen(text));
	put(at, 32, 1 << 2 | 1 << 5 | 1 << 6, 4);
	memcpy((void *)(uintptr_t)(at + l->ascii), text, strlen(text) + 1);
	return at;
}

static uint64_t make_type(const char *name, uint64_t flags, uint64_t size)
{
	uint64_t at = make(1024);

	put_word(at, 8, type_type ? type_type : at);
	put_word(at, 24, make_c_text(name));
	put_word(at, 32, size);
	put_word(at, 168, flags | FLAG_READY);
	put_word(at, 256, object_type);
	return at;
}

static uint64_t make_object(uint64_t type, size_t bytes)
{
	uint64_t at = make(PROF_PYREACH_BEFORE + bytes) + PROF_PYREACH_BEFORE;

	put_word(at, 0, 1);
	put_word(at, 8, type);
	return at;
}

static uint64_t make_list(const uint64_t *item, size_t n)
{
	uint64_t at = make_object(list_type, 40), items = make(n * 8);

	put_word(at, 16, n);
	put_word(at, 24, items);
	memcpy((void *)(uintptr_t)items, item, n * 8);
	return at;
}

static uint64_t make_tuple(const uint64_t *item, size_t n)
{
	uint64_t at = make_object(tuple_type, l->refs.items + n * 8);

	put_word(at, 16, n);
	memcpy((void *)(uintptr_t)(at + l->refs.items), item, n * 8);
	return at;
}

/* Keys of this size with so many entries, of @stride words. */
static uint64_t make_keys(size_t n, size_t stride)
{
	uint64_t at = make(l->refs.keys.entries + 8 + n * stride * 8);

	put_word(at, 8, 8); /* to 3.10: its size; so many bytes of a table */
	if (l->refs.keys.log2 != PROF_PYLAYOUT_NONE) {
		put(at, l->refs.keys.log2, 3, 1);
		put(at, l->refs.keys.kind, stride == 3 ? 0 : 1, 1);
	}
	put_word(at, l->refs.keys.count, n);
	return at;
}

static uint64_t make_dict(const uint64_t *key, const uint64_t *value, size_t n, size_t stride)
{
	uint64_t at = make_object(dict_type, 48);
	size_t k = l->refs.keys.kind == PROF_PYLAYOUT_NONE ? 3 : stride, i;
	uint64_t keys = make_keys(n, k), entries = keys + l->refs.keys.entries + 8;

	put_word(at, 32, keys);
	for (i = 0; i < n; i++) {
		put_word(entries, (uint32_t)((i + 1) * k - 2) * 8, key[i]);
		put_word(entries, (uint32_t)((i + 1) * k - 1) * 8, value[i]);
	}
	return at;
}

/*
 * Of the class, whose two attributes have these names: the second one of this value, where its
 * version has that. To 3.10 in a dictionary of its own, from then on the class has the names.
 */
static uint64_t make_instance(uint64_t value)
{
	uint64_t at = make_object(class, 64), values, both[2] = { 0, value };

	if (l->refs.attributes == PROF_PYATTRIBUTES_PLAIN) {
		put_word(at, 16, make_dict(attribute, both, 2, 3));
		return at;
	}
	if (l->refs.attributes == PROF_PYATTRIBUTES_INLINE) {
		put(at, 16, 2 | 1 << 8 | 1 << 16 | 1 << 24, 4);
		put_word(at, 16 + l->refs.values + 8, value);
		return at;
	}
	values = make(32) + 16;
	put_word(values, 8, value);
	if (l->refs.attributes == PROF_PYATTRIBUTES_TWO)
		put_word(at - 32, 0, values);
	else
		put_word(at - 24, 0, values - 1);
	return at;
}

/* The same with the names apart from the values, as of many objects of a class to 3.10. */
static uint64_t make_split_instance(uint64_t value)
{
	uint64_t at = make_instance(value), dict = make_dict(attribute, attribute, 2, 2);
	uint64_t values = make(32);

	put_word(values, l->refs.values + 8, value);
	put_word(dict, 40, values);
	if (l->refs.attributes == PROF_PYATTRIBUTES_PLAIN) {
		put_word(at, 16, dict);
		return at;
	}
	put_word(at - 24, 0, dict);
	if (l->refs.attributes == PROF_PYATTRIBUTES_TWO)
		put_word(at - 32, 0, 0);
	put(at, 16, 0, 4);
	return at;
}

static void make_class(void)
{
	enum prof_pyattributes has = l->refs.attributes;
	uint64_t flags = FLAG_HEAP | FLAG_COLLECTED, keys;

	if (has != PROF_PYATTRIBUTES_PLAIN)
		flags |= PROF_PYTYPE_MANAGED;
	if (has == PROF_PYATTRIBUTES_INLINE)
		flags |= PROF_PYTYPE_INLINE;
	class = make_type("Loader", flags, has == PROF_PYATTRIBUTES_PLAIN ? 32 : 16);
	put_word(class, 288, has == PROF_PYATTRIBUTES_PLAIN ? 16 : (uint64_t)-1);
	put_word(class, 208, has == PROF_PYATTRIBUTES_PLAIN ? 24 : 0);
	if (l->refs.cached_keys != PROF_PYLAYOUT_NONE) {
		keys = make_keys(2, 2);
		put_word(keys, l->refs.keys.entries + 8, attribute[0]);
		put_word(keys, l->refs.keys.entries + 8 + 16, attribute[1]);
		put_word(class, l->refs.cached_keys, keys);
	}
}

static void make_types(void)
{
	type_type = object_type = 0;
	type_type = make_type("type", FLAG_TYPE | FLAG_COLLECTED, 880);
	object_type = make_type("object", 0, 16);
	plain_type = make_type("Plain", FLAG_COLLECTED, 40);
	text_type = make_type("str", 0, 48);
	list_type = make_type("list", FLAG_LIST | FLAG_COLLECTED, 40);
	tuple_type = make_type("tuple", FLAG_TUPLE | FLAG_COLLECTED, 24);
	dict_type = make_type("dict", FLAG_DICT | FLAG_COLLECTED, 48);
	queue = make_type("Queue", FLAG_HEAP | FLAG_COLLECTED, 16);
	py.at.code_type = make_type("code", 0, 200);
	attribute[0] = make_text("size");
	attribute[1] = make_text("out");
	make_class();
}

/* A code object that uses these names, with three variables and room for two words. */
static uint64_t make_code(const char *const *name, size_t n)
{
	uint64_t at = make_object(py.at.code_type, PROF_PYCODE_BYTES), names[8], table = make(64);
	size_t i;

	for (i = 0; i < n; i++)
		names[i] = strcmp(name[i], "out") ? make_text(name[i]) : attribute[1];
	put_word(at, 16, 64);
	put_word(at, l->code.file, make_text("/home/me/train.py"));
	put_word(at, l->code.name, make_text("run"));
	if (l->code.qualname != PROF_PYLAYOUT_NONE)
		put_word(at, l->code.qualname, make_text("run"));
	put_word(table, 16, 8);
	put_word(at, l->code.table, table);
	if (l->frames == PROF_PYFRAME_OBJECT)
		put_word(at, l->code.bytecode, table);
	put_word(at, l->refs.code.names, make_tuple(names, n));
	if (l->refs.code.variables != PROF_PYLAYOUT_NONE)
		put(at, l->refs.code.variables, 3, 4);
	put(at, l->refs.code.stack, 2, 4);
	put(at, l->refs.code.arguments, 1, 4);
	return at;
}

static uint64_t frame;

/* The thread's only frame, of this code, and the one of C behind it. */
static void make_frame(uint64_t code)
{
	uint64_t last = make(512);

	frame = make(1024);
	put_word(frame, 0, 1); /* a reference, where a frame is an object */
	put_word(frame, l->frame.code, code);
	put_word(frame, l->frame.previous, l->shim_ends ? last : 0);
	if (l->frames == PROF_PYFRAME_STACK) {
		put_word(frame, l->frame.instr, code + l->code.bytecode);
		put(last, l->frame.owner, l->owner_shim, 1);
	}
	if (l->frame.entry != PROF_PYLAYOUT_NONE)
		put(frame, l->frame.entry, 1, 1);
	if (l->refs.frame.evaluation != PROF_PYLAYOUT_NONE)
		put_word(frame, l->refs.frame.evaluation, frame + l->refs.frame.locals + 24);
	if (l->refs.frame.top_bytes == 4)
		put(frame, l->refs.frame.top, (uint32_t)-1, 4);
}

static void put_variable(unsigned int i, uint64_t value)
{
	put_word(frame, l->refs.frame.locals + i * 8, value);
}

static void make_thread(void)
{
	uint64_t state = make(512), c = make(64);

	put_word(state, l->thread.interp, 1);
	put_word(state, l->thread.ident, 2);
	put_word(state, l->thread.frame, l->thread.cframe == PROF_PYLAYOUT_NONE ? frame : c);
	if (l->thread.cframe != PROF_PYLAYOUT_NONE)
		put_word(c, l->thread.cframe, frame);
	thread = (struct prof_py_thread){ .tid = 1, .tstate = state, .interp = 1, .ident = 2 };
}

/* The names of the frame's code. */
static uint64_t code_names(void)
{
	uint64_t code, names;

	memcpy(&code, (void *)(uintptr_t)(frame + l->frame.code), 8);
	memcpy(&names, (void *)(uintptr_t)(code + l->refs.code.names), 8);
	return names + l->refs.items;
}

static const char *const giving[] = { "range", "put", "out" };
static const char *const looking[] = { "range", "qsize" };
static const char *const giving_else[] = { "range", "put" };

/* A program of that version: one thread in one function, which has no variables yet. */
static void make_program(size_t version, const char *const *names, size_t n)
{
	uint32_t minor = versions[version].minor;
	char why[120];

	memset(arena, 0, sizeof(arena));
	memset(&py.reach, 0, sizeof(py.reach));
	memset(py.codes.entry, 0, sizeof(py.codes.entry));
	memset(py.known, 0, sizeof(py.known));
	used = 0;
	/*
	 * From 3.13 on Python tells itself what 3.12 has as well, but for the bits of a reference.
	 */
	REQUIRE(!prof_pylayout_find(&py.mem, &py.at,
				    UINT32_C(0x030000f0) | (minor < 12 ? minor : 12) << 16, l, why,
				    sizeof(why)));
	l->refs = versions[version].refs;
	l->refs.known = true;
	l->code_tag = minor < 14 ? 0 : 3;
	make_types();
	target = make_object(queue, 48);
	make_frame(make_code(names, n));
	make_thread();
}

/* ---- looking ---- */

static char hold_of(uint64_t object)
{
	struct prof_py_hold out[2];
	uint64_t wanted[2] = { object, object + 16 };
	int n = prof_py_holds(&py, &thread, wanted, 2, out);

	if (n < 0)
		return '?';
	EXPECT(!out[1].held);
	return out[0].gives ? '!' : out[0].held ? '~' : '-';
}

static void expect_hold(size_t version, const char *what, char want)
{
	char got = hold_of(target);

	if (got != want)
		printf("3.%u, %s: %c\n", versions[version].minor, what, got);
	EXPECT_INT(got, want);
}

#define VERSIONS (sizeof(versions) / sizeof(*versions))

static uint64_t make_chain(unsigned int lists)
{
	uint64_t at = target;

	while (lists--)
		at = make_list(&at, 1);
	return at;
}

static void test_references(void)
{
	size_t v;

	for (v = 0; v < VERSIONS; v++) {
		uint64_t pair[2], cell, set, table, of;

		make_program(v, giving, 3);
		expect_hold(v, "nothing", '-');
		put_variable(1, target | l->code_tag);
		expect_hold(v, "a variable", '!');
		put_variable(1, make_instance(target));
		expect_hold(v, "an attribute", '!');
		put_variable(1, make_instance(make_instance(target)));
		expect_hold(v, "an attribute of an attribute", '!');
		put_variable(1, make_split_instance(target));
		expect_hold(v, "an attribute among values apart", '!');
		pair[0] = text_type;
		pair[1] = target;
		put_variable(1, make_tuple(pair, 2));
		expect_hold(v, "a tuple", '!');
		put_variable(1, make_dict(pair, pair, 2, 3));
		expect_hold(v, "a dictionary of anything", '!');
		put_variable(1, make_dict(pair, pair, 2, 2));
		expect_hold(v, "a dictionary of texts", '!');
		cell = make_object(make_type("cell", FLAG_COLLECTED, 24), 24);
		put_word(cell, 16, target);
		put_variable(2, cell);
		put_variable(1, 0);
		expect_hold(v, "a cell", '!');
		set = make_object(make_type("set", FLAG_COLLECTED, 200), 200);
		table = make(8 * 16);
		put_word(table, 5 * 16, target);
		put_word(set, 32, 7);
		put_word(set, 40, table);
		put_variable(2, set);
		expect_hold(v, "a set", '!');
		of = make_object(plain_type, 40);
		put_word(of, 32, target);
		put_variable(2, of);
		expect_hold(v, "a word of an object of C", '!');
		put_variable(2, make_chain(4));
		expect_hold(v, "four steps", '!');
		put_variable(2, make_chain(5));
		expect_hold(v, "five steps", '-');
		put_variable(2, 0);
		/* the evaluation stack, of which none is known to be in use */
		put_variable(4, target);
		expect_hold(v, "what was left behind", '-');
	}
}

static void test_gives(void)
{
	size_t v;

	for (v = 0; v < VERSIONS; v++) {
		uint64_t method, function;

		make_program(v, looking, 2);
		put_variable(0, target);
		expect_hold(v, "held", '~');
		function = make_object(make_type("function", FLAG_COLLECTED, 152), 152);
		put_word(function, l->refs.function.name, make_text("put"));
		method = make_object(make_type("method", FLAG_COLLECTED, 40), 48);
		put_word(method, 16, function);
		put_word(method, 24, target);
		put_variable(1, method);
		expect_hold(v, "its put", '!');
		put_word(function, l->refs.function.name, make_text("get"));
		expect_hold(v, "its get", '~');
		put_variable(0, 0);
		expect_hold(v, "no more than its get", '~');
	}
}

/* Are the names of attributes known? Of 3.14 only where they are in dictionaries. */
static bool is_named(void)
{
	return l->refs.cached_keys != PROF_PYLAYOUT_NONE ||
	       l->refs.attributes == PROF_PYATTRIBUTES_PLAIN;
}

/*
 * What the code gives, but not by this attribute, unless a method of the class that it names does.
 */
static void test_attributes(void)
{
	size_t v;

	for (v = 0; v < VERSIONS; v++) {
		uint64_t function, key, value[2], one;

		make_program(v, giving_else, 2);
		one = make_instance(target);
		put_variable(1, one);
		expect_hold(v, "an attribute of another name", is_named() ? '~' : '!');
		put_variable(1, make_split_instance(target));
		expect_hold(v, "such a one among values apart", '~');
		function = make_object(make_type("function", FLAG_COLLECTED, 152), 152);
		put_word(function, l->refs.function.code, make_code(giving, 3));
		memcpy(&key, (void *)(uintptr_t)(code_names() + 8), 8); /* "put" */
		value[0] = value[1] = function;
		put_word(class, 264, make_dict(&key, value, 1, 2));
		expect_hold(v, "by a method", '!');
		put_word(function, l->refs.function.code, make_code(looking, 2));
		expect_hold(v, "by a method that does not", '~');
	}
}

/* Classes, modules and threads are no way; nor are numbers that look like addresses. */
static void test_no_ways(void)
{
	size_t v;

	for (v = 0; v < VERSIONS; v++) {
		uint64_t of;

		make_program(v, giving, 3);
		of = make_object(make_type("module", FLAG_COLLECTED, 56), 64);
		put_word(of, 16, target);
		put_variable(1, of);
		put_word(class, 264, target);
		put_variable(2, class);
		expect_hold(v, "a module and a class", '-');
		of = make_object(make_type("Thread", FLAG_COLLECTED, 24), 32);
		put_word(of, 16, target);
		put_variable(1, of);
		expect_hold(v, "another thread", '-');
		put_variable(0, of);
		put_variable(1, 0);
		expect_hold(v, "its own thread", '!');
		of = make_object(text_type, 64);
		put_word(of, 16, target);
		put_variable(0, of);
		expect_hold(v, "a text", '-');
		put_variable(0, make_list(&target, 1));
		put_word(list_type, 168, 0); /* this is no type any more */
		expect_hold(v, "an object of no type", '-');
	}
}

static void test_not_known(void)
{
	struct prof_py_hold out;
	uint64_t at;

	make_program(0, giving, 3);
	l->refs.known = false;
	EXPECT_INT(prof_py_holds(&py, &thread, &target, 1, &out), -ENOTSUP);
	EXPECT_INT(prof_py_awaited(&py, &thread, &at, 1), -ENOTSUP);
	l->refs.known = true;
	EXPECT_INT(prof_py_holds(&py, &thread, &target, PROF_PY_WANTED + 1, &out), -EINVAL);
	thread.ident = 3;
	EXPECT_INT(prof_py_holds(&py, &thread, &target, 1, &out), -ENOENT);
	EXPECT_INT(prof_py_awaited(&py, &thread, &at, 1), -ENOENT);
}

/* ---- handlers ---- */

static void test_levels(void)
{
	/* Of two with statements, one in the other, by 3.12. */
	static const uint8_t table[] = { 131, 3, 37, 3, 134, 1, 25, 5, 136, 8, 37, 3,
					 153, 5, 34, 9, 158, 7, 37, 3, 165, 5, 46, 7 };
	static const uint8_t far[] = { 128 | 64 | 1, 2, 64 | 1, 0, 5, 2 << 1 }; /* 66, 64 long */
	static const uint32_t want[] = { 0, 0, 0, 1, 1, 1, 2, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0 };
	uint64_t unit;
	size_t n;

	for (unit = 0; unit < sizeof(want) / sizeof(*want); unit++)
		EXPECT_UINT(prof_pyreach_level(table, sizeof(table), unit), want[unit]);
	EXPECT_UINT(prof_pyreach_level(table, sizeof(table), 25), 4);
	EXPECT_UINT(prof_pyreach_level(far, sizeof(far), 65), 0);
	EXPECT_UINT(prof_pyreach_level(far, sizeof(far), 66), 2);
	EXPECT_UINT(prof_pyreach_level(far, sizeof(far), 129), 2);
	EXPECT_UINT(prof_pyreach_level(far, sizeof(far), 130), 0);
	for (n = 0; n < sizeof(table); n++) /* cut anywhere */
		prof_pyreach_level(table, n, 25);
}

/* ---- anything ---- */

static uint64_t seed;

static uint64_t random_word(void)
{
	return t_random(&seed);
}

static uint64_t random_value(void)
{
	uint64_t r = random_word();

	switch (r % 4) {
	case 0:
		return (uintptr_t)arena + r / 8 % (used * 8) / 8 * 8;
	case 1:
		return r / 8 % 70;
	case 2:
		return (uintptr_t)arena + sizeof(arena) - 8 * (r / 8 % 8);
	default:
		return r;
	}
}

static void make_everything(size_t v)
{
	uint64_t pair[2];

	make_program(v, giving, 3);
	pair[0] = make_instance(make_instance(make_list(&target, 1)));
	pair[1] = make_dict(&text_type, &pair[0], 1, 2);
	put_variable(0, make_tuple(pair, 2));
	pair[0] = make_object(make_type("collections.deque", FLAG_COLLECTED, 80), 80);
	put_word(pair[0], 16, 1);
	put_word(pair[0], 24, make(66 * 8));
	put_word(pair[0], 32, make(66 * 8));
	put_variable(1, pair[0]);
	put_variable(2, make_object(make_type("_queue.SimpleQueue", FLAG_COLLECTED, 72), 72));
}

static void test_anything(void)
{
	static uint64_t good[ARENA_WORDS];
	uint64_t at[8];
	size_t v, round;

	seed = t_seed(7);
	for (v = 0; v < VERSIONS; v++) {
		make_everything(v);
		memcpy(good, arena, sizeof(good));
		for (round = 0; round < 600; round++) {
			size_t changes = 1 + random_word() % 4, i;
			struct prof_py_hold out;
			int n;

			for (i = 0; i < changes; i++)
				arena[random_word() % used] = random_value();
			n = prof_py_holds(&py, &thread, &target, 1, &out);
			EXPECT(n <= 1 && (n < 1 || out.held) && out.held >= out.gives);
			n = prof_py_awaited(&py, &thread, at, 8);
			EXPECT(n <= 8);
			memcpy(arena, good, sizeof(good));
		}
		expect_hold(v, "as it was", '!');
	}
}

int main(void)
{
	REQUIRE(!prof_pymem_open(&py.mem, 0, PROF_PYMEM_VM));
	return RUN(test_references, test_gives, test_attributes, test_no_ways, test_not_known,
		   test_levels, test_anything);
}
