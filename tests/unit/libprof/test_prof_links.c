/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for what and who holds it: words and ids, threads as a script has them, and processes
 * that have real pipes and sockets.
 */
#include "sample/links.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "sample/children.h"
#include "sample/family.h"
#include "sample/memory.h"
#include "sample/shmap.h"
#include "sample/waitkind.h"

#include "harness.h"

#define MS 1000000ll
#define S (1000 * MS)

static struct prof_links links;
static struct prof_thread_sample sample;

/* ---- words ---- */

static void test_names(void)
{
	char id[PROF_LINK_ID], text[PROF_LINKS_TEXT] = "", many[64] = "";
	const char *at = text;

	prof_link_name(id, "maker 1\n%");
	EXPECT_STR(id, "maker%201%0a%25");
	EXPECT(prof_link_add(text, PROF_LINK_NAMED, id));
	prof_link_native(id, 0x7f0012345678);
	EXPECT(prof_link_add(text, PROF_LINK_GIVES, id));
	EXPECT_STR(text, "=maker%201%0a%25 !n7f0012345678");
	EXPECT_INT(prof_link_next(&at, id), '=');
	prof_link_name(id, "");
	EXPECT(!prof_link_add(text, PROF_LINK_NAMED, id));
	memset(many, ' ', sizeof(many) - 1);
	prof_link_name(id, many);
	EXPECT(strlen(id) < PROF_LINK_ID && strlen(id) % 3 == 0);
}

static void test_words(void)
{
	char text[PROF_LINKS_TEXT] = "", id[PROF_LINK_ID];
	const char *at = text;
	int i;

	EXPECT(prof_link_add(text, PROF_LINK_AWAITS, "o12"));
	EXPECT(prof_link_add(text, PROF_LINK_GIVES, "p7"));
	EXPECT(!prof_link_add(text, PROF_LINK_HOLDS, "o12")); /* once, with the first mark */
	EXPECT(!prof_link_add(text, PROF_LINK_HOLDS, ""));
	EXPECT_STR(text, "?o12 !p7");
	EXPECT_INT(prof_link_mark_of(text, "p7"), '!');
	EXPECT_INT(prof_link_mark_of(text, "p"), 0);
	EXPECT_INT(prof_link_next(&at, id), '?');
	EXPECT_STR(id, "o12");
	EXPECT_INT(prof_link_next(&at, id), '!');
	EXPECT_INT(prof_link_next(&at, id), 0);
	for (i = 0; i < 20; i++) {
		snprintf(id, sizeof(id), "n%d", i);
		prof_link_add(text, PROF_LINK_HOLDS, id);
	}
	EXPECT_UINT(prof_link_words(text), PROF_LINKS_WORDS);
	*text = 0;
	memset(id, 'x', sizeof(id));
	id[sizeof(id) - 1] = 0;
	for (i = 0; i < 20; i++) {
		id[0] = (char)('a' + i);
		prof_link_add(text, PROF_LINK_HOLDS, id);
	}
	EXPECT(strlen(text) < PROF_LINKS_TEXT);
}

static void test_ids(void)
{
	struct prof_shmap_range all;
	char id[PROF_LINK_ID];

	prof_link_object(id, 0x7f00beef);
	EXPECT_STR(id, "o7f00beef");
	EXPECT_UINT(prof_link_address(id), 0x7f00beef);
	EXPECT_UINT(prof_link_address("p7f"), 0);
	prof_link_pair(id, 9, 8);
	EXPECT_STR(id, "u8-9");
	prof_link_tcp(id, "127.0.0.1:90", "127.0.0.1:80");
	EXPECT_STR(id, "t127.0.0.1:80-127.0.0.1:90");
	prof_link_listens(id, "/tmp/a b");
	EXPECT_STR(id, "l/tmp/a_b");
	EXPECT(prof_shmap_line("7f00-7f90 rw-s 00001000 00:1a 4711   /dev/shm/x", 0x7f08, id,
			       &all));
	EXPECT_STR(id, "f0.1a:4711:1008");
	EXPECT(!all.begin && !all.end);
	EXPECT(prof_shmap_line("7f00-7f90 rw-p 00001000 00:1a 4711   /dev/shm/x", 0x7f08, id,
			       &all));
	EXPECT_STR(id, "");
	EXPECT(all.begin == 0x7f00 && all.end == 0x7f90);
	EXPECT(!prof_shmap_line("7f00-7f90 rw-s 00001000 00:1a 4711", 0x7f90, id, &all));
	EXPECT(!prof_shmap_line("no line of maps", 0x7f90, id, &all));
}

