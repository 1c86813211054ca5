/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where frames go: spool segments that can be read alone, a collector that acknowledges, vanishes,
 * comes back or never reads, a program that closes our descriptors, and a disk that is full. Every
 * frame must be found once all files and what the collector got are put together, or be counted.
 */
#include "stream/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "core/clockpoll.h"
#include "core/config.h"
#include "harness.h"
#include "wire/encoder.h"
#include "wire/reader.h"
#include "wire/session.pb-c.h"

static char dir[256], out[300], sock[300];
static const uint8_t stream[16] = { 1, 2, 3 };
static struct wire_encoder *encoder;
static struct wire_buf frame;
static uint64_t seen[1 << 16]; /* how often each number was found */

static void start(bool with_socket, size_t queue)
{
	struct prof_transport_opts o = { .socket = with_socket ? sock : "",
					 .out = out,
					 .run_id = "run",
					 .stream = stream,
					 .queue_bytes = queue };
	char command[700];

	snprintf(command, sizeof(command), "rm -rf '%s' '%s'", out, sock);
	REQUIRE(!system(command));
	wire_encoder_free(encoder);
	encoder = wire_encoder_new(stream, 3);
	memset(seen, 0, sizeof(seen));
	prof_transport_init(&o);
}

static void push(enum wire_frame_type type)
{
	Wire__Hello hello = WIRE__HELLO__INIT;
	Wire__Strings strings = WIRE__STRINGS__INIT;
	Wire__Pulse pulse = WIRE__PULSE__INIT;
	const ProtobufCMessage *msg = &pulse.base;
	int64_t t = (int64_t)wire_encoder_seq(encoder) + 1;

	hello.host = (char *)"somewhere";
	pulse.t_ns = t;
	if (type == WIRE_FRAME_HELLO)
		msg = &hello.base;
	if (type == WIRE_FRAME_STRINGS)
		msg = &strings.base;
	frame.len = 0;
	REQUIRE(!wire_encoder_message(encoder, type, msg, 1, &frame));
	prof_transport_push(frame.data, frame.len, t * 10, t * 10 + 5);
}

static void push_many(int n)
{
	while (n--)
		push(WIRE_FRAME_PULSE);
}

static void pump(void)
{
	prof_transport_pump(prof_mono_ns() + 50000000);
}

/* Reads one spool; returns the type of its first frame. Numbers must ascend. */
static int read_spool(const char *path)
{
	struct wire_file *f;
	struct wire_entry e;
	uint64_t last = 0;
	size_t damage;
	int first = 0;

	REQUIRE(!wire_file_open(&f, path));
	while (wire_file_next(f, &e) > 0) {
		first = first ? first : e.frame.type;
		EXPECT(e.frame.seq > last);
		last = e.frame.seq;
		seen[e.frame.seq]++;
	}
	wire_file_damage(f, &damage);
	EXPECT_UINT(damage, 0);
	wire_file_close(f);
	return first;
}

