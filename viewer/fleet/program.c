/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "findings/findings.h"
#include "findings/loader.h"

#define WORDS_MAX 256 /* of a command */

static const char *label(const struct view_summary *s, const char *key)
{
	for (size_t i = 0; i < s->labels; i++)
		if (!strcmp(s->label[i].key, key) && s->label[i].value[0])
			return s->label[i].value;
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcmp(text + n - m, end);
}

/* The script or module, else the command; *at: its place in it. */
static const char *program_of(const struct view_summary *s, size_t *at)
{
	for (*at = 0; *at < s->commands && *at < WORDS_MAX; (*at)++) {
		const char *word = s->command[*at];

		if (ends_with(word, ".py"))
			return base_name(word);
		if (*at && !strcmp(s->command[*at - 1], "-m") && strchr(word, '.'))
			return word;
	}
	*at = 0;
	return s->commands ? base_name(s->command[0]) : "";
}

/* Each text with its end, so that "ab" "c" is not "a" "bc". */
static void add(uint64_t *h, const char *text)
{
	*h = base_hash(*h, text ? text : "", (text ? strlen(text) : 0) + 1);
}

static void add_number(uint64_t *h, int64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, v);
	add(h, text);
}

static bool is_number(const char *text)
{
	char *end;

	strtod(text, &end);
	return end > text && !*end;
}

/* What a run may have of its own: seeds, rates, sizes of pools, and where it writes. */
static void add_argument(uint64_t *h, const char *word)
{
	const char *value = strchr(word, '=');
	char key[64];

	if (is_number(word) || (!value && strchr(word, '/')))
		return;
	if (!value) {
		add(h, word);
		return;
	}
	snprintf(key, sizeof(key), "%.*s", (int)(value - word < 63 ? value - word : 63), word);
	add(h, key);
	if (!is_number(value + 1) && !strchr(value + 1, '/'))
		add(h, value + 1);
}

static void add_training(uint64_t *h, const struct fleet_digest *d, const struct view_summary *s,
			 size_t program_at)
{
	const struct ana_loader_facts *l = view_loader_facts(s);
	const char *dataset = label(s, "dataset");

	add(h, d->program.name);
	for (size_t i = program_at + 1; i < s->commands && i < WORDS_MAX; i++)
		add_argument(h, s->command[i]);
	for (size_t i = 0; i < d->lines; i++) {
		add(h, d->line[i].gpu);
		add_number(h, d->line[i].gpus);
	}
	add_number(h, s->ranks);
	add(h, dataset ? dataset : l ? l->dataset : NULL);
	add_number(h, l && l->known & ANA_LOADER_BATCH ? (int64_t)l->batch_size : -1);
}

void fleet_program_make(struct fleet_digest *d, const struct view_summary *s)
{
	struct fleet_program *p = &d->program;
	const char *given = label(s, "fingerprint");
	uint64_t h = BASE_HASH;
	size_t at;

	if (s->advices > FLEET_ADVICE_MAX || (!given && !s->commands))
		return;
	fleet_tame(p->name, sizeof(p->name), program_of(s, &at));
	add(&h, d->user);
	add(&h, d->team);
	add(&h, d->project);
	if (given)
		add(&h, given);
	else
		add_training(&h, d, s, at);
	snprintf(p->fingerprint, sizeof(p->fingerprint), "%016" PRIx64, h);
	p->bound = view_told_bound(s) == VIEW_OUTCOME_AT_LEAST;
	p->steps = s->result->steps < INT64_MAX ? (int64_t)s->result->steps : INT64_MAX;
	for (size_t i = 0; i < s->advices; i++) {
		if (view_advice_only_tells(&s->advice[i]))
			continue; /* nothing is open, nor adopted, by it */
		fleet_tame(p->advice[p->advices++], sizeof(p->advice[0]), s->advice[i].id);
	}
}

void fleet_program_put(struct base_jsonout *j, const struct fleet_digest *d)
{
	const struct fleet_program *p = &d->program;

	if (!p->fingerprint[0])
		return;
	base_json_object(j, "program");
	base_json_string(j, "fingerprint", p->fingerprint);
	base_json_string(j, "name", p->name);
	base_json_int(j, "steps", p->steps);
	if (p->bound)
		base_json_string(j, "bound", view_outcome_bounds[VIEW_OUTCOME_AT_LEAST]);
	base_json_array(j, "advice");
	for (size_t i = 0; i < p->advices; i++)
		base_json_string(j, NULL, p->advice[i]);
	base_json_end(j);
	base_json_end(j);
}

static bool is_fingerprint(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

/* Each piece once. */
static bool read_advice(struct fleet_program *p, const struct base_json *advice)
{
	if (!advice || advice->type != BASE_JSON_ARRAY)
		return false;
	BASE_JSON_EACH(n, advice) {
		char *id = p->advice[p->advices];
		size_t i;

		if (p->advices == FLEET_ADVICE_MAX || n->type != BASE_JSON_STRING || !n->text[0])
			return false;
		fleet_tame(id, sizeof(p->advice[0]), n->text);
		for (i = 0; i < p->advices && strcmp(p->advice[i], id) != 0; i++)
			;
		p->advices += i == p->advices;
	}
	return true;
}

const char *fleet_program_read(struct fleet_digest *d, const struct base_json *program)
{
	struct fleet_program p = { 0 };
	const char *fingerprint;

	if (!program)
		return NULL;
	fingerprint = base_json_get_text(program, "fingerprint", "");
	if (!is_fingerprint(fingerprint) ||
	    !base_json_to_int(base_json_get(program, "steps"), &p.steps) || p.steps < 0 ||
	    !read_advice(&p, base_json_get(program, "advice")))
		return "what it tells of its program is wrong";
	p.bound = !strcmp(base_json_get_text(program, "bound", ""),
			  view_outcome_bounds[VIEW_OUTCOME_AT_LEAST]);
	memcpy(p.fingerprint, fingerprint, sizeof(p.fingerprint));
	fleet_tame(p.name, sizeof(p.name), base_json_get_text(program, "name", ""));
	d->program = p;
	return NULL;
}
