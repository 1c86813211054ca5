/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of offsets, the reading of _Py_DebugOffsets, and the check against PyCode_Type.
 */
#include "pylayout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NONE PROF_PYLAYOUT_NONE
#define INNER_MAX 4096u /* offsets in small structures */
#define OUTER_MAX (1u << 24) /* in the runtime and in interpreters */

/* ---- tables ---- */

/* clang-format off */
static const struct prof_pylayout tables[] = {
	{ /* 3.8 */
		.frames = PROF_PYFRAME_OBJECT, .lines = PROF_PYLINES_LNOTAB, .lasti_unit = 1,
		.interpreters = 32,
		.interp = { .next = 0, .threads = 8, .gil = NONE, .collecting = NONE },
		.runtime_gil = 1152, .runtime_collecting = 544, .gil_holder = 8, .gil_locked = 16,
		.thread = { .bytes = 184, .next = 8, .interp = 16, .ident = 176, .native = NONE,
			    .frame = 24, .cframe = NONE, .chunk = NONE },
		.frame = { .bytes = 112, .code = 32, .previous = 24, .instr = 104, .owner = NONE, .entry = NONE },
		.code = { .bytes = 128, .file = 104, .name = 112, .qualname = NONE, .firstline = 40,
			  .table = 120, .bytecode = 48, .flags = 36 },
		.ascii = 48, .compact = 72,
	},
	{ /* 3.9 */
		.frames = PROF_PYFRAME_OBJECT, .lines = PROF_PYLINES_LNOTAB, .lasti_unit = 1,
		.interpreters = 32,
		.interp = { .next = 0, .threads = 8, .gil = NONE, .collecting = 816 },
		.runtime_gil = 352, .runtime_collecting = NONE, .gil_holder = 8, .gil_locked = 16,
		.thread = { .bytes = 184, .next = 8, .interp = 16, .ident = 176, .native = NONE,
			    .frame = 24, .cframe = NONE, .chunk = NONE },
		.frame = { .bytes = 112, .code = 32, .previous = 24, .instr = 104, .owner = NONE, .entry = NONE },
		.code = { .bytes = 128, .file = 104, .name = 112, .qualname = NONE, .firstline = 40,
			  .table = 120, .bytecode = 48, .flags = 36 },
		.ascii = 48, .compact = 72,
	},
	{ /* 3.10 */
		.frames = PROF_PYFRAME_OBJECT, .lines = PROF_PYLINES_PAIRS, .lasti_unit = 2,
		.interpreters = 32,
		.interp = { .next = 0, .threads = 8, .gil = NONE, .collecting = 816 },
		.runtime_gil = 352, .runtime_collecting = NONE, .gil_holder = 8, .gil_locked = 16,
		.thread = { .bytes = 184, .next = 8, .interp = 16, .ident = 176, .native = NONE,
			    .frame = 24, .cframe = NONE, .chunk = NONE },
		.frame = { .bytes = 104, .code = 32, .previous = 24, .instr = 96, .owner = NONE, .entry = NONE },
		.code = { .bytes = 128, .file = 104, .name = 112, .qualname = NONE, .firstline = 40,
			  .table = 120, .bytecode = 48, .flags = 36 },
		.ascii = 48, .compact = 72,
	},
	{ /* 3.11 */
		.frames = PROF_PYFRAME_STACK, .lines = PROF_PYLINES_LOCATIONS, .lasti_unit = 1,
		.interpreters = 40,
		.interp = { .next = 0, .threads = 16, .gil = NONE, .collecting = 848 },
		.runtime_gil = 360, .runtime_collecting = NONE, .gil_holder = 8, .gil_locked = 16,
		.thread = { .bytes = 320, .next = 8, .interp = 16, .ident = 152, .native = 160,
			    .frame = 56, .cframe = 8, .chunk = 296 },
		.frame = { .bytes = 72, .code = 32, .previous = 48, .instr = 56, .owner = 69,
			   .entry = 68 },
		.owner_shim = 3,
		.code = { .bytes = 184, .file = 112, .name = 120, .qualname = 128, .firstline = 72,
			  .table = 136, .bytecode = 184, .flags = NONE },
		.ascii = 48, .compact = 72,
	},
	{ /* 3.12 */
		.frames = PROF_PYFRAME_STACK, .lines = PROF_PYLINES_LOCATIONS, .lasti_unit = 1,
		.interpreters = 40,
		.interp = { .next = 0, .threads = 72, .gil = 384, .collecting = 312 },
		.runtime_gil = NONE, .runtime_collecting = NONE, .gil_holder = 8, .gil_locked = 16,
		.thread = { .bytes = 256, .next = 8, .interp = 16, .ident = 136, .native = 144,
			    .frame = 56, .cframe = 0, .chunk = 232 },
		.frame = { .bytes = 72, .code = 0, .previous = 8, .instr = 56, .owner = 70,
			   .entry = NONE },
		.owner_shim = 3, .shim_ends = true,
		.code = { .bytes = 192, .file = 112, .name = 120, .qualname = 128, .firstline = 68,
			  .table = 136, .bytecode = 192, .flags = NONE },
		.ascii = 40, .compact = 56,
	},
};
/* clang-format on */

