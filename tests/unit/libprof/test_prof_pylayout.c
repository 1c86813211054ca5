/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Versions known and unknown, and _Py_DebugOffsets of 3.13 and 3.14: right ones, and such that must
 * be refused. Also chains of frames made by hand, as no Python writes them.
 */
#include <errno.h>

#include "harness.h"
#include "python/pylayout.h"
#include "python/pywalk.h"

#define V(major, minor, patch, stage) \
	((uint32_t)(major) << 24 | (minor) << 16 | (patch) << 8 | (stage) << 4)

static struct prof_pymem mem;
static uint64_t offsets[104];
static char why[120];

static int find(uint32_t version, struct prof_pylayout *l)
{
	struct prof_pyplaces at = { .runtime = (uintptr_t)offsets };

	why[0] = 0;
	return prof_pylayout_find(&mem, &at, version, l, why, sizeof(why));
}

/* As 3.14 has them, by the order of Include/internal/pycore_debug_offsets.h; values made up. */
static void make_314(void)
{
	static const uint64_t words[] = {
		0,
		V(3, 14, 0, 0xf),
		0, /* cookie, version, free_threaded */
		300000,
		700,
		640, /* runtime: size, finalizing, interpreters_head */
		270000,
		7272,
		7264,
		7344,
		7360,
		7500,
		7712,
		8048,
		8056,
		16,
		7960,
		0,
		7976,
		7968,
		1,
		0, /* interpreter: size, id, next, threads_head, threads_main, gc, imports, sysdict,
		      builtins, ceval_gil, gil, enabled, locked, holder, generation, tlbc */
		500,
		0,
		8,
		16,
		72,
		152,
		160,
		232,
		40, /* thread: size, prev, next, interp,
			current_frame, thread_id, native_thread_id, datastack_chunk, status */
		88,
		8,
		0,
		56,
		80,
		74,
		64,
		0, /* frame: size, previous, executable, instr_ptr,
			localsplus, owner, stackpointer, tlbc_index */
		208,
		112,
		120,
		128,
		136,
		68,
		52,
		96,
		104,
		208,
		0, /* code: size, filename, name,
			qualname, linetable, firstlineno, ... co_code_adaptive, tlbc */
		16,
		8, /* object: size, ob_type */
		416,
		24,
		88,
		168, /* type */
		40,
		32,
		16, /* tuple */
		40,
		24,
		16, /* list */
		200,
		24,
		40,
		32, /* set */
		48,
		32,
		40, /* dict */
		24,
		16, /* float */
		32,
		16,
		24, /* long */
		40,
		16,
		32, /* bytes: size, ob_size, ob_sval */
		64,
		32,
		16,
		40, /* unicode: size, state, length, asciiobject_size */
		264,
		232, /* gc: size, collecting */
	};

	memset(offsets, 0, sizeof(offsets));
	memcpy(offsets, words, sizeof(words));
	memcpy(offsets, "xdebugpy", 8);
}

static void test_314(void)
{
	struct prof_pylayout l;

	make_314();
	EXPECT_INT(find(V(3, 14, 0, 0xf), &l), 0);
	EXPECT_UINT(l.interpreters, 640);
	EXPECT_UINT(l.interp.next, 7264);
	EXPECT_UINT(l.interp.threads, 7344);
	EXPECT_UINT(l.interp.gil, 16);
	EXPECT_UINT(l.interp.collecting, 7500 + 232);
	EXPECT_UINT(l.gil_holder, 8);
	EXPECT_UINT(l.gil_locked, 16);
	EXPECT_UINT(l.thread.frame, 72);
	EXPECT_UINT(l.thread.native, 160);
	EXPECT_UINT(l.thread.chunk, 232);
	EXPECT_UINT(l.thread.bytes, 256);
	EXPECT_UINT(l.frame.owner, 74);
	EXPECT_UINT(l.frame.instr, 56);
	EXPECT_UINT(l.code.qualname, 128);
	EXPECT_UINT(l.code.table, 136);
	EXPECT_UINT(l.code.firstline, 68);
	EXPECT_UINT(l.code.bytecode, 208);
	EXPECT_UINT(l.ascii, 40);
	EXPECT_UINT(l.compact, 56);
	EXPECT_UINT(l.code_tag, 3);
}

/* What it tells of objects is what the table has; where not, stacks can be read all the same. */
static void test_objects(void)
{
	static const size_t told[] = { 35, 45, 57, 60, 67, 68 };
	struct prof_pylayout l;
	uint32_t minor;
	size_t i;

	for (minor = 8; minor <= 12; minor++) {
		EXPECT_INT(find(V(3, minor, 5, 0xf), &l), 0);
		EXPECT(l.refs.known);
		EXPECT_UINT(l.refs.frame.globals, minor < 11 ? 48 : minor == 11 ? 8 : 24);
	}
	make_314();
	EXPECT_INT(find(V(3, 14, 0, 0xf), &l), 0);
	EXPECT(l.refs.known);
	EXPECT_UINT(l.refs.frame.locals, 80);
	for (i = 0; i < sizeof(told) / sizeof(*told); i++) {
		make_314();
		offsets[told[i]] += 8;
		EXPECT_INT(find(V(3, 14, 0, 0xf), &l), 0);
		EXPECT(!l.refs.known);
	}
}

static void refuse(size_t word, uint64_t value)
{
	struct prof_pylayout l;

	make_314();
	offsets[word] = value;
	EXPECT_INT(find(V(3, 14, 0, 0xf), &l), -ENOTSUP);
	EXPECT(why[0]);
}

