/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring, and what falls out of it thinned.
 */
#include "marks.h"

#include <stdlib.h>

/* A pulse that is recent no more: number @n. */
static void thin(struct coll_marks *m, uint64_t n, uint64_t offset)
{
	uint32_t i;

	if (!m->stride)
		m->stride = 1;
	if (n % m->stride)
		return;
	if (m->thin == COLL_MARKS_THIN) {
		for (i = 0; i < COLL_MARKS_THIN / 2; i++)
			m->thin_at[i] = m->thin_at[2 * i];
		m->thin = COLL_MARKS_THIN / 2;
		m->stride = m->stride > UINT32_MAX / 2 ? m->stride : m->stride * 2;
		if (n % m->stride)
			return;
	}
	m->thin_at[m->thin++] = offset;
}

static void add_pulse(struct coll_marks *m, uint64_t offset)
{
	uint64_t *at = &m->recent_at[m->pulses % COLL_MARKS_RECENT];

	if (m->pulses >= COLL_MARKS_RECENT)
		thin(m, m->pulses - COLL_MARKS_RECENT, *at);
	*at = offset;
	m->pulses++;
}

void coll_marks_add(struct coll_marks *m, const struct wire_frame *f, uint64_t offset)
{
	m->last = offset;
	m->has |= COLL_MARKS_LAST;
	if (f->type == WIRE_FRAME_HELLO) {
		if (!(m->has & COLL_MARKS_HELLO))
			m->first_hello = offset;
		m->last_hello = offset;
		m->has |= COLL_MARKS_HELLO;
	} else if (f->type == WIRE_FRAME_PULSE) {
		add_pulse(m, offset);
	} else if (f->type == WIRE_FRAME_BYE) {
		m->bye = offset;
		m->has |= COLL_MARKS_BYE;
	}
}

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

size_t coll_marks_list(const struct coll_marks *m, uint64_t *out)
{
	uint64_t recent = m->pulses < COLL_MARKS_RECENT ? m->pulses : COLL_MARKS_RECENT;
	size_t n = 0, i;

	if (m->has & COLL_MARKS_HELLO)
		out[n++] = m->first_hello;
	if ((m->has & COLL_MARKS_HELLO) && m->last_hello != m->first_hello)
		out[n++] = m->last_hello;
	for (i = 0; i < m->thin; i++)
		out[n++] = m->thin_at[i];
	for (i = 0; i < recent; i++)
		out[n++] = m->recent_at[i];
	if (m->has & COLL_MARKS_BYE)
		out[n++] = m->bye;
	qsort(out, n, sizeof(*out), by_offset);
	return n;
}