/* ---- _Py_DebugOffsets ---- */

enum word { /* what we take from it */
	W_VERSION,
	W_FREE_THREADED,
	W_INTERPRETERS,
	W_INTERP_NEXT,
	W_INTERP_THREADS,
	W_INTERP_GC,
	W_INTERP_GIL,
	W_GIL,
	W_GIL_LOCKED,
	W_GIL_HOLDER,
	W_THREAD_NEXT,
	W_THREAD_INTERP,
	W_THREAD_FRAME,
	W_THREAD_IDENT,
	W_THREAD_NATIVE,
	W_THREAD_CHUNK,
	W_FRAME_PREVIOUS,
	W_FRAME_CODE,
	W_FRAME_INSTR,
	W_FRAME_OWNER,
	W_CODE_FILE,
	W_CODE_NAME,
	W_CODE_QUALNAME,
	W_CODE_TABLE,
	W_CODE_FIRSTLINE,
	W_CODE_BYTECODE,
	W_OBJECT_TYPE,
	W_BYTES_SIZE,
	W_BYTES_DATA,
	W_TEXT_STATE,
	W_TEXT_LENGTH,
	W_TEXT_ASCII,
	W_GC_COLLECTING,
	WORDS
};

#define OFFSET_WORDS 84u

/* The index of each in the structure, seen as 64-bit words; the cookie is word 0. */
static const uint8_t words_313[WORDS] = { 1,  2,  5,  8,  9,  10, 14, 15, 17, 18, 21,
					  22, 23, 24, 25, 26, 29, 30, 31, 33, 35, 36,
					  37, 38, 39, 43, 45, 65, 66, 68, 69, 70, 72 };
static const uint8_t words_314[WORDS] = { 1,  2,  5,  8,  9,  11, 15, 16, 18, 19, 24,
					  25, 26, 27, 28, 29, 32, 33, 34, 36, 40, 41,
					  42, 43, 44, 48, 51, 75, 76, 78, 79, 80, 82 };

static const uint8_t outer[] = { W_INTERPRETERS, W_INTERP_NEXT, W_INTERP_THREADS, W_INTERP_GC,
				 W_INTERP_GIL,	 W_GIL,		W_GIL_LOCKED,	  W_GIL_HOLDER };

static bool is_outer(size_t i)
{
	size_t k;

	for (k = 0; k < sizeof(outer); k++)
		if (outer[k] == i)
			return true;
	return false;
}

static bool words_sane(const uint64_t *w)
{
	size_t i;

	for (i = W_INTERPRETERS; i < WORDS; i++)
		if (w[i] > (is_outer(i) ? OUTER_MAX : INNER_MAX))
			return false;
	return w[W_OBJECT_TYPE] == PROF_PYOBJECT_TYPE && w[W_BYTES_SIZE] == PROF_PYVAR_SIZE &&
	       w[W_BYTES_DATA] == PROF_PYBYTES_DATA && w[W_TEXT_LENGTH] == 16 &&
	       w[W_TEXT_STATE] == 32 && w[W_TEXT_ASCII] <= 64 && w[W_GIL_LOCKED] >= w[W_GIL] &&
	       w[W_GIL_HOLDER] >= w[W_GIL] && w[W_GIL_LOCKED] - w[W_GIL] < PROF_PYGIL_BYTES &&
	       w[W_GIL_HOLDER] - w[W_GIL] < PROF_PYGIL_BYTES;
}

