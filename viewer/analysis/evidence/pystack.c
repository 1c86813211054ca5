/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks to what they tell.
 */
#include "pystack.h"

#include <stdlib.h>
#include <string.h>
#include "base/vec.h"

static struct ana_text cut_at(const char **p, const char *end, char c)
{
	const char *stop = memchr(*p, c, (size_t)(end - *p));
	struct ana_text t = { *p, 0 };

	if (!stop)
		stop = end;
	t.len = (uint32_t)(stop - *p);
	*p = stop < end ? stop + 1 : end;
	return t;
}

static uint32_t number(struct ana_text t)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < t.len && t.at[i] >= '0' && t.at[i] <= '9' && n < UINT32_MAX; i++)
		n = n * 10 + (uint64_t)(t.at[i] - '0');
	return n < UINT32_MAX ? (uint32_t)n : 0;
}

/* The next frame of [*p, end): function, tab, file, tab, line. */
static void next_frame(struct ana_frame *f, const char **p, const char *end)
{
	struct ana_text row = cut_at(p, end, '\n');
	const char *at = row.at, *stop = row.at + row.len;

	f->function = cut_at(&at, stop, '\t');
	f->file = cut_at(&at, stop, '\t');
	f->line = number(cut_at(&at, stop, '\t'));
}

static void name_line(struct ana_pystack *out, const struct ana_frame *f)
{
	out->function = f->function;
	out->file = f->file;
	out->line = f->line;
}

static void add_feeder(struct ana_pystack *out, uint8_t feeder)
{
	if (feeder && (!out->feeder || feeder < out->feeder))
		out->feeder = feeder;
}

void ana_pystack_read(struct ana_pystack *out, const char *text, uint32_t len)
{
	const char *p = text, *end = text + len;
	enum ana_code weakly = ANA_CODE_PLAIN;
	bool first = true, user = false, decided = false;

	*out = (struct ana_pystack){ 0 };
	while (p < end) {
		struct ana_frame f;
		enum ana_place place;
		enum ana_code code;
		enum ana_say say;

		next_frame(&f, &p, end);
		place = ana_module_place(f.file);
		if (!f.function.len || place == ANA_PLACE_OURS)
			continue;
		if (first) {
			name_line(out, &f);
			out->leaf_function = f.function;
			out->leaf_file = f.file;
			out->user_leaf = place == ANA_PLACE_USER;
			first = false;
		}
		if (place == ANA_PLACE_USER && !user) {
			name_line(out, &f);
			user = true;
		}
		if (place == ANA_PLACE_LIBRARY)
			add_feeder(out, ana_module_feeder(f.file));
		code = ana_module_code(f.file, f.function, &say);
		out->waits |= code == ANA_CODE_NEXT;
		if (code == ANA_CODE_PLAIN || (decided && say != ANA_SAY_WHOLE))
			continue;
		if (say == ANA_SAY_WEAKLY) {
			weakly = weakly == ANA_CODE_PLAIN ? code : weakly;
		} else {
			out->code = (uint8_t)code;
			decided = true;
		}
	}
	if (!decided)
		out->code = (uint8_t)weakly;
}

size_t ana_pystack_frames(struct ana_frame *frame, size_t max, const char *text, uint32_t len)
{
	const char *p = text, *end = text + len;
	size_t n = 0;

	while (p < end && n < max) {
		next_frame(&frame[n], &p, end);
		n += frame[n].function.len && ana_module_place(frame[n].file) != ANA_PLACE_OURS;
	}
	return n;
}

void ana_pystacks_init(struct ana_pystacks *s, const struct wire_strtab *table)
{
	*s = (struct ana_pystacks){ .table = table };
}

void ana_pystacks_fini(struct ana_pystacks *s)
{
	ana_map_fini(&s->of);
	free(s->stack);
	*s = (struct ana_pystacks){ 0 };
}

static struct ana_pystack *new_stack(struct ana_pystacks *s, uint32_t id)
{
	if (!base_vec_more(s->stack, s->count, s->room))
		return NULL;
	if (ana_map_put(&s->of, id, s->count))
		return NULL;
	return &s->stack[s->count++];
}

const struct ana_pystack *ana_pystacks_get(struct ana_pystacks *s, uint32_t id)
{
	uint32_t i = id ? ana_map_get(&s->of, id) : ANA_MAP_NONE;
	struct ana_pystack *k;
	const char *text;
	size_t len;

	if (!id || id > wire_strtab_count(s->table))
		return &s->none;
	if (i != ANA_MAP_NONE)
		return &s->stack[i];
	k = new_stack(s, id);
	if (!k)
		return &s->none;
	text = wire_strtab_get(s->table, id, &len);
	ana_pystack_read(k, text, (uint32_t)len);
	return k;
}
