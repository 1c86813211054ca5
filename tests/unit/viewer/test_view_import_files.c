/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of the rows of a file: imports small ones and reads the streams back with wire.
 */
#include "import/import.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include "harness.h"
#include "wire/reader.h"
#include "wire/session.pb-c.h"

#define STREAMS_MAX 8

struct stream {
	Wire__Hello *hello;
	struct wire_strtab *strings;
	struct wire_event *ev;
	size_t n;
	Wire__Loss *loss;
	bool bye;
	size_t blocks;
};

struct run {
	struct stream stream[STREAMS_MAX];
	size_t streams;
};

static char dir[256], file[300], out[300];
static struct view_import_stats stats;
static struct view_import_error error;

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void remove_run(void)
{
	char path[600];
	struct dirent **list;
	int n = scandir(out, &list, visible, by_name);

	while (n > 0) {
		snprintf(path, sizeof(path), "%s/%s", out, list[--n]->d_name);
		unlink(path);
		free(list[n]);
		if (!n)
			free(list);
	}
	rmdir(out);
}

static void take_events(struct stream *s, struct wire_file *f, struct wire_scratch *scratch,
			const struct wire_entry *e)
{
	struct wire_block_head head;
	struct wire_event *ev = NULL;
	size_t room = 0;

	REQUIRE(!wire_file_block(f, scratch, e, &head, &ev, &room, NULL));
	s->ev = realloc(s->ev, (s->n + head.count) * sizeof(*s->ev));
	memcpy(s->ev + s->n, ev, head.count * sizeof(*s->ev));
	s->n += head.count;
	s->blocks++;
	free(ev);
}

static void read_frame(struct stream *s, struct wire_file *f, struct wire_scratch *scratch,
		       const struct wire_entry *e)
{
	Wire__Strings *strings;
	size_t i;

	switch (e->frame.type) {
	case WIRE_FRAME_HELLO:
		s->hello =
			(Wire__Hello *)wire_file_message(f, scratch, e, &wire__hello__descriptor);
		break;
	case WIRE_FRAME_STRINGS:
		strings = (Wire__Strings *)wire_file_message(f, scratch, e,
							     &wire__strings__descriptor);
		for (i = 0; i < strings->n_entries; i++)
			wire_strtab_set(s->strings, strings->entries[i]->id,
					(char *)strings->entries[i]->text.data,
					strings->entries[i]->text.len);
		protobuf_c_message_free_unpacked(&strings->base, NULL);
		break;
	case WIRE_FRAME_LOSS:
		s->loss = (Wire__Loss *)wire_file_message(f, scratch, e, &wire__loss__descriptor);
		break;
	case WIRE_FRAME_BYE:
		s->bye = true;
		break;
	default:
		take_events(s, f, scratch, e);
	}
}

static void read_stream(struct stream *s, const char *path)
{
	struct wire_scratch *scratch = wire_scratch_new();
	struct wire_entry e;
	struct wire_file *f;

	memset(s, 0, sizeof(*s));
	s->strings = wire_strtab_new();
	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &e) == 1)
		read_frame(s, f, scratch, &e);
	EXPECT(s->hello && s->bye);
	wire_file_close(f);
	wire_scratch_free(scratch);
}

static void close_run(struct run *r)
{
	while (r->streams) {
		struct stream *s = &r->stream[--r->streams];

		protobuf_c_message_free_unpacked(&s->hello->base, NULL);
		if (s->loss)
			protobuf_c_message_free_unpacked(&s->loss->base, NULL);
		wire_strtab_free(s->strings);
		free(s->ev);
	}
	remove_run();
	unlink(file);
}

static int import(const char *path)
{
	char *const files[] = { (char *)path };

	return view_import_files(files, 1, out, NULL, &stats, &error);
}

/* Imports @path; the streams are read in the order of their names. */
static void open_run(struct run *r, const char *path)
{
	char name[600];
	struct dirent **list;
	int n, i, err = import(path);

	if (err)
		T_FAIL("import: %d %s", err, error.why);
	REQUIRE(!err);
	n = scandir(out, &list, visible, by_name);
	REQUIRE(n > 0 && n <= STREAMS_MAX);
	r->streams = (size_t)n;
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s/%s", out, list[i]->d_name);
		read_stream(&r->stream[i], name);
		free(list[i]);
	}
	free(list);
}

static void write_text(const char *text, size_t len)
{
	FILE *f = fopen(file, "w");

	REQUIRE(f && fwrite(text, 1, len, f) == len && !fclose(f));
}

