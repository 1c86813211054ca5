/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truth.c - formats the lines of the truth file and appends them from a thread of its own.
 * Formatting is by hand: it stands in the launch path, and snprintf would cost more than the
 * launch.
 */
#include "truth.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"
#include "clock.h"
#include "config.h"

#define BUFFER (1u << 20)
#define FLUSH_NS 50000000
#define LINE_MAX_BYTES 1024 /* of a line without its name */

static struct {
	pthread_mutex_t lock, writing; /* writing is taken first by flushers */
	char *fill, *spare;
	size_t used;
	bool started;
	int pid;
	char path[4096];
	char uuid[SIM_MAX_DEVICES][41];
} truth = { .lock = PTHREAD_MUTEX_INITIALIZER, .writing = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;

struct line {
	char *p;
};

static void put(struct line *l, const char *s, size_t n)
{
	memcpy(l->p, s, n);
	l->p += n;
}

#define PUT(l, s) put(l, s, sizeof(s) - 1)

static void put_u64(struct line *l, uint64_t x)
{
	char digits[20];
	int n = 20;

	do
		digits[--n] = (char)('0' + x % 10);
	while (x /= 10);
	put(l, digits + n, (size_t)(20 - n));
}

#define PUT_FIELD(l, key, x)             \
	do {                             \
		PUT(l, ",\"" key "\":"); \
		put_u64(l, x);           \
	} while (0)

static void put_text(struct line *l, const char *s)
{
	static const char hex[] = "0123456789abcdef";

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\') {
			*l->p++ = '\\';
			*l->p++ = *s;
		} else if (c < 32) {
			PUT(l, "\\u00");
			*l->p++ = hex[c >> 4];
			*l->p++ = hex[c & 15];
		} else {
			*l->p++ = *s;
		}
	}
}

static const char *memory_name(uint8_t memory)
{
	static const char *const names[] = {
		[SIM_PAGEABLE] = "pageable", [SIM_PINNED] = "pinned",	[SIM_DEVICE] = "device",
		[SIM_ARRAY] = "array",	     [SIM_MANAGED] = "managed",
	};

	return memory < sizeof names / sizeof *names && names[memory] ? names[memory] : "unknown";
}

static const char *copy_name(uint8_t copy)
{
	static const char *const names[] = {
		[SIM_H2D] = "h2d", [SIM_D2H] = "d2h", [SIM_H2A] = "h2a", [SIM_A2H] = "a2h",
		[SIM_A2A] = "a2a", [SIM_A2D] = "a2d", [SIM_D2A] = "d2a", [SIM_D2D] = "d2d",
		[SIM_H2H] = "h2h", [SIM_P2P] = "p2p",
	};

	return copy < sizeof names / sizeof *names && names[copy] ? names[copy] : "unknown";
}

static const char *kind_name(uint8_t kind)
{
	static const char *const names[] = {
		"kernel", "memcpy", "memset", "graph", "host", "marker"
	};

	return kind < SIM_KINDS ? names[kind] : "unknown";
}

static void write_out(const char *data, size_t size)
{
	int fd = open(truth.path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	while (fd >= 0 && size) {
		ssize_t n = write(fd, data, size);

		if (n <= 0)
			break;
		data += n;
		size -= (size_t)n;
	}
	if (fd >= 0)
		close(fd);
}

void sim_truth_flush(void)
{
	char *full;
	size_t size;

	if (!truth.fill)
		return;
	pthread_mutex_lock(&truth.writing);
	pthread_mutex_lock(&truth.lock);
	full = truth.fill;
	size = truth.used;
	truth.fill = truth.spare;
	truth.spare = full;
	truth.used = 0;
	pthread_mutex_unlock(&truth.lock);
	if (size)
		write_out(full, size);
	pthread_mutex_unlock(&truth.writing);
}

static void *flusher(void *arg)
{
	struct timespec d = { 0, FLUSH_NS };

	(void)arg;
	for (;;) {
		nanosleep(&d, NULL);
		sim_truth_flush();
	}
	return NULL;
}

/* A directory gets one file per process; a fork that uses the device is such a process. */
static void choose_path(void)
{
	const struct sim_config *config = sim_config();
	struct stat st;

	if (!stat(config->truth, &st) && S_ISDIR(st.st_mode))
		snprintf(truth.path, sizeof truth.path, "%s/%d.jsonl", config->truth, getpid());
	else
		snprintf(truth.path, sizeof truth.path, "%s", config->truth);
	truth.pid = getpid();
}

static void truth_init(void)
{
	uint32_t i;

	if (!*sim_config()->truth)
		return;
	for (i = 0; i < sim_config()->devices; i++)
		sim_device_uuid_text(i, truth.uuid[i]);
	truth.spare = malloc(BUFFER);
	truth.fill = malloc(BUFFER);
}

/* The flusher takes no signals: they are the program's. */
static void start_flusher(void)
{
	sigset_t all, old;
	pthread_t t;

	choose_path();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&t, NULL, flusher, NULL)) {
		pthread_setname_np(t, "gpusim-truth");
		pthread_detach(t);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	truth.started = true;
}

