/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns and heads from any bytes: kind, count (2 bytes), columns. What decodes is encoded again
 * and must decode to the same events.
 */
#include "fuzz.h"

#include "unit/wire/events.h"
#include "wire/block.h"

#define COUNT_MAX 3000u

static void check_again(const struct wire_event *ev, uint8_t kind, uint32_t count)
{
	struct wire_event *back = malloc(count * sizeof(*back));
	struct wire_block_head h;
	struct wire_buf b = { 0 };
	int err;

	if (wire_block_encode(kind, ev, count, &b) ||
	    wire_block_decode(kind, count, b.data, b.len, back, NULL) ||
	    memcmp(ev, back, count * sizeof(*ev)))
		abort();
	err = wire_block_head_of(&h, ev, count);
	b.len = 0;
	if (!err && (wire_block_head_put(&h, &b) || wire_block_head_get(&h, b.data, b.len)))
		abort();
	wire_buf_fini(&b);
	free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct wire_block_head h;
	struct wire_event *ev;
	uint32_t count;

	wire_block_head_get(&h, data, len);
	if (len < 3)
		return 0;
	count = (data[1] | (uint32_t)data[2] << 8) % COUNT_MAX;
	ev = malloc(count * sizeof(*ev) + 1);
	if (!wire_block_decode(data[0], count, data + 3, len - 3, ev, NULL))
		check_again(ev, data[0], count);
	free(ev);
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	uint8_t kind = (uint8_t)(1 + number % 4), prefix[3] = { kind };
	size_t n = (size_t[]){ 1, 3, 40, 600, 2500, 100 }[number / 4 % 6], i;
	struct wire_event *ev = calloc(n, sizeof(*ev));
	struct t_job j = t_job_begin(number, 1 + number % 5);
	struct wire_buf b = { 0 };
	uint64_t rnd = number;

	if (number >= 24) {
		free(ev);
		return 0;
	}
	for (i = 0; i < n; i++) {
		ev[i] = t_job_op(&j);
		if (kind != 1)
			ev[i] = t_job_api(&j, &ev[i]);
		ev[i].kind = kind;
	}
	if (number >= 20)
		t_events_wild(ev, n, kind, &rnd);
	prefix[1] = (uint8_t)n;
	prefix[2] = (uint8_t)(n >> 8);
	REQUIRE(!wire_buf_append(&b, prefix, sizeof(prefix)));
	REQUIRE(!wire_block_encode(kind, ev, n, &b));
	free(ev);
	*data = b.data;
	return b.len;
}