static void import_text(struct run *r, const char *text)
{
	write_text(text, strlen(text));
	open_run(r, file);
}

static void import_sql(struct run *r, const char *sql)
{
	sqlite3 *db;

	unlink(file);
	REQUIRE(!sqlite3_open(file, &db) && !sqlite3_exec(db, sql, NULL, NULL, NULL));
	sqlite3_close(db);
	open_run(r, file);
}

/* The @i'th event of a kind. */
static const struct wire_event *event(const struct stream *s, int kind, size_t i)
{
	size_t k;

	for (k = 0; k < s->n; k++)
		if (s->ev[k].kind == kind && i-- == 0)
			return &s->ev[k];
	T_FAIL("no such event");
	exit(1);
}

static const char *name(const struct stream *s, const struct wire_event *e)
{
	return wire_strtab_get(s->strings, e->name, NULL);
}

#define KERNEL(more) "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":5,\"dur\":1" more "}"

static void test_copies(void)
{
	struct run r;
	const struct wire_event *e;

	import_text(
		&r,
		"[{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> "
		"Device)\",\"ts\":1,\"dur\":2.5,\"pid\":0,\"tid\":7,\"args\":{\"bytes\":4096}},"
		"{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"Memcpy PtoP (Device -> Device)\","
		"\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":7,\"args\":{\"device\":1,\"fromDevice\":0,"
		"\"toDevice\":1}},"
		"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH (Device -> Pinned)\","
		"\"ts\":3,\"dur\":1,\"pid\":0,\"tid\":7},"
		"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Host -> Device)\","
		"\"ts\":4,\"dur\":1,\"pid\":0,\"tid\":7},"
		"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy\",\"ts\":5,\"pid\":0}]");
	EXPECT_INT(r.streams, 1);
	e = event(&r.stream[0], WIRE_KIND_OP, 0);
	EXPECT_INT(e->start_ns, 1000);
	EXPECT_INT(e->end_ns, 3500);
	EXPECT_INT(e->op, WIRE_OP_COPY);
	EXPECT_INT(e->copy, WIRE_COPY_H2D);
	EXPECT_INT(e->src, WIRE_MEM_PAGEABLE);
	EXPECT_INT(e->dst, WIRE_MEM_DEVICE);
	EXPECT_INT(e->bytes, 4096);
	e = event(&r.stream[0], WIRE_KIND_OP, 1);
	EXPECT_INT(e->copy, WIRE_COPY_P2P);
	EXPECT_INT(e->device, 1);
	EXPECT_INT(e->peer, 1);
	e = event(&r.stream[0], WIRE_KIND_OP, 2);
	EXPECT_INT(e->copy, WIRE_COPY_D2H);
	EXPECT_INT(e->dst, WIRE_MEM_PINNED);
	EXPECT_INT(event(&r.stream[0], WIRE_KIND_OP, 3)->src, WIRE_MEM_UNKNOWN);
	EXPECT_INT(event(&r.stream[0], WIRE_KIND_OP, 4)->copy, WIRE_COPY_UNKNOWN);
	close_run(&r);
}

static void test_how_copies_were_called(void)
{
	static const char *const calls[] = { "cudaMemcpy", "cudaMemcpyAsync", "cuMemcpyHtoD_v2",
					     "cuMemcpyHtoDAsync_v2", "cudaLaunchKernel" };
	static const bool async[] = { false, true, false, true, true, true };
	char text[4000] = "[", row[400];
	struct run r;
	size_t i;

	for (i = 0; i < 6; i++) {
		snprintf(row, sizeof(row),
			 "%s{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pinned -> "
			 "Device)\",\"ts\":%zu,\"args\":{\"correlation\":%zu}}",
			 i ? "," : "", i, i);
		strcat(text, row);
		snprintf(row, sizeof(row),
			 ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"ts\":%zu,"
			 "\"args\":{\"correlation\":%zu}}",
			 i < 5 ? calls[i] : "", i, i < 5 ? i : 99);
		strcat(text, row);
	}
	strcat(text, "]");
	import_text(&r, text);
	for (i = 0; i < 6; i++)
		EXPECT_INT(event(&r.stream[0], WIRE_KIND_OP, i)->flags & WIRE_EV_FL_ASYNC,
			   async[i] ? WIRE_EV_FL_ASYNC : 0);
	close_run(&r);
}

