/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file read in pieces by several threads gives what one reader gives, record for record, or the
 * same error at the same byte: for any size of piece, for lists that end early in the file, and
 * for text that looks like a row where none begins.
 */
#include "import/import.h"

#include <errno.h>
#include "harness.h"

struct text {
	char *data;
	size_t len, room;
};

static char dir[256], file[300];

static void add(struct text *t, const char *what)
{
	size_t len = strlen(what);

	if (t->len + len + 1 > t->room) {
		t->room = (t->len + len) * 2 + 64;
		t->data = realloc(t->data, t->room);
	}
	memcpy(t->data + t->len, what, len + 1);
	t->len += len;
}

static const char *one_of(uint64_t *seed, const char *const *from, size_t n)
{
	return from[t_random(seed) % n];
}

/* A random row; names hold what may be taken for the end of a row. */
static void add_row(struct text *t, uint64_t *seed)
{
	static const char *const cats[] = { "kernel",	      "gpu_memcpy",	 "cuda_runtime",
					    "cpu_op",	      "user_annotation", "cuda_sync",
					    "python_function" };
	static const char *const names[] = { "a",      "}, {", "},{", "\\\"}, {\\\"ph\\\": ",
					     "},\\n{", "b" };
	static const char *const ids[] = { "1", "\"x\"", "0", "null", "140245678906112", "\"7\"" };
	char row[512];

	snprintf(
		row, sizeof(row),
		"{\"ph\": \"X\", \"cat\": \"%s\", \"name\": \"%s\",%s\"ts\": %u.25, \"dur\": %d, \"pid\": %s,"
		" \"tid\": %s, \"args\": {\"correlation\": %s, \"stream\": %s, \"x\": [{\"a\": 1}, {\"b\": "
		"2}], \"context\": 1}}",
		one_of(seed, cats, 7), one_of(seed, names, 6), t_random(seed) % 2 ? " " : "\n\t",
		(unsigned int)(t_random(seed) % 1000), (int)(t_random(seed) % 50) - 2,
		one_of(seed, ids, 6), one_of(seed, ids, 6), one_of(seed, ids, 6),
		one_of(seed, ids, 6));
	add(t, row);
}

static struct text make(uint64_t *seed)
{
	static const char *const between[] = { ",", ", ", ",\n  ", " ,\n" };
	static const char *const heads[] = {
		"[", "{\"traceEvents\": [",
		"{\"deviceProperties\": [{\"id\": 0}, {\"id\": 1}], \"traceEvents\": [ "
	};
	static const char *const tails[] = {
		"", ", \"traceName\": \"x\"", ", \"more\": [{\"a\": 1}, {\"b\": 2}, {\"c\": 3}, {}]"
	};
	struct text t = { .data = NULL };
	unsigned int head = (unsigned int)(t_random(seed) % 3), n = 2 + t_random(seed) % 60;

	add(&t, heads[head]);
	while (n--) {
		add_row(&t, seed);
		add(&t, n ? one_of(seed, between, 4) : "]");
	}
	if (head) {
		add(&t, one_of(seed, tails, 3));
		add(&t, "}");
	}
	return t;
}

static void write_file(const struct text *t)
{
	FILE *f = fopen(file, "w");

	REQUIRE(f && fwrite(t->data, 1, t->len, f) == t->len && !fclose(f));
}

static int read_trace(struct view_import_trace *t, struct view_import_error *error,
		      unsigned int threads, size_t piece)
{
	struct view_import_options options = { .threads = threads, .piece_bytes = piece };
	struct view_import_job job = { .path = file, .options = &options, .error = error };
	struct view_import_input *in;
	const char *why;
	int err;

	error->why[0] = '\0';
	REQUIRE(!view_import_trace_init(t));
	REQUIRE(!view_import_input_open(&in, file, &why));
	err = view_import_kineto(&job, in, t);
	view_import_input_close(in);
	return err;
}

static int64_t id(const struct view_import_trace *t, enum view_import_ids which, uint32_t i,
		  const char **text)
{
	*text = wire_strtab_get(t->texts, t->ids[which].key[i].text, NULL);
	return t->ids[which].key[i].num;
}

static bool same_id(const struct view_import_trace *a, uint32_t x,
		    const struct view_import_trace *b, uint32_t y, enum view_import_ids which)
{
	const char *s, *t;

	return id(a, which, x, &s) == id(b, which, y, &t) && !strcmp(s, t);
}

static const char *text_of(const struct view_import_trace *t, uint64_t number)
{
	return wire_strtab_get(t->texts, (uint32_t)number, NULL);
}

