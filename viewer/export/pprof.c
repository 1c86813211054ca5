/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pprof profile of the time that GPUs did not work: nanoseconds and micro-dollars. Messages of a
 * repeated field may stand anywhere, so each is written when it is met, and the strings last.
 */
#include <errno.h>
#include <stdlib.h>
#include "export/pprof.pb-c.h"
#include "stacks.h"
#include "base/units.h"
#include "wire/strtab.h"

typedef Perftools__Profiles__Profile profile_msg;

struct page {
	struct view_export *x;
	struct wire_strtab *strings; /* ids are indices: [0] is "" */
	struct wire_strtab *functions; /* key: name, 0x1f, file, 0x1f, line */
	int err;
};

static int64_t string_of(struct page *p, const char *text)
{
	uint32_t id;

	if (!*text)
		return 0;
	id = wire_strtab_intern(p->strings, text, strlen(text));
	if (!id)
		p->err = -ENOMEM;
	return id;
}

/* Appends a profile of which only some fields are set; parts make a whole. */
static void put_part(struct page *p, const profile_msg *part)
{
	size_t n = perftools__profiles__profile__get_packed_size(part);
	uint8_t *bytes = malloc(n + 1);

	if (!bytes) {
		p->err = -ENOMEM;
		return;
	}
	perftools__profiles__profile__pack(part, bytes);
	view_out_put(&p->x->out, bytes, n);
	free(bytes);
}

/* The location of a frame; a new one is written at once. */
static uint64_t location_of(struct page *p, const struct view_frame *f)
{
	Perftools__Profiles__Function function = PERFTOOLS__PROFILES__FUNCTION__INIT;
	Perftools__Profiles__Location location = PERFTOOLS__PROFILES__LOCATION__INIT;
	Perftools__Profiles__Line line = PERFTOOLS__PROFILES__LINE__INIT;
	Perftools__Profiles__Function *functions[] = { &function };
	Perftools__Profiles__Location *locations[] = { &location };
	Perftools__Profiles__Line *lines[] = { &line };
	profile_msg part = PERFTOOLS__PROFILES__PROFILE__INIT;
	uint32_t known = wire_strtab_count(p->functions), id;
	char key[2 * VIEW_FRAME_BYTES + 32];

	snprintf(key, sizeof(key), "%s\x1f%s\x1f%lld", f->name, f->file, (long long)f->line);
	id = wire_strtab_intern(p->functions, key, strlen(key));
	if (!id)
		p->err = -ENOMEM;
	if (id <= known)
		return id;
	function.id = location.id = line.function_id = id;
	function.name = function.system_name = string_of(p, f->name);
	function.filename = string_of(p, f->file);
	line.line = f->line;
	location.line = lines;
	location.n_line = 1;
	part.function = functions;
	part.location = locations;
	part.n_function = part.n_location = 1;
	put_part(p, &part);
	return id;
}

static int put_stack(void *arg, const struct view_stack *s)
{
	struct page *p = arg;
	Perftools__Profiles__Sample sample = PERFTOOLS__PROFILES__SAMPLE__INIT;
	Perftools__Profiles__Sample *samples[] = { &sample };
	Perftools__Profiles__Label class = PERFTOOLS__PROFILES__LABEL__INIT;
	Perftools__Profiles__Label *labels[] = { &class };
	profile_msg part = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t values[2] = { s->ns, base_div_even(s->nano_usd, 1000) };
	uint64_t ids[VIEW_STACK_FRAMES];
	size_t i;

	for (i = 0; i < s->frames; i++)
		ids[s->frames - 1 - i] = location_of(p, &s->frame[i]);
	class.key = string_of(p, "class");
	class.str = string_of(p, ana_class_names[s->c]);
	sample.location_id = ids;
	sample.n_location_id = s->frames;
	sample.value = values;
	sample.n_value = p->x->summary->cost.known ? 2 : 1;
	sample.label = labels;
	sample.n_label = 1;
	part.sample = samples;
	part.n_sample = 1;
	put_part(p, &part);
	p->x->rows++;
	return p->err ? p->err : p->x->out.err;
}

static void put_comment(void *arg, const char *text)
{
	struct page *p = arg;
	profile_msg part = PERFTOOLS__PROFILES__PROFILE__INIT;
	int64_t id = string_of(p, text);

	part.comment = &id;
	part.n_comment = 1;
	put_part(p, &part);
}

static void put_head(struct page *p)
{
	Perftools__Profiles__ValueType ns = PERFTOOLS__PROFILES__VALUE_TYPE__INIT,
				       usd = PERFTOOLS__PROFILES__VALUE_TYPE__INIT;
	Perftools__Profiles__ValueType *types[] = { &ns, &usd };
	profile_msg part = PERFTOOLS__PROFILES__PROFILE__INIT;

	ns.type = string_of(p, "gpu_idle");
	ns.unit = string_of(p, "nanoseconds");
	usd.type = string_of(p, "gpu_idle_cost");
	usd.unit = string_of(p, "microdollars");
	part.sample_type = types;
	part.n_sample_type = p->x->summary->cost.known ? 2 : 1;
	part.default_sample_type = ns.type;
	part.time_nanos = p->x->summary->start_unix_ns;
	part.duration_nanos = p->x->summary->wall_ns;
	put_part(p, &part);
	view_export_caveats(p->x, put_comment, p);
}

static void put_strings(struct page *p)
{
	uint32_t i;

	for (i = 0; i <= wire_strtab_count(p->strings); i++) {
		char *text = (char *)wire_strtab_get(p->strings, i, NULL);
		profile_msg part = PERFTOOLS__PROFILES__PROFILE__INIT;

		part.string_table = &text;
		part.n_string_table = 1;
		put_part(p, &part);
	}
}

int view_export_pprof(struct view_export *x)
{
	struct page p = { .x = x,
			  .strings = wire_strtab_new_guarded(),
			  .functions = wire_strtab_new_guarded() };
	int err = p.strings && p.functions ? 0 : -ENOMEM;

	if (!err) {
		put_head(&p);
		err = view_export_stacks(x, put_stack, &p);
	}
	if (!err)
		put_strings(&p);
	wire_strtab_free(p.strings);
	wire_strtab_free(p.functions);
	return err ? err : p.err;
}