static uint32_t end_of(const uint64_t *w, const uint8_t *which, size_t n)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < n; i++) /* each field is within an aligned word */
		if (w[which[i]] / 8 * 8 + 8 > end)
			end = w[which[i]] / 8 * 8 + 8;
	return (uint32_t)end;
}

static void take_words(const uint64_t *w, struct prof_pylayout *l)
{
	static const uint8_t thread[] = { W_THREAD_NEXT,  W_THREAD_INTERP, W_THREAD_FRAME,
					  W_THREAD_IDENT, W_THREAD_NATIVE, W_THREAD_CHUNK };
	static const uint8_t frame[] = { W_FRAME_PREVIOUS, W_FRAME_CODE, W_FRAME_INSTR,
					 W_FRAME_OWNER };
	static const uint8_t code[] = { W_CODE_FILE,  W_CODE_NAME,	W_CODE_QUALNAME,
					W_CODE_TABLE, W_CODE_FIRSTLINE, W_BYTES_SIZE };

	*l = (struct prof_pylayout){
		.frames = PROF_PYFRAME_STACK,
		.lines = PROF_PYLINES_LOCATIONS,
		.lasti_unit = 1,
		.interpreters = (uint32_t)w[W_INTERPRETERS],
		.interp = { .next = (uint32_t)w[W_INTERP_NEXT],
			    .threads = (uint32_t)w[W_INTERP_THREADS],
			    .gil = (uint32_t)w[W_INTERP_GIL],
			    .collecting = (uint32_t)(w[W_INTERP_GC] + w[W_GC_COLLECTING]) },
		.runtime_gil = NONE,
		.runtime_collecting = NONE,
		.gil_holder = (uint32_t)(w[W_GIL_HOLDER] - w[W_GIL]),
		.gil_locked = (uint32_t)(w[W_GIL_LOCKED] - w[W_GIL]),
		.thread = { .bytes = end_of(w, thread, sizeof(thread)) + 16, /* _top, _limit */
			    .next = (uint32_t)w[W_THREAD_NEXT],
			    .interp = (uint32_t)w[W_THREAD_INTERP],
			    .ident = (uint32_t)w[W_THREAD_IDENT],
			    .native = (uint32_t)w[W_THREAD_NATIVE],
			    .frame = (uint32_t)w[W_THREAD_FRAME],
			    .cframe = NONE,
			    .chunk = (uint32_t)w[W_THREAD_CHUNK] },
		.frame = { .bytes = end_of(w, frame, sizeof(frame)),
			   .code = (uint32_t)w[W_FRAME_CODE],
			   .previous = (uint32_t)w[W_FRAME_PREVIOUS],
			   .instr = (uint32_t)w[W_FRAME_INSTR],
			   .owner = (uint32_t)w[W_FRAME_OWNER],
			   .entry = NONE },
		.owner_shim = 3,
		.shim_ends = true,
		.code = { .bytes = end_of(w, code, sizeof(code)),
			  .file = (uint32_t)w[W_CODE_FILE],
			  .name = (uint32_t)w[W_CODE_NAME],
			  .qualname = (uint32_t)w[W_CODE_QUALNAME],
			  .firstline = (uint32_t)w[W_CODE_FIRSTLINE],
			  .table = (uint32_t)w[W_CODE_TABLE],
			  .bytecode = (uint32_t)w[W_CODE_BYTECODE],
			  .flags = NONE },
		.ascii = (uint32_t)w[W_TEXT_ASCII],
		.compact = (uint32_t)w[W_TEXT_ASCII] + 16, /* utf8_length, utf8 */
	};
}

static int from_runtime(struct prof_pymem *m, const struct prof_pyplaces *at, uint32_t version,
			struct prof_pylayout *out, char *why, size_t room)
{
	const uint8_t *index = (version >> 16 & 0xff) == 13 ? words_313 : words_314;
	uint64_t raw[OFFSET_WORDS], w[WORDS];
	size_t i;
	int rc = prof_pymem_read(m, at->runtime, raw, sizeof(raw));

