/* SPDX-License-Identifier: Apache-2.0 */
#include "pulse_rows.h"

#include <stdio.h>
#include <string.h>

#define SLOTS (LIVE_ROW_PULSE + LIVE_ROW_STRETCHES)

void coll_pulse_rows_add(struct coll_pulse_rows *p, const struct live_row *r, const void *frame,
			 size_t len)
{
	if (p->lines.len + LIVE_ROW_LINE > COLL_PULSE_ROWS_MAX) {
		p->lines.len = 0;
		p->dropped++;
	}
	if (live_row_put(&p->lines, r, frame, len))
		p->dropped++;
	else
		p->rows++;
}

/* The entry of each slot whose row holds; NULL: none. */
static void choose(const struct coll_body_stream *s, bool first, const struct wire_entry **of)
{
	struct live_row r, best[SLOTS];

	for (size_t i = 0; i < s->entries; i++) {
		const struct wire_entry *e = &s->entry[i];

		for (int as_first = first; as_first >= 0; as_first--) {
			if (!live_row_of(&r, &e->frame, as_first) ||
			    (of[r.slot] && best[r.slot].rank >= r.rank))
				continue;
			of[r.slot] = e;
			best[r.slot] = r;
		}
	}
}

static bool name_row(struct live_row *r, const char *team, const char *run)
{
	return snprintf(r->team, sizeof(r->team), "%s", team) < (int)sizeof(r->team) &&
	       snprintf(r->run, sizeof(r->run), "%s", run) < (int)sizeof(r->run);
}

void coll_pulse_rows_take(struct coll_pulse_rows *p, const char *team, const struct coll_body *b,
			  const struct coll_body_stream *s, bool first)
{
	const struct wire_entry *of[SLOTS] = { NULL };
	struct live_row r;

	choose(s, first, of);
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		if (of[slot] && live_row_of(&r, &of[slot]->frame, slot == LIVE_ROW_FIRST) &&
		    name_row(&r, team, s->run))
			coll_pulse_rows_add(p, &r, b->bytes.data + of[slot]->offset,
					    (size_t)wire_frame_bytes(&of[slot]->frame));
}

void coll_pulse_rows_return(struct coll_pulse_rows *p, struct wire_buf *lines)
{
	if (lines->len + p->lines.len > COLL_PULSE_ROWS_MAX ||
	    wire_buf_append(lines, p->lines.data, p->lines.len)) {
		p->dropped++;
		wire_buf_fini(lines);
	} else {
		wire_buf_fini(&p->lines);
		p->lines = *lines;
	}
	*lines = (struct wire_buf){ .data = NULL };
}

void coll_pulse_rows_fini(struct coll_pulse_rows *p)
{
	wire_buf_fini(&p->lines);
}