bool sim_truth_on(void)
{
	pthread_once(&once, truth_init);
	return truth.fill != NULL;
}

/* Takes the lock; there is room for a line with `extra` bytes of text. */
static struct line line_begin(size_t extra)
{
	struct line l;

	pthread_mutex_lock(&truth.lock);
	if (!truth.started)
		start_flusher();
	while (truth.used + LINE_MAX_BYTES + extra > BUFFER) {
		pthread_mutex_unlock(&truth.lock);
		sim_truth_flush();
		pthread_mutex_lock(&truth.lock);
	}
	l.p = truth.fill + truth.used;
	return l;
}

static void line_end(struct line *l)
{
	*l->p++ = '\n';
	truth.used = (size_t)(l->p - truth.fill);
	pthread_mutex_unlock(&truth.lock);
}

static void put_memory(struct line *l, const struct sim_op *op)
{
	const char *src = memory_name(op->src), *dst = memory_name(op->dst);

	PUT_FIELD(l, "bytes", op->bytes);
	if (op->kind == SIM_MEMSET) {
		PUT(l, ",\"dst\":\"");
		put(l, dst, strlen(dst));
		*l->p++ = '"';
		PUT_FIELD(l, "value", op->value);
		return;
	}
	PUT(l, ",\"copy\":\"");
	put(l, copy_name(op->copy), strlen(copy_name(op->copy)));
	PUT(l, "\",\"src\":\"");
	put(l, src, strlen(src));
	PUT(l, "\",\"dst\":\"");
	put(l, dst, strlen(dst));
	*l->p++ = '"';
	if (op->copy == SIM_P2P) {
		PUT_FIELD(l, "from", op->from_device);
		PUT_FIELD(l, "peer", op->peer_device);
	}
}

static void put_graph(struct line *l, const struct sim_op *op)
{
	PUT_FIELD(l, "graph", op->graph);
	if (op->kind == SIM_GRAPH)
		return;
	PUT_FIELD(l, "node", op->node);
}

void sim_truth_op(const struct sim_op *op)
{
	const char *kind = kind_name(op->kind), *name = op->name ? op->name : "";
	size_t extra = 6 * strlen(name);
	struct line l;

	if (!sim_truth_on() || !sim_config()->truth_ops || extra > BUFFER / 2)
		return;
	l = line_begin(extra);
	PUT(&l, "{\"kind\":\"");
	put(&l, kind, strlen(kind));
	PUT(&l, "\",\"device\":");
	put_u64(&l, op->physical);
	PUT(&l, ",\"uuid\":\"");
	put(&l, truth.uuid[op->physical], 40);
	*l.p++ = '"';
	PUT_FIELD(&l, "ordinal", op->device);
	PUT_FIELD(&l, "context", op->context);
	PUT_FIELD(&l, "stream", op->stream);
	if (op->name) {
		PUT(&l, ",\"name\":\"");
		put_text(&l, name);
		*l.p++ = '"';
	}
	if (op->kind == SIM_MEMCPY || op->kind == SIM_MEMSET)
		put_memory(&l, op);
	if (op->graph)
		put_graph(&l, op);
	PUT_FIELD(&l, "start_ns", op->start);
	PUT_FIELD(&l, "end_ns", op->end);
	PUT_FIELD(&l, "launch_ns", op->call_start);
	PUT_FIELD(&l, "pid", (uint64_t)truth.pid);
	PUT_FIELD(&l, "tid", op->tid);
	PUT_FIELD(&l, "correlation", op->correlation);
	PUT_FIELD(&l, "call", op->call);
	*l.p++ = '}';
	line_end(&l);
}

