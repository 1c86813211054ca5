/* SPDX-License-Identifier: Apache-2.0 */
#include "pulse_rows.h"

#include <stdio.h>
#include <string.h>

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

struct chosen { /* of a slot */
	const struct wire_entry *entry; /* whose row holds; NULL: none */
	int64_t rank;
	char stream[LIVE_ROW_STREAM_BYTES];
};

static void choose(struct coll_pulse_rows *p, const struct coll_body *b,
		   const struct coll_body_stream *s, bool first, struct chosen *of)
{
	struct live_row r;

	for (size_t i = 0; i < s->entries; i++) {
		const struct wire_entry *e = &s->entry[i];
		const uint8_t *payload = b->bytes.data + e->offset + WIRE_FRAME_HEADER_BYTES;
		bool is_pulse = e->frame.type == WIRE_FRAME_PULSE;

		for (int as_first = first && is_pulse; as_first >= 0; as_first--) {
			if (!live_row_of(&r, p->reader, &e->frame, payload, as_first) ||
			    (of[r.slot].entry && of[r.slot].rank >= r.rank))
				continue;
			of[r.slot] = (struct chosen){ .entry = e, .rank = r.rank };
			memcpy(of[r.slot].stream, r.stream, sizeof(r.stream));
		}
	}
}

static bool name_row(struct live_row *r, const struct chosen *c, const char *team, const char *run)
{
	memcpy(r->stream, c->stream, sizeof(r->stream));
	return snprintf(r->team, sizeof(r->team), "%s", team) < (int)sizeof(r->team) &&
	       snprintf(r->run, sizeof(r->run), "%s", run) < (int)sizeof(r->run);
}

void coll_pulse_rows_take(struct coll_pulse_rows *p, const char *team, const struct coll_body *b,
			  const struct coll_body_stream *s, bool first)
{
	struct chosen of[LIVE_ROW_SLOTS] = { 0 };

	if (!p->reader)
		p->reader = live_reader_new();
	if (!p->reader) {
		p->dropped++;
		return;
	}
	choose(p, b, s, first, of);
	for (uint32_t slot = 0; slot < LIVE_ROW_SLOTS; slot++) {
		const struct wire_entry *e = of[slot].entry;
		struct live_row r = { .slot = slot, .rank = of[slot].rank };

		if (e && name_row(&r, &of[slot], team, s->run))
			coll_pulse_rows_add(p, &r, b->bytes.data + e->offset,
					    (size_t)wire_frame_bytes(&e->frame));
	}
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
	live_reader_free(p->reader);
	p->reader = NULL;
}
