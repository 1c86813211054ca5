/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a central collector takes in over HTTP, as nodes' collectors send it: so many streams, each
 * with so many events a second, a request per node and second. Prints how long acknowledgements took,
 * what the collector needed, and whether each of them said that all is there.
 *
 *	bench_coll_central [--streams N] [--nodes N] [--events PER_SECOND] [--seconds N] [--flood]
 *			   [--dir DIRECTORY]
 *
 * --flood: no pauses, the next request follows the answer. The senders share the machine with the
 * collector. 1,000 streams for ten minutes: --streams 1000 --nodes 125 --seconds 600.
 */
#include "cost.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "unit/stream.h"
#include "wire/frame.h"

#define ANSWER_BYTES (128u << 10)

struct setting {
	unsigned int streams, nodes, events, seconds;
	bool flood;
	uint16_t port;
	const struct wire_buf *block; /* a second of one stream, renumbered for each sending */
};

struct node {
	pthread_t thread;
	const struct setting *set;
	unsigned int first, count; /* its streams */
	double *took; /* seconds, per request */
	size_t requests;
	uint64_t bytes, frames, wrong; /* wrong: acknowledgements that were not of all */
};

static void stream_id(uint8_t id[WIRE_STREAM_ID_BYTES], unsigned int n)
{
	memset(id, 0, WIRE_STREAM_ID_BYTES);
	id[0] = (uint8_t)n;
	id[1] = (uint8_t)(n >> 8);
	id[2] = 1;
}

/* Frame @seq of stream @n: the Hello, or the block under its number. */
static void put_frame(struct wire_buf *body, const struct setting *set, unsigned int n,
		      uint64_t seq)
{
	char run[] = "bench", host[] = "bench";
	Wire__Hello m = WIRE__HELLO__INIT;
	uint8_t id[WIRE_STREAM_ID_BYTES];
	struct wire_encoder *e;
	struct wire_frame f;
	size_t at = body->len;

	stream_id(id, n);
	if (seq > 1) {
		REQUIRE(!wire_buf_append(body, set->block->data, set->block->len));
		REQUIRE(!wire_frame_header_get(&f, body->data + at));
		memcpy(f.stream, id, sizeof(id));
		f.seq = seq;
		wire_frame_header_put(&f, body->data + at);
		return;
	}
	e = wire_encoder_new(id, 3);
	m.run_id = run;
	m.host = host;
	REQUIRE(e && !wire_encoder_message(e, WIRE_FRAME_HELLO, &m.base, 1, body));
	wire_encoder_free(e);
}

static int dial(uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	REQUIRE(fd >= 0 && !connect(fd, (struct sockaddr *)&a, sizeof(a)));
	return fd;
}

static void send_all(int fd, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		REQUIRE(n > 0);
		at += n;
		len -= (size_t)n;
	}
}

/* The answer's body; its length. */
static size_t receive(int fd, uint8_t *answer, const uint8_t **body)
{
	size_t got = 0, want = 0, head = 0;

	while (!head || got < want) {
		ssize_t n = recv(fd, answer + got, ANSWER_BYTES - got, 0);
		char *end, *length;

		REQUIRE(n > 0);
		got += (size_t)n;
		answer[got] = 0;
		end = head ? NULL : strstr((char *)answer, "\r\n\r\n");
		if (!end)
			continue;
		REQUIRE(!memcmp(answer, "HTTP/1.1 200", 12));
		length = strstr((char *)answer, "Content-Length: ");
		REQUIRE(length);
		head = (size_t)(end + 4 - (char *)answer);
		want = head + strtoul(length + 16, NULL, 10);
	}
	*body = answer + head;
	return want - head;
}

static void check(struct node *n, const uint8_t *acks, size_t len, uint64_t seq)
{
	struct wire_frame f;
	size_t at;

	n->wrong += len != n->count * WIRE_FRAME_HEADER_BYTES;
	for (at = 0; at + WIRE_FRAME_HEADER_BYTES <= len; at += WIRE_FRAME_HEADER_BYTES)
		n->wrong += wire_frame_header_get(&f, acks + at) || f.seq != seq;
}

static void post(struct node *n, int fd, struct wire_buf *body, uint8_t *answer, uint64_t seq)
{
	char head[200];
	const uint8_t *acks;
	double begin = b_now();
	size_t len;

	snprintf(head, sizeof(head),
		 "POST /v1/frames HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %zu\r\n\r\n",
		 body->len);
	send_all(fd, head, strlen(head));
	send_all(fd, body->data, body->len);
	len = receive(fd, answer, &acks);
	n->took[n->requests++] = b_now() - begin;
	n->bytes += body->len;
	n->frames += n->count;
	check(n, acks, len, seq);
}

static void *send_node(void *arg)
{
	struct node *n = arg;
	uint8_t *answer = malloc(ANSWER_BYTES + 1);
	struct wire_buf body = { 0 };
	double begin = b_now(), due = (double)n->first / n->set->streams;
	int fd = dial(n->set->port);
	uint64_t seq;
	unsigned int i;

	for (seq = 1; seq <= n->set->seconds + 1; seq++) {
		double wait = begin + due + (double)seq - 1 - b_now();

		if (!n->set->flood && wait > 0)
			usleep((useconds_t)(wait * 1e6));
		body.len = 0;
		for (i = 0; i < n->count; i++)
			put_frame(&body, n->set, n->first + i, seq);
		post(n, fd, &body, answer, seq);
	}
	close(fd);
	wire_buf_fini(&body);
	free(answer);
	return NULL;
}