/* ---- a script ---- */

static void wait_for(uint8_t role, uint32_t pid, uint32_t tid, const char *words, const char *stack,
		     int64_t now_ns)
{
	memset(&sample, 0, sizeof(sample));
	sample.s.role = role;
	sample.s.pid = pid;
	sample.s.tid = tid;
	snprintf(sample.links, sizeof(sample.links), "%s", words);
	snprintf(sample.stack, sizeof(sample.stack), "%s", stack);
	prof_links_await(&links, &sample, now_ns);
}

/* The thread is found to give or hold the object with that id. */
static void found(uint32_t pid, uint32_t tid, const char *id, bool gives)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (!strcmp(links.wanted[i].id, id))
			prof_links_found(prof_links_holder(&links, pid, tid), 1u << i,
					 gives ? 1u << i : 0, 1u << i,
					 gives || *id == 'o' ? 0 : 1u << i);
}

static void look_often(uint32_t pid, uint32_t tid, uint32_t times)
{
	while (times--)
		prof_links_await_on(&links, pid, tid, S);
}

static const char *told(uint32_t pid, uint32_t tid)
{
	prof_links_holder(&links, pid, tid)->looks = PROF_LINKS_TRIAL;
	memset(&sample, 0, sizeof(sample));
	sample.s.pid = pid;
	sample.s.tid = tid;
	prof_links_tell(&links, &sample);
	return sample.links;
}

static bool wanted(const char *id)
{
	uint32_t i;

	for (i = 0; i < PROF_LINKS_WANTED; i++)
		if (!strcmp(links.wanted[i].id, id))
			return true;
	return false;
}

static void test_chain(void)
{
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_OTHER, 1, 2, "?obb", "", S); /* nobody waits for what it makes */
	EXPECT(!wanted("obb"));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	found(1, 2, "oaa", true);
	found(1, 3, "oaa", false);
	EXPECT_STR(told(1, 2), "!oaa");
	EXPECT_STR(told(1, 3), "~oaa");
	EXPECT_STR(told(1, 4), "");
	EXPECT_INT(prof_links_makes(&links, 1, 2), 2);
	EXPECT_INT(prof_links_makes(&links, 1, 3), 1);
	EXPECT_INT(prof_links_makes(&links, 1, 4), 0);
	wait_for(WIRE_ROLE_PRODUCER, 1, 2, "?obb", "", S); /* it waits itself */
	EXPECT(wanted("obb"));
	found(1, 5, "obb", true);
	EXPECT_STR(told(1, 5), "!obb");
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?l127.0.0.1:80 ?nff00", "", S);
	EXPECT(!wanted("l127.0.0.1:80")); /* requests come from outside */
}

/* Its own wait stands in a sample before what it can give. */
static void test_own_wait(void)
{
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	found(1, 1, "oaa", true);
	look_often(1, 1, PROF_LINKS_TRIAL);
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	prof_links_tell(&links, &sample);
	EXPECT_STR(sample.links, "?oaa");
}

/* Who takes from a queue gives nothing into it, whatever else its code names. */
static void test_takers(void)
{
	static const char get[] = "Condition.wait\t/usr/lib/python3.11/threading.py\t327\n"
				  "Queue.get\t/usr/lib/python3.11/queue.py\t171\n"
				  "transform\t/home/a/train.py\t20";
	static const char put[] = "Condition.wait\t/usr/lib/python3.11/threading.py\t327\n"
				  "Queue.put\t/usr/lib/python3.11/queue.py\t140\n"
				  "get\t/home/a/train.py\t20";

	EXPECT(prof_wait_takes(get) && !prof_wait_gives(get));
	EXPECT(prof_wait_gives(put) && !prof_wait_takes(put));
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", get, S);
	found(1, 2, "oaa", true);
	found(1, 3, "oaa", true);
	wait_for(WIRE_ROLE_PRODUCER, 1, 2, "?oaa", get, S);
	EXPECT_STR(told(1, 2), "");
	EXPECT_STR(told(1, 3), "!oaa");
	EXPECT_INT(prof_links_makes(&links, 1, 2), 0);
}

