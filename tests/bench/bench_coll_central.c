/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a central collector takes in over HTTP, as nodes' collectors send it: so many streams, each
 * with so many events a second, a request per node and second. Prints how long acknowledgements
 * took, what the collector needed, and whether each of them said that all is there.
 *
 *	bench_coll_central [--streams N] [--nodes N] [--events PER_SECOND] [--seconds N] [--flood]
 *			   [--tls | --compare] [--dir DIRECTORY]
 *
 * --flood: no pauses, the next request follows the answer. --tls: over https, with a certificate
 * made
 * for it, which the senders verify. --compare: first without, then with TLS, and how they compare.
 * The senders share the machine with the collector. 1,000 streams for ten minutes: --streams 1000
 * --nodes 125 --seconds 600.
 */
#include "taker.h"

#include <arpa/inet.h>
#include <getopt.h>
#include <gnutls/gnutls.h>
#include <pthread.h>
#include <sys/socket.h>

#define ANSWER_BYTES (128u << 10)

struct setting {
	unsigned int streams, nodes, events, seconds;
	bool flood, tls;
	uint16_t port;
	gnutls_certificate_credentials_t trusted; /* with tls */
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
	uint8_t id[WIRE_STREAM_ID_BYTES];
	size_t at = body->len;

	stream_id(id, n);
	if (seq == 1) {
		b_put_hello(body, id);
		return;
	}
	REQUIRE(!wire_buf_append(body, set->block->data, set->block->len));
	b_renumber(body->data + at, id, seq);
}

/* A connection, with or without TLS. */
struct way {
	int fd;
	gnutls_session_t tls; /* NULL: without */
};

static void shake_hands(struct way *w, const struct setting *set)
{
	int err;

	REQUIRE(!gnutls_init(&w->tls, GNUTLS_CLIENT | GNUTLS_NO_SIGNAL));
	REQUIRE(!gnutls_set_default_priority(w->tls));
	REQUIRE(!gnutls_credentials_set(w->tls, GNUTLS_CRD_CERTIFICATE, set->trusted));
	gnutls_session_set_verify_cert(w->tls, "localhost", 0);
	gnutls_transport_set_int(w->tls, w->fd);
	do
		err = gnutls_handshake(w->tls);
	while (err < 0 && !gnutls_error_is_fatal(err));
	REQUIRE(!err);
}

static void dial(struct way *w, const struct setting *set)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(set->port) };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*w = (struct way){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	REQUIRE(w->fd >= 0 && !connect(w->fd, (struct sockaddr *)&a, sizeof(a)));
	if (set->tls)
		shake_hands(w, set);
}

static void hang_up(struct way *w)
{
	if (w->tls) {
		gnutls_bye(w->tls, GNUTLS_SHUT_WR);
		gnutls_deinit(w->tls);
	}
	close(w->fd);
}

static void send_all(struct way *w, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len) {
		ssize_t n = w->tls ? gnutls_record_send(w->tls, at, len)
				   : send(w->fd, at, len, MSG_NOSIGNAL);

		if (w->tls && n < 0 && !gnutls_error_is_fatal((int)n))
			continue;
		REQUIRE(n > 0);
		at += n;
		len -= (size_t)n;
	}
}

static size_t hear(struct way *w, void *bytes, size_t room)
{
	ssize_t n;

	do
		n = w->tls ? gnutls_record_recv(w->tls, bytes, room) : recv(w->fd, bytes, room, 0);
	while (w->tls && n < 0 && !gnutls_error_is_fatal((int)n));
	REQUIRE(n > 0);
	return (size_t)n;
}