static bool same_corr(const struct view_import_trace *a, uint64_t x,
		      const struct view_import_trace *b, uint64_t y)
{
	if (!(x & VIEW_IMPORT_ODD_CORRELATION))
		return x == y;
	return y & VIEW_IMPORT_ODD_CORRELATION && !strcmp(text_of(a, x), text_of(b, y));
}

/* Numbers of ids and names may differ between the two; what they stand for may not. */
static bool same_event(const struct view_import_trace *a, const struct wire_event *x, uint32_t px,
		       const struct view_import_trace *b, const struct wire_event *y, uint32_t py)
{
	if (x->start_ns != y->start_ns || x->end_ns != y->end_ns || x->kind != y->kind ||
	    x->op != y->op || x->flags != y->flags || x->copy != y->copy || x->bytes != y->bytes)
		return false;
	if (strcmp(text_of(a, x->name), text_of(b, y->name)) || !same_corr(a, x->corr, b, y->corr))
		return false;
	if ((px == VIEW_IMPORT_NO_PROCESS) != (py == VIEW_IMPORT_NO_PROCESS))
		return false;
	if (px != VIEW_IMPORT_NO_PROCESS && !same_id(a, px, b, py, VIEW_IMPORT_PID))
		return false;
	if (x->kind == WIRE_KIND_API || x->kind == WIRE_KIND_RANGE)
		return same_id(a, x->tid, b, y->tid, VIEW_IMPORT_TID);
	return same_id(a, x->device, b, y->device, VIEW_IMPORT_DEVICE) &&
	       same_id(a, x->stream, b, y->stream, VIEW_IMPORT_STREAM) &&
	       same_id(a, x->context, b, y->context, VIEW_IMPORT_CONTEXT);
}

static void compare(const struct view_import_trace *a, const struct view_import_trace *b)
{
	size_t kind, i;

	EXPECT_UINT(b->rows, a->rows);
	EXPECT_UINT(b->skipped, a->skipped);
	EXPECT_INT(b->window_start, a->window_start);
	EXPECT_INT(b->window_end, a->window_end);
	for (kind = 0; kind < WIRE_KIND_MAX; kind++) {
		const struct view_import_table *x = &a->table[kind], *y = &b->table[kind];

		EXPECT_UINT(y->n, x->n);
		for (i = 0; i < x->n && i < y->n; i++)
			if (!same_event(a, &x->ev[i], x->process[i], b, &y->ev[i], y->process[i])) {
				T_FAIL("record %zu of kind %zu differs", i, kind);
				return;
			}
	}
}

static void check(const struct text *text, unsigned int threads, size_t piece)
{
	struct view_import_trace one, many;
	struct view_import_error why_one, why_many;
	int err;

	write_file(text);
	err = read_trace(&one, &why_one, 1, 0);
	EXPECT_INT(read_trace(&many, &why_many, threads, piece), err);
	EXPECT_STR(why_many.why, why_one.why);
	if (!err)
		compare(&one, &many);
	view_import_trace_fini(&one);
	view_import_trace_fini(&many);
}

static void test_random(void)
{
	uint64_t seed = t_seed(1);
	int i;

	for (i = 0; i < 400 && !t_failures; i++) {
		struct text t = make(&seed);

		check(&t, 2 + (unsigned int)(t_random(&seed) % 3), 1 + t_random(&seed) % 3000);
		free(t.data);
	}
}

static void test_damaged(void)
{
	uint64_t seed = t_seed(2);
	int i;

	for (i = 0; i < 400 && !t_failures; i++) {
		struct text t = make(&seed);

		if (t_random(&seed) % 2)
			t.data[t_random(&seed) % t.len] = "\"{}[],:x\n"[t_random(&seed) % 9];
		else
			t.len = t_random(&seed) % t.len + 1;
		check(&t, 3, 1 + t_random(&seed) % 1000);
		free(t.data);
	}
}

/* Many chunks of input, so that pieces begin and end within them and the ring fills. */
static void test_large(void)
{
	uint64_t seed = t_seed(3);
	struct text t = { .data = NULL };
	int i;

	add(&t, "[");
	for (i = 0; i < 20000; i++) {
		add_row(&t, &seed);
		add(&t, ",\n");
	}
	add_row(&t, &seed);
	add(&t, "]");
	check(&t, 3, 4096);
	check(&t, 5, 300000);
	t.data[t.len / 2] = '\001';
	check(&t, 3, 4096);
	free(t.data);
}

int main(void)
{
	int rc;

	t_tempdir(dir, sizeof(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	rc = RUN(test_random, test_damaged, test_large);
	unlink(file);
	rmdir(dir);
	return rc;
}
