/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saves_insure() by itself, for tests/lib/insurance.py: cases on stdin, a line of JSON for each on
 * stdout. A case is lines of words: "gpu PRICE HELD START END ...", "process START END HOLDS ORDERED RUNS
 * WORD [PART FAILED]", "life GPU PART START END", "save PROCESS START CALL_END WHOLE FAILED BEFORE INODE SIZE MTIME UNSURE VACANT MOVED LEFT PATH", "written START END BYTES", "load PROCESS T INODE
 * SIZE MTIME PATH", and "end OVER".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"
#include "saves/beside.h"
#include "saves/money.h"

#define MOST 4096

static struct live_save save[MOST];
static struct live_load load[MOST];
static struct live_written written[MOST];
static struct saves_process process[MOST];
static struct saves_gpu gpu[MOST];
static struct saves_input in;
static int64_t price[MOST];

static int64_t number(void)
{
	const char *word = strtok(NULL, " \n");

	return word ? strtoll(word, NULL, 10) : 0;
}

static const char *text(void)
{
	const char *word = strtok(NULL, " \n");

	return strdup(word ? word : "");
}

static void read_gpu(void)
{
	struct ana_span *span = calloc(MOST, sizeof(*span));
	struct saves_gpu *g = &gpu[in.gpus];

	price[in.gpus++] = number();
	*g = (struct saves_gpu){ .held = span, .held_ns = number() };
	for (char *word; (word = strtok(NULL, " \n"));) {
		span[g->helds].start = strtoll(word, NULL, 10);
		span[g->helds++].end = number();
	}
}

static void read_process(void)
{
	struct saves_process *p = &process[in.processes++];

	p->start_ns = number();
	p->end_ns = number();
	p->holds = number();
	p->ordered = number();
	p->runs = number();
	p->word_ns = number();
	p->part = (uint32_t)number();
	p->failed = number();
}

/* When a process of a run had a GPU. */
static void read_life(void)
{
	struct saves_gpu *g = &gpu[number()];
	struct ana_life *life = realloc((void *)(uintptr_t)g->life, (g->lives + 1) * sizeof(*life));

	life[g->lives].part = (uint32_t)number();
	life[g->lives].start_ns = number();
	life[g->lives++].end_ns = number();
	g->life = life;
}

static void read_file(struct live_file *f)
{
	f->inode = (uint64_t)number();
	f->size = (uint64_t)number();
	f->mtime_ns = number();
}

static void read_save(void)
{
	struct live_save *s = &save[in.saves++];

	*s = (struct live_save){ 0 };
	s->process = (uint32_t)number();
	s->start_ns = number();
	s->call_end_ns = number();
	s->whole_ns = number();
	s->failed = number();
	s->before_inode = (uint64_t)number();
	read_file(&s->file);
	s->unsure = number();
	s->vacant = number();
	s->moved_ns = number();
	s->left_ns = number();
	s->path = text();
	s->saver = "";
}

static void read_written(void)
{
	struct live_written *w = &written[in.writtens++];

	w->start_ns = number();
	w->end_ns = number();
	w->bytes = (uint64_t)number();
}

static void read_load(void)
{
	struct live_load *l = &load[in.loads++];

	l->process = (uint32_t)number();
	l->t_ns = number();
	read_file(&l->file);
	l->path = text();
}

static void put_parts(const char *key, const int64_t part[SAVES_PARTS])
{
	printf("%s[", key);
	for (int p = 0; p < SAVES_PARTS; p++)
		printf("%s%" PRId64, p ? "," : "", part[p]);
	printf("]");
}

/* As summaries and digests have it. */
static void put_chain(const struct view_insurance *i, const struct saves_money *m)
{
	struct base_jsonout j = { .f = stdout, .depth = 1, .flat = 1 }; /* within our line */
	struct saves_chain c = i->chain;

	for (size_t k = 0; k < c.marks; k++)
		memcpy(c.mark[k].usd, m->moved[k], sizeof(m->moved[k]));
	base_json_flat_object(&j, NULL);
	saves_chain_put(&j, &c);
	base_json_end(&j);
}

static void put_result(const struct view_insurance *i)
{
	struct saves_money m = saves_money_of(i, price, in.gpus);
	char wide[64];

	printf("{\"counts\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
	       "]",
	       i->saves, i->whole, i->failed, i->checkpoints, i->kills, i->failures);
	put_parts(",\"part\":", i->part);
	printf(",\"gpu\":[");
	for (size_t g = 0; g < in.gpus; g++)
		put_parts(g ? "," : "", i->gpu_part[g]);
	printf("],\"loss2\":%s", base_wide_text(wide, i->loss2));
	printf(",\"instants\":%" PRId64 ",\"mean\":%" PRId64 ",\"worst\":%" PRId64
	       ",\"now\":%" PRId64 ",\"every\":%" PRId64 ",\"segments\":[",
	       i->instants_ns, saves_mean_ns(i), i->worst_ns, i->now_ns, i->every_ns);
	for (size_t k = 0; k < i->segments; k++)
		printf("%s[%" PRId64 ",%" PRId64 ",\"%s\",%d]", k ? "," : "",
		       i->segment[k].start_ns, i->segment[k].end_ns,
		       saves_end_names[i->segment[k].end],
		       i->segment[k].opened ? (int)i->segment[k].opened_segment : -1);
	printf("],\"unmoved\":%" PRIu64, i->unmoved);
	printf(",\"usd_mean\":%" PRId64 ",\"usd_now\":%" PRId64, m.mean, m.now);
	put_parts(",\"usd\":", m.part);
	printf(",\"saves\":");
	put_chain(i, &m);
	printf("}\n");
}

static void forget(void)
{
	for (size_t g = 0; g < in.gpus; g++) {
		free((void *)(uintptr_t)gpu[g].held);
		free((void *)(uintptr_t)gpu[g].life);
	}
	for (size_t i = 0; i < in.saves; i++)
		free((void *)(uintptr_t)save[i].path);
	for (size_t i = 0; i < in.loads; i++)
		free((void *)(uintptr_t)load[i].path);
	in = (struct saves_input){ 0 };
}

static int finish(void)
{
	struct view_insurance out = { 0 };
	int err;

	in.over = number();
	in.save = save;
	in.load = load;
	in.written = written;
	in.process = process;
	in.gpu = gpu;
	err = live_moves_find(save, in.saves);
	if (!err)
		err = saves_insure(&in, &out);
	if (!err)
		err = saves_beside(&in, &out);
	if (!err)
		put_result(&out);
	else
		printf("{\"error\":%d}\n", err);
	fflush(stdout);
	saves_insure_fini(&out);
	forget();
	return err;
}

int main(void)
{
	static char line[1 << 20];

	while (fgets(line, sizeof(line), stdin)) {
		const char *what = strtok(line, " \n");

		if (!what)
			continue;
		if (!strcmp(what, "gpu"))
			read_gpu();
		else if (!strcmp(what, "process"))
			read_process();
		else if (!strcmp(what, "life"))
			read_life();
		else if (!strcmp(what, "save"))
			read_save();
		else if (!strcmp(what, "load"))
			read_load();
		else if (!strcmp(what, "written"))
			read_written();
		else
			finish();
	}
	return 0;
}
