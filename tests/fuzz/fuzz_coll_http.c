/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an HTTP client sends, byte for byte: through libmicrohttpd to every route, in pieces. The
 * first byte says how large the pieces are, the second whether sums of frames in a body are made
 * right, so that they are stored. Nothing may stay behind when the client is gone, and what was not
 * behind a token may not be answered with anything but a refusal.
 */
#include "fuzz.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "harness.h"
#include "serve/daemon.h"
#include "server.h"
#include "unit/wire/stream.h"

#define INPUT_MAX 16384u
#define INPUTS_PER_SERVER 400
#define TURNS_MAX 64
#define TOKEN "a-token-of-the-fuzzer"
#define DIGEST "fe0af55271d5a0eba2cececd3ebdb3767c4d71a6c02cfecef462c03c8a78fd1e" /* of seed 14 */

static char top[200];
static struct coll_server sv;
static struct coll_options opts;
static int inputs;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	return ftw->level ? remove(path) : 0;
}

static void stop(void)
{
	if (!top[0])
		return;
	if (inputs)
		coll_server_fini(&sv);
	inputs = 0;
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void clean_up(void)
{
	stop();
	rmdir(top);
}

static void write_tokens(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	static const char text[] = TOKEN " team read,write\n";

	REQUIRE(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	close(fd);
}

/* A server of its own; nothing that it would start for an answer is started. */
static void start(void)
{
	static char dir[300], tokens[300];
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	snprintf(dir, sizeof(dir), "%s/runs", top);
	snprintf(tokens, sizeof(tokens), "%s/tokens", top);
	write_tokens(tokens);
	opts = (struct coll_options){ .dir = dir,
				      .http.listen = "http://127.0.0.1:0",
				      .http.token_file = tokens,
				      .until_eof = -1,
				      .ready_fd = -1,
				      .silence_s = 30 };
	coll_limits_init(&opts.limits);
	opts.limits.value[COLL_LIMIT_REPORTS] = 3;
	REQUIRE(null >= 0);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION /* libFuzzer speaks on it */
	REQUIRE(dup2(null, STDERR_FILENO) >= 0);
#endif
	close(null);
	REQUIRE(!coll_server_init(&sv, &opts));
	REQUIRE(!coll_http_open(&sv.http, &opts.http, &sv.parts));
	sv.render.running = 100;
}

static void begin(void)
{
	if (!top[0]) {
		if (!access("/dev/shm", W_OK))
			setenv("TMPDIR", "/dev/shm", 1);
		t_tempdir(top, sizeof(top));
		atexit(clean_up);
	}
	if (inputs == INPUTS_PER_SERVER)
		stop();
	if (!inputs++)
		start();
}

static void turn(void)
{
	coll_worker_drain(&sv.context.worker);
	coll_loop_turn(&sv.context.loop, 0);
	coll_server_settle(&sv, true);
	coll_http_turn(sv.http);
	coll_http_tick(sv.http);
}

/* Who waits for a child that never is gets the answer of the server's end. */
static void answer_all(void)
{
	struct coll_http_request *r, *next;

	for (r = sv.http->requests; r; r = next) {
		next = r->next;
		if (r->suspended)
			coll_http_text(r, 503, "the collector ends\n");
	}
}

static int connect_to(struct coll_http *h)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int pair[2];

	REQUIRE(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair));
	REQUIRE(MHD_add_connection(h->daemon, pair[0], (struct sockaddr *)&from, sizeof(from)) ==
		MHD_YES);
	return pair[1];
}

