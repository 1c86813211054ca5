/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list itself, written by a process of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/escape.h"
#include "core/clock.h"
#include "retain/run_json.h"
#include "retain/remove_run.h"
#include "retain/run_view.h"
#include "run_list.h"

#define LABELS_MAX 64
#define LABEL_BYTES 256

/* Newest first; of two alike by name. */
static int order(int64_t ns_a, const char *name_a, int64_t ns_b, const char *name_b)
{
	if (ns_a != ns_b)
		return ns_a > ns_b ? -1 : 1;
	return strcmp(name_a, name_b);
}

static int by_age(const void *a, const void *b)
{
	const struct coll_run_dir *x = *(struct coll_run_dir *const *)a;
	const struct coll_run_dir *y = *(struct coll_run_dir *const *)b;

	return order(x->newest_ns, x->name, y->newest_ns, y->name);
}

/* The run's id: its name without .gst. */
static void id_of(const struct coll_run_dir *run, char *out, size_t room)
{
	snprintf(out, room, "%.*s", (int)(strlen(run->name) - 4), run->name);
}

/* The first that comes behind @after. */
static size_t first_of(const struct coll_run_view *all, const char *after)
{
	const char *name = strchr(after, ':');
	int64_t ns = (int64_t)strtoull(after, NULL, 10);
	char id[COLL_RUN_LIST_AFTER_BYTES];
	size_t i = 0;

	if (!name)
		return 0;
	for (; i < all->count; i++) {
		id_of(all->run[i], id, sizeof(id));
		if (order(all->run[i]->newest_ns, id, ns, name + 1) > 0)
			break;
	}
	return i;
}

static void put_cut(FILE *f, enum base_escape how, const char *text)
{
	base_put_part(f, how, text, strnlen(text, LABEL_BYTES - 1));
}

static void json_cut(FILE *f, const char *text)
{
	putc('"', f);
	put_cut(f, BASE_AS_JSON_ANYWHERE, text);
	putc('"', f);
}

static void json_labels(FILE *f, const struct coll_run_json *labels)
{
	const char *key, *value, *comma = "";

	fputs(",\"labels\":{", f);
	for (size_t i = 0; i < coll_run_json_labels(labels) && i < LABELS_MAX; i++) {
		if (!coll_run_json_label(labels, i, &key, &value))
			continue;
		fputs(comma, f);
		json_cut(f, key);
		putc(':', f);
		json_cut(f, value);
		comma = ",";
	}
	putc('}', f);
}

static void json_run(FILE *f, const struct coll_run_dir *run, const struct coll_run_json *labels,
		     bool open)
{
	char id[COLL_RUN_LIST_AFTER_BYTES];

	id_of(run, id, sizeof(id));
	fputs("{\"id\":", f);
	base_put_quoted(f, BASE_AS_JSON_ANYWHERE, id);
	fprintf(f, ",\"open\":%s,\"last_write_unix_ns\":%" PRId64 ",\"bytes\":%" PRIu64,
		open ? "true" : "false", run->newest_ns, run->bytes);
	fprintf(f, ",\"trace_bytes\":%" PRIu64 ",\"streams\":%u,\"digest\":%s", run->trace_bytes,
		run->streams, run->digest_ns >= run->newest_ns ? "true" : "false");
	json_labels(f, labels);
	fprintf(f, ",\"report\":\"/runs/%s\",\"summary\":\"/v1/runs/%s/summary\"}", id, id);
}

static void when_of(char out[32], int64_t unix_ns)
{
	time_t s = (time_t)(unix_ns / COLL_SECOND_NS);
	struct tm t;

	out[0] = '\0';
	if (gmtime_r(&s, &t))
		strftime(out, 32, "%Y-%m-%d %H:%M:%SZ", &t);
}

static void html_run(FILE *f, const struct coll_run_dir *run, const struct coll_run_json *labels,
		     bool open)
{
	const char *key, *value, *comma = "";
	char id[COLL_RUN_LIST_AFTER_BYTES], when[32];

	id_of(run, id, sizeof(id));
	when_of(when, run->newest_ns);
	fputs("<tr><td><a href=\"/runs/", f);
	base_put(f, BASE_AS_HTML, id);
	fputs("\">", f);
	base_put(f, BASE_AS_HTML, id);
	fprintf(f, "</a></td><td>%s</td><td>%s</td><td>%.1f MB</td><td>%u</td><td>", when,
		open ? "running" : "", (double)run->bytes / 1e6, run->streams);
	for (size_t i = 0; i < coll_run_json_labels(labels) && i < LABELS_MAX; i++) {
		if (!coll_run_json_label(labels, i, &key, &value))
			continue;
		fputs(comma, f);
		fputs("<bdi>", f);
		put_cut(f, BASE_AS_HTML, key);
		putc('=', f);
		put_cut(f, BASE_AS_HTML, value);
		fputs("</bdi>", f);
		comma = ", ";
	}
	fputs("</td></tr>\n", f);
}