const char *sim_call_name(enum sim_domain domain, uint32_t cbid)
{
#define DRIVER_NAME(name, id) \
	case id:              \
		return #name;
#define RUNTIME_NAME(name, id, suffix) \
	case id:                       \
		return #name;
	if (domain == SIM_DRIVER)
		switch (cbid) {
			SIM_DRIVER_CALLS(DRIVER_NAME)
		}
	else
		switch (cbid) {
			SIM_RUNTIME_CALLS(RUNTIME_NAME)
		}
	return "unknown";
}

void sim_truth_call(enum sim_domain domain, uint32_t cbid, uint64_t call, uint64_t start,
		    uint64_t end, uint32_t correlation, uint32_t tid, int result)
{
	const char *name = sim_call_name(domain, cbid);
	struct line l;

	if (!sim_truth_on())
		return;
	l = line_begin(0);
	PUT(&l, "{\"api\":\"");
	put(&l, name, strlen(name));
	PUT(&l, "\",\"domain\":\"");
	put(&l, domain == SIM_DRIVER ? "driver" : "runtime", domain == SIM_DRIVER ? 6 : 7);
	*l.p++ = '"';
	PUT_FIELD(&l, "cbid", cbid);
	PUT_FIELD(&l, "start_ns", start);
	PUT_FIELD(&l, "end_ns", end);
	PUT_FIELD(&l, "pid", (uint64_t)truth.pid);
	PUT_FIELD(&l, "tid", tid);
	PUT_FIELD(&l, "correlation", correlation);
	PUT_FIELD(&l, "call", call);
	PUT_FIELD(&l, "result", (uint64_t)(uint32_t)result);
	*l.p++ = '}';
	line_end(&l);
}

void sim_truth_sync(const struct sim_sync_info *info, const struct sim_op *where)
{
	static const char *const names[] = { "", "event", "wait", "stream", "context" };
	struct line l;

	if (!sim_truth_on() || !sim_config()->truth_ops || info->type > SIM_SYNC_CONTEXT)
		return;
	l = line_begin(0);
	PUT(&l, "{\"sync\":\"");
	put(&l, names[info->type], strlen(names[info->type]));
	PUT(&l, "\",\"device\":");
	put_u64(&l, where->physical);
	PUT(&l, ",\"uuid\":\"");
	put(&l, truth.uuid[where->physical], 40);
	*l.p++ = '"';
	PUT_FIELD(&l, "ordinal", where->device);
	PUT_FIELD(&l, "context", info->context);
	PUT_FIELD(&l, "stream", info->stream);
	PUT_FIELD(&l, "event", info->event);
	PUT_FIELD(&l, "start_ns", info->start);
	PUT_FIELD(&l, "end_ns", info->end);
	PUT_FIELD(&l, "pid", (uint64_t)truth.pid);
	PUT_FIELD(&l, "tid", where->tid);
	PUT_FIELD(&l, "correlation", info->correlation);
	PUT_FIELD(&l, "call", where->call);
	*l.p++ = '}';
	line_end(&l);
}

void sim_truth_line(const char *text, size_t length)
{
	struct line l;

	if (!sim_truth_on() || length > BUFFER / 2)
		return;
	l = line_begin(length);
	put(&l, text, length);
	line_end(&l);
}

void sim_truth_forget(void)
{
	pthread_mutex_init(&truth.lock, NULL);
	pthread_mutex_init(&truth.writing, NULL);
	truth.used = 0;
	truth.started = false;
}