/* All that comes back, read and thrown away but for its beginning. */
static bool hear(int fd, char *first, size_t room, size_t *have)
{
	char bytes[65536];
	ssize_t n;

	while ((n = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
		size_t take = (size_t)n < room - *have ? (size_t)n : room - *have;

		memcpy(first + *have, bytes, take);
		*have += take;
	}
	return n < 0 && errno == EAGAIN;
}

static bool holds(const uint8_t *data, size_t len, const char *word)
{
	return memmem(data, len, word, strlen(word)) != NULL;
}

/* base64 of ":TOKEN" begins so, whatever is before the colon of that length */
static void judge(const uint8_t *data, size_t len, const char *first, size_t have)
{
	if (have < 12 || memcmp(first, "HTTP/1.", 7))
		return;
	if (!memcmp(first + 9, "200", 3) && !holds(data, len, TOKEN) &&
	    !holds(data, len, "healthz") && !holds(data, len, "Basic"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t at = 2, piece, have = 0;
	char first[64];
	uint8_t *copy;
	int fd, i;

	if (len < 3 || len > INPUT_MAX)
		return 0;
	begin();
	copy = malloc(len);
	memcpy(copy, data, len);
	if (data[1] & 1)
		fuzz_seal(copy, len);
	piece = 1 + data[0] * 64u;
	fd = connect_to(sv.http);
	for (i = 0; i < TURNS_MAX + (int)(len / piece); i++) {
		size_t n = len - at < piece ? len - at : piece;
		ssize_t sent = n ? send(fd, copy + at, n, MSG_NOSIGNAL) : 0;

		at += sent > 0 ? (size_t)sent : 0;
		if (at == len)
			shutdown(fd, SHUT_WR);
		turn();
		answer_all();
		if (!hear(fd, first, sizeof(first), &have))
			break;
	}
	close(fd);
	for (i = 0; i < TURNS_MAX && sv.http->conn_count; i++) {
		answer_all();
		turn();
	}
	judge(copy, len, first, have);
	if (sv.http->conn_count || sv.http->requests || sv.render.waiting || sv.render.jobs)
		abort();
	free(copy);
	return 0;
}

static void add(struct wire_buf *b, const char *text)
{
	REQUIRE(!wire_buf_append(b, text, strlen(text)));
}

static void add_frames(struct wire_buf *b, const char *path)
{
	struct wire_encoder *e = wire_encoder_new((const uint8_t *)"stream to fuzz..", 3);
	Wire__Hello m = WIRE__HELLO__INIT;
	char run[] = "run", head[200];
	struct wire_buf body = { 0 };
	struct t_stream s;

	m.run_id = run;
	REQUIRE(e && !wire_encoder_message(e, WIRE_FRAME_HELLO, &m.base, 1, &body));
	wire_encoder_free(e);
	t_stream_make(&s, "stream to fuzz..", 2, 7);
	REQUIRE(!wire_buf_append(&body, s.bytes.data, s.bytes.len));
	snprintf(head, sizeof(head),
		 "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN
		 "\r\nContent-Length: %zu\r\n\r\n",
		 path, body.len);
	add(b, head);
	REQUIRE(!wire_buf_append(b, body.data, body.len));
	wire_buf_fini(&body);
	wire_buf_fini(&s.bytes);
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const char *const paths[] = {
		"/",	     "/healthz",
		"/metrics",  "/v1/runs?limit=5&after=1:x",
		"/v1/clock", "/v1/runs/run/summary",
		"/runs/run", "/runs?after=7:run",
	};
	struct wire_buf b = { 0 };
	char text[400];

	add(&b, number % 3 ? "\xff\x01" : "\x01\x01");
	if (number < 8) {
		snprintf(text, sizeof(text),
			 "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN "\r\n\r\n",
			 paths[number]);
		add(&b, text);
	} else if (number < 11) {
		add_frames(&b, number == 10 ? "/v1/frame" : "/v1/frames");
	} else if (number == 11) {
		add(&b,
		    "PUT /v1/runs/run/files/run.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN
		    "\r\nGpustarve-Node: n1\r\nTransfer-Encoding: chunked\r\n\r\n"
		    "e\r\n{\"labels\":{}}\n\r\n0\r\n\r\n");
	} else if (number == 12) {
		add(&b,
		    "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nHEAD /metrics HTTP/1.1\r\nHost: x\r\n"
		    "Authorization: Basic OmEtdG9rZW4tb2YtdGhlLWZ1enplcg==\r\n\r\n");
	} else if (number == 13) {
		add(&b, "POST /v1/frames HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN
			"\r\nExpect: 100-continue\r\nContent-Length: 99999999999\r\n\r\n");
	} else if (number == 14) { /* the file is what it says, once it is not damaged */
		add(&b,
		    "PUT /v1/runs/run/files/alerts.jsonl HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN
		    "\r\nGpustarve-Node: n1\r\nIf-None-Match: *\r\nContent-Length: 2\r\n"
		    "Gpustarve-Digest: " DIGEST "\r\n\r\n{}");
	} else if (number == 15) {
		add(&b,
		    "PUT /v1/runs/run/files/exit-a.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN
		    "\r\nIf-Match: \"1f-5e0be100.0\"\r\nContent-Length: 2\r\n\r\n{}");
	} else if (number == 16) {
		add(&b, "POST /v1/held HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN
			"\r\nContent-Length: 87\r\n\r\nrun 73747265616d20746f2066757a7a2e2e.gst\n"
			"run run.json\nrun alerts.jsonl\nrun exit-a.json\n");
	} else {
		wire_buf_fini(&b);
		return 0;
	}
	*data = b.data;
	return b.len;
}
