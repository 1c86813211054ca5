/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python's structures from any bytes: which version (1 byte), then a piece of memory, in which
 * words that begin with MARK become addresses within it. All that reads Python is let loose on it;
 * what comes out must have the form of a stack.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <unistd.h>

#include "python/pypriv.h"
#include "python/pystack.h"
#include "python/reach.h"

#define ARENA 32768u
#define MARK UINT64_C(0xa55a000000000000)
#define MARK_MASK UINT64_C(0xffff000000000000)

/* Where a good image has its parts. */
enum {
	RUNTIME = 0, /* 2048 bytes */
	INTERP = 2048, /* 1024 */
	THREAD = 3072, /* 1024 */
	CFRAME = 4096,
	TYPE = 4352,
	FRAMES = 5120, /* of 256 bytes */
	CODES = 8192, /* of 512 */
	TEXTS = 12288, /* two of 256 */
	TABLES = 16384, /* of 512 */
	FRAME_COUNT = 4,
};

static const uint32_t versions[] = { 0x03080000, 0x03090000, 0x030a0000, 0x030b07f0, 0x030c01f0 };
#define VERSIONS (sizeof(versions) / sizeof(*versions))

static union {
	uint8_t bytes[ARENA];
	uint64_t word[ARENA / 8];
} arena;
static struct prof_py py;

static void check_text(const char *text, ssize_t n, size_t room)
{
	unsigned int tabs = 0, lines = n > 0;
	ssize_t i;

	if (n < 0)
		return;
	if ((size_t)n >= room || text[n])
		abort();
	for (i = 0; i < n; i++) {
		if (text[i] == '\t') {
			tabs += text[i + 1] != 'g' || (text[i + 2] && text[i + 2] != '\n');
		} else if (text[i] == '\n') {
			lines++;
		} else if ((unsigned char)text[i] < ' ') {
			abort();
		}
	}
	if (tabs != 2 * lines || lines > PROF_PY_FRAMES)
		abort();
}

static void open_arena(uint8_t version)
{
	char why[120];

	py.version = versions[version % VERSIONS];
	memset(py.known, 0, sizeof(py.known));
	memset(py.codes.entry, 0, sizeof(py.codes.entry));
	memset(&py.reach, 0, sizeof(py.reach));
	py.at = (struct prof_pyplaces){ .runtime = (uintptr_t)arena.bytes + RUNTIME,
					.runtime_bytes = 2048,
					.code_type = (uintptr_t)arena.bytes + TYPE };
	if (prof_pylayout_find(&py.mem, &py.at, py.version, &py.layout, why, sizeof(why)))
		abort();
}

/* What the thread waits for, and whether it holds that or a type. */
static void reach(const struct prof_py_thread *t)
{
	struct prof_py_hold out[PROF_PY_WANTED];
	uint64_t at[PROF_PY_WANTED];
	int n = prof_py_awaited(&py, t, at, PROF_PY_WANTED - 1);

	if (n >= (int)PROF_PY_WANTED)
		abort();
	n = n < 0 ? 0 : n;
	at[n] = py.at.code_type;
	if (prof_py_holds(&py, t, at, (size_t)n + 1, out) > n + 1)
		abort();
}

