/* SPDX-License-Identifier: Apache-2.0 */
#include "row.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"

#define COLUMNS 7
#define SEQ_MAX (INT64_MAX - 1)
#define AGE_MAX_S (INT64_C(400) * 86400)

static const char digit[] = "0123456789abcdef";

static void put_hex(char *out, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;

	for (size_t i = 0; i < len; i++) {
		*out++ = digit[from[i] >> 4];
		*out++ = digit[from[i] & 15];
	}
}

static int digit_of(char c)
{
	const char *at = c ? strchr(digit, c) : NULL;

	return at ? (int)(at - digit) : -1;
}

/* False: other characters are there. @hex is as long as @len bytes are. */
static bool get_hex(uint8_t *out, const char *hex, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = digit_of(hex[2 * i]), low = digit_of(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* Which of the last stretches a pulse is of; its stamp only picks a place, whatever it says. */
static uint32_t stretch_of(const struct wire_frame *f)
{
	uint64_t t = f->time_ns > 0 ? (uint64_t)f->time_ns : 0;

	return (uint32_t)(t / LIVE_ROW_STRETCH_NS % LIVE_ROW_STRETCHES);
}

bool live_row_stays(uint32_t slot)
{
	return (slot < LIVE_ROW_PULSE && slot != LIVE_ROW_BYE) || slot >= LIVE_ROW_SAVE;
}

/* False: it tells nothing that a row is made of. */
static bool facts_slot(struct live_row *r, struct live_reader *d, const struct wire_frame *f,
		       const uint8_t *payload)
{
	struct live_facts facts;

	if (live_frame_facts(d, f, payload, &facts))
		return false;
	if (facts.save)
		r->slot = LIVE_ROW_SAVE + (uint32_t)(facts.save % LIVE_ROW_SAVES);
	else if (facts.written)
		r->slot = LIVE_ROW_WRITTEN;
	else
		r->slot = LIVE_ROW_MEMORY;
	return facts.save || facts.written || facts.memory;
}

bool live_row_of(struct live_row *r, struct live_reader *d, const struct wire_frame *f,
		 const uint8_t *payload, bool first)
{
	*r = (struct live_row){ .rank = (int64_t)f->seq };
	if (!f->seq || f->seq > SEQ_MAX || wire_frame_bytes(f) > LIVE_ROW_FRAME_MAX)
		return false;
	put_hex(r->stream, f->stream, sizeof(f->stream));
	switch (f->type) {
	case WIRE_FRAME_HELLO:
		r->slot = LIVE_ROW_HELLO;
		return true;
	case WIRE_FRAME_PULSE:
		r->slot = first ? LIVE_ROW_FIRST : LIVE_ROW_PULSE + stretch_of(f);
		if (first)
			r->rank = SEQ_MAX - r->rank;
		return true;
	case WIRE_FRAME_FACTS:
		return facts_slot(r, d, f, payload);
	case WIRE_FRAME_BYE:
		r->slot = LIVE_ROW_BYE;
		return true;
	default:
		return false;
	}
}

void live_row_of_alert(struct live_row *r, const struct live_fired *f)
{
	uint64_t hash = base_hash_text(BASE_HASH, f->condition);

	*r = (struct live_row){ .slot = LIVE_ROW_ALERT, .rank = 0 };
	/* The first that fired holds, if by a store's fault two did. */
	if (f->t_unix_ns > 0)
		r->rank = INT64_MAX - f->t_unix_ns;
	snprintf(r->stream, sizeof(r->stream), "%016" PRIx64 "%016x", hash,
		 (unsigned int)f->budget_pct);
}

int live_row_put(struct wire_buf *out, const struct live_row *r, const void *frame, size_t len)
{
	char head[512];
	int n = snprintf(head, sizeof(head), "%s\t%s\t%s\t%" PRIu32 "\t%" PRId64 "\t%" PRId64 "\t",
			 r->team, r->run, r->stream, r->slot, r->rank, r->age_s);
	int err;

	if (n < 0 || n >= (int)sizeof(head) || len > LIVE_ROW_FRAME_MAX)
		return -EMSGSIZE;
	err = wire_buf_reserve(out, (size_t)n + 2 * len + 1);
	if (err)
		return err;
	wire_buf_append(out, head, (size_t)n);
	put_hex((char *)out->data + out->len, frame, len);
	out->len += 2 * len;
	return wire_buf_append(out, "\n", 1);
}

/* A column's text, as letters of names; @empty: it may be. */
static bool take_name(char *out, size_t room, const char *text, bool empty)
{
	size_t len = strlen(text);

	if (len >= room || (!len && !empty) || *text == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || strchr("/\\\x7f", text[i]))
			return false;
	memcpy(out, text, len + 1);
	return true;
}

static bool take_number(int64_t *out, const char *text, int64_t most)
{
	char *end;

	errno = 0;
	*out = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *out <= most;
}

static bool is_slot(int64_t slot)
{
	return slot <= LIVE_ROW_WRITTEN ||
	       (slot >= LIVE_ROW_PULSE && slot < LIVE_ROW_PULSE + LIVE_ROW_STRETCHES) ||
	       slot >= LIVE_ROW_SAVE;
}

static bool take_columns(struct live_row *r, char *const *column)
{
	uint8_t id[WIRE_STREAM_ID_BYTES];
	int64_t slot;

	if (!take_name(r->team, sizeof(r->team), column[0], true) ||
	    !take_name(r->run, sizeof(r->run), column[1], false) ||
	    strlen(column[2]) != 2 * sizeof(id) || !get_hex(id, column[2], sizeof(id)) ||
	    !take_number(&slot, column[3], LIVE_ROW_SLOTS - 1) || !is_slot(slot) ||
	    !take_number(&r->rank, column[4], INT64_MAX) ||
	    !take_number(&r->age_s, column[5], AGE_MAX_S))
		return false;
	memcpy(r->stream, column[2], sizeof(r->stream));
	r->slot = (uint32_t)slot;
	r->hex = column[6];
	r->digits = strlen(r->hex);
	return r->digits <= 2 * LIVE_ROW_FRAME_MAX && !(r->digits % 2);
}

bool live_row_get(struct live_row *r, char *line)
{
	char *column[COLUMNS], *at = line;
	size_t n = 0;

	*r = (struct live_row){ .hex = NULL };
	while (at && n < COLUMNS)
		column[n++] = strsep(&at, "\t");
	return n == COLUMNS && !at && take_columns(r, column);
}

void live_row_name_stream(struct live_row *r, const uint8_t id[WIRE_STREAM_ID_BYTES])
{
	put_hex(r->stream, id, WIRE_STREAM_ID_BYTES);
	r->stream[LIVE_ROW_STREAM_BYTES - 1] = '\0';
}

int64_t live_row_seq(uint32_t slot, int64_t rank)
{
	return slot == LIVE_ROW_FIRST ? SEQ_MAX - rank : rank;
}

static int64_t seq_of(const struct live_row *r)
{
	return live_row_seq(r->slot, r->rank);
}

static int run_order(const struct live_row *a, const struct live_row *b)
{
	int by = strcmp(a->team, b->team);

	by = by ? by : strcmp(a->run, b->run);
	return by ? by : strcmp(a->stream, b->stream);
}

int live_row_order(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;
	int by = run_order(x, y);
	int64_t m = seq_of(x), n = seq_of(y);

	return by ? by : (m > n) - (m < n);
}

int live_row_key_order(const void *a, const void *b)
{
	const struct live_row *x = a, *y = b;
	int by = run_order(x, y);

	by = by ? by : (int)x->slot - (int)y->slot;
	return by ? by : (x->rank < y->rank) - (x->rank > y->rank);
}

bool live_row_same_key(const struct live_row *a, const struct live_row *b)
{
	return !run_order(a, b) && a->slot == b->slot;
}

bool live_row_decode(const struct live_row *r, uint8_t *out)
{
	return get_hex(out, r->hex, r->digits / 2);
}

/* A whole frame, as far as its own sums tell, of the row's stream and number. */
static int frame_of(const struct live_row *r, const uint8_t *bytes, size_t len,
		    struct wire_frame *f)
{
	char stream[LIVE_ROW_STREAM_BYTES] = "";

	if (len < WIRE_FRAME_HEADER_BYTES || wire_frame_header_get(f, bytes) ||
	    wire_frame_bytes(f) != len ||
	    !wire_frame_payload_ok(f, bytes + WIRE_FRAME_HEADER_BYTES))
		return -EBADMSG;
	put_hex(stream, f->stream, sizeof(f->stream));
	return strcmp(stream, r->stream) || (int64_t)f->seq != seq_of(r) ? -EBADMSG : 0;
}

int live_row_apply_bytes(struct live_run *run, struct live_reader *d, const struct live_row *r,
			 const uint8_t *bytes, size_t len, const struct live_when *when)
{
	struct live_when aged = *when;
	struct wire_frame f;
	int err = frame_of(r, bytes, len, &f);

	if (err)
		return err;
	aged.history = aged.thinned = aged.aged = true;
	aged.age_ns = r->age_s * LIVE_SECOND_NS;
	return live_run_frame(run, d, &f, bytes + WIRE_FRAME_HEADER_BYTES, &aged);
}

int live_row_apply(struct live_run *run, struct live_reader *d, const struct live_row *r,
		   const struct live_when *when)
{
	uint8_t bytes[LIVE_ROW_FRAME_MAX];

	if (r->digits / 2 > sizeof(bytes) || !live_row_decode(r, bytes))
		return -EBADMSG;
	return live_row_apply_bytes(run, d, r, bytes, r->digits / 2, when);
}

int live_row_fired(const struct live_row *r, struct live_fired *f)
{
	uint8_t line[LIVE_FIRED_LINE];
	size_t len = r->digits / 2;

	if (r->slot != LIVE_ROW_ALERT || len > sizeof(line) || !get_hex(line, r->hex, len))
		return -EBADMSG;
	return live_fired_get(f, (const char *)line, len);
}
