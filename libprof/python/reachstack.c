/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a frame's evaluation stack is in use. A running function keeps the end of it in a
 * register; but from what an exception would leave of it at this instruction one knows how much is
 * there at least, which has all that with statements hold. What stands above may be of earlier
 * functions, and even of other threads'.
 */
#include <string.h>

#include "pypriv.h"
#include "reachpriv.h"

#define BLOCKS_MAX 20u
#define BLOCK_BYTES 12u
#define BLOCK_LEVEL 8u
#define TABLE_MAX 1024u

/* ---- 3.14, and frames that have called functions of Python ---- */

static bool read_top(const struct prof_pylayout *l, uint64_t frame, const uint8_t *head,
		     uint32_t variables, uint32_t *n)
{
	const struct prof_pyrefs *refs = &l->refs;
	uint64_t top = 0;
	int32_t index;

	if (refs->frame.top == PROF_PYLAYOUT_NONE)
		return false;
	if (refs->frame.top_bytes == sizeof(index)) {
		memcpy(&index, head + refs->frame.top, sizeof(index));
		top = index < 0 ? 0 : (uint64_t)index;
	} else if (prof_pymem_word(head, refs->frame.top)) {
		top = (prof_pymem_word(head, refs->frame.top) - frame - refs->frame.locals) / 8;
	}
	if (top < variables || top - variables > PROF_PYREACH_STACK)
		return false;
	*n = (uint32_t)(top - variables);
	return true;
}

/* ---- to 3.10: the frame's blocks ---- */

static uint32_t level_of_blocks(const struct prof_pyrefs *refs, const uint8_t *head)
{
	int32_t blocks, level;

	memcpy(&blocks, head + refs->frame.blocks, sizeof(blocks));
	if (blocks <= 0 || blocks > (int32_t)BLOCKS_MAX)
		return 0;
	memcpy(&level,
	       head + refs->frame.blocks + 8 + ((uint32_t)blocks - 1) * BLOCK_BYTES + BLOCK_LEVEL,
	       sizeof(level));
	return level > 0 ? (uint32_t)level : 0;
}

/* ---- from 3.11 on: the table of handlers ---- */

/*
 * Numbers of six bits a byte, the most significant first; another byte follows where bit 6 is set.
 */
static uint64_t take_number(const uint8_t **at, const uint8_t *end)
{
	uint64_t n = 0;

	while (*at < end) {
		uint8_t byte = *(*at)++;

		n = n << 6 | (byte & 63);
		if (!(byte & 64))
			break;
	}
	return n;
}

uint32_t prof_pyreach_level(const uint8_t *table, size_t bytes, uint64_t unit)
{
	const uint8_t *at = table, *end = table + bytes;

	while (at < end) {
		uint64_t start = take_number(&at, end), size = take_number(&at, end), depth;

		take_number(&at, end); /* where the handler is */
		depth = take_number(&at, end) >> 1;
		if (start > unit)
			break;
		if (unit - start < size)
			return depth <= PROF_PYREACH_STACK ? (uint32_t)depth : 0;
	}
	return 0;
}

static uint32_t level_of_handlers(struct prof_py *py, const struct prof_pyframe *f,
				  const uint8_t *code)
{
	const struct prof_pylayout *l = &py->layout;
	uint64_t at = prof_pymem_word(code, l->refs.code.handlers), n;
	uint8_t table[TABLE_MAX];

	if (f->instr < f->code + l->code.bytecode ||
	    prof_pymem_read(&py->mem, at + PROF_PYVAR_SIZE, &n, sizeof(n)))
		return 0;
	n = n < TABLE_MAX ? n : TABLE_MAX;
	if (!n || prof_pymem_read(&py->mem, at + PROF_PYBYTES_DATA, table, n))
		return 0;
	return prof_pyreach_level(table, n, (f->instr - f->code - l->code.bytecode) / 2);
}

uint32_t prof_pyreach_in_use(struct prof_py *py, const struct prof_pyframe *f, const uint8_t *head,
			     const uint8_t *code, uint32_t variables)
{
	const struct prof_pyrefs *refs = &py->layout.refs;
	uint32_t n;

	if (read_top(&py->layout, f->at, head, variables, &n))
		return n;
	if (refs->frame.blocks != PROF_PYLAYOUT_NONE)
		return level_of_blocks(refs, head);
	return level_of_handlers(py, f, code);
}