static pid_t start(const char *dir, uint16_t *port)
{
	char fd[16], line[200] = "";
	int ready[2];
	pid_t pid;

	REQUIRE(!pipe(ready));
	pid = fork();
	REQUIRE(pid >= 0);
	if (!pid) {
		close(ready[0]);
		snprintf(fd, sizeof(fd), "%d", ready[1]);
		execl(TESTS_BIN "/gpustarve-collector", "gpustarve-collector", "--dir", dir,
		      "--listen", "http://127.0.0.1:0", "--no-token", "--ready-fd", fd,
		      (char *)NULL);
		_exit(127);
	}
	close(ready[1]);
	REQUIRE(read(ready[0], line, sizeof(line) - 1) > 0 && strrchr(line, ':'));
	close(ready[0]);
	*port = (uint16_t)strtoul(strrchr(line, ':') + 1, NULL, 10);
	return pid;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void tell(const struct setting *set, const struct node *node, double wall,
		 const struct rusage *use)
{
	double *all = malloc(sizeof(*all) * set->nodes * (set->seconds + 1));
	uint64_t bytes = 0, frames = 0, wrong = 0;
	size_t n = 0;
	unsigned int i;

	for (i = 0; i < set->nodes; i++) {
		memcpy(all + n, node[i].took, node[i].requests * sizeof(*all));
		n += node[i].requests;
		bytes += node[i].bytes;
		frames += node[i].frames;
		wrong += node[i].wrong;
	}
	qsort(all, n, sizeof(*all), by_size);
	printf("%u streams of %u nodes, %u events each a second, %.1f s%s\n", set->streams,
	       set->nodes, set->events, wall, set->flood ? ", without pauses" : "");
	printf("  %.1f MB/s, %.2f M events/s; acknowledged in p50 %.1f, p99 %.1f, most %.1f ms\n",
	       (double)bytes / wall / 1e6, (double)frames * set->events / wall / 1e6,
	       all[n / 2] * 1e3, all[n * 99 / 100] * 1e3, all[n - 1] * 1e3);
	printf("  collector: %.1f s of CPU, peak %.1f MiB; %llu frames, %llu acknowledgements "
	       "that do not say that all is there\n",
	       b_cpu(use), b_peak_mb(use), (unsigned long long)frames, (unsigned long long)wrong);
	free(all);
	REQUIRE(!wrong);
}

static void measure(struct setting *set, const char *dir)
{
	struct node *node = calloc(set->nodes, sizeof(*node));
	struct wire_buf block = { 0 };
	struct rusage use = { 0 };
	double begin, wall;
	char work[300];
	unsigned int i;
	int status;
	pid_t pid;

	snprintf(work, sizeof(work), "%s/gpustarve-bench-%d", dir, (int)getpid());
	t_job_block(&block, set->events);
	set->block = &block;
	pid = start(work, &set->port);
	begin = b_now();
	for (i = 0; i < set->nodes; i++) {
		node[i].set = set;
		node[i].first = i * set->streams / set->nodes;
		node[i].count = (i + 1) * set->streams / set->nodes - node[i].first;
		node[i].took = calloc(set->seconds + 1, sizeof(double));
		REQUIRE(!pthread_create(&node[i].thread, NULL, send_node, &node[i]));
	}
	for (i = 0; i < set->nodes; i++)
		pthread_join(node[i].thread, NULL);
	wall = b_now() - begin;
	kill(pid, SIGTERM);
	REQUIRE(wait4(pid, &status, 0, &use) == pid && !status);
	tell(set, node, wall, &use);
	nftw(work, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	for (i = 0; i < set->nodes; i++)
		free(node[i].took);
	free(node);
	wire_buf_fini(&block);
}

int main(int argc, char **argv)
{
	static const struct option table[] = { { "streams", required_argument, NULL, 's' },
					       { "nodes", required_argument, NULL, 'n' },
					       { "events", required_argument, NULL, 'e' },
					       { "seconds", required_argument, NULL, 't' },
					       { "flood", no_argument, NULL, 'f' },
					       { "dir", required_argument, NULL, 'd' },
					       { NULL, 0, NULL, 0 } };
	struct setting set = { .streams = 200, .nodes = 25, .events = 10000, .seconds = 5 };
	const char *tmp = getenv("TMPDIR"), *dir = tmp && *tmp ? tmp : "/tmp";
	int opt;

	while ((opt = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		unsigned int value = optarg ? (unsigned int)strtoul(optarg, NULL, 10) : 0;

		if (opt == 's')
			set.streams = value;
		else if (opt == 'n')
			set.nodes = value;
		else if (opt == 'e')
			set.events = value;
		else if (opt == 't')
			set.seconds = value;
		else if (opt == 'f')
			set.flood = true;
		else if (opt == 'd')
			dir = optarg;
		else
			return 1;
	}
	REQUIRE(set.nodes && set.streams >= set.nodes && set.streams / set.nodes < 1000 &&
		set.streams < 65536 && set.events);
	measure(&set, dir);
	return 0;
}