/* Whether it takes may be seen only some time after it was found. */
static void test_trial(void)
{
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	found(1, 2, "oaa", true);
	look_often(1, 2, PROF_LINKS_TRIAL - 1);
	memset(&sample, 0, sizeof(sample));
	sample.s.pid = 1;
	sample.s.tid = 2;
	prof_links_tell(&links, &sample);
	EXPECT_STR(sample.links, "");
	look_often(1, 2, 1);
	prof_links_tell(&links, &sample);
	EXPECT_STR(sample.links, "!oaa");
}

/* A server's threads, one for each connection, may be gone before so many looks. */
static void test_trial_of_kind(void)
{
	static const char serve[] = "readinto\t/usr/lib/python3.11/socket.py\t706\n"
				    "client\t/home/a/train.py\t20\n"
				    "Thread.run\t/usr/lib/python3.11/threading.py\t975";
	static const char other[] = "client\t/home/a/train.py\t31\n"
				    "Thread.run\t/usr/lib/python3.11/threading.py\t975";
	static const char take[] = "Condition.wait\t/usr/lib/python3.11/threading.py\t327\n"
				   "Queue.get\t/usr/lib/python3.11/queue.py\t171\n"
				   "client\t/home/a/train.py\t40\n"
				   "Thread.run\t/usr/lib/python3.11/threading.py\t975";

	EXPECT(prof_kindred_key(1, serve) && !prof_kindred_key(1, ""));
	EXPECT(prof_kindred_key(1, serve) == prof_kindred_key(1, other));
	EXPECT(prof_kindred_key(1, serve) != prof_kindred_key(2, serve));
	EXPECT(!prof_kindred_key(1, "Thread.run\t/usr/lib/python3.11/threading.py\t975"));
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	wait_for(WIRE_ROLE_PRODUCER, 1, 2, "", serve, S);
	look_often(1, 2, PROF_LINKS_TRIAL - 2);
	found(1, 3, "oaa", true);
	wait_for(WIRE_ROLE_OTHER, 1, 3, "", other, S);
	prof_links_tell(&links, &sample);
	EXPECT_STR(sample.links, "!oaa");

	memset(&links, 0, sizeof(links)); /* one of them takes from it, as workers do */
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	wait_for(WIRE_ROLE_PRODUCER, 1, 2, "?oaa", take, S);
	look_often(1, 2, PROF_LINKS_TRIAL);
	found(1, 3, "oaa", true);
	wait_for(WIRE_ROLE_OTHER, 1, 3, "", other, S);
	prof_links_tell(&links, &sample);
	EXPECT_STR(sample.links, "");
}

/*
 * An object of its own for each step: who held the last one is asked first for the next, and a
 * sample that tells the last one's is told again.
 */
static void test_steps(void)
{
	struct prof_link_holder *h;

	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	EXPECT(!prof_links_news(&links, 1, 2) && links.firsts == 1);
	EXPECT_UINT(prof_links_of_firsts(&links, S), 1);
	EXPECT_UINT(prof_links_of_firsts(&links, S + 1), 0);
	EXPECT(!prof_links_held(&links, 1));
	found(1, 2, "oaa", true);
	EXPECT(prof_links_held(&links, 1) && !prof_links_held(&links, 2));
	h = prof_links_holder(&links, 1, 2);
	prof_links_looked(&links, h, S);
	EXPECT_INT(h->made_ns, S);
	EXPECT(prof_links_news(&links, 1, 2));
	EXPECT_STR(told(1, 2), "!oaa");
	EXPECT(!prof_links_news(&links, 1, 2));
	wait_for(WIRE_ROLE_PRODUCER, 1, 2, "?occ", "", S); /* its own is asked later */
	EXPECT(links.firsts == 1 && prof_links_of_firsts(&links, S) == 1);
	prof_links_age(&links, 3 * S);
	EXPECT(!wanted("oaa"));
	EXPECT_INT(prof_links_makes(&links, 1, 2), 0);
	EXPECT_INT(h->made_ns, S);
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?obb", "", 3 * S);
	found(1, 2, "obb", true);
	EXPECT(prof_links_news(&links, 1, 2)); /* in the place of the bit that was told */
	prof_links_age(&links, S + PROF_LINKS_MADE_NS + 1);
	EXPECT_INT(h->made_ns, 0);
}

