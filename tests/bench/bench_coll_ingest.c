/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector takes in: bytes and events a second by the clock and by its own CPU time, and
 * its peak memory, for several numbers of clients and sizes of blocks.
 *
 *	bench_coll_ingest [--mb TOTAL] [--dir DIRECTORY]
 *
 * The clients share the machine with the collector, so the figure per second of its CPU time is
 * the one to compare; DIRECTORY (default: $TMPDIR or /tmp) decides what syncing costs.
 */
#include "taker.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CLIENTS_MAX 64

struct plan {
	unsigned int clients;
	size_t events; /* per block */
};

struct sender {
	pthread_t thread;
	const char *socket;
	unsigned int number;
	const struct wire_buf *block; /* one frame, renumbered for each sending */
	uint64_t frames;
	uint64_t bytes;
};

static int dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	REQUIRE(fd >= 0 && !connect(fd, (struct sockaddr *)&a, sizeof(a)));
	return fd;
}

static void send_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		REQUIRE(n > 0);
		bytes += n;
		len -= (size_t)n;
	}
}

/* Reads acknowledgements until the last frame's is among them. */
static void await(int fd, uint64_t seq)
{
	uint8_t ack[WIRE_FRAME_HEADER_BYTES];
	struct wire_frame f = { .seq = 0 };

	while (f.seq < seq) {
		REQUIRE(recv(fd, ack, sizeof(ack), MSG_WAITALL) == sizeof(ack));
		REQUIRE(!wire_frame_header_get(&f, ack));
	}
}

static void *send_stream(void *arg)
{
	struct sender *s = arg;
	uint8_t id[WIRE_STREAM_ID_BYTES] = { (uint8_t)s->number, 1 };
	struct wire_buf hello = { 0 }, block = { 0 };
	int fd = dial(s->socket);
	uint64_t i;

	b_put_hello(&hello, id);
	REQUIRE(!wire_buf_append(&block, s->block->data, s->block->len));
	send_all(fd, hello.data, hello.len);
	for (i = 0; i < s->frames; i++) {
		b_renumber(block.data, id, i + 2);
		send_all(fd, block.data, block.len);
	}
	shutdown(fd, SHUT_WR);
	await(fd, s->frames + 1);
	close(fd);
	s->bytes = s->frames * block.len;
	wire_buf_fini(&hello);
	wire_buf_fini(&block);
	return NULL;
}

static void measure(const struct plan *p, uint64_t total, const char *dir)
{
	struct sender sender[CLIENTS_MAX] = { { .number = 0 } };
	char socket[100] = "/tmp/gpustarve-bench-XXXXXX", work[300], line[200];
	const char *const option[] = { "--unix", socket, NULL };
	struct wire_buf block = { 0 };
	struct rusage use = { 0 };
	uint64_t bytes = 0, frames;
	double wall, cpu, events;
	int64_t begin;
	unsigned int i;
	pid_t pid;

	REQUIRE(mkdtemp(socket));
	snprintf(work, sizeof(work), "%s/gpustarve-bench-%d", dir, (int)getpid());
	strcat(socket, "/s");
	t_job_block(&block, p->events);
	frames = total / p->clients / block.len + 1;
	pid = b_collector(work, option, line);
	begin = b_now_ns();
	for (i = 0; i < p->clients; i++) {
		sender[i] = (struct sender){
			.socket = socket, .number = i, .block = &block, .frames = frames
		};
		REQUIRE(!pthread_create(&sender[i].thread, NULL, send_stream, &sender[i]));
	}
	for (i = 0; i < p->clients; i++) {
		pthread_join(sender[i].thread, NULL);
		bytes += sender[i].bytes;
	}
	wall = (double)(b_now_ns() - begin) / 1e9;
	b_collector_end(pid, &use);
	cpu = b_cpu(&use);
	events = (double)(frames * p->clients * p->events);
	printf("%7u %8zu %8zu %9.0f %9.0f %9.1f %9.1f %8.2f %9.1f\n", p->clients, p->events,
	       block.len, (double)bytes / wall / 1e6, (double)bytes / cpu / 1e6,
	       events / wall / 1e6, events / cpu / 1e6, b_seconds(use.ru_utime) / cpu,
	       b_peak_mb(&use));
	b_remove(work);
	*strrchr(socket, '/') = '\0';
	rmdir(socket);
	wire_buf_fini(&block);
}

int main(int argc, char **argv)
{
	static const struct plan plan[] = { { 1, 512 },	 { 1, 8192 },  { 1, 65536 },
					    { 8, 8192 }, { 64, 8192 }, { 64, 65536 } };
	static const struct option table[] = { { "mb", required_argument, NULL, 'm' },
					       { "dir", required_argument, NULL, 'd' },
					       { NULL, 0, NULL, 0 } };
	const char *tmp = getenv("TMPDIR"), *dir = tmp && *tmp ? tmp : "/tmp";
	uint64_t mb = 256;
	size_t i;
	int opt;

	while ((opt = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		if (opt == 'm')
			mb = strtoull(optarg, NULL, 0);
		else if (opt == 'd')
			dir = optarg;
		else
			return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("collector ingest below %s, %llu MB each; goals: >= 50 M events/s per core, peak "
	       "memory <= 64 MiB\n",
	       dir, (unsigned long long)mb);
	printf("%7s %8s %8s %9s %9s %9s %9s %8s %9s\n", "clients", "ev/block", "bytes", "MB/s",
	       "MB/cpu-s", "Mev/s", "Mev/cpu-s", "user", "peak MiB");
	for (i = 0; i < sizeof(plan) / sizeof(plan[0]); i++)
		measure(&plan[i], mb << 20, dir);
	return 0;
}
