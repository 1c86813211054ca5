/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks to what they tell.
 */
#include "pystack.h"

#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "no_work.h"
#include "take.h"

static void name_line(struct ana_pystack *out, const struct ana_frame *f)
{
	out->function = f->function;
	out->file = f->file;
	out->line = f->line;
}

/*
 * Where a process that multiprocessing starts begins: of its code no line is the program's, though
 * the text that begins it is no file.
 */
static bool starts(struct ana_text file)
{
	static const char *const begins[] = { "multiprocessing/spawn.py",
					      "multiprocessing/forkserver.py",
					      "multiprocessing/resource_tracker.py" };
	struct ana_text rest;
	size_t i;

	if (ana_module_within(file, &rest) != ANA_WITHIN_STANDARD)
		return false;
	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (ana_text_begins(rest, begins[i]))
			return true;
	return false;
}

static void add_feeder(struct ana_pystack *out, uint8_t feeder)
{
	if (feeder && (!out->feeder || feeder < out->feeder))
		out->feeder = feeder;
}

/*
 * Of the innermost frames, as long as they are of the standard library, the outermost that tells
 * decides: Condition.wait is part of whatever waits by it.
 */
static bool read_take(struct ana_pystack *out, const struct ana_frame *f)
{
	enum ana_take take;
	struct ana_text rest;
	const char *words;

	if (ana_module_within(f->file, &rest) != ANA_WITHIN_STANDARD)
		return false;
	words = ana_take_function(rest, f->function, &take);
	if (words && (take != ANA_TAKE_EVENT || out->take == ANA_TAKE_NOT_TOLD ||
		      out->take == ANA_TAKE_EVENT)) {
		out->take = (uint8_t)take;
		out->waits_in = words;
	}
	return true;
}

/*
 * Whether @f is a generator that hands out things one by one: an expression within
 * a function is none.
 */
static bool hands_out(const struct ana_frame *f)
{
	static const char expression[] = "<genexpr>";
	const uint32_t n = sizeof(expression) - 1;

	return f->generator && (f->function.len < n ||
				memcmp(f->function.at + f->function.len - n, expression, n) != 0);
}

/*
 * A program's outermost frame is of its file, or of what runs a module as one; who embeds Python
 * calls the user's own. Of a stack that was cut at so many frames the outermost is not known.
 */
static bool is_over(const struct ana_frame *outermost, uint32_t frames)
{
	return frames && frames < WIRE_STACK_FRAMES_MAX &&
	       ana_module_place(outermost->file) == ANA_PLACE_LIBRARY &&
	       !ana_text_among(outermost->function, "|<module>|") &&
	       !ana_text_begins(outermost->file, "<frozen runpy") &&
	       !ana_text_ends(outermost->file, "/runpy.py");
}

void ana_pystack_read(struct ana_pystack *out, const char *text, uint32_t len)
{
	const char *p = text, *end = text + len;
	enum ana_code weakly = ANA_CODE_PLAIN;
	bool first = true, user = false, decided = false, other = false, standard = true;
	/* within: the one before is of an iterator of the standard library */
	bool inside, within = false;
	struct ana_frame inner = { 0 }; /* the one before, where that hands out */
	struct ana_frame made = { 0 }; /* the innermost one of code that was made of a text */
	struct ana_frame f = { 0 };
	uint32_t frames = 0;
	bool made_own = false, start = false; /* start: the one before begins a process */

	*out = (struct ana_pystack){ 0 };
	while (p < end) {
		enum ana_place place;
		enum ana_code code;
		enum ana_say say;
		struct ana_text rest;

		ana_frames_next(&f, &p, end);
		frames++;
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
		if (place == ANA_PLACE_USER && ana_module_is_made(f.file)) {
			if (!user && !made.function.len && !start) {
				made = f;
				made_own = !other;
			}
		} else if (place == ANA_PLACE_USER && !user) {
			name_line(out, &f);
			out->own = !other;
			user = true;
		}
		if (place == ANA_PLACE_USER)
			out->outer = f.function;
		if (place == ANA_PLACE_USER && inner.generator && !hands_out(&f)) {
			out->resumed = inner.function;
			out->resumed_file = inner.file;
		}
		inner = f;
		inner.generator = place == ANA_PLACE_USER && hands_out(&f);
		if (place == ANA_PLACE_LIBRARY)
			add_feeder(out, ana_module_feeder(f.file));
		standard = standard && read_take(out, &f);
		start = starts(f.file);
		inside = ana_module_within(f.file, &rest) == ANA_WITHIN_STANDARD;
		out->between |= inside && ana_take_between(rest);
		out->iterates |= within && !inside;
		within = inside && ana_take_iterates(f.function);
		out->iterates |= !inside && ana_take_iterates(f.function);
		out->draws |= out->iterates || hands_out(&f);
		code = ana_module_code(f.file, f.function, &say);
		out->waits |= code == ANA_CODE_NEXT;
		other |= code != ANA_CODE_PLAIN || say == ANA_SAY_NOTHING;
		if (code == ANA_CODE_PLAIN || (decided && say != ANA_SAY_WHOLE))
			continue;
		if (say == ANA_SAY_WEAKLY) {
			weakly = weakly == ANA_CODE_PLAIN ? code : weakly;
		} else {
			out->code = (uint8_t)code;
			decided = true;
		}
	}
	out->iterates |= within;
	if (!user && made.function.len) { /* the program itself is one: python -c */
		name_line(out, &made);
		out->own = made_own;
		user = true;
	}
	if (!decided)
		out->code = (uint8_t)weakly;
	out->user = user;
	out->over = is_over(&f, frames);
	if (!user)
		out->own = !first && !other;
	out->no_work = ana_no_work_frames(text, len);
}

void ana_pystacks_init(struct ana_pystacks *s, const struct wire_strtab *table)
{
	*s = (struct ana_pystacks){ .table = table };
}

void ana_pystacks_fini(struct ana_pystacks *s)
{
	ana_ids_fini(&s->of);
	free(s->stack);
	*s = (struct ana_pystacks){ 0 };
}

static struct ana_pystack *new_stack(struct ana_pystacks *s, uint32_t id)
{
	if (!base_vec_more(s->stack, s->count, s->room))
		return NULL;
	if (ana_ids_put(&s->of, id, s->count))
		return NULL;
	return &s->stack[s->count++];
}

const struct ana_pystack *ana_pystacks_get(struct ana_pystacks *s, uint32_t id)
{
	uint32_t i = ana_ids_get(&s->of, id);
	struct ana_pystack *k;
	const char *text;
	size_t len;

	if (i != ANA_IDS_NONE)
		return &s->stack[i - 1];
	if (!id || id > wire_strtab_count(s->table))
		return &s->none;
	k = new_stack(s, id);
	if (!k)
		return &s->none;
	text = wire_strtab_get(s->table, id, &len);
	ana_pystack_read(k, text, (uint32_t)len);
	return k;
}

struct ana_text ana_pystacks_text(const struct ana_pystacks *s, uint32_t id)
{
	struct ana_text t = { "", 0 };
	size_t len;

	if (id && id <= wire_strtab_count(s->table)) {
		t.at = wire_strtab_get(s->table, id, &len);
		t.len = (uint32_t)len;
	}
	return t;
}