/* The answer's body; its length. */
static size_t receive(struct way *w, uint8_t *answer, const uint8_t **body)
{
	size_t got = 0, want = 0, head = 0;

	while (!head || got < want) {
		char *end, *length;

		got += hear(w, answer + got, ANSWER_BYTES - got);
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

static void post(struct node *n, struct way *w, struct wire_buf *body, uint8_t *answer,
		 uint64_t seq)
{
	char head[200];
	const uint8_t *acks;
	double begin = b_now();
	size_t len;

	snprintf(head, sizeof(head),
		 "POST /v1/frames HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %zu\r\n\r\n",
		 body->len);
	send_all(w, head, strlen(head));
	send_all(w, body->data, body->len);
	len = receive(w, answer, &acks);
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
	struct way way;
	uint64_t seq;
	unsigned int i;

	dial(&way, n->set);
	for (seq = 1; seq <= n->set->seconds + 1; seq++) {
		double wait = begin + due + (double)seq - 1 - b_now();

		if (!n->set->flood && wait > 0)
			usleep((useconds_t)(wait * 1e6));
		body.len = 0;
		for (i = 0; i < n->count; i++)
			put_frame(&body, n->set, n->first + i, seq);
		post(n, &way, &body, answer, seq);
	}
	hang_up(&way);
	wire_buf_fini(&body);
	free(answer);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* What came of a measurement. */
struct figures {
	double wall, mb_per_s, p50_ms, p99_ms, most_ms, cpu_s, peak_mb;
	uint64_t frames, wrong;
};

static struct figures sum_up(const struct setting *set, const struct node *node, double wall,
			     const struct rusage *use)
{
	double *all = malloc(sizeof(*all) * set->nodes * (set->seconds + 1));
	struct figures f = { .wall = wall, .cpu_s = b_cpu(use), .peak_mb = b_peak_mb(use) };
	uint64_t bytes = 0;
	size_t n = 0;
	unsigned int i;

	for (i = 0; i < set->nodes; i++) {
		memcpy(all + n, node[i].took, node[i].requests * sizeof(*all));
		n += node[i].requests;
		bytes += node[i].bytes;
		f.frames += node[i].frames;
		f.wrong += node[i].wrong;
	}
	qsort(all, n, sizeof(*all), by_size);
	f.mb_per_s = (double)bytes / wall / 1e6;
	f.p50_ms = all[n / 2] * 1e3;
	f.p99_ms = all[n * 99 / 100] * 1e3;
	f.most_ms = all[n - 1] * 1e3;
	free(all);
	return f;
}

static void tell(const struct setting *set, const struct figures *f)
{
	printf("%u streams of %u nodes, %u events each a second, %.1f s, %s%s\n", set->streams,
	       set->nodes, set->events, f->wall, set->tls ? "https" : "plain http",
	       set->flood ? ", without pauses" : "");
	printf("  %.1f MB/s, %.2f M events/s; acknowledged in p50 %.1f, p99 %.1f, most %.1f ms\n",
	       f->mb_per_s, (double)f->frames * set->events / f->wall / 1e6, f->p50_ms, f->p99_ms,
	       f->most_ms);
	printf("  collector: %.2f s of CPU, peak %.1f MiB; %llu frames, %llu acknowledgements "
	       "that do not say that all is there\n",
	       f->cpu_s, f->peak_mb, (unsigned long long)f->frames, (unsigned long long)f->wrong);
	fflush(stdout);
	REQUIRE(!f->wrong);
}

/* A certificate for localhost that vouches for itself, in @dir. */
static void make_certificate(struct setting *set, const char *dir, char pem[2][340])
{
	char cmd[1200];

	snprintf(pem[0], 340, "%s/cert.pem", dir);
	snprintf(pem[1], 340, "%s/key.pem", dir);
	snprintf(
		cmd, sizeof(cmd),
		"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
		"-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 "
		"-out '%s' -keyout '%s' 2>/dev/null",
		pem[0], pem[1]);
	REQUIRE(!system(cmd));
	REQUIRE(!gnutls_certificate_allocate_credentials(&set->trusted));
	REQUIRE(gnutls_certificate_set_x509_trust_file(set->trusted, pem[0], GNUTLS_X509_FMT_PEM) ==
		1);
}

static pid_t start(struct setting *set, const char *work)
{
	char pem[2][340], line[200], runs[340];
	const char *const plain[] = { "--listen", "http://127.0.0.1:0", "--no-token", NULL };
	const char *const tls[] = { "--listen",	  "https://127.0.0.1:0",
				    "--no-token", "--cert",
				    pem[0],	  "--key",
				    pem[1],	  NULL };
	pid_t pid;

	if (set->tls)
		make_certificate(set, work, pem);
	snprintf(runs, sizeof(runs), "%s/runs", work);
	pid = b_collector(runs, set->tls ? tls : plain, line);
	REQUIRE(strrchr(line, ':'));
	set->port = (uint16_t)strtoul(strrchr(line, ':') + 1, NULL, 10);
	return pid;
}

static struct figures send_everything(const struct setting *set, pid_t collector)
{
	struct node *node = calloc(set->nodes, sizeof(*node));
	struct rusage use = { 0 };
	double begin = b_now(), wall;
	struct figures f;
	unsigned int i;

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
	b_collector_end(collector, &use);
	f = sum_up(set, node, wall, &use);
	for (i = 0; i < set->nodes; i++)
		free(node[i].took);
	free(node);
	return f;
}

static struct figures measure(struct setting set, const char *dir)
{
	struct wire_buf block = { 0 };
	struct figures f;
	char work[300];

	snprintf(work, sizeof(work), "%s/gpustarve-bench-XXXXXX", dir);
	REQUIRE(mkdtemp(work));
	t_job_block(&block, set.events);
	set.block = &block;
	f = send_everything(&set, start(&set, work));
	tell(&set, &f);
	if (set.tls)
		gnutls_certificate_free_credentials(set.trusted);
	b_remove(work);
	wire_buf_fini(&block);
	return f;
}

static void compare(struct setting set, const char *dir)
{
	struct figures plain = measure(set, dir), tls;

	set.tls = true;
	tls = measure(set, dir);
	printf("https to plain http: %.3f of the bytes a second, %.2f times the CPU for each, p50 "
	       "%.2f, p99 %.2f times as long, memory %+.1f MiB\n",
	       tls.mb_per_s / plain.mb_per_s,
	       tls.cpu_s / plain.cpu_s / (tls.mb_per_s * tls.wall / plain.mb_per_s / plain.wall),
	       tls.p50_ms / plain.p50_ms, tls.p99_ms / plain.p99_ms, tls.peak_mb - plain.peak_mb);
}

int main(int argc, char **argv)
{
	static const struct option table[] = { { "streams", required_argument, NULL, 's' },
					       { "nodes", required_argument, NULL, 'n' },
					       { "events", required_argument, NULL, 'e' },
					       { "seconds", required_argument, NULL, 't' },
					       { "flood", no_argument, NULL, 'f' },
					       { "tls", no_argument, NULL, 'T' },
					       { "compare", no_argument, NULL, 'c' },
					       { "dir", required_argument, NULL, 'd' },
					       { NULL, 0, NULL, 0 } };
	struct setting set = { .streams = 200, .nodes = 25, .events = 10000, .seconds = 5 };
	const char *tmp = getenv("TMPDIR"), *dir = tmp && *tmp ? tmp : "/tmp";
	bool both = false;
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
		else if (opt == 'T')
			set.tls = true;
		else if (opt == 'c')
			both = true;
		else if (opt == 'd')
			dir = optarg;
		else
			return 1;
	}
	REQUIRE(set.nodes && set.streams >= set.nodes && set.streams / set.nodes < 1000 &&
		set.streams < 65536 && set.events);
	if (both)
		compare(set, dir);
	else
		measure(set, dir);
	return 0;
}