static size_t read_spools(void)
{
	char pattern[400];
	size_t i, n = 0;
	glob_t g;

	snprintf(pattern, sizeof(pattern), "%s/run.gst/*.spool", out);
	if (glob(pattern, 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc; i++)
		EXPECT_INT(read_spool(g.gl_pathv[i]), WIRE_FRAME_HELLO);
	n = g.gl_pathc;
	globfree(&g);
	return n;
}

static void expect_all(uint64_t first)
{
	uint64_t i, missing = 0;

	for (i = first; i <= wire_encoder_seq(encoder); i++)
		missing += !seen[i];
	EXPECT_UINT(missing, 0);
}

static void test_spool(void)
{
	struct prof_transport_stats s;
	struct stat st;

	start(false, 0);
	push(WIRE_FRAME_HELLO);
	push_many(3);
	EXPECT(stat(out, &st)); /* nothing before the first pump */
	pump();
	push(WIRE_FRAME_STRINGS);
	push_many(5);
	pump();
	EXPECT_UINT(read_spools(), 1);
	expect_all(1);
	prof_transport_stats(&s);
	EXPECT_INT(s.error, 0);
	EXPECT_UINT(s.frames_dropped, 0);
}

/* The file vanishes, or somebody wrote into it: a new segment that can be read alone. */
static void test_segments(void)
{
	char path[500], command[600];
	int fd;

	start(false, 0);
	push(WIRE_FRAME_HELLO);
	push(WIRE_FRAME_STRINGS);
	push_many(2);
	pump();
	snprintf(command, sizeof(command), "rm -rf '%s'", out);
	REQUIRE(!system(command));
	push_many(2);
	pump();
	EXPECT_UINT(read_spools(), 1);
	EXPECT_UINT(seen[1], 1);
	EXPECT_UINT(seen[2], 1);
	EXPECT_UINT(seen[3], 0);
	expect_all(5);
	snprintf(path, sizeof(path), "%s/run.gst/01020300000000000000000000000000.2.spool", out);
	fd = open(path, O_WRONLY | O_APPEND);
	REQUIRE(fd >= 0);
	EXPECT_INT(ftruncate(fd, 10), 0);
	close(fd);
	push_many(1);
	pump();
	unlink(path);
	memset(seen, 0, sizeof(seen));
	EXPECT_UINT(read_spools(), 1);
	EXPECT_UINT(seen[1], 1);
	EXPECT_UINT(seen[7], 1);
}

/*
 * ---- a collector ------------------------------------------------------------------------------
 */

static int listener = -1, peer = -1;
static uint64_t got_last;

static void listen_on(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	unlink(sock);
	snprintf(a.sun_path, sizeof(a.sun_path), "%.100s", sock);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	REQUIRE(!bind(listener, (struct sockaddr *)&a, sizeof(a)) && !listen(listener, 4));
}

static void hang_up(bool stop_listening)
{
	if (peer >= 0)
		close(peer);
	peer = -1;
	if (stop_listening) {
		close(listener);
		unlink(sock);
	}
}

static void acknowledge(uint64_t seq)
{
	struct wire_frame f = { .version = 1, .type = WIRE_FRAME_ACK, .seq = seq };
	uint8_t bytes[WIRE_FRAME_HEADER_BYTES];

	wire_frame_header_put(&f, bytes);
	EXPECT_INT(send(peer, bytes, sizeof(bytes), 0), sizeof(bytes));
}

/* Takes all that is there; @keep: as stored. Returns the type of the first frame. */
static int collect(bool keep)
{
	static uint8_t in[1 << 22];
	size_t len = 0, at = 0;
	struct wire_frame f;
	int first = 0;
	ssize_t n;

	if (peer < 0)
		peer = accept(listener, NULL, NULL);
	REQUIRE(peer >= 0);
	while ((n = recv(peer, in + len, sizeof(in) - len, MSG_DONTWAIT)) > 0)
		len += (size_t)n;
	for (; at + WIRE_FRAME_HEADER_BYTES <= len; at += (size_t)wire_frame_bytes(&f)) {
		REQUIRE(!wire_frame_header_get(&f, in + at));
		if (at + wire_frame_bytes(&f) > len)
			break;
		first = first ? first : f.type;
		seen[f.seq] += keep;
		got_last = f.seq;
	}
	return first;
}

static void test_socket(void)
{
	struct prof_transport_stats s;
	size_t full;

	start(true, 0);
	listen_on();
	push(WIRE_FRAME_HELLO);
	push_many(10);
	pump();
	prof_transport_stats(&s);
	EXPECT(s.connected);
	EXPECT_INT(collect(true), WIRE_FRAME_HELLO);
	EXPECT_UINT(got_last, 11);
	acknowledge(11);
	push_many(5);
	pump();
	collect(true);
	expect_all(1);
	for (full = 0; full < 3000; full += 100) { /* acknowledged frames leave the queue */
		push_many(100);
		pump();
		collect(true);
		acknowledge(got_last);
	}
	pump();
	EXPECT_UINT(read_spools(), 0);
	prof_transport_stats(&s);
	EXPECT_UINT(s.frames_dropped, 0);
	expect_all(1);
	hang_up(true);
}

/* It dies with frames that it never acknowledged: they are in the spool at once, and so on. */
static void test_collector_dies(void)
{
	struct prof_transport_stats s;

	start(true, 0);
	listen_on();
	push(WIRE_FRAME_HELLO);
	push(WIRE_FRAME_STRINGS);
	push_many(10);
	pump();
	collect(true);
	acknowledge(7);
	push_many(3);
	pump();
	pump();
	collect(false); /* read and never stored */
	hang_up(true);
	push_many(2);
	pump();
	pump();
	prof_transport_stats(&s);
	EXPECT(!s.connected);
	EXPECT_UINT(read_spools(), 1);
	expect_all(1);
	push_many(2);
	pump();
	memset(seen, 0, sizeof(seen));
	EXPECT_UINT(read_spools(), 1);
	expect_all(8);
	EXPECT_UINT(seen[1], 1); /* a segment begins with Hello and Strings */
	EXPECT_UINT(seen[2], 1);
	EXPECT_UINT(seen[3], 0);
}

static void wait_for_connection(void)
{
	struct prof_transport_stats s;
	int i;

	for (i = 0; i < 200; i++) {
		pump();
		prof_transport_stats(&s);
		if (s.connected)
			return;
		usleep(20000);
	}
	T_FAIL("no connection");
}

static void test_collector_comes_back(void)
{
	start(true, 0);
	listen_on();
	push(WIRE_FRAME_HELLO);
	push_many(3);
	pump();
	collect(true);
	acknowledge(4);
	pump();
	hang_up(true);
	push_many(3);
	pump();
	pump();
	listen_on();
	push_many(1);
	wait_for_connection();
	push_many(2);
	pump();
	EXPECT_INT(collect(true), WIRE_FRAME_HELLO); /* again: it may be a new one */
	EXPECT_UINT(got_last, 10);
	read_spools();
	expect_all(1);
	hang_up(true);
}

static void test_collector_comes_late(void)
{
	start(true, 0);
	push(WIRE_FRAME_HELLO);
	push_many(3);
	pump();
	EXPECT_UINT(read_spools(), 1);
	listen_on();
	push_many(1);
	wait_for_connection();
	push_many(1);
	pump();
	EXPECT_INT(collect(true), WIRE_FRAME_HELLO);
	read_spools();
	expect_all(1);
	hang_up(true);
}

/* It accepts and reads nothing: the queue is bounded and nobody waits long. */
static void test_collector_hangs(void)
{
	struct prof_transport_stats s;
	int64_t begin = prof_mono_ns();
	int i;

	start(true, 256 << 10);
	listen_on();
	push(WIRE_FRAME_HELLO);
	for (i = 0; i < 200; i++) {
		push_many(50);
		prof_transport_pump(prof_mono_ns() + 1000000);
	}
	EXPECT(prof_mono_ns() - begin < 5000000000);
	prof_transport_finish(prof_mono_ns() + 100000000);
	EXPECT(read_spools() > 0);
	expect_all(1);
	prof_transport_stats(&s);
	EXPECT_UINT(s.frames_dropped, 0);
	EXPECT(s.memory < (8 << 20));
	hang_up(true);
}

/* It takes all, answers nothing and dies with the job: what it has not stored is in the spool. */
static void test_last_words(void)
{
	int64_t begin;

	start(true, 0);
	listen_on();
	push(WIRE_FRAME_HELLO);
	push_many(10);
	pump();
	collect(true);
	acknowledge(5);
	push_many(3);
	begin = prof_mono_ns();
	prof_transport_finish(begin + 1000000000);
	EXPECT(prof_mono_ns() - begin < 900000000);
	memset(seen, 0, sizeof(seen));
	EXPECT_UINT(read_spools(), 1);
	expect_all(6);
	hang_up(true);
}

static void *answer_later(void *unused)
{
	usleep(20000);
	collect(true);
	acknowledge(got_last);
	return unused;
}

/* One that answers is waited for, and nothing is written twice. */
static void test_answered_goodbye(void)
{
	pthread_t thread;
	int64_t begin;

	start(true, 0);
	listen_on();
	push(WIRE_FRAME_HELLO);
	pump();
	push_many(10);
	REQUIRE(!pthread_create(&thread, NULL, answer_later, NULL));
	begin = prof_mono_ns();
	prof_transport_finish(begin + 1000000000);
	EXPECT(prof_mono_ns() - begin < 250000000);
	pthread_join(thread, NULL);
	EXPECT_UINT(got_last, 11);
	EXPECT_UINT(read_spools(), 0);
	hang_up(true);
}

/* The program closes everything and opens a file of its own under our number. */
static void test_closed_descriptors(void)
{
	char path[400];
	struct stat st;
	int fd, i, victim = -1;

	start(true, 0);
	listen_on();
	push(WIRE_FRAME_HELLO);
	push_many(2);
	pump();
	collect(true);
	snprintf(path, sizeof(path), "%s/checkpoint", dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (i = 3; i < 1024; i++) {
		int type;
		socklen_t n = sizeof(type);

		if (i != listener && i != peer && !getsockopt(i, SOL_SOCKET, SO_TYPE, &type, &n)) {
			EXPECT(i >= 900);
			EXPECT_INT(dup2(fd, i), i);
			victim = i;
		}
	}
	EXPECT(victim >= 0);
	push_many(3);
	pump();
	pump();
	EXPECT_INT(fstat(fd, &st), 0);
	EXPECT_INT(st.st_size, 0);
	EXPECT(!fstat(victim, &st)); /* and it was not closed, for it is not ours */
	push_many(1);
	wait_for_connection();
	close(victim);
	close(fd);
	close(peer);
	peer = -1;
	collect(true);
	read_spools();
	expect_all(1);
	hang_up(true);
}

/*
 * ---- trouble with the disk --------------------------------------------------------------------
 */

static int in_child(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		freopen("/dev/null", "w", stderr);
		t_failures = 0;
		fn();
		fflush(stdout);
		_exit(t_failures ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static void unwritable(void)
{
	struct prof_transport_stats s;
	int64_t t0, t1;
	uint64_t lost, none;
	int fd;

	start(false, 64 << 10);
	fd = open(out, O_WRONLY | O_CREAT, 0600); /* a file where a directory should be */
	close(fd);
	push(WIRE_FRAME_HELLO);
	push(WIRE_FRAME_STRINGS);
	push_many(2000);
	pump();
	prof_transport_stats(&s);
	EXPECT_INT(s.error, ENOTDIR);
	EXPECT(s.frames_dropped > 500);
	EXPECT(s.memory < (1 << 20));
	EXPECT(prof_transport_lost(&t0, &t1, &lost));
	EXPECT_UINT(lost, s.frames_dropped);
	EXPECT_INT(t0, 10);
	EXPECT_INT(t1, (int64_t)lost * 10 + 5);
	EXPECT(!prof_transport_lost(&t0, &t1, &none));
	unlink(out); /* it gets better */
	pump();
	prof_transport_stats(&s);
	EXPECT_INT(s.error, 0);
	EXPECT_UINT(read_spools(), 1);
	EXPECT_UINT(seen[1], 1); /* Hello and Strings are never lost */
	EXPECT_UINT(seen[2], 1);
	expect_all(lost + 1);
}

/* A limit on the file's size stands for a full disk: a part is written, then an error comes. */
static void full(void)
{
	struct rlimit limit = { 20000, RLIM_INFINITY };
	struct prof_transport_stats s;
	int i;

	signal(SIGXFSZ, SIG_IGN);
	start(false, 0);
	push(WIRE_FRAME_HELLO);
	pump();
	setrlimit(RLIMIT_FSIZE, &limit);
	for (i = 0; i < 50; i++) {
		push_many(20);
		pump();
	}
	prof_transport_stats(&s);
	EXPECT_INT(s.error, EFBIG);
	EXPECT_UINT(s.frames_dropped, 0);
	read_spools(); /* no half frame stays behind */
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	pump();
	memset(seen, 0, sizeof(seen));
	read_spools();
	expect_all(1);
}

static void test_unwritable(void)
{
	EXPECT_INT(in_child(unwritable), 0);
}

static void test_full(void)
{
	EXPECT_INT(in_child(full), 0);
}

int main(void)
{
	char command[300];
	int failed;

	prof_config_read();
	t_tempdir(dir, sizeof(dir));
	snprintf(out, sizeof(out), "%s/runs", dir);
	snprintf(sock, sizeof(sock), "%s/socket", dir);
	failed = RUN(test_spool, test_segments, test_socket, test_collector_dies,
		     test_collector_comes_back, test_collector_comes_late, test_collector_hangs,
		     test_last_words, test_answered_goodbye, test_closed_descriptors,
		     test_unwritable, test_full);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	prof_transport_init(&(struct prof_transport_opts){
		.socket = "", .out = "", .run_id = "", .stream = stream });
	wire_encoder_free(encoder);
	wire_buf_fini(&frame);
	return system(command) ? 1 : failed;
}