static void put_next(FILE *f, const struct coll_run_dir *last)
{
	char id[COLL_RUN_LIST_AFTER_BYTES];

	id_of(last, id, sizeof(id));
	fprintf(f, "%" PRId64 ":%s", last->newest_ns, id);
}

static void html_end(FILE *f, const struct coll_run_dir *last)
{
	fputs("</tbody></table>\n", f);
	if (last) {
		fputs("<p><a href=\"/runs?after=", f);
		put_next(f, last);
		fputs("\">older ones</a></p>\n", f);
	}
	fputs("</body></html>\n", f);
}

static void json_end(FILE *f, size_t count, const struct coll_run_dir *last)
{
	fprintf(f, "],\"total\":%zu,\"next\":%s", count, last ? "\"" : "null");
	if (last) {
		put_next(f, last);
		putc('"', f);
	}
	fputs("}\n", f);
}

static void html_begin(FILE *f, size_t count)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<title>gpustarve: runs</title></head>\n<body><h1>Runs</h1>\n",
	      f);
	fprintf(f,
		"<p>%zu runs are stored here. <a href=\"/v1/runs\">As JSON</a>. <a href=\"/\">Sums over "
		"all runs</a> need a store of digests: <code>--store</code> in "
		"gpustarve-collector(1).</p>\n"
		"<table><thead><tr><th scope=\"col\">run</th><th scope=\"col\">last written</th>"
		"<th scope=\"col\">now</th><th scope=\"col\">on disk</th>"
		"<th scope=\"col\">processes</th><th scope=\"col\">labels</th></tr></thead><tbody>\n",
		count);
}

static void put_run(FILE *f, int base_fd, const struct coll_run_dir *run, bool page)
{
	struct coll_run_json labels = { .root = NULL };
	int fd = openat(base_fd, run->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool open = coll_run_is_open(base_fd, run->name) > 0;

	if (fd >= 0) {
		coll_run_json_read(&labels, fd);
		close(fd);
	}
	if (page)
		html_run(f, run, &labels, open);
	else
		json_run(f, run, &labels, open);
	coll_run_json_fini(&labels);
}

static void put_all(FILE *f, int base_fd, const struct coll_run_view *all,
		    const struct coll_run_list *list)
{
	size_t i = first_of(all, list->after), to = i + list->limit, n;
	const struct coll_run_dir *last;

	if (to > all->count)
		to = all->count;
	last = to > i && to < all->count ? all->run[to - 1] : NULL;
	if (list->page)
		html_begin(f, all->count);
	else
		fputs("{\"schema\":\"gpustarve.runs/1\",\"runs\":[", f);
	for (n = i; n < to; n++) {
		if (!list->page && n > i)
			putc(',', f);
		put_run(f, base_fd, all->run[n], list->page);
	}
	if (list->page)
		html_end(f, last);
	else
		json_end(f, all->count, last);
}

/* Jobs have no page of their own. */
static void leave_out_jobs(struct coll_run_view *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->count; i++)
		if (!all->run[i]->job)
			all->run[n++] = all->run[i];
	all->count = n;
}

int coll_run_list_write(void *arg)
{
	const struct coll_run_list *list = arg;
	struct coll_run_view all;
	int fd = open(list->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	FILE *f;

	if (fd < 0)
		return 1;
	f = fdopen(dup(STDOUT_FILENO), "w");
	if (!f) {
		close(fd);
		return 1;
	}
	err = coll_run_view_make(&all, list->index, list->base, list->team);
	leave_out_jobs(&all);
	if (all.count)
		qsort(all.run, all.count, sizeof(*all.run), by_age);
	if (!err)
		put_all(f, fd, &all, list);
	coll_run_view_fini(&all);
	close(fd);
	return fclose(f) || err;
}