static void test_ids_keep_their_order(void)
{
	static const char *const tids[] = {
		"3", "140245678906112", "\"stream 7\"", "\"12\"", "null", "-4", "140245678906113"
	};
	/* -4, 3, 12, the wide ones, then text: None, stream 7 */
	static const uint32_t want[] = { 3, 13, 16, 12, 15, 0, 14 };
	char text[2000] = "[" KERNEL(""), row[200];
	struct run r;
	size_t i;

	for (i = 0; i < 7; i++) {
		snprintf(row, sizeof(row),
			 ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"a\",\"ts\":%zu,"
			 "\"pid\":100,\"tid\":%s}",
			 i, tids[i]);
		strcat(text, row);
	}
	strcat(text, "]");
	import_text(&r, text);
	EXPECT_INT(r.streams, 2); /* no correlation id: the kernel's process is not known */
	for (i = 0; i < 7; i++)
		EXPECT_INT(event(&r.stream[0], WIRE_KIND_API, i)->tid, want[i]);
	EXPECT_INT(r.stream[0].hello->pid, 100);
	EXPECT(!r.stream[0].hello->import->process_unknown);
	EXPECT(r.stream[1].hello->import->process_unknown);
	close_run(&r);
}

static void test_correlations(void)
{
	static const char *const corr[] = { "7", "0", "\"7\"", "-1", "null", "7.0" };
	char text[3000] = "[" KERNEL(",\"args\":{\"correlation\":7}"), row[200];
	uint64_t got[6];
	struct run r;
	size_t i, k;

	for (i = 0; i < 6; i++) {
		snprintf(row, sizeof(row),
			 ",{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"a\",\"ts\":%zu,"
			 "\"pid\":1,\"tid\":1,\"args\":{\"correlation\":%s}}",
			 i, corr[i]);
		strcat(text, row);
	}
	strcat(text, "]");
	import_text(&r, text);
	EXPECT_INT(r.streams, 1);
	EXPECT_INT(event(&r.stream[0], WIRE_KIND_OP, 0)->corr, 7);
	for (i = 0; i < 6; i++) {
		got[i] = event(&r.stream[0], WIRE_KIND_API, i)->corr;
		for (k = 0; k < i; k++)
			EXPECT(got[k] != got[i]);
	}
	EXPECT_UINT(got[0], 7);
	EXPECT_UINT(got[4], 0);
	close_run(&r);
}

static void test_ranges(void)
{
	struct run r;
	const struct stream *s = &r.stream[0];

	import_text(
		&r,
		"{\"traceEvents\":[" KERNEL(
			"") ","
			    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"ts\":1,\"pid\":1},"
			    "{\"ph\":\"X\",\"cat\":\"Operator\",\"name\":\"ProfilerStep#2\",\"ts\":2,\"pid\":1},"
			    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"ts\":3,\"pid\":1},"
			    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"eval\",\"ts\":4,\"pid\":1},"
			    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"enumerate(DataLoader)#x\",\"ts\":5,\"pid\":1},"
			    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"enumerate(DataLoader)#x\",\"ts\":6,\"pid\":1},"
			    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"main\",\"ts\":7,\"pid\":1}],"
			    "\"traceName\":\"x\"}");
	EXPECT_INT(stats.ranges, 5);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 0)->op, WIRE_RANGE_STEP);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 0)->flags, 0);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 1)->op, WIRE_RANGE_STEP);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 1)->flags, WIRE_EV_FL_OPERATOR);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 2)->op, WIRE_RANGE_OPERATOR);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 2)->flags, 0);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 3)->op, WIRE_RANGE_USER);
	EXPECT_STR(name(s, event(s, WIRE_KIND_RANGE, 3)), "eval");
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 4)->op, WIRE_RANGE_LOADER);
	EXPECT_INT(event(s, WIRE_KIND_RANGE, 4)->flags, WIRE_EV_FL_OPERATOR);
	EXPECT_INT(s->hello->import->window_start, 1000);
	EXPECT_INT(s->hello->import->window_end, 7000);
	EXPECT_INT(s->hello->import->rows, 8);
	close_run(&r);
}

static void test_bad_ops_are_losses(void)
{
	struct run r;

	import_text(
		&r,
		"[" KERNEL(
			",\"pid\":0,\"tid\":7") ",{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"b\",\"ts\":9,"
						"\"dur\":-1,\"pid\":3,\"tid\":8,\"args\":"
						"{\"correlation\":5,\"context\":2}}]");
	EXPECT_INT(stats.ops, 1);
	EXPECT_INT(stats.bad_ops, 1);
	EXPECT_INT(r.stream[0].hello->import->bad_ops, 1);
	EXPECT_INT(r.stream[0].hello->n_devices, 1);
	REQUIRE(r.stream[0].loss && r.stream[0].loss->n_spans == 1);
	EXPECT_INT(r.stream[0].loss->spans[0]->reason, WIRE__LOSS_REASON__LOSS_BAD_STAMP);
	EXPECT_INT(r.stream[0].loss->spans[0]->start_ns, 9000);
	EXPECT_INT(r.stream[0].loss->spans[0]->device, 3);
	EXPECT_INT(r.stream[0].loss->spans[0]->stream, 8);
	EXPECT_INT(r.stream[0].loss->spans[0]->context, 2);
	EXPECT_INT(r.stream[0].loss->spans[0]->correlation, 5);
	close_run(&r);
}