static void test_refusals(void)
{
	struct prof_pylayout l;
	size_t i;

	refuse(0, 0); /* cookie */
	refuse(1, V(3, 13, 0, 0xf)); /* another version */
	refuse(2, 1); /* free-threaded */
	refuse(5, UINT64_C(1) << 40);
	refuse(26, 1 << 20); /* of a small structure */
	refuse(40, UINT64_MAX);
	refuse(51, 16); /* ob_type elsewhere */
	refuse(19, 10); /* holder outside of the lock */
	for (i = 0; i < 83; i++) { /* and nothing faults on anything */
		make_314();
		offsets[i] = ~offsets[i];
		find(V(3, 14, 0, 0xf), &l);
	}
	make_314();
	EXPECT_INT(find(V(3, 99, 0, 0xf), &l), -ENOTSUP);
	EXPECT_INT(find(V(3, 7, 0, 0xf), &l), -ENOTSUP);
	EXPECT_INT(find(V(2, 7, 0, 0xf), &l), -ENOTSUP);
	EXPECT_INT(find(V(4, 10, 0, 0xf), &l), -ENOTSUP);
	EXPECT_INT(find(V(3, 12, 0, 0xa), &l), -ENOTSUP); /* before it was settled */
	EXPECT_INT(find(V(3, 8, 0, 0), &l), 0);
	EXPECT_INT(find(V(3, 12, 9, 0xf), &l), 0);
}

/* ---- chains ---- */

static uint64_t thread[64];
static uint64_t frame[5000][10];

static struct prof_pywalk walk;

static int follow(size_t first)
{
	struct prof_py_thread t = { .tstate = (uintptr_t)thread, .interp = 1, .ident = 2 };
	struct prof_pylayout l;

	make_314();
	REQUIRE(!find(V(3, 14, 0, 0xf), &l));
	thread[16 / 8] = 1;
	thread[152 / 8] = 2;
	thread[72 / 8] = (uintptr_t)frame[first];
	return prof_pywalk(&mem, &l, &t, &walk);
}

#define SHIM (UINT64_C(4) << 16) /* owner: the C stack */

/* @n frames and, as 3.12 and later have it, one from C at the end. */
static void chain(size_t n)
{
	size_t i;

	memset(frame, 0, sizeof(frame));
	for (i = 0; i < n; i++) {
		frame[i][0] = (i + 1) * 4096 | 1; /* with a tag */
		frame[i][1] = i + 1 < n ? (uintptr_t)frame[i + 1] : 0;
		frame[i][7] = i;
	}
	frame[n - 1][9] = SHIM;
}

static void test_chains(void)
{
	chain(4);
	EXPECT_INT(follow(0), 0);
	EXPECT_UINT(walk.frames, 3);
	EXPECT_UINT(walk.frame[0].code, 4096);
	EXPECT_UINT(walk.root, 3 * 4096);
	frame[1][9] = SHIM; /* and one in between */
	EXPECT_INT(follow(0), 0);
	EXPECT_UINT(walk.frames, 2);
	EXPECT_UINT(walk.root, 3 * 4096);
	chain(1001);
	EXPECT_INT(follow(0), 0);
	EXPECT_UINT(walk.frames, PROF_PY_FRAMES);
	EXPECT_UINT(walk.root, 1000 * 4096);
	chain(4999); /* deeper than is followed */
	EXPECT_INT(follow(0), 0);
	EXPECT_UINT(walk.root, 0);
}

static void test_torn_chains(void)
{
	chain(10);
	frame[9][9] = 0; /* ends in a frame that cannot be the last */
	EXPECT_INT(follow(0), -EAGAIN);
	frame[9][1] = (uintptr_t)frame[3];
	EXPECT_INT(follow(0), -EAGAIN); /* a circle */
	frame[0][1] = (uintptr_t)frame[0];
	EXPECT_INT(follow(0), -EAGAIN);
	chain(10);
	frame[5][1] = 24; /* no memory there */
	EXPECT_INT(follow(0), -EAGAIN);
	frame[5][1] = (uintptr_t)frame[6] + 3;
	EXPECT_INT(follow(0), -EAGAIN);
	chain(10);
	thread[232 / 8] =
		(uintptr_t)frame; /* chunk, top, limit: in one copy, with the same result */
	thread[240 / 8] = thread[248 / 8] = (uintptr_t)frame[10];
	EXPECT_INT(follow(0), 0);
	EXPECT_UINT(walk.frames, 9);
	EXPECT_UINT(walk.chunk.bytes, sizeof(frame[0]) * 10);
	EXPECT(!walk.outside && walk.still);
	thread[240 / 8] = 1; /* below it */
	EXPECT_INT(follow(0), 0);
	EXPECT_UINT(walk.frames, 9);
	EXPECT_UINT(walk.chunk.bytes, 0);
	EXPECT(walk.outside && walk.still);
	thread[232 / 8] = thread[240 / 8] = thread[248 / 8] = 0;
	thread[152 / 8] = 3;
	{
		struct prof_py_thread other = { .tstate = (uintptr_t)thread,
						.interp = 1,
						.ident = 9 };
		struct prof_pylayout l;

		REQUIRE(!find(V(3, 14, 0, 0xf), &l));
		EXPECT_INT(prof_pywalk(&mem, &l, &other, &walk), -ENOENT);
		other.tstate = 8;
		EXPECT_INT(prof_pywalk(&mem, &l, &other, &walk), -ENOENT);
	}
}

int main(void)
{
	REQUIRE(!prof_pymem_open(&mem, 0, PROF_PYMEM_VM));
	return RUN(test_314, test_objects, test_refusals, test_chains, test_torn_chains);
}