	if (rc)
		return rc;
	for (i = 0; i < WORDS; i++)
		w[i] = raw[index[i]];
	if (memcmp(raw, "xdebugpy", 8) || w[W_VERSION] != version) {
		snprintf(why, room, "its _Py_DebugOffsets are not those of its version");
		return -ENOTSUP;
	}
	if (w[W_FREE_THREADED]) {
		snprintf(why, room, "it is a free-threaded build");
		return -ENOTSUP;
	}
	if (!words_sane(w)) {
		snprintf(why, room, "its _Py_DebugOffsets make no sense");
		return -ENOTSUP;
	}
	take_words(w, out);
	out->code_tag = (version >> 16 & 0xff) == 13 ? 0 : 3; /* _PyStackRef: two bits of it */
	return 0;
}

int prof_pylayout_find(struct prof_pymem *m, const struct prof_pyplaces *at, uint32_t version,
		       struct prof_pylayout *out, char *why, size_t room)
{
	uint32_t major = version >> 24, minor = version >> 16 & 0xff;
	uint32_t stage = version >> 4 & 0xf; /* 0xa, 0xb: before the layout was settled */

	if (major != 3 || minor < 8 || minor > 14 || (minor > 10 && stage < 0xc)) {
		snprintf(why, room, "versions 3.8 to 3.14 are known");
		return -ENOTSUP;
	}
	if (minor >= 13)
		return from_runtime(m, at, version, out, why, room);
	*out = tables[minor - 8];
	return 0;
}

/* ---- the check ---- */

#define TYPE_NAME 24u
#define TYPE_MEMBERS 240u
#define MEMBERS_MAX 40u

struct member { /* PyMemberDef */
	uint64_t name;
	int32_t type, pad;
	int64_t offset;
	int32_t flags, pad2;
	uint64_t doc;
};
_Static_assert(sizeof(struct member) == 40, "PyMemberDef");

/* 1: agrees, 0: not a member that we use, -1: disagrees. */
static int compare_member(const struct prof_pylayout *l, const char *name, int64_t offset)
{
	const struct {
		const char *name;
		uint32_t offset;
	} want[] = {
		{ "co_filename", l->code.file },	 { "co_name", l->code.name },
		{ "co_firstlineno", l->code.firstline }, { "co_qualname", l->code.qualname },
		{ "co_linetable", l->code.table },
	};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(*want); i++)
		if (!strcmp(name, want[i].name))
			return offset == want[i].offset ? 1 : -1;
	return 0;
}

static int check_members(struct prof_pymem *m, uint64_t at, const struct prof_pylayout *l)
{
	unsigned int n, agreed = 0;

	for (n = 0; n < MEMBERS_MAX; n++) {
		struct member one;
		char name[32];
		int rc = prof_pymem_read(m, at + n * sizeof(one), &one, sizeof(one));

		if (rc)
			return rc;
		if (!one.name)
			break;
		if (prof_pymem_text(m, one.name, name, sizeof(name)) < 0)
			return -ENOTSUP;
		rc = compare_member(l, name, one.offset);
		if (rc < 0)
			return -ENOTSUP;
		agreed += (unsigned int)rc;
	}
	return agreed >= 3 ? 0 : -ENOTSUP; /* file, name and first line are members everywhere */
}

int prof_pylayout_check(struct prof_pymem *m, const struct prof_pyplaces *at,
			const struct prof_pylayout *l, char *why, size_t room)
{
	uint64_t name, members;
	char text[8];
	int rc = prof_pymem_read(m, at->code_type + TYPE_NAME, &name, sizeof(name));

	if (!rc)
		rc = prof_pymem_read(m, at->code_type + TYPE_MEMBERS, &members, sizeof(members));
	if (rc)
		return rc;
	if (prof_pymem_text(m, name, text, sizeof(text)) < 0 || strcmp(text, "code"))
		rc = -ENOTSUP;
	else
		rc = check_members(m, members, l);
	if (rc == -ENOTSUP)
		snprintf(why, room, "its code objects do not look as those of its version");
	return rc;
}