/* A submitter that awaits a thread of C: what that one awaits is first, until it awaits its own. */
static void test_steps_behind_native(void)
{
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?n7f00", "", S);
	EXPECT_UINT(prof_links_of_firsts(&links, S), 0);
	wait_for(WIRE_ROLE_PRODUCER, 1, 2, "?oaa", "", S);
	EXPECT(links.firsts == 1 && prof_links_of_firsts(&links, S) == 1);
	EXPECT_UINT(prof_links_of_firsts(&links, S + 1), 0);
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?obb", "", S);
	EXPECT(links.firsts == 2 && prof_links_of_firsts(&links, S) == 2);
}

/* Who takes it himself is none that is asked first. */
static void test_steps_taken(void)
{
	static const char get[] = "Condition.wait\t/usr/lib/python3.11/threading.py\t327\n"
				  "Queue.get\t/usr/lib/python3.11/queue.py\t171\n"
				  "transform\t/home/a/train.py\t20";

	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", get, S);
	wait_for(WIRE_ROLE_PRODUCER, 1, 2, "?oaa", get, S);
	found(1, 2, "oaa", true);
	prof_links_looked(&links, prof_links_holder(&links, 1, 2), S);
	EXPECT(!prof_links_holder(&links, 1, 2)->made_ns && !prof_links_news(&links, 1, 2));
	EXPECT(!prof_links_held(&links, 1));
}

static void test_age(void)
{
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa ?obb", "", S);
	found(1, 2, "oaa", true);
	prof_links_age(&links, S + 900 * MS);
	EXPECT_STR(told(1, 2), "!oaa");
	prof_links_await_on(&links, 1, 1, S + 900 * MS);
	prof_links_age(&links, S + 1800 * MS);
	EXPECT_STR(told(1, 2), "!oaa");
	prof_links_age(&links, S + 2000 * MS);
	EXPECT_STR(told(1, 2), "");
	EXPECT(!wanted("obb"));
	EXPECT_UINT(prof_links_of_objects(&links), 0);
}

/* Who gave once is asked first about what is awaited next. */
static void test_gave(void)
{
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?oaa", "", S);
	found(1, 2, "oaa", true);
	found(1, 3, "oaa", false);
	prof_links_age(&links, 3 * S);
	EXPECT(!wanted("oaa"));
	EXPECT(prof_links_holder(&links, 1, 2)->gave);
	EXPECT(!prof_links_holder(&links, 1, 3)->gave);
	EXPECT_INT(prof_links_makes(&links, 1, 2), 0);
}

/*
 * What is near a submitter stays, whatever others wait for, but for a few; of the same the newest.
 */
static void test_room(void)
{
	char word[32];
	uint32_t i;

	memset(&links, 0, sizeof(links));
	for (i = 0; i < 100; i++) {
		snprintf(word, sizeof(word), "?oc%02x", i);
		wait_for(WIRE_ROLE_WORKER, 10 + i, 10 + i, word, "", S);
	}
	EXPECT(wanted("oc00"));
	for (i = 0; i < 100; i++) {
		snprintf(word, sizeof(word), "?oa%02x", i);
		wait_for(WIRE_ROLE_SUBMITTER, 1, 1, word, "", S + i);
	}
	EXPECT(!wanted("oc00"));
	EXPECT(!wanted("oa00"));
	EXPECT(wanted("oa63")); /* 99 */
	EXPECT(wanted("oa50")); /* 80 */
	wait_for(WIRE_ROLE_WORKER, 10, 10, "?od", "", 2 * S);
	EXPECT(wanted("od"));
	EXPECT(wanted("oa63") && wanted("oa50"));
	wait_for(WIRE_ROLE_WORKER, 10, 10, "?oe", "", S); /* no newer than those */
	EXPECT(wanted("od"));
}