/* More events than a block and more devices than its head has room for. */
static void test_many(void)
{
	enum {
		OPS = 40000,
		DEVICES = 150
	};
	struct run r;
	FILE *f = fopen(file, "w");
	size_t i;

	REQUIRE(f);
	for (i = 0; i < OPS; i++) /* ten share each microsecond; bytes tell the record */
		fprintf(f,
			"%s{\"ph\":\"X\",\"cat\":\"gpu_memset\",\"name\":\"k%zu\",\"ts\":%zu,\"dur\":1,"
			"\"pid\":%zu,\"tid\":7,\"args\":{\"bytes\":%zu}}",
			i ? ",\n" : "[", i % 7, (OPS - i) / 10, i % DEVICES, i + 1);
	fputs("]", f);
	REQUIRE(!fclose(f));
	open_run(&r, file);
	EXPECT_INT(r.stream[0].n, OPS);
	EXPECT_INT(r.stream[0].hello->n_devices, DEVICES);
	EXPECT(r.stream[0].blocks > 3);
	for (i = 1; i < r.stream[0].n; i++) {
		const struct wire_event *a = &r.stream[0].ev[i - 1], *b = a + 1;
		size_t record = b->bytes - 1;

		if (a->start_ns > b->start_ns ||
		    (a->start_ns == b->start_ns && a->bytes >= b->bytes))
			T_FAIL("event %zu is out of order", i);
		if (b->device != record % DEVICES ||
		    name(&r.stream[0], b)[1] != (char)('0' + record % 7))
			T_FAIL("event %zu is another record", i);
		if (t_failures)
			break;
	}
	close_run(&r);
}

#define RUNTIME                                                                                    \
	"create table CUPTI_ACTIVITY_KIND_RUNTIME (start integer, end integer, globalTid integer," \
	"correlationId integer, nameId integer);"
#define KERNELS                                                                                  \
	"create table CUPTI_ACTIVITY_KIND_KERNEL (start integer, end integer, deviceId integer," \
	"streamId integer, correlationId integer, globalPid integer, shortName integer);"

static void test_nsys_pids(void)
{
	struct run r;

	import_sql(
		&r, RUNTIME KERNELS
		"insert into CUPTI_ACTIVITY_KIND_RUNTIME values"
		"(1, 2, (1 << 48) | (70 << 24) | 71, 5, 1), (3, 4, (1 << 48) | (69 << 24) | 9, 5, 1);"
		"insert into CUPTI_ACTIVITY_KIND_KERNEL values (5, 6, 0, 7, 5, (1 << 48) | (70 << 24), 1);");
	EXPECT_INT(r.streams, 2);
	EXPECT_INT(r.stream[0].hello->pid, 69);
	EXPECT_INT(r.stream[1].hello->pid, 70);
	EXPECT_INT(event(&r.stream[1], WIRE_KIND_API, 0)->tid, 71);
	EXPECT_INT(r.stream[1].hello->n_devices, 1);
	EXPECT_INT(r.stream[0].hello->n_devices, 0);
	close_run(&r);
}

/* Values of other types than a column should have are as good as missing. */
static void test_nsys_wrong_types(void)
{
	struct run r;

	import_sql(
		&r,
		"create table StringIds (id, value); insert into StringIds values"
		"('x', 'y'), (1, 5), (2, x'00ff'), (NULL, NULL), (1.5, 'z'), (3, 'cudaMalloc');"
		"create table CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId,"
		"nameId); create table CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId,"
		"correlationId, globalPid, shortName);"
		"insert into CUPTI_ACTIVITY_KIND_RUNTIME values ('a', 1, 1, 1, 1), (1, 'b', 1, 'c',"
		"3), (1, 2, x'01', 3, 4), (1.5, 2, 3, 4, 5), (NULL, NULL, NULL, NULL, NULL);"
		"insert into CUPTI_ACTIVITY_KIND_KERNEL values (5, 6, 'x', x'07', 1.5, 'p', 's'),"
		"('5', 6, 0, 7, 1, 1, 1), (-9223372036854775808, NULL, 0, 7, 1, 1, 1),"
		"(9223372036854775807, -9223372036854775808, 0, 0, 0, 0, 0);");
	EXPECT_INT(stats.ops, 1);
	EXPECT_INT(stats.bad_ops, 1);
	EXPECT_INT(stats.api, 1);
	close_run(&r);
}