static ssize_t look(char *text, size_t room)
{
	struct prof_py_thread t = { .tstate = (uintptr_t)arena.bytes + THREAD,
				    .interp = (uintptr_t)arena.bytes + INTERP };
	struct prof_py_thread list[8];
	char why[120];
	int n, i;

	prof_pylayout_check(&py.mem, &py.at, &py.layout, why, sizeof(why));
	n = prof_py_threads(&py, list, 8);
	for (i = 0; i < n; i++) {
		check_text(text, prof_py_walk(&py, &list[i], text, room), room);
		reach(&list[i]);
	}
	prof_py_gil_holder(&py);
	prof_py_in_runtime(&py, t.tstate);
	prof_py_collecting(&py);
	memcpy(&t.ident, arena.bytes + THREAD + py.layout.thread.ident, 8);
	return prof_py_walk(&py, &t, text, room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const size_t rooms[] = { 2, 17, 200, PROF_PY_TEXT };
	char text[PROF_PY_TEXT];
	size_t i, room;

	if (!py.mem.pid && prof_pymem_open(&py.mem, 0, PROF_PYMEM_VM))
		abort();
	if (len < 2)
		return 0;
	memset(arena.bytes, 0, ARENA);
	memcpy(arena.bytes, data + 2, len - 2 < ARENA ? len - 2 : ARENA);
	for (i = 0; i < ARENA / 8; i++)
		if ((arena.word[i] & MARK_MASK) == MARK)
			arena.word[i] = (uintptr_t)arena.bytes +
					(arena.word[i] & ~MARK_MASK) % (ARENA + 64);
	open_arena(data[0]);
	room = rooms[data[1] % 4];
	check_text(text, look(text, room), room);
	return 0;
}

/* ---- good images ---- */

static void put(uint8_t *image, size_t at, uint64_t value, size_t bytes)
{
	memcpy(image + at, &value, bytes);
}

static void put_text(uint8_t *image, const struct prof_pylayout *l, size_t at, const char *text)
{
	put(image, at + 16, strlen(text), 8);
	put(image, at + 32, 1 << 2 | 1 << 5 | 1 << 6, 4); /* a byte each, compact, ASCII */
	memcpy(image + at + l->ascii, text, strlen(text));
}

static void put_code(uint8_t *image, const struct prof_pylayout *l, unsigned int i)
{
	static const uint8_t table[] = { 0x80 | 13 << 3 | 7, 4, 0x80 | 10 << 3, 8, 9, 6, 1, 8, 2 };
	static const char *const names[] = { "leaf", "Loader.next", "train", "<module>" };
	size_t at = CODES + i * 512, text = TEXTS + i * 512, bytes = TABLES + i * 512;

	put(image, at + 8, MARK | TYPE, 8);
	put(image, at + 16, 64, 8); /* instructions, where they stand in the object */
	put(image, at + l->code.file, MARK | (text + 256), 8);
	put(image, at + l->code.name, MARK | text, 8);
	if (l->code.qualname != PROF_PYLAYOUT_NONE)
		put(image, at + l->code.qualname, MARK | text, 8);
	else
		put(image, at + l->code.bytecode, MARK | bytes, 8);
	put(image, at + l->code.firstline, 10 * i + 1, 4);
	put(image, at + l->code.table, MARK | bytes, 8);
	put_text(image, l, text, names[i]);
	put_text(image, l, text + 256, "/data/train.py");
	put(image, bytes + 16, sizeof(table), 8);
	memcpy(image + bytes + 32, table, sizeof(table));
}

static void put_frame(uint8_t *image, const struct prof_pylayout *l, unsigned int i)
{
	size_t at = FRAMES + i * 256, code = CODES + i * 512;
	bool last = i + 1 == FRAME_COUNT;

	put(image, at + l->frame.code, MARK | code, 8);
	put(image, at + l->frame.previous, last ? 0 : MARK | (at + 256), 8);
	if (l->frames == PROF_PYFRAME_OBJECT) {
		put(image, at + PROF_PYOBJECT_REFERENCES, 1, 8);
		put(image, at + l->frame.instr, 4, 4);
		return;
	}
	put(image, at + l->frame.instr, MARK | (code + l->code.bytecode + 6), 8);
	put(image, at + l->frame.owner, last && l->shim_ends ? l->owner_shim : 0, 1);
	if (l->frame.entry != PROF_PYLAYOUT_NONE)
		put(image, at + l->frame.entry, 1, 1);
}

static void put_thread(uint8_t *image, const struct prof_pylayout *l)
{
	put(image, RUNTIME + l->interpreters, MARK | INTERP, 8);
	put(image, INTERP + l->interp.threads, MARK | THREAD, 8);
	put(image, THREAD + l->thread.interp, MARK | INTERP, 8);
	put(image, THREAD + l->thread.ident, 7, 8);
	if (l->thread.native != PROF_PYLAYOUT_NONE)
		put(image, THREAD + l->thread.native, (uint64_t)getpid(), 8);
	if (l->thread.cframe == PROF_PYLAYOUT_NONE) {
		put(image, THREAD + l->thread.frame, MARK | FRAMES, 8);
	} else {
		put(image, THREAD + l->thread.frame, MARK | CFRAME, 8);
		put(image, CFRAME + l->thread.cframe, MARK | FRAMES, 8);
	}
	if (l->thread.chunk != PROF_PYLAYOUT_NONE) {
		put(image, THREAD + l->thread.chunk, MARK | FRAMES, 8);
		put(image, THREAD + l->thread.chunk + 8, MARK | CODES, 8);
		put(image, THREAD + l->thread.chunk + 16, MARK | CODES, 8);
	}
}

/* The image as it is must give its stack: else the fuzzing would begin nowhere. */
static void check_image(const uint8_t *data, size_t len)
{
	char text[PROF_PY_TEXT];
	ssize_t n;

	LLVMFuzzerTestOneInput(data, len);
	n = look(text, sizeof(text));
	if (n < 0 || strncmp(text, "leaf\t/data/train.py\t", 20) ||
	    !strstr(text, "\ntrain\t/data/train.py\t"))
		abort();
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	size_t len = ARENA / 2 + 4096 + 2;
	uint8_t *image;
	unsigned int i;

	if (number >= VERSIONS)
		return 0;
	if (!py.mem.pid && prof_pymem_open(&py.mem, 0, PROF_PYMEM_VM))
		abort();
	open_arena((uint8_t)number);
	*data = calloc(1, len);
	if (!*data)
		abort();
	(*data)[0] = (uint8_t)number;
	(*data)[1] = 3;
	image = *data + 2;
	put_thread(image, &py.layout);
	for (i = 0; i < FRAME_COUNT; i++) {
		put_frame(image, &py.layout, i);
		put_code(image, &py.layout, i);
	}
	check_image(*data, len);
	return len;
}