/* A trainer that waits for something new each time, and who makes for it always for the same. */
static void test_room_behind(void)
{
	char word[32];
	uint32_t i;

	memset(&links, 0, sizeof(links));
	for (i = 0; i < 100; i++) {
		snprintf(word, sizeof(word), "?oa%02x", i);
		wait_for(WIRE_ROLE_SUBMITTER, 1, 1, word, "", S + i);
	}
	wait_for(WIRE_ROLE_WORKER, 1, 2, "?p7", "", S + 100);
	EXPECT(wanted("p7"));
	found(5, 5, "p7", true);
	for (i = 100; i < 200; i++) {
		snprintf(word, sizeof(word), "?oa%02x", i);
		wait_for(WIRE_ROLE_SUBMITTER, 1, 1, word, "", S + 1 + i);
	}
	EXPECT_STR(told(5, 5), "!p7");
	EXPECT(wanted("oac7")); /* 199 */
}

/* A copy of ours has every descriptor: whether it gives its objects tell. */
static void test_with(void)
{
	memset(&links, 0, sizeof(links));
	wait_for(WIRE_ROLE_SUBMITTER, 1, 1, "?p77 ?oaa", "", S);
	found(5, 5, "p77", false);
	EXPECT_STR(told(5, 5), "");
	found(5, 5, "oaa", true);
	EXPECT_STR(told(5, 5), "!p77 !oaa");
	EXPECT_STR(told(5, 6), "!p77"); /* a thread of it */
	found(6, 6, "oaa", false);
	found(6, 6, "p77", false);
	EXPECT_STR(told(6, 6), "~p77 ~oaa");
	found(7, 7, "p77", false);
	EXPECT_STR(told(7, 7), ""); /* one that has to do with neither */
}

/* ---- processes ---- */

static struct prof_family family;

