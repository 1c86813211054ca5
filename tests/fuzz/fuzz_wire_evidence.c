/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of samples and batches from any bytes: which of them (bit 0), count (2 bytes), columns.
 * What decodes is encoded again and must decode to the same rows.
 */
#include "fuzz.h"

#include "unit/wire/evidence.h"

#define COUNT_MAX 3000u

static void check_samples(const struct wire_sample *s, uint32_t count)
{
	struct wire_sample *back = malloc(count * sizeof(*back));
	struct wire_block_head h;
	struct wire_buf b = { 0 };

	if (wire_samples_encode(s, count, &h, &b) ||
	    wire_samples_decode(count, b.data, b.len, back) || memcmp(s, back, count * sizeof(*s)))
		abort();
	b.len = 0;
	if (wire_block_head_put(&h, &b) || wire_block_head_get(&h, b.data, b.len))
		abort();
	wire_buf_fini(&b);
	free(back);
}

static void check_batches(const struct wire_batch *r, uint32_t count)
{
	struct wire_batch *back = malloc(count * sizeof(*back));
	struct wire_block_head h;
	struct wire_buf b = { 0 };

	if (wire_batches_encode(r, count, &h, &b) ||
	    wire_batches_decode(count, b.data, b.len, back) || memcmp(r, back, count * sizeof(*r)))
		abort();
	b.len = 0;
	if (wire_block_head_put(&h, &b) || wire_block_head_get(&h, b.data, b.len))
		abort();
	wire_buf_fini(&b);
	free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct wire_sample *s;
	struct wire_batch *b;
	uint32_t count;

	if (len < 3)
		return 0;
	count = (data[1] | (uint32_t)data[2] << 8) % COUNT_MAX;
	s = malloc(count * sizeof(*s) + 1);
	b = malloc(count * sizeof(*b) + 1);
	if (data[0] & 1) {
		if (!wire_batches_decode(count, data + 3, len - 3, b))
			check_batches(b, count);
	} else if (!wire_samples_decode(count, data + 3, len - 3, s)) {
		check_samples(s, count);
	}
	free(b);
	free(s);
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const size_t sizes[] = { 1, 3, 40, 600, 2500, 100 };
	size_t n = sizes[number / 2 % 6], i;
	uint8_t prefix[3] = { number & 1, (uint8_t)n, (uint8_t)(n >> 8) };
	struct wire_sample *s = calloc(n, sizeof(*s));
	struct wire_batch *r = calloc(n, sizeof(*r));
	struct t_host one = t_host_begin(number), two = one;
	struct wire_block_head h;
	struct wire_buf b = { 0 };
	uint64_t rnd = number;

	for (i = 0; i < n; i++) {
		s[i] = t_host_sample(&one);
		r[i] = t_host_batch(&two);
	}
	if (number >= 12) {
		t_samples_wild(s, n, &rnd);
		t_batches_wild(r, n, &rnd);
	}
	if (number < 24) {
		REQUIRE(!wire_buf_append(&b, prefix, sizeof(prefix)));
		REQUIRE(!(number & 1 ? wire_batches_encode(r, n, &h, &b)
				     : wire_samples_encode(s, n, &h, &b)));
	}
	free(r);
	free(s);
	*data = b.data;
	return b.len;
}
