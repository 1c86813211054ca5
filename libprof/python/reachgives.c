/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names by which code hands something to who waits, and to whom.
 */
#include <string.h>

#include "pypriv.h"
#include "reachpriv.h"

#define NAMES_MAX 256u
#define AT_ONCE 64u
#define NAME_ROOM 28u
#define HEAD 48u /* at least PyASCIIObject */

static const struct {
	const char *name;
	uint16_t gives;
} names[] = {
	{ "put", PROF_PYGIVES_PUT },
	{ "put_nowait", PROF_PYGIVES_PUT },
	{ "_put", PROF_PYGIVES_PUT },
	{ "push", PROF_PYGIVES_PUT },
	{ "enqueue", PROF_PYGIVES_PUT },
	{ "publish", PROF_PYGIVES_PUT },
	{ "set", PROF_PYGIVES_SET },
	{ "notify", PROF_PYGIVES_NOTIFY },
	{ "notify_all", PROF_PYGIVES_NOTIFY },
	{ "notifyAll", PROF_PYGIVES_NOTIFY },
	{ "set_result", PROF_PYGIVES_RESULT },
	{ "set_exception", PROF_PYGIVES_RESULT },
	{ "_set", PROF_PYGIVES_RESULT },
	{ "process_result_item", PROF_PYGIVES_RESULT }, /* of a pool of processes */
	{ "_callback", PROF_PYGIVES_RESULT }, /* of an event loop: it goes on with a coroutine */
	{ "release", PROF_PYGIVES_RELEASE },
	{ "__exit__", PROF_PYGIVES_RELEASE },
	{ "send", PROF_PYGIVES_SEND },
	{ "send_bytes", PROF_PYGIVES_SEND },
	{ "sendall", PROF_PYGIVES_SEND },
	{ "sendto", PROF_PYGIVES_SEND },
	{ "write", PROF_PYGIVES_SEND },
	{ "call_soon_threadsafe", PROF_PYGIVES_CALL },
	{ "run_coroutine_threadsafe", PROF_PYGIVES_CALL },
	{ "add_callback",
	  PROF_PYGIVES_ASKS }, /* tornado's, of threads that watch over others, too */
	{ "_write_to_self", PROF_PYGIVES_CALL },
	{ "_process_events",
	  PROF_PYGIVES_CALL }, /* who runs a loop has what its selector is asked for */
	{ "wait", PROF_PYGIVES_WAITS },
	{ "wait_for", PROF_PYGIVES_WAITS },
};

/* The end of a type's name; the first row that fits. */
static const struct {
	const char *end;
	uint16_t takes;
} takers[] = {
	{ "Queue", PROF_PYGIVES_PUT },
	{ "Condition", PROF_PYGIVES_HANDS },
	{ "Event", PROF_PYGIVES_SET | PROF_PYGIVES_RESULT },
	{ "Semaphore", PROF_PYGIVES_RELEASE },
	{ "_thread.lock", PROF_PYGIVES_RELEASE },
	{ "_thread.RLock", PROF_PYGIVES_RELEASE },
	{ "SemLock", PROF_PYGIVES_RELEASE },
	{ "Lock", PROF_PYGIVES_RELEASE },
	{ "Future", PROF_PYGIVES_RESULT },
	{ "Result", PROF_PYGIVES_RESULT },
	{ "IMapIterator", PROF_PYGIVES_RESULT },
	{ "IMapUnorderedIterator", PROF_PYGIVES_RESULT },
	{ "Connection", PROF_PYGIVES_SEND },
	{ "Selector", PROF_PYGIVES_CALL | PROF_PYGIVES_SEND },
	{ "EventLoop", PROF_PYGIVES_CALL },
	{ "Barrier", PROF_PYGIVES_NOTIFY },
};

uint16_t prof_pyreach_name_gives(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i].name))
			return names[i].gives;
	return 0;
}

uint16_t prof_pyreach_type_takes(const char *type)
{
	size_t n = strlen(type), i;

	for (i = 0; i < sizeof(takers) / sizeof(*takers); i++) {
		size_t k = strlen(takers[i].end);

		if (n >= k && !strcmp(type + n - k, takers[i].end))
			return takers[i].takes;
	}
	return 0;
}

/* A compact string of plain letters; such are all names that count. */
static uint16_t text_gives(const struct prof_pylayout *l, const uint8_t *raw)
{
	uint64_t length = prof_pymem_word(raw, 16);
	uint32_t state;
	char name[NAME_ROOM];

	memcpy(&state, raw + 32, sizeof(state));
	if (!(state >> 5 & 1) || !(state >> 6 & 1) || (state >> 2 & 7) != 1 || length >= NAME_ROOM)
		return 0;
	memcpy(name, raw + l->ascii, length);
	name[length] = 0;
	return prof_pyreach_name_gives(name);
}

static uint16_t texts_give(struct prof_py *py, const uint64_t *at, size_t n)
{
	uint8_t raw[AT_ONCE][HEAD + NAME_ROOM];
	struct prof_pymem_part part[AT_ONCE];
	uint16_t gives = 0;
	size_t i;

	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ at[i], raw[i], py->layout.ascii + NAME_ROOM };
	if (py->layout.ascii > HEAD || prof_pyreach_read(py, part, n))
		return 0;
	for (i = 0; i < n; i++)
		if (part[i].bytes)
			gives |= text_gives(&py->layout, raw[i]);
	return gives;
}

uint16_t prof_pyreach_code_gives(struct prof_py *py, struct prof_pycode *code, const uint8_t *raw)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	uint64_t at = prof_pymem_word(raw, refs->code.names), n, name[NAMES_MAX];
	size_t i;

	if (code->gives)
		return code->gives;
	code->gives = PROF_PYGIVES_KNOWN;
	if (prof_pymem_read(&py->mem, at + PROF_PYVAR_SIZE, &n, sizeof(n)))
		return code->gives;
	n = n < NAMES_MAX ? n : NAMES_MAX;
	if (!n || prof_pymem_read(&py->mem, at + refs->items, name, n * sizeof(*name)))
		return code->gives;
	for (i = 0; i < n; i += AT_ONCE)
		code->gives |= texts_give(py, name + i, n - i < AT_ONCE ? n - i : AT_ONCE);
	return code->gives;
}