static pid_t start(void (*prepare)(void))
{
	pid_t pid = fork();

	REQUIRE(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prepare();
	for (;;)
		pause();
}

static int pipes[2], sockets[2];

static void close_reading(void)
{
	close(pipes[0]);
	close(sockets[0]);
}

static void keep_both(void)
{
}

static void close_writing(void)
{
	close(pipes[1]);
	close(sockets[1]);
}

static void run_other(void)
{
	fcntl(pipes[1], F_SETFD, 0);
	execl("/bin/sleep", "sleep", "1000", NULL);
	_exit(1);
}

static void run_shell(void) /* whose child has the pipe, too */
{
	dup2(pipes[1], 1);
	execl("/bin/sh", "sh", "-c", "sleep 1000 | sleep 1000; true", NULL);
	_exit(1);
}

static void look_round(void)
{
	uint32_t tid = (uint32_t)getpid();
	int i;

	for (i = 0; i < 30; i++) {
		prof_family_read(&family, &tid, 1);
		prof_family_look(&family, &links, prof_mono_ns() + i * 2 * S, S);
	}
}

static void await_ends(bool sockets_too)
{
	char pair[PROF_LINK_ID];
	struct stat st[3];

	fstat(pipes[0], &st[0]);
	fstat(sockets[0], &st[1]);
	fstat(sockets[1], &st[2]);
	memset(&links, 0, sizeof(links));
	memset(&sample, 0, sizeof(sample));
	sample.s.role = WIRE_ROLE_SUBMITTER;
	sample.s.pid = sample.s.tid = (uint32_t)getpid();
	prof_link_pipe(pair, st[0].st_ino);
	prof_link_add(sample.links, PROF_LINK_AWAITS, pair);
	sample.end[0] = st[0].st_ino;
	if (sockets_too) {
		prof_link_pair(pair, st[1].st_ino, st[2].st_ino);
		prof_link_add(sample.links, PROF_LINK_AWAITS, pair);
		sample.end[1] = st[1].st_ino;
	}
	prof_links_await(&links, &sample, prof_mono_ns());
}

static char mark_of(pid_t pid, char kind)
{
	const char *at = told((uint32_t)pid, (uint32_t)pid);
	char id[PROF_LINK_ID], mark;

	while ((mark = prof_link_next(&at, id)))
		if (*id == kind)
			return mark;
	return 0;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void test_ends(void)
{
	pid_t gives, both, reads, other;

	REQUIRE(!pipe2(pipes, O_CLOEXEC) &&
		!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	gives = start(close_reading);
	both = start(keep_both);
	reads = start(close_writing);
	other = start(run_other);
	usleep(200000);
	await_ends(true);
	look_round();
	EXPECT(prof_forked_from_us(both) && !prof_forked_from_us(other));
	EXPECT_INT(mark_of(gives, 'p'), '!');
	EXPECT_INT(mark_of(both, 'p'), 0);
	EXPECT_INT(mark_of(reads, 'p'), 0);
	EXPECT_INT(mark_of(other, 'p'), '!');
	EXPECT_INT(mark_of(gives, 'u'), '!');
	EXPECT_INT(mark_of(both, 'u'), 0);
	EXPECT_INT(mark_of(reads, 'u'), 0);
	EXPECT_INT(mark_of(other, 'u'), 0);
	end(gives);
	end(other);
	look_round();
	EXPECT(!prof_family_kin(&family, (uint32_t)gives));
	EXPECT_INT(mark_of(both, 'p'), 0); /* we could write ourselves */
	close(pipes[1]);
	await_ends(false);
	memset(&family, 0, sizeof(family));
	look_round();
	EXPECT_INT(mark_of(both, 'p'), '!'); /* nobody else can */
	end(both);
	end(reads);
}

static void test_shell(void)
{
	uint32_t i, holders = 0;
	pid_t shell;

	REQUIRE(!pipe2(pipes, O_CLOEXEC));
	memset(&family, 0, sizeof(family));
	shell = start(run_shell);
	usleep(300000);
	await_ends(false);
	look_round();
	EXPECT_INT(mark_of(shell, 'p'), '!');
	for (i = 0; i < family.count; i++)
		holders += mark_of((pid_t)family.kin[i].pid, 'p') == '!';
	EXPECT_UINT(holders, 2); /* and its second program; the first writes elsewhere */
	memset(&sample, 0, sizeof(sample));
	sample.s.pid = sample.s.tid = (uint32_t)shell;
	sample.s.wait = WIRE_WAIT_CHILD;
	look_often((uint32_t)shell, (uint32_t)shell, PROF_LINKS_TRIAL);
	prof_links_tell(&links, &sample);
	EXPECT_INT(sample.links[0], '~');
	for (i = 0; i < family.count; i++)
		kill((pid_t)family.kin[i].pid, SIGKILL);
	waitpid(shell, NULL, 0);
}

/* ---- memory ---- */

#define PICTURES "/dev/shm/test_prof_links"

static int open_memory(int flags)
{
	char path[64];

	snprintf(path, sizeof(path), PICTURES ".%d", (int)(flags & O_CREAT ? getpid() : getppid()));
	return open(path, flags | O_RDWR | O_CLOEXEC, 0600);
}

static void attach(void) /* as Python's SharedMemory(name) does; beside what was inherited */
{
	REQUIRE(open_memory(0) >= 0);
}

static void await_memory(void)
{
	const struct prof_memory *m;
	size_t n;

	memset(&links, 0, sizeof(links));
	memset(&family, 0, sizeof(family));
	memset(&sample, 0, sizeof(sample));
	sample.s.role = WIRE_ROLE_SUBMITTER;
	sample.s.pid = sample.s.tid = (uint32_t)getpid();
	n = prof_memory_own(&m, 1); /* read once: nothing changes within a second */
	REQUIRE(n == 1);
	prof_memory_link(sample.links + 1, &m[0]);
	sample.links[0] = '?';
	sample.end[0] = m[0].inode;
	prof_links_await(&links, &sample, prof_mono_ns());
}

/*
 * Who opened it himself has it to use it; a copy of ours may have it merely as a copy, unless
 * nobody else has it.
 */
static void test_memory(void)
{
	int fd = open_memory(O_CREAT), small = memfd_create("small", MFD_CLOEXEC);
	pid_t attached, copy, other;
	struct prof_memory m;
	char path[64];

	REQUIRE(fd >= 0 && small >= 0 && !ftruncate(fd, PROF_MEMORY_LEAST_BYTES) &&
		!ftruncate(small, PROF_MEMORY_LEAST_BYTES - 1));
	EXPECT(prof_memory_look(0, fd, "/dev/shm/x", &m) && m.fd == fd);
	EXPECT(!prof_memory_look(0, small, "/memfd:small (deleted)", &m));
	EXPECT(!prof_memory_look(0, fd, "/memfd:gpustarve (deleted)", &m));
	EXPECT(!prof_memory_look(0, fd, "/home/me/x", &m));
	attached = start(attach);
	copy = start(keep_both);
	pipes[1] = fd;
	other = start(run_other); /* it was given the descriptor */
	usleep(200000);
	await_memory();
	look_round();
	EXPECT_INT(mark_of(attached, 'm'), '~');
	EXPECT_INT(mark_of(copy, 'm'), 0);
	EXPECT_INT(mark_of(other, 'm'), '~');
	end(attached);
	end(other);
	await_memory();
	look_round();
	EXPECT_INT(mark_of(copy, 'm'), '~');
	end(copy);
	snprintf(path, sizeof(path), PICTURES ".%d", (int)getpid());
	unlink(path);
	close(fd);
	close(small);
}

/* ---- processes beside this one ---- */

static pid_t writer, copier;

/* In a process that its parent started beside the other two: what it is told of them. */
static int see_beside(bool climbed)
{
	memset(&family, 0, sizeof(family));
	family.above[0] = (uint32_t)getppid();
	family.aboves = climbed;
	await_ends(true);
	look_round();
	return (mark_of(writer, 'p') == '!') | (mark_of(copier, 'p') ? 2 : 0) |
	       (mark_of(writer, 'u') ? 4 : 0) |
	       (prof_family_kin(&family, (uint32_t)getpid()) ? 8 : 0);
}

static int from_beside(bool climbed)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(see_beside(climbed));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Who writes to the pipe that is read here, and no more: of connections others have ends for
 * reasons of their own.
 */
static void test_beside(void)
{
	REQUIRE(!pipe2(pipes, O_CLOEXEC) &&
		!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets));
	writer = start(close_reading);
	copier = start(keep_both);
	usleep(200000);
	EXPECT_INT(from_beside(true), 1);
	EXPECT_INT(from_beside(false), 0);
	end(writer);
	end(copier);
}

static void test_climb(void)
{
	static const char of[] = "A=1\0GPUSTARVE_RUN_ID=one\0B=2", cut[] = "GPUSTARVE_RUN_ID=one";

	EXPECT(prof_family_is_of_run(of, sizeof(of), "one"));
	EXPECT(!prof_family_is_of_run(of, sizeof(of), "on"));
	EXPECT(!prof_family_is_of_run(of, sizeof(of), "onely"));
	EXPECT(!prof_family_is_of_run(cut, sizeof(cut) - 1, "one"));
	EXPECT(!prof_family_is_of_run("", 0, "one"));
	memset(&family, 0, sizeof(family));
	prof_family_climb(&family, "", 1);
	prof_family_climb(&family, "no run of this name", 1);
	EXPECT_UINT(family.aboves, 0);
}

static const struct t_case cases[] = {
	T_CASE(test_words),	  T_CASE(test_names),
	T_CASE(test_ids),	  T_CASE(test_chain),
	T_CASE(test_own_wait),	  T_CASE(test_takers),
	T_CASE(test_trial),	  T_CASE(test_trial_of_kind),
	T_CASE(test_steps),	  T_CASE(test_steps_behind_native),
	T_CASE(test_steps_taken), T_CASE(test_age),
	T_CASE(test_gave),	  T_CASE(test_room),
	T_CASE(test_room_behind), T_CASE(test_with),
	T_CASE(test_ends),	  T_CASE(test_shell),
	T_CASE(test_memory),	  T_CASE(test_beside),
	T_CASE(test_climb),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