static void test_nsys_only_tables(void)
{
	sqlite3 *db;

	unlink(file);
	REQUIRE(!sqlite3_open(file, &db) &&
		!sqlite3_exec(
			db,
			"create view CUPTI_ACTIVITY_KIND_KERNEL as with recursive t(start) as"
			"(select 1 union all select start + 1 from t) select start, start as end,"
			"0 as deviceId from t;",
			NULL, NULL, NULL));
	sqlite3_close(db);
	EXPECT_INT(import(file), -ENODATA);
	unlink(file);
}

static bool left_behind(void)
{
	struct dirent **list;
	int n = scandir(dir, &list, visible, by_name), i;
	bool found = false;

	for (i = 0; i < n; i++) {
		found = found || strstr(list[i]->d_name, "run");
		free(list[i]);
	}
	free(list);
	return found;
}

static void expect_error(const char *text, size_t len, int want, const char *why)
{
	int err;

	write_text(text, len);
	err = import(file);
	if (err != want || !strstr(error.why, why))
		T_FAIL("%.40s: %d \"%s\", not %d \"%s\"", text, err, error.why, want, why);
	EXPECT(!left_behind());
	unlink(file);
}

#define EXPECT_ERROR(text, want, why) expect_error(text, sizeof(text) - 1, want, why)

static void test_errors(void)
{
	char deep[2000];

	EXPECT_ERROR("", -ENODATA, "empty");
	EXPECT_ERROR("hello", -EINVAL, "neither JSON nor SQLite");
	EXPECT_ERROR("{}", -ENODATA, "no trace events");
	EXPECT_ERROR("[]", -ENODATA, "no trace events");
	EXPECT_ERROR("{\"traceEvents\": 5}", -ENODATA, "no trace events");
	EXPECT_ERROR("{\"traceEvents\": [{\"ph\": \"X\", \"ts\": 1", -EBADMSG,
		     "ends early, at byte 36");
	EXPECT_ERROR("[{\"ph\": \"X\"} x]", -EBADMSG, "not JSON at byte");
	EXPECT_ERROR("[] []", -EBADMSG, "not JSON");
	EXPECT_ERROR("[{\"ph\": \"X\", \"ts\": 1, \"cat\": \"cpu_op\"}]", -ENODATA, "no GPU work");
	EXPECT_ERROR("[{\"ph\": \"X\", \"ts\": 1, \"dur\": -1, \"cat\": \"kernel\"}]", -ENODATA,
		     "ends before it starts");
	EXPECT_ERROR("\x1f\x8b\x08", -EPIPE, "end early");
	EXPECT_ERROR("\x1f\x8b\x08\x04 nonsense and more of it", -EPIPE, "end early");
	EXPECT_ERROR("\x1f\x8b\x09 nonsense and more of it", -EBADMSG, "damaged");
	EXPECT_ERROR("SQLite format 3\0 and no more", -EBADMSG, "SQLite cannot read it");
	memset(deep, '[', sizeof(deep));
	expect_error(deep, sizeof(deep), -EBADMSG, "nested deeper than");
	EXPECT_INT(import("/nowhere/at/all"), -ENOENT);
	EXPECT_INT(import(dir), -EISDIR);
	EXPECT_INT(import("/dev/null"), -EINVAL);
	EXPECT(!left_behind());
}

static void test_existing_run_stays(void)
{
	struct stat st;

	REQUIRE(!mkdir(out, 0700));
	write_text("[" KERNEL("") "]", strlen("[" KERNEL("") "]"));
	EXPECT_INT(import(file), -EEXIST);
	EXPECT(!stat(out, &st));
	EXPECT(!rmdir(out));
	unlink(file);
}

int main(void)
{
	int rc;

	t_tempdir(dir, sizeof(dir));
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(out, sizeof(out), "%s/run.gst", dir);
	rc = RUN(test_copies, test_how_copies_were_called, test_ids_keep_their_order,
		 test_correlations, test_ranges, test_bad_ops_are_losses, test_many, test_nsys_pids,
		 test_nsys_wrong_types, test_nsys_only_tables, test_errors,
		 test_existing_run_stays);
	rmdir(dir);
	return rc;
}
