/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of waits: links to words, stacks to kinds of waits, waits to whoever makes what is waited
 * for, and what the GPU must have been given for that to be input. All rows are made by hand; times
 * in us.
 */
#include "harness.h"
#include "facts/feeder.h"
#include "analysis/evidence/cause.h"
#include "analysis/evidence/hotspots.h"

#define PID 100
#define US 1000
#define LIB "/usr/lib/python3.11/"
#define PACKAGES "/venv/lib/python3.11/site-packages/"
#define USER "loop\t/home/me/train.py\t40\nmain\t/home/me/train.py\t90"
#define MAKE "make\t/home/me/data.py\t20\nrun\t" LIB "threading.py\t975"
#define GET "wait\t" LIB "threading.py\t327\nget\t" LIB "queue.py\t171\n" USER
#define TASKS "wait\t" LIB "threading.py\t327\nget\t" LIB "queue.py\t171\n" MAKE
#define PUT "wait\t" LIB "threading.py\t327\nput\t" LIB "queue.py\t140\n" USER
#define JOIN "join\t" LIB "threading.py\t1100\n" USER
#define BARRIER                                                                           \
	"wait\t" LIB "threading.py\t327\nwait_for\t" LIB "threading.py\t360\n_wait\t" LIB \
	"threading.py\t720\nwait\t" LIB "threading.py\t690\n" USER
#define EVENT "wait\t" LIB "threading.py\t327\nwait\t" LIB "threading.py\t629\n" USER
#define START                                                                         \
	"wait\t" LIB "threading.py\t327\nwait\t" LIB "threading.py\t629\nstart\t" LIB \
	"threading.py\t962\n" USER
#define FEED                                                                                      \
	"wait\t" LIB "threading.py\t320\n_feed\t" LIB "multiprocessing/queues.py\t231\nrun\t" LIB \
	"threading.py\t975"
#define PARSE                                                        \
	"__next__\t" LIB "email/feedparser.py\t128\n_parsegen\t" LIB \
	"email/feedparser.py\t224\tg\nbegin\t" LIB "http/client.py\t337\n" USER
#define RESULT \
	"wait\t" LIB "threading.py\t327\nresult\t" LIB "concurrent/futures/_base.py\t451\n" USER
#define RECV                                                           \
	"_recv\t" LIB "multiprocessing/connection.py\t395\nrecv\t" LIB \
	"multiprocessing/connection.py\t250\n" USER
#define TURN "__next__\t" PACKAGES "somebodys/loader.py\t7\n" USER
#define NAP \
	"look\t" PACKAGES "somebodys/loader.py\t9\nitems\t" PACKAGES "somebodys/loader.py\t5\tg\n"
#define DRIVE \
	"select\t" LIB "selectors.py\t468\n_run_once\t" LIB "asyncio/base_events.py\t1900\n" MAKE
#define RESPONSE "recv_into\t" LIB "ssl.py\t1200\n" TURN
#define LOOP                                                                                 \
	"select\t" LIB "selectors.py\t468\n_run_once\t" LIB "asyncio/base_events.py\t1900\n" \
	"run_forever\t" LIB "asyncio/base_events.py\t607\n" USER

#define SERVER \
	"select\t" LIB "selectors.py\t415\nhandle_request\t" LIB "socketserver.py\t295\n" USER

#define NEXT "_next_data\t" PACKAGES "torch/utils/data/dataloader.py\t1300\n" USER

struct bench {
	struct ana_evidence e;
	struct wire_strtab *names;
	struct ana_cause b;
	struct ana_given given;
};

static void begin(struct bench *t)
{
	memset(t, 0, sizeof(*t));
	REQUIRE(t->names = wire_strtab_new());
	ana_evidence_bare(&t->e, t->names);
	t->e.pid = PID;
	t->given.fed = true;
}

static void end(struct bench *t)
{
	ana_cause_fini(&t->b);
	ana_evidence_fini(&t->e);
	wire_strtab_free(t->names);
}

static uint32_t name(struct bench *t, const char *text)
{
	return text && *text ? wire_strtab_intern(t->names, text, strlen(text)) : 0;
}

/* @cpu, @delay: ns, as the kernel counted; 0: it did not. */
static void see_counted(struct bench *t, uint32_t tid, int64_t us, enum wire_wait wait,
			const char *links, const char *stack, int64_t cpu, int64_t delay)
{
	struct wire_sample s = {
		.cpu_ns = cpu,
		.delay_ns = delay,
		.t_ns = us * US,
		.pid = tid < 200 ? PID : tid,
		.tid = tid,
		.role = tid == PID ? WIRE_ROLE_SUBMITTER : WIRE_ROLE_PRODUCER,
		.state = wait ? WIRE_STATE_SLEEPING : WIRE_STATE_RUNNING,
		.wait = (uint8_t)wait,
		.stack = name(t, stack),
		.links = name(t, links),
	};

	REQUIRE(!ana_evidence_foresee(&t->e, &s));
	REQUIRE(!ana_evidence_add_sample(&t->e, &s, INT64_MIN));
}

static void see(struct bench *t, uint32_t tid, int64_t us, enum wire_wait wait, const char *links,
		const char *stack)
{
	see_counted(t, tid, us, wait, links, stack, 0, 0);
}

/* Four samples of a thread in [0, 4000). */
static void keep(struct bench *t, uint32_t tid, enum wire_wait wait, const char *links,
		 const char *stack)
{
	int64_t i;

	for (i = 0; i < 4; i++)
		see(t, tid, i * 1000, wait, links, stack);
}

static bool host_of(struct bench *t, int64_t start, int64_t stop)
{
	ana_cause_begin(&t->b, start * US, stop * US, ANA_HOST_UNKNOWN, ANA_NONE, false);
	t->b.given = t->given;
	return ana_cause_host(&t->b, &t->e, PID);
}

/* All of [0, 4000) is of one class. */
#define EXPECT_ALL(t, c, sure)                                \
	do {                                                  \
		EXPECT(host_of(t, 0, 4000));                  \
		EXPECT_INT((t)->b.ns[c], (int64_t)4000 * US); \
		EXPECT_INT((t)->b.confidence[c], sure);       \
	} while (0)

/* ---- words and kinds ------------------------------------------------------------------------- */

static void test_words(void)
{
	static const char text[] = "?o1 !p22 ~u1-2 ?l0.0.0.0:80 junk ?  *o3 !";
	struct ana_links l, who;

	ana_links_read(&l, text, sizeof(text) - 1);
	EXPECT(l.count == 4 && l.awaits && l.hands);
	EXPECT(ana_links_await_kind(&l, 'o') && ana_links_await_kind(&l, 'l'));
	EXPECT(!ana_links_await_kind(&l, 'p'));
	ana_links_read(&who, "?p22", 4);
	EXPECT_INT(ana_links_hand(&l, &who), ANA_LINK_GIVES);
	ana_links_read(&who, "?u1-2", 5);
	EXPECT_INT(ana_links_hand(&l, &who), ANA_LINK_HOLDS);
	ana_links_read(&who, "?u1", 3); /* the beginning of a word is another one */
	EXPECT_INT(ana_links_hand(&l, &who), ANA_LINK_AWAITS);
	ana_links_read(&l, "!o7 ?o7", 7); /* it waits for it itself */
	ana_links_read(&who, "?o7", 3);
	EXPECT_INT(ana_links_hand(&l, &who), ANA_LINK_AWAITS);
	ana_links_read(&l, "?o1 ?o2 ?o3 ?o4 ?o5 ?o6 ?o7 ?o8 ?o9", 35);
	EXPECT_INT(l.count, WIRE_LINKS_MAX);
	ana_links_read(&l, ">p22 !p23 ?o1", 13);
	ana_links_read(&who, "?p22", 4);
	EXPECT(l.hands && ana_links_hand(&l, &who) == ANA_LINK_GIVES &&
	       ana_links_deliver(&l, &who));
	ana_links_read(&who, "?p23 ?o1", 8);
	EXPECT(!ana_links_deliver(&l, &who));
	ana_links_read(&l, "", 0);
	EXPECT(!l.count && !l.awaits && !l.hands);
}

static enum ana_take take(enum wire_wait wait, const char *links, const char *stack)
{
	struct wire_sample s = { .wait = (uint8_t)wait, .state = WIRE_STATE_SLEEPING };
	struct ana_pystack k;
	struct ana_links l;

	ana_pystack_read(&k, stack, (uint32_t)strlen(stack));
	ana_links_read(&l, links, (uint32_t)strlen(links));
	return ana_waitkind_of(&s, &k, &l);
}

static void test_takes(void)
{
	static const struct {
		enum wire_wait wait;
		const char *links, *stack;
		enum ana_take take;
	} is[] = {
		{ WIRE_WAIT_LOCK, "", GET, ANA_TAKE_ITEM },
		{ WIRE_WAIT_LOCK, "", RESULT, ANA_TAKE_ITEM },
		{ WIRE_WAIT_PIPE, "", RECV, ANA_TAKE_ITEM },
		{ WIRE_WAIT_LOCK, "", TURN, ANA_TAKE_ITEM }, /* a lock, but of an iterator */
		{ WIRE_WAIT_LOCK, "", EVENT, ANA_TAKE_EVENT },
		{ WIRE_WAIT_SOCKET, "", LOOP, ANA_TAKE_EVENT },
		{ WIRE_WAIT_SOCKET, "?l1.2.3.4:80", LOOP, ANA_TAKE_SERVES },
		{ WIRE_WAIT_LOCK, "", PUT, ANA_TAKE_GIVES },
		{ WIRE_WAIT_LOCK, "", JOIN, ANA_TAKE_SETTLES },
		{ WIRE_WAIT_LOCK, "", BARRIER, ANA_TAKE_SETTLES },
		{ WIRE_WAIT_LOCK, "?o1", START, ANA_TAKE_SETTLES }, /* till the thread begins */
		{ WIRE_WAIT_LOCK, "?o1", USER, ANA_TAKE_LOCK },
		{ WIRE_WAIT_LOCK_SHARED, "?f1:2:3", USER, ANA_TAKE_LOCK },
		{ WIRE_WAIT_LOCK, "?n40", USER, ANA_TAKE_EVENT }, /* C code with threads */
		{ WIRE_WAIT_SOCKET, "?u1-2", USER, ANA_TAKE_EVENT },
		{ WIRE_WAIT_SOCKET, "?t1:2-3:4", USER, ANA_TAKE_NOT_TOLD }, /* a barrier, perhaps */
		{ WIRE_WAIT_SOCKET, "?t1:2-3:4 ?d3:4", USER, ANA_TAKE_EVENT },
		{ WIRE_WAIT_SOCKET, "?t1:2-3:4", TURN, ANA_TAKE_ITEM },
		{ WIRE_WAIT_LOCK, "?q1", USER, ANA_TAKE_ITEM },
		{ WIRE_WAIT_CHILD, "", USER, ANA_TAKE_SETTLES },
		{ WIRE_WAIT_SLEEP, "", USER, ANA_TAKE_NOT_TOLD },
		/* a package, or the program, that calls its file queue.py */
		{ WIRE_WAIT_LOCK, "", "get\t" PACKAGES "somebodys/queue.py\t1\n" USER,
		  ANA_TAKE_LOCK },
		{ WIRE_WAIT_LOCK, "", "get\t/home/me/queue.py\t1\n" USER, ANA_TAKE_LOCK },
		/* what is called there decides, not what lies further out */
		{ WIRE_WAIT_LOCK, "", USER "\nget\t" LIB "queue.py\t171", ANA_TAKE_LOCK },
	};
	size_t i;

	for (i = 0; i < sizeof(is) / sizeof(*is); i++)
		EXPECT_INT(take(is[i].wait, is[i].links, is[i].stack), is[i].take);
}

static bool iterates(const char *stack)
{
	struct ana_pystack k;

	ana_pystack_read(&k, stack, (uint32_t)strlen(stack));
	return k.iterates;
}

/* Iterators that the standard library has for itself hand nobody a batch. */
static void test_iterators(void)
{
	EXPECT(iterates(TURN));
	EXPECT(iterates("__next__\t" LIB "multiprocessing/pool.py\t861\n" USER));
	EXPECT(!iterates(PARSE) && !iterates(USER));
	EXPECT(iterates(TURN "\n" PARSE));
	EXPECT(iterates("__next__\t" LIB "email/feedparser.py\t128"));
}

/* ---- who makes it ---------------------------------------------------------------------------- */

static void test_producer(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ?o2", GET);
	keep(&t, 101, WIRE_WAIT_NONE, "!o2", MAKE);
	keep(&t, 102, WIRE_WAIT_NONE, "!o9", MAKE); /* busy meanwhile, with something else */
	keep(&t, 103, WIRE_WAIT_READ, "~o2", MAKE); /* holds it, and gives nothing */
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	EXPECT_INT(t.b.paths, 1);
	EXPECT_INT(t.b.path[0].links, 2);
	EXPECT_INT(t.b.path[0].link[1].thread->tid, 101);
	EXPECT_INT(t.b.path[0].link[1].samples, 4);
	t.given.fed = false; /* whatever it takes, the GPU gets none of it */
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", GET);
	see(&t, 101, 100, WIRE_WAIT_SOCKET, "!o2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM); /* one sample */
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", GET);
	keep(&t, 101, WIRE_WAIT_READ, "~o2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_LOW);
	end(&t);
}

static void test_nobody(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", GET);
	keep(&t, 101, WIRE_WAIT_NONE, "", MAKE);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", TURN);
	EXPECT_ALL(&t, ANA_INPUT_UNKNOWN, ANA_HIGH);
	t.given.fed = false;
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t); /* it reads the data itself */
	keep(&t, PID, WIRE_WAIT_SOCKET, "", RESPONSE);
	EXPECT_ALL(&t, ANA_INPUT_INLINE, ANA_HIGH);
	t.given.answer = true;
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);
}

/* A thread behind a thread behind a thread; and a longer chain than is followed. */
static void test_depth(void)
{
	char awaits[32], gives[64];
	struct bench t;
	uint32_t k;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	keep(&t, 102, WIRE_WAIT_LOCK, "!o2 ?o3", TASKS);
	keep(&t, 103, WIRE_WAIT_READ, "!o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	EXPECT_INT(t.b.path[t.b.vote[t.b.votes - 1].path - 1].links, 4);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	for (k = 1; k <= 6; k++) {
		snprintf(awaits, sizeof(awaits), "?o%u", k + 1);
		snprintf(gives, sizeof(gives), "!o%u %s", k, k < 6 ? awaits : "");
		keep(&t, PID + k, k < 6 ? WIRE_WAIT_LOCK : WIRE_WAIT_READ, gives,
		     k < 6 ? TASKS : MAKE);
	}
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	end(&t);
}

/* Who makes it waits for work from who waits; and two who wait for each other. */
static void test_circles(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	EXPECT_INT(t.b.idle, (int64_t)4000 * US);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 !o3 ?o2", TASKS);
	keep(&t, 102, WIRE_WAIT_LOCK, "!o2 ?o3", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);

	begin(&t); /* of a pipe, too */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~p2", GET);
	keep(&t, 101, WIRE_WAIT_PIPE, "!o1 ?p2", RECV);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);
}

/*
 * What closes a circle is known: neither waits at the same place before nor who held it then are
 * asked.
 */
static void test_circle_is_told(void)
{
	struct bench t;

	begin(&t);
	see(&t, 101, -1000, WIRE_WAIT_LOCK, "!o1 ?o3", TASKS);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	keep(&t, 103, WIRE_WAIT_READ, "!o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);

	begin(&t);
	see(&t, 102, -1000000, WIRE_WAIT_NONE, "~o2", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);
}

/*
 * Who naps asks again by itself: it waits for no other's end, and what only the trainer holds is no
 * circle.
 */
static void test_nap_in_circle(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	keep(&t, 101, WIRE_WAIT_SLEEP, "!o1 ?o2", NAP MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	EXPECT_INT(t.b.idle, 0);
	end(&t);
}

/*
 * No sample in the piece shows the wait: it is asked as it was last, blocked, whichever sample
 * comes to mind first; another place has other waits before it.
 */
static void test_as_it_was_last(void)
{
	const struct ana_thread_samples *who;
	struct ana_chain c = { 0 };
	struct bench t;
	size_t i;

	begin(&t);
	see(&t, PID, -1900000, WIRE_WAIT_LOCK, "?o2", GET);
	see(&t, PID, -1800000, WIRE_WAIT_LOCK, "?o3", RESULT);
	see(&t, PID, -1700000, WIRE_WAIT_LOCK, "?o1", GET);
	see(&t, PID, -1600000, WIRE_WAIT_LOCK, "?o1", RESULT);
	see(&t, PID, -1500000, WIRE_WAIT_NONE, "?o1", MAKE);
	see(&t, PID, -1400000, WIRE_WAIT_LOCK, "?o4", GET);
	keep(&t, 102, WIRE_WAIT_NONE, "!o2", MAKE);
	keep(&t, 103, WIRE_WAIT_READ, "!o3", MAKE);
	who = ana_evidence_thread(&t.e, PID, PID);
	for (i = 2; i < 4; i++) {
		ana_chain_forget(&c);
		ana_chain_follow(&c, &t.e, who, i, 0, (int64_t)4000 * US);
		EXPECT_INT(c.found, ANA_CHAIN_MAKERS);
		EXPECT_INT(c.path[c.end[0].path].link[1].thread->tid, 103);
		EXPECT_INT(c.end[0].class, ANA_INPUT_FETCH);
	}
	ana_chain_fini(&c);
	end(&t);
}

static void add_chain(struct ana_hotspot_chain *to, const char *text, int64_t ns)
{
	struct ana_hotspot_chain from = { .text = (char *)text };

	REQUIRE(!ana_hotspot_chain_merge(to, &from, ns));
}

static uint32_t chains(const struct ana_hotspot_chain *c)
{
	struct ana_hotspot h = { 0 };
	uint32_t n;

	REQUIRE(!ana_hotspot_chain_put(c, &h));
	n = h.chains;
	ana_hotspot_fini(&h);
	return n;
}

/* A chain that was seen behind little of a line's time is none of the line's. */
static void test_most_have_none(void)
{
	static const char chain[] =
		"a worker\ta socket\tget\tdata.py\t8\nanother process\t\trun\tx.py\t3\n";
	struct ana_hotspot_chain c = { 0 }, other = { 0 };

	REQUIRE(!ana_hotspot_chain_none(&c, 100));
	EXPECT_UINT(chains(&c), 0);
	add_chain(&c, chain, 40);
	EXPECT_UINT(chains(&c), 0);
	add_chain(&c, chain, 90);
	EXPECT_UINT(chains(&c), 2);
	REQUIRE(!ana_hotspot_chain_none(&other, 60)); /* of another part of the run */
	REQUIRE(!ana_hotspot_chain_merge(&c, &other, 60));
	EXPECT_UINT(chains(&c), 0);
	ana_hotspot_chain_fini(&c);
	ana_hotspot_chain_fini(&other);
}

#define STATUS                                                                        \
	"readinto\t" LIB "socket.py\t706\n_read_status\t" LIB "http/client.py\t279\n" \
	"getresponse\t" LIB "http/client.py\t1374\n" MAKE

/*
 * Who reads from a socket waits for its other end. Another thread that has something at the address
 * of his object, or had what was there before that, is nobody who ends his wait.
 */
static void test_socket_of_others(void)
{
	static const struct {
		int64_t us;
		enum wire_wait wait;
		const char *links, *stack;
	} has[] = {
		{ -1000000, WIRE_WAIT_NONE, "~o3", MAKE }, /* busy */
		{ -1000000, WIRE_WAIT_LOCK, "~o3 ?o9",
		  TASKS }, /* waits for him, as he seems to for it */
		{ -1000000, WIRE_WAIT_LOCK, "~o3 ?o8", TASKS }, /* waits for others who are busy */
		{ 1000, WIRE_WAIT_NONE, "~o3", MAKE },
	};
	struct bench t;
	size_t i;

	for (i = 0; i < sizeof(has) / sizeof(*has); i++) {
		begin(&t);
		see(&t, 102, has[i].us, has[i].wait, has[i].links, has[i].stack);
		keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
		keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 !o9 ?o3", STATUS);
		keep(&t, 103, WIRE_WAIT_NONE, "!o8", MAKE);
		EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
		EXPECT_INT(t.b.idle, 0);
		end(&t);
	}

	begin(&t); /* the trainer's own */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?o3", "readinto\t" LIB "socket.py\t706\n" TURN);
	keep(&t, 101, WIRE_WAIT_NONE, "~o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_INLINE, ANA_HIGH);
	end(&t);
}

/*
 * Who sends to that object, or has the other end, does; and what an event loop waits for comes from
 * threads, too.
 */
static void test_socket_of_givers(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_SOCKET, "?u1-2 ?o3", RECV);
	keep(&t, 101, WIRE_WAIT_NONE, "!o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_SOCKET, "?u1-2 ?o3", RECV);
	keep(&t, 101, WIRE_WAIT_NONE, "~u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?s1 ?o3", LOOP);
	keep(&t, 101, WIRE_WAIT_NONE, "~o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_PIPE, "?p1 ?o3", RECV);
	keep(&t, 101, WIRE_WAIT_NONE, "~o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);
}

/*
 * The kernel's counters tell of one sample alone by the one before it, if that is a second old at
 * most.
 */
static void test_sample_before(void)
{
	static const struct {
		int64_t us, starved;
	} row[] = { { -999900, 2000 }, { -999901, 0 } };
	const int64_t part = (int64_t)250000 * US; /* on a CPU, and as much in want of one */
	struct bench t;
	size_t i;

	for (i = 0; i < 2; i++) {
		begin(&t);
		keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
		see_counted(&t, 101, row[i].us, WIRE_WAIT_LOCK, "!o1", MAKE, 1, 0);
		see_counted(&t, 101, 100, WIRE_WAIT_NONE, "!o1", MAKE, 1 + part, part);
		EXPECT(host_of(&t, 0, 4000));
		EXPECT_INT(t.b.ns[ANA_INPUT_CPU_STARVED], row[i].starved * US);
		EXPECT_INT(t.b.ns[ANA_INPUT_PREP], (4000 - row[i].starved) * US);
		end(&t);
	}
}

/*
 * At the very line of a wait it may read a file, which is for nobody; asleep in no iterator it asks
 * nobody.
 */
static void test_is_for_nobody(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	see(&t, 101, 0, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	see(&t, 101, 1000, WIRE_WAIT_READ, "!o1", TASKS);
	see(&t, 101, 2000, WIRE_WAIT_READ, "!o1", TASKS);
	see(&t, 101, 3000, WIRE_WAIT_READ, "!o1", TASKS);
	keep(&t, 102, WIRE_WAIT_NONE, "!o2", MAKE);
	EXPECT(host_of(&t, 0, 4000));
	EXPECT_INT(t.b.weight[ANA_INPUT_PREP], (int64_t)1000 * US);
	EXPECT_INT(t.b.weight[ANA_INPUT_FETCH], (int64_t)3000 * US);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SLEEP, "!o1 ?o2", MAKE);
	keep(&t, 102, WIRE_WAIT_NONE, "!o2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);
}

/* What the chain of the trainer's last wait comes to. */
static void expect_chain(struct bench *t, enum ana_chain_found found, bool gives)
{
	struct ana_chain c = { 0 };

	ana_chain_follow(&c, &t->e, ana_evidence_thread(&t->e, PID, PID),
			 ana_evidence_thread(&t->e, PID, PID)->tail - 1, 0, (int64_t)4000 * US);
	EXPECT_INT(c.found, found);
	EXPECT_INT(c.gives, gives);
	ana_chain_fini(&c);
}

/* Four waits at the same place are asked, the newest first, and no more. */
static void test_four_before(void)
{
	struct bench t;
	char awaits[8];
	int k, tries;

	for (tries = 4; tries <= 5; tries++) {
		begin(&t);
		for (k = tries; k >= 1; k--) {
			snprintf(awaits, sizeof(awaits), "?o%d", k == tries ? 90 : k);
			see(&t, PID, -1000 * k, WIRE_WAIT_LOCK, awaits, RESULT);
		}
		keep(&t, PID, WIRE_WAIT_LOCK, "?o80", RESULT);
		keep(&t, 102, WIRE_WAIT_READ, "!o90", MAKE);
		expect_chain(&t, tries == 4 ? ANA_CHAIN_MAKERS : ANA_CHAIN_NOBODY, tries == 4);
		end(&t);
	}
}

/* Code that gives was seen, or it was merely held. */
static void test_gives(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	expect_chain(&t, ANA_CHAIN_NOBODY, false);
	keep(&t, 101, WIRE_WAIT_READ, "~o1", MAKE);
	expect_chain(&t, ANA_CHAIN_MAKERS, false);
	keep(&t, 102, WIRE_WAIT_READ, "!o1", MAKE);
	expect_chain(&t, ANA_CHAIN_MAKERS, true);
	end(&t);
}

/*
 * Requests whose other ends are not known: nine tenths of all of the time or more, or it is known
 * what they are.
 */
static void test_unnamed(void)
{
	struct ana_chain c = { 0 };
	struct bench t;
	int64_t n, i;

	for (n = 17; n <= 18; n++) {
		begin(&t);
		see(&t, PID, 0, WIRE_WAIT_LOCK, "?o1", GET);
		for (i = 0; i < 20; i++)
			see(&t, 101, i * 200, WIRE_WAIT_SOCKET, i < n ? "!o1 ?l5 ?s7" : "!o1",
			    i < n ? "" : SERVER);
		ana_chain_forget(&c);
		ana_chain_follow(&c, &t.e, ana_evidence_thread(&t.e, PID, PID), 0, 0,
				 (int64_t)4000 * US);
		EXPECT_INT(c.found, ANA_CHAIN_REQUESTS);
		EXPECT_INT(c.unnamed, n == 18);
		end(&t);
	}
	ana_chain_fini(&c);
}

/*
 * An event loop, which the trainer could wake, too, waits for a socket whose other end is nobody's
 * here.
 */
static void test_outside(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o2", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?o2 !o1", DRIVE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o2 ~t1:1-2:2", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?o2 !o1", DRIVE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o2", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?o2 !o1", DRIVE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);
}

/* Nobody was seen giving within the wait, somebody was a second before it. */
static void test_far(void)
{
	struct bench t;

	begin(&t);
	see(&t, 101, -1000000, WIRE_WAIT_NONE, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t);
	see(&t, 101, -2000001, WIRE_WAIT_NONE, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);
}

/*
 * The last one seen waits for what nobody was seen to hold: waits at the same place may know more.
 * Not where the trainer holds it, nor at a socket, whose other end may be nobody's here.
 */
static void test_lost(void)
{
	static const struct {
		enum wire_wait wait;
		const char *links, *trainer;
		enum ana_class class;
		bool asks;
	} row[] = {
		{ WIRE_WAIT_LOCK, "!o1 ?o2", "?o1", ANA_HOST_WAIT, true },
		{ WIRE_WAIT_PIPE, "!o1 ?o2 ?p7", "?o1", ANA_HOST_WAIT, true },
		{ WIRE_WAIT_LOCK, "!o1 ?o2", "?o1 ~o2", ANA_INPUT_PIPELINE, false },
		{ WIRE_WAIT_LOCK, "~o1 ?o2", "?o1 ~o2", ANA_INPUT_PIPELINE, true },
		{ WIRE_WAIT_SOCKET, "!o1 ?o2 ?t1:1-2:2", "?o1", ANA_INPUT_FETCH, false },
		{ WIRE_WAIT_READ, "!o1", "?o1", ANA_INPUT_FETCH, false },
		{ WIRE_WAIT_LOCK, "!o1", "?o1", ANA_HOST_WAIT,
		  true }, /* nor of what it waits for */
		{ WIRE_WAIT_LOCK, "~o1", "?o1", ANA_INPUT_PIPELINE, false },
	};
	struct bench t;
	size_t i;

	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin(&t);
		keep(&t, PID, WIRE_WAIT_LOCK, row[i].trainer, GET);
		keep(&t, 101, row[i].wait, row[i].links, TASKS);
		EXPECT(host_of(&t, 0, 4000));
		EXPECT_INT(t.b.ns[row[i].class], (int64_t)4000 * US);
		EXPECT_INT(t.b.asks, row[i].asks);
		end(&t);
	}

	begin(&t); /* lost for half of the time: the other half tells */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	see(&t, 101, 0, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	see(&t, 101, 1000, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	see(&t, 101, 2000, WIRE_WAIT_READ, "!o1", MAKE);
	see(&t, 101, 3000, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	EXPECT(!t.b.asks);
	end(&t);

	begin(&t); /* who has the address of a thing of C about it may have nothing to do with it */
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40 ~n80", TURN);
	keep(&t, 101, WIRE_WAIT_LOCK, "~n40 ?n80", "");
	EXPECT(host_of(&t, 0, 4000) && t.b.asks && !t.b.idle);
	end(&t);

	/*
	 * nor does code that gives there, of two stages of a library, make them wait for each other
	 */
	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", TURN);
	keep(&t, 101, WIRE_WAIT_LOCK, "!n40 !n100 ?n80", "");
	keep(&t, 102, WIRE_WAIT_LOCK, "!n80 ?n100", "");
	EXPECT(host_of(&t, 0, 4000) && t.b.asks && !t.b.idle);
	end(&t);

	begin(&t); /* nor has one that sleeps, or waits to give to others, beside one that works */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SLEEP, "~o1", "");
	keep(&t, 102, WIRE_WAIT_LOCK, "~o1", PUT);
	EXPECT(host_of(&t, 0, 4000) && t.b.asks);
	keep(&t, 103, WIRE_WAIT_NONE, "~o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t); /* another thread gives, too, and works */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	keep(&t, 102, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT(host_of(&t, 0, 4000) && !t.b.asks);
	end(&t);
}

/*
 * Who waits in the middle waits for something new each time: who gave it the last one gives this
 * one.
 */
static void test_anew(void)
{
	struct bench t;

	begin(&t);
	see(&t, 101, -500000, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	see(&t, 102, -500000, WIRE_WAIT_NONE, "!o2", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t); /* at another place */
	see(&t, 101, -500000, WIRE_WAIT_LOCK, "?o2 !o1", GET);
	see(&t, 102, -500000, WIRE_WAIT_NONE, "!o2", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH); /* nobody is known */
	end(&t);

	begin(&t); /* too long before */
	see(&t, 101, -2000001, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	see(&t, 102, -500000, WIRE_WAIT_NONE, "!o2", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH); /* nobody is known */
	end(&t);
}

/* The trainer itself waits for something new each time. */
static void test_anew_at_once(void)
{
	struct bench t;

	begin(&t);
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", RESULT);
	see(&t, 101, -500000, WIRE_WAIT_NONE, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", RESULT);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* at another place, for something else */
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", GET);
	see(&t, 101, -500000, WIRE_WAIT_NONE, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", RESULT);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	/* a thread that only keeps results, and waits for the trainer's next work, has this one */
	begin(&t);
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", RESULT);
	see(&t, 101, -500000, WIRE_WAIT_READ, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2 !o3", RESULT);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_LOCK, "~o2 ?o3", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* and who gave the last one waits for work, too */
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2 !o3", RESULT);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 ?o3", TASKS);
	keep(&t, 102, WIRE_WAIT_LOCK, "~o2 ?o3", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_LOW);
	end(&t);
}

/*
 * A thread that only passes tasks on has the queue of results, too; who fills it was seen giving
 * before.
 */
static void test_held_by_idle(void)
{
	struct bench t;

	begin(&t);
	see(&t, 103, -500000, WIRE_WAIT_READ, "!o2", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	keep(&t, 102, WIRE_WAIT_LOCK, "?o3 ~o2", TASKS);
	keep(&t, 103, WIRE_WAIT_READ, "", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_LOW);
	end(&t);

	begin(&t); /* never */
	see(&t, 103, -500000, WIRE_WAIT_READ, "!o9", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	keep(&t, 102, WIRE_WAIT_LOCK, "?o3 ~o2", TASKS);
	keep(&t, 103, WIRE_WAIT_READ, "", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_LOW);
	end(&t);

	begin(&t); /* he who holds it works */
	see(&t, 103, -500000, WIRE_WAIT_READ, "!o2", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	keep(&t, 102, WIRE_WAIT_NONE, "~o2", MAKE);
	keep(&t, 103, WIRE_WAIT_READ, "", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);
}

/*
 * A pool: who takes results from the workers was not looked at within the wait, and one that passes
 * tasks on, whose code gives the same, waits for the trainer.
 */
static void test_waits_for_all_but_unseen(void)
{
	struct bench t;

	begin(&t);
	see(&t, 102, -500000, WIRE_WAIT_PIPE, "?p7 !o1", TASKS);
	see(&t, 300, -500000, WIRE_WAIT_READ, "!p7", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	keep(&t, 300, WIRE_WAIT_READ, "!p7", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_LOW);
	end(&t);

	begin(&t); /* it was looked at, and does not give now */
	see(&t, 102, -500000, WIRE_WAIT_READ, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	keep(&t, 102, WIRE_WAIT_READ, "", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);

	begin(&t); /* too long before */
	see(&t, 102, -2000001, WIRE_WAIT_READ, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);

	begin(&t); /* it waited for the trainer, too */
	see(&t, 102, -500000, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o3 !o1", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);

	begin(&t); /* one who gives works */
	see(&t, 102, -500000, WIRE_WAIT_READ, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 !o3", GET);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t); /* who waits has the queue, too; who fills it was not looked at */
	see(&t, 300, -500000, WIRE_WAIT_READ, "!p7", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	keep(&t, 102, WIRE_WAIT_PIPE, "?p7 ?o2 !o1", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_LOW);
	end(&t);
}

/*
 * Who comes back from a wait and only lacks the interpreter, or was seen too shortly, waits as
 * before.
 */
static void test_comes_back(void)
{
	static const enum wire_wait waits[] = { WIRE_WAIT_GIL, WIRE_WAIT_LOCK, WIRE_WAIT_QUEUE };
	struct bench t;
	size_t i;

	for (i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		begin(&t);
		see(&t, 101, -500000, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
		keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
		keep(&t, 101, waits[i], "!o1", TASKS);
		keep(&t, 102, WIRE_WAIT_READ, "!o2", MAKE);
		EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
		end(&t);
	}

	begin(&t); /* it is at work, and others have the interpreter */
	see(&t, 101, -500000, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_GIL, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_READ, "!o2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	end(&t);

	begin(&t); /* too long before */
	see(&t, 101, -2000001, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_GIL, "!o1", TASKS);
	keep(&t, 102, WIRE_WAIT_READ, "!o2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	end(&t);
}

/* On a CPU at the very place where it waited for a lock: it comes back, or goes there again. */
static void test_seen_running(void)
{
	struct bench t;

	begin(&t);
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, PID, WIRE_WAIT_NONE, "", GET);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* who makes it, too */
	see(&t, 101, -500000, WIRE_WAIT_LOCK, "?o2 !o1", TASKS);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", TASKS);
	keep(&t, 102, WIRE_WAIT_READ, "!o2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* or polled */
	see(&t, 101, -500000, WIRE_WAIT_SOCKET, "?t1:1-2:2 !o1", DRIVE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", DRIVE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* a server's */
	see(&t, PID, -500000, WIRE_WAIT_SOCKET, "?l127.0.0.1:80", SERVER);
	keep(&t, PID, WIRE_WAIT_NONE, "", SERVER);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	/* too long before, at another place, or in a pipe, out of which data are copied there */
	begin(&t);
	see(&t, PID, -2000001, WIRE_WAIT_LOCK, "?o1", GET);
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, PID, WIRE_WAIT_NONE, "", GET);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_HIGH);
	end(&t);

	begin(&t);
	see(&t, PID, -500000, WIRE_WAIT_PIPE, "?p1", RECV);
	keep(&t, PID, WIRE_WAIT_NONE, "", RECV);
	keep(&t, 101, WIRE_WAIT_READ, "!p1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_HIGH);
	end(&t);

	begin(&t); /* unless it hardly ran since: it comes back ever again, and gets no CPU */
	t.given.at_once = true;
	see_counted(&t, PID, -50000, WIRE_WAIT_PIPE, "?p1", USER, 1, 0);
	see_counted(&t, PID, 1000, WIRE_WAIT_NONE, "", USER, 100 * US, 0);
	keep(&t, 101, WIRE_WAIT_READ, "!p1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);
}

/*
 * What a wait lacks of its time because its thread had no CPU does not keep it from asking at its
 * place.
 */
static void test_asks_late(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	see_counted(&t, PID, 0, WIRE_WAIT_PIPE, "?p1", USER, 1, 1);
	see_counted(&t, PID, 15000, WIRE_WAIT_PIPE, "?p1", USER, 10, 8000 * US);
	EXPECT(host_of(&t, 0, 20000));
	EXPECT(t.b.asks && t.b.place);
	end(&t);
}

/*
 * Asleep before it asks again whether the next item is there: that is made by whoever has what it
 * asks.
 */
static void test_nap(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_SLEEP, "?o1", NAP USER);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* he asks again */
	see(&t, PID, 0, WIRE_WAIT_SLEEP, "?o1", NAP USER);
	see(&t, PID, 1000, WIRE_WAIT_NONE, "", NAP USER);
	see(&t, PID, 2000, WIRE_WAIT_NONE, "", NAP USER);
	see(&t, PID, 3000, WIRE_WAIT_NONE, "", NAP USER);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* who makes it asks for what another one makes */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", GET);
	keep(&t, 101, WIRE_WAIT_SLEEP, "!o2 ?o1", NAP MAKE);
	keep(&t, 102, WIRE_WAIT_NONE, "~o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	/* nobody has it, or he does nothing either; a slow source of its own looks the same */
	begin(&t);
	keep(&t, PID, WIRE_WAIT_SLEEP, "?o1", NAP USER);
	EXPECT_ALL(&t, ANA_HOST_UNKNOWN, ANA_NONE);
	EXPECT(t.b.asks && t.b.place);
	keep(&t, 101, WIRE_WAIT_SLEEP, "~o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_UNKNOWN, ANA_NONE);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o2", GET);
	keep(&t, 101, WIRE_WAIT_SLEEP, "!o2 ?o1", NAP MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	EXPECT(t.b.asks); /* whoever has it may be found in the next wait there */
	end(&t);

	begin(&t); /* in no iterator */
	keep(&t, PID, WIRE_WAIT_SLEEP, "?o1", USER);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_UNKNOWN, ANA_NONE);
	EXPECT(!t.b.asks);
	end(&t);

	begin(&t); /* it was not asked what it awaits: others at its place may tell */
	keep(&t, PID, WIRE_WAIT_SLEEP, "", NAP USER);
	EXPECT_ALL(&t, ANA_HOST_UNKNOWN, ANA_NONE);
	EXPECT(t.b.asks && t.b.place);
	t.given.fed = false;
	EXPECT_ALL(&t, ANA_HOST_UNKNOWN, ANA_NONE);
	EXPECT(!t.b.asks);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_SLEEP, "", USER);
	EXPECT_ALL(&t, ANA_HOST_UNKNOWN, ANA_NONE);
	EXPECT(!t.b.asks);
	end(&t);
}

/* The trainer for 40 ms, of which it lacks a CPU for 10, after the first 10 at @stack. */
static void see_late(struct bench *t, enum wire_wait wait, const char *links, const char *stack)
{
	const int64_t ms = 1000 * US;

	see_counted(t, PID, 0, wait, links, stack, ms, ms);
	see_counted(t, PID, 10000, WIRE_WAIT_SLEEP, "?o1", NAP USER, ms, 6 * ms);
	see_counted(t, PID, 20000, WIRE_WAIT_SLEEP, "?o1", NAP USER, ms, 6 * ms);
	see_counted(t, PID, 30000, WIRE_WAIT_SLEEP, "?o1", NAP USER, ms, 8500 * US);
	see_counted(t, PID, 39000, WIRE_WAIT_SLEEP, "?o1", NAP USER, ms, 10750 * US);
	keep(t, 101, WIRE_WAIT_READ, "!o1", MAKE);
}

/*
 * Who naps comes late to what it asks for: that time is the wait's, too; but not of one that mostly
 * does something else.
 */
static void test_wakes_late(void)
{
	const int64_t all = (int64_t)40000 * US;
	struct bench t;

	begin(&t);
	see_late(&t, WIRE_WAIT_SLEEP, "?o1", NAP USER);
	EXPECT(host_of(&t, 0, 40000));
	EXPECT_INT(t.b.ns[ANA_INPUT_FETCH], all);
	end(&t);

	begin(&t); /* for two */
	see_late(&t, WIRE_WAIT_SLEEP, "?o2", NAP USER);
	keep(&t, 102, WIRE_WAIT_NONE, "!o2", MAKE);
	EXPECT(host_of(&t, 0, 40000));
	EXPECT_INT(t.b.weight[ANA_HOST_CPU_STARVED], 0);
	/* rounded down */
	EXPECT(t.b.weight[ANA_INPUT_PREP] + t.b.weight[ANA_INPUT_FETCH] > all - 100);
	EXPECT(t.b.weight[ANA_INPUT_PREP] > all / 4 - 100 && t.b.weight[ANA_INPUT_PREP] <= all / 4);
	end(&t);

	begin(&t); /* nobody makes it */
	see_late(&t, WIRE_WAIT_SLEEP, "", USER);
	t.e.thread[1]->sample[0].links = t.e.thread[1]->sample[1].links = 0;
	t.e.thread[1]->sample[2].links = t.e.thread[1]->sample[3].links = 0;
	EXPECT(host_of(&t, 0, 40000));
	EXPECT_INT(t.b.ns[ANA_HOST_CPU_STARVED], all / 4);
	end(&t);

	begin(&t); /* it mostly works */
	see_counted(&t, PID, 0, WIRE_WAIT_LOCK, "", USER, 1000 * US, 0);
	see_counted(&t, PID, 30000, WIRE_WAIT_SLEEP, "?o1", NAP USER, 1000 * US, 9000 * US);
	see_counted(&t, PID, 39000, WIRE_WAIT_SLEEP, "?o1", NAP USER, 1000 * US, 10000 * US);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT(host_of(&t, 0, 40000));
	EXPECT(t.b.ns[ANA_HOST_CPU_STARVED] > 0);
	end(&t);
}

/*
 * Who gives to the trainer naps for what another one makes, and comes late to it: so is that one's
 * batch.
 */
static void test_maker_wakes_late(void)
{
	const int64_t all = (int64_t)40000 * US, ms = 1000 * US;
	struct bench t;

	begin(&t);
	see(&t, PID, 0, WIRE_WAIT_LOCK, "?o1", GET);
	see_counted(&t, 101, 0, WIRE_WAIT_SLEEP, "!o1 ?o2", NAP USER, ms, ms);
	see_counted(&t, 101, 20000, WIRE_WAIT_SLEEP, "!o1 ?o2", NAP USER, ms, 6 * ms);
	see_counted(&t, 101, 39000, WIRE_WAIT_SLEEP, "!o1 ?o2", NAP USER, ms, 10750 * US);
	keep(&t, 102, WIRE_WAIT_READ, "!o2", MAKE);
	EXPECT(host_of(&t, 0, 40000));
	EXPECT_INT(t.b.ns[ANA_INPUT_FETCH], all);
	end(&t);

	begin(&t); /* nobody makes that: it lacks a CPU itself */
	see(&t, PID, 0, WIRE_WAIT_LOCK, "?o1", GET);
	see_counted(&t, 101, 0, WIRE_WAIT_SLEEP, "!o1 ?o2", NAP USER, ms, ms);
	see_counted(&t, 101, 20000, WIRE_WAIT_SLEEP, "!o1 ?o2", NAP USER, ms, 6 * ms);
	see_counted(&t, 101, 39000, WIRE_WAIT_SLEEP, "!o1 ?o2", NAP USER, ms, 10750 * US);
	EXPECT(host_of(&t, 0, 40000));
	EXPECT_INT(t.b.ns[ANA_INPUT_CPU_STARVED], all / 4);
	end(&t);
}

/* All samples of a thread show it with Python's lock. */
static void lock(struct bench *t, uint32_t tid)
{
	struct ana_thread_samples *s = ana_evidence_thread(&t->e, PID, tid);
	size_t i;

	for (i = s->head; i < s->tail; i++)
		s->sample[i].flags |= WIRE_SAMPLE_FL_GIL;
}

/* Python's lock keeps the trainer from its step: the makers of what it takes have it, or others. */
static void test_lock_of_makers(void)
{
	struct bench t;

	begin(&t);
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, PID, WIRE_WAIT_GIL, "", USER);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_NONE, "", MAKE);
	EXPECT_ALL(&t, ANA_HOST_LOCK, ANA_HIGH); /* nobody was seen with it */
	lock(&t, 102);
	EXPECT_ALL(&t, ANA_HOST_LOCK, ANA_HIGH); /* somebody busy had it */
	lock(&t, 101);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	EXPECT_INT(t.b.path[0].link[1].thread->tid, 101);
	t.given.fed = false;
	EXPECT_ALL(&t, ANA_HOST_LOCK, ANA_HIGH);
	end(&t);

	begin(&t); /* too long ago: it may wait for nothing of theirs any more */
	see(&t, PID, -2000001, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, PID, WIRE_WAIT_GIL, "", USER);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	lock(&t, 101);
	EXPECT_ALL(&t, ANA_HOST_LOCK, ANA_HIGH);
	end(&t);

	begin(&t); /* it gave something to that one, and took nothing */
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o1", PUT);
	keep(&t, PID, WIRE_WAIT_GIL, "", USER);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	lock(&t, 101);
	EXPECT_ALL(&t, ANA_HOST_LOCK, ANA_HIGH);
	end(&t);
}

/* The maker waits for Python's lock, which has another maker: of the batch before, here. */
static void test_makers_by_turns(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_GIL, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_NONE, "!o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	end(&t);

	begin(&t); /* who has it is not known, but who gave at this place before is at work */
	see(&t, PID, -500000, WIRE_WAIT_LOCK, "?o2", RESULT);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	see(&t, 102, -500000, WIRE_WAIT_NONE, "!o2", MAKE);
	keep(&t, 101, WIRE_WAIT_GIL, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_NONE, "!o3", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	lock(&t, 102);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	EXPECT_INT(t.b.path[0].link[1].thread->tid, 101);
	end(&t);

	begin(&t); /* who has it never gave anything there */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_GIL, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_NONE, "!o3", MAKE);
	lock(&t, 102);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_HIGH);
	end(&t);
}

/* A library's thread receives for the trainer, and listens for more who send. */
static void test_messenger(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", USER);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l/tmp/feed ?u1-2 =io ~n40", "");
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t); /* a moment later it was seen at the listening socket alone */
	t.given.at_once = true;
	see(&t, 101, -500000, WIRE_WAIT_SOCKET, "?l/tmp/feed ?u1-2 =io ~n40", "");
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", USER);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l/tmp/feed =io ~n40", "");
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t); /* nobody of the job's at the other end */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", USER);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l/tmp/feed ?u1-2 =io ~n40", "");
	keep(&t, 300, WIRE_WAIT_NONE, "", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* who sends waits for requests itself */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", USER);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l/tmp/feed ?u1-2 =io ~n40", "");
	keep(&t, 300, WIRE_WAIT_SOCKET, "?l0.0.0.0:80 !u1-2", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);
}

#define NATIVE "/lib/libc.so.6\t85f16\tab\n/x/site-packages/some.so\tc5a\tcd"
#define ELSEWHERE "/x/site-packages/other.so\tc5a\tcd"

static void keep_native(struct bench *t, uint32_t tid, enum wire_wait wait, const char *links,
			const char *stack, const char *native)
{
	int64_t i;

	for (i = 0; i < 4; i++) {
		struct wire_sample s = { .t_ns = i * 1000 * US,
					 .pid = tid < 200 ? PID : tid,
					 .tid = tid,
					 .role = WIRE_ROLE_PRODUCER,
					 .state = WIRE_STATE_SLEEPING,
					 .wait = (uint8_t)wait,
					 .stack = name(t, stack),
					 .native = name(t, native),
					 .links = name(t, links) };

		REQUIRE(!ana_evidence_add_sample(&t->e, &s, INT64_MIN));
	}
}

/*
 * Who gives to the trainer waits within a library whose threads all wait, one of them for others
 * (@awaits).
 */
static void begin_beyond(struct bench *t, const char *awaits, const char *in)
{
	begin(t);
	keep(t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep_native(t, 101, WIRE_WAIT_LOCK, "!o1 ?n40", MAKE, NATIVE);
	keep_native(t, 102, WIRE_WAIT_LOCK, "?n80 ~n40", "", NATIVE);
	keep_native(t, 103, WIRE_WAIT_SOCKET, awaits, "", in);
}

static void test_beyond(void)
{
	struct bench t;

	begin_beyond(&t, "?u1-2", NATIVE);
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", USER);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin_beyond(&t, "?u1-2", NATIVE); /* a process between passes on */
	keep_native(&t, 301, WIRE_WAIT_SOCKET, "?l/tmp/raylet ?u1-2 ?u3-4", "", "");
	keep(&t, 300, WIRE_WAIT_READ, "!u3-4", USER);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_LOW);
	end(&t);

	begin_beyond(&t, "?u1-2", ELSEWHERE); /* that is another library's */
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", USER);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin_beyond(&t, "?u1-2", NATIVE); /* of somebody who merely is busy */
	keep(&t, 300, WIRE_WAIT_NONE, "!u5-6", USER);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin_beyond(&t, "?u1-2", NATIVE); /* no code of the program's */
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", "watch\t" PACKAGES "some/agent.py\t3");
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin_beyond(&t, "?l/tmp/s ?u1-2 ~n40",
		     NATIVE); /* it serves others, or receives batches: nobody works */
	keep(&t, 300, WIRE_WAIT_OTHER, "!u1-2", USER);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t); /* who waits for the trainer may wait for anything */
	keep_native(&t, PID, WIRE_WAIT_LOCK, "?n40", USER, NATIVE);
	keep_native(&t, 103, WIRE_WAIT_SOCKET, "?u1-2", "", NATIVE);
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", USER);
	t.given.at_once = true;
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);
}

/*
 * So does an event loop of the program's, at connections and where others come from, both at once.
 */
static void test_messenger_loop(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l0.0.0.0:80 ?t1-2 !o1", LOOP);
	keep(&t, 300, WIRE_WAIT_NONE, "!t1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t); /* a moment before it was seen at other ones of its connections */
	t.given.at_once = true;
	see(&t, 101, -500000, WIRE_WAIT_SOCKET, "?l0.0.0.0:80 ?t1-2 !o1", LOOP);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l0.0.0.0:80 ?t3-4 !o1", LOOP);
	keep(&t, 300, WIRE_WAIT_NONE, "!t1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t); /* nobody of the job's at the other end */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l0.0.0.0:80 ?t1-2 !o1", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* one of the job's that waits itself */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l0.0.0.0:80 ?t1-2 !o1", LOOP);
	keep(&t, 300, WIRE_WAIT_LOCK, "!t1-2", TASKS);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* a server by its name */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l0.0.0.0:80 ?t1-2 !o1",
	     "select\t" LIB "selectors.py\t468\n_run_once\t" LIB "asyncio/base_events.py\t1900\n"
	     "run\t" PACKAGES "uvicorn/server.py\t60\n" USER);
	keep(&t, 300, WIRE_WAIT_NONE, "!t1-2", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);
}

/* ---- what is no input ------------------------------------------------------------------------ */

static void test_no_input(void)
{
	static const char *const stack[] = { PUT, JOIN, BARRIER };
	struct bench t;
	size_t i;

	for (i = 0; i < sizeof(stack) / sizeof(*stack); i++) {
		begin(&t);
		t.given.at_once = true;
		keep(&t, PID, WIRE_WAIT_LOCK, "?o1", stack[i]);
		keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
		EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
		end(&t);
	}
	begin(&t); /* a lock of the process: its holder is known, or not */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", USER);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	keep(&t, 101, WIRE_WAIT_NONE, "~o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_LOCK, ANA_HIGH);
	end(&t);
}

/* One who writes what it has is no maker of batches, though it gives word when it is done. */
static void test_writer(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	see(&t, 101, -1000, WIRE_WAIT_WRITE, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t); /* a cache that is written now and then */
	see(&t, 101, -20000, WIRE_WAIT_READ, "!o1", MAKE);
	see(&t, 101, -1000, WIRE_WAIT_WRITE, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);
}

/* An event may be set for any reason: only where a copy follows at once. */
static void test_event(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	t.given.at_once = true;
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_NONE, "~o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);
}

/* Beside one that works, helpers that pass things on tell nothing; a maker's own pauses do. */
static void test_helpers(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	keep(&t, 103, WIRE_WAIT_LOCK, "!o1", "");
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* a server's process: one thread answers, another one listens for others */
	keep(&t, PID, WIRE_WAIT_QUEUE, "?u1-2", RECV);
	see(&t, 201, 0, WIRE_WAIT_SOCKET, "!u1-2 ?l/run/s", "");
	see(&t, 201, 2000, WIRE_WAIT_SOCKET, "!u1-2 ?l/run/s", "");
	t.e.thread[1]->pid = 300;
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_MEDIUM);
	end(&t);

	begin(&t); /* who answers was not looked at in this wait */
	keep(&t, PID, WIRE_WAIT_QUEUE, "?u1-2", RECV);
	keep(&t, 201, WIRE_WAIT_SOCKET, "!u1-2 ?l/run/s", "");
	t.e.thread[1]->pid = 300;
	see(&t, 300, -500000, WIRE_WAIT_NONE, "!u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t); /* another one of it sleeps, and watches over the others */
	keep(&t, PID, WIRE_WAIT_QUEUE, "?u1-2", RECV);
	keep(&t, 201, WIRE_WAIT_SLEEP, "!u1-2", MAKE);
	t.e.thread[1]->pid = 300;
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_MEDIUM);
	end(&t);

	begin(&t); /* nobody but one that sleeps: a slow source */
	keep(&t, PID, WIRE_WAIT_QUEUE, "?u1-2", RECV);
	keep(&t, 201, WIRE_WAIT_SLEEP, "!u1-2", MAKE);
	t.e.thread[1]->pid = 300;
	keep(&t, 300, WIRE_WAIT_LOCK, "!u1-2", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	end(&t);

	/*
	 * a process that merely works meanwhile has no part in it; torch's loader knows its workers
	 */
	begin(&t);
	keep(&t, PID, WIRE_WAIT_QUEUE, "?p5", RECV);
	keep(&t, 300, WIRE_WAIT_READ, "!p5", MAKE);
	keep(&t, 301, WIRE_WAIT_NONE, "", MAKE);
	t.e.thread[2]->role = WIRE_ROLE_WORKER;
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	end(&t);
	begin(&t);
	keep(&t, PID, WIRE_WAIT_QUEUE, "?p5", NEXT);
	keep(&t, 300, WIRE_WAIT_READ, "!p5", MAKE);
	keep(&t, 301, WIRE_WAIT_NONE, "", MAKE);
	t.e.thread[2]->role = WIRE_ROLE_WORKER;
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_MEDIUM);
	end(&t);

	begin(&t); /* of our own process each holds for itself */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SLEEP, "!o1", MAKE);
	keep(&t, 102, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	EXPECT_UINT(t.b.votes, 12);
	end(&t);

	begin(&t); /* one is done, another still makes */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	keep(&t, 101, WIRE_WAIT_READ, "!o1", MAKE);
	see(&t, 102, 0, WIRE_WAIT_READ, "!o1", MAKE);
	see(&t, 102, 1000, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1 ~o2", GET);
	see(&t, 101, 0, WIRE_WAIT_READ, "!o1", MAKE);
	see(&t, 101, 1000, WIRE_WAIT_LOCK, "!o1 ?o2", TASKS);
	EXPECT_ALL(&t, ANA_INPUT_PIPELINE, ANA_MEDIUM);
	end(&t);
}

/* Results went out before the wait, and what comes back over a socket is their answer. */
static void test_answer(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	t.given.answer = true;
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t); /* who brings it was seen at a pipe a moment before, and at work now */
	t.given.answer = true;
	see(&t, 101, -500000, WIRE_WAIT_PIPE, "?p1 !o1", RECV);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t); /* it feeds another process's queue, though it was not seen at that */
	t.given.answer = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_LOCK, "~o1", FEED);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t); /* a queue between processes is a pipe */
	t.given.answer = true;
	see(&t, 101, -500000, WIRE_WAIT_QUEUE, "!o1", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t); /* another process makes it */
	t.given.answer = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?f1:2:3", RESULT);
	keep(&t, 300, WIRE_WAIT_NONE, "!f1:2:3", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t);
	t.given.answer = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", RESULT);
	keep(&t, 101, WIRE_WAIT_NONE, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);
}

/* Behind the queue somebody waits for requests. */
/*
 * A queue of multiprocessing with nobody behind it asks others at its place, where the GPU is fed.
 */
static void test_queue_alone(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_QUEUE, "?u1-2", RECV);
	EXPECT(host_of(&t, 0, 4000));
	EXPECT(t.b.asks && t.b.place);
	t.given.fed = false;
	EXPECT(host_of(&t, 0, 4000));
	EXPECT(!t.b.asks);
	t.given.fed = true;
	keep(&t, 201, WIRE_WAIT_NONE, "!u1-2", MAKE);
	EXPECT(host_of(&t, 0, 4000));
	EXPECT(!t.b.asks && t.b.place && t.b.chained);
	end(&t);
}

/* What is given to who waits for it is no writing; what is sent elsewhere is. */
static void test_delivery(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	see(&t, 201, -1000, WIRE_WAIT_PIPE, ">p1", "");
	keep(&t, PID, WIRE_WAIT_PIPE, "?p1", USER);
	keep(&t, 201, WIRE_WAIT_NONE, "!p1", "");
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t);
	t.given.at_once = true;
	see(&t, 201, -1000, WIRE_WAIT_PIPE, ">p2 !p1", "send\t" LIB "socket.py\t2");
	keep(&t, PID, WIRE_WAIT_PIPE, "?p1", USER);
	keep(&t, 201, WIRE_WAIT_NONE, "!p1", "");
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);
}

/* A connection that others asked for brings requests, unless one of the job is at the other end. */
static void test_callers(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 ?u1-2 ?a/run/s", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* it was asked for by us */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 ?u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	/* a short one, of which nothing is told; the one before it was asked for by others */
	begin(&t);
	see(&t, 102, -3000, WIRE_WAIT_SOCKET, "?u1-2 ?a/run/s", MAKE);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* a server's thread and its client, a child of ours */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 ?t1:1-2:2 ?a1:1", MAKE);
	keep(&t, 201, WIRE_WAIT_NONE, "!t1:1-2:2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);
}

/* A child that sends over TCP what the trainer copies; and a word of one that computes, too. */
static void test_sender(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d2:2", USER);
	keep(&t, 201, WIRE_WAIT_NONE, "!t1:1-2:2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	t.given.answer = true;
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t); /* nobody of the job: we asked for it, or the other end did */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d2:2", USER);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	t.given.answer = true;
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?a1:1 ?d2:2", USER);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2", USER);
	keep(&t, 201, WIRE_WAIT_NONE, "!t1:1-2:2", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);
}

static void test_requests(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 ?l0.0.0.0:80", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);
}

/* Who is seen to wait for work there tells of waits at that place of which nothing is seen. */
static void test_served(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_SOCKET, "", LOOP);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	EXPECT(t.b.asks && !t.b.served && t.b.place);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_SOCKET, "?l0.0.0.0:80", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	EXPECT(!t.b.asks && t.b.served && t.b.place);
	t.given.fed = false;
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	EXPECT(!t.b.served && !t.b.place);
	end(&t);

	begin(&t); /* of whom the connections are is not yet known: others there may tell */
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", USER);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l/tmp/feed ?s7 =io ~n40", "");
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	EXPECT(t.b.asks && !t.b.served);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", USER);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l/tmp/feed =io ~n40", "");
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	EXPECT(!t.b.asks && t.b.served);
	end(&t);
}

static bool always_syncs(void *arg, uint32_t tid, int64_t t, uint32_t *class)
{
	(void)arg, (void)t;
	*class = ANA_HOST_SYNC;
	return tid == 101;
}

static void test_driver(void)
{
	struct bench t;

	begin(&t);
	t.e.in_call = always_syncs;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SLEEP, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	keep(&t, 102, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);
}

/* What comes through a pipe is a word of somebody who sleeps, or the work of one who works. */
static void test_word(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_PIPE, "?p7", USER);
	keep(&t, 300, WIRE_WAIT_SLEEP, "!p7", MAKE);
	t.given.at_once = true;
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	t.given.read = ANA_READ_DATA;
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	t.given.read = ANA_READ_WORDS;
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	keep(&t, 301, WIRE_WAIT_NONE, "!p7", MAKE);
	EXPECT(host_of(&t, 0, 4000) && !t.b.ns[ANA_HOST_WAIT]);
	end(&t);
}

#define REPLY                                                                         \
	"readinto\t" LIB "socket.py\t706\n_read_status\t" LIB "http/client.py\t279\n" \
	"getresponse\t" LIB "http/client.py\t1374\n" USER
#define LAUNCH \
	"launch\t/home/me/gpu.py\t5\nloop\t/home/me/train.py\t%d\nmain\t/home/me/train.py\t90"

/* Twice in turn: it waits for a reply, then gives the GPU work at @line of the same function. */
static void see_turns(struct bench *t, int line)
{
	char launch[128];
	int64_t us;

	snprintf(launch, sizeof(launch), LAUNCH, line);
	for (us = -8000; us < 0; us += 4000) {
		see(t, PID, us, WIRE_WAIT_SOCKET, "?t1:2-3:4", REPLY);
		see(t, PID, us + 1000, WIRE_WAIT_SOCKET, "?t1:2-3:4", REPLY);
		see(t, PID, us + 3000, WIRE_WAIT_GPU, "", launch);
	}
}

/*
 * What comes back over a connection for what was sent there: little, and behind the lines that give
 * the GPU work.
 */
static void test_reply(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = t.given.made = true;
	see_turns(&t, 30);
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:2-3:4", REPLY);
	keep(&t, 300, WIRE_WAIT_NONE, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t); /* before them it is what is copied next, however small each answer is */
	t.given.at_once = t.given.made = true;
	see_turns(&t, 50);
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:2-3:4", REPLY);
	keep(&t, 300, WIRE_WAIT_NONE, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t); /* that is much */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:2-3:4 ?d3:4", REPLY);
	keep(&t, 300, WIRE_WAIT_NONE, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);

	begin(&t); /* an iterator's next item */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:2-3:4", "recv_into\t" LIB "socket.py\t1200\n" TURN);
	keep(&t, 300, WIRE_WAIT_NONE, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);
}

#define HANDLER                                                                             \
	"readinto\t" LIB "socket.py\t706\nhandle_one_request\t" LIB "http/server.py\t400\n" \
	"run\t" LIB "threading.py\t975"

/*
 * A server of the job's that waits for the next word of who waits for it has no requests, nor does
 * it prove that there are none: who answers was not seen. One that others may call proves it.
 */
static void test_called(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = t.given.made = true;
	see_turns(&t, 50); /* before the copy, where somebody outside would be the input */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", REPLY);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?a1:1", HANDLER);
	see(&t, 300, 3900, WIRE_WAIT_OTHER, "!t1:1-2:2", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	end(&t);

	begin(&t); /* behind a thread that is its client */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", TURN);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 ?u1-2", MAKE);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?u1-2 ?a/run/s", HANDLER);
	see(&t, 300, 3900, WIRE_WAIT_OTHER, "!u1-2", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t); /* beside one that works for it: that is who is waited for */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 ?u1-2", MAKE);
	keep(&t, 201, WIRE_WAIT_SOCKET, "?u1-2 ?a/run/s", HANDLER);
	see(&t, 201, 3900, WIRE_WAIT_OTHER, "!u1-2", HANDLER);
	t.e.thread[2]->pid = 300;
	keep(&t, 300, WIRE_WAIT_NONE, "!u1-2", MAKE);
	EXPECT(host_of(&t, 0, 4000));
	EXPECT(t.b.ns[ANA_INPUT_PREP] && !t.b.ns[ANA_HOST_NO_WORK]);
	end(&t);

	begin(&t); /* it waits for requests of others, and hands them to us */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2", REPLY);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?t7:7-8:8 ?a7:7 !t1:1-2:2", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* for those and for ours at once */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2", REPLY);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?t7:7-8:8 ?t1:1-2:2 ?a7:7", HANDLER);
	see(&t, 300, 3900, WIRE_WAIT_OTHER, "!t1:1-2:2", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* for ours and at another socket, of which nothing is known */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2", REPLY);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?s7 ?a1:1", HANDLER);
	see(&t, 300, 3900, WIRE_WAIT_OTHER, "!t1:1-2:2", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* two of one process at the same end */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?u1-2 ?o1", REPLY);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?u1-2 ?a/run/s !o1", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* it sleeps, and merely holds the connection */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?u1-2", REPLY);
	keep(&t, 300, WIRE_WAIT_SLEEP, "?u1-2 ?a/run/s", HANDLER);
	see(&t, 300, 3900, WIRE_WAIT_SLEEP, "~u1-2", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* or for more who call */
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2", REPLY);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?a1:1 ?l0.0.0.0:80", HANDLER);
	see(&t, 300, 3900, WIRE_WAIT_OTHER, "!t1:1-2:2", HANDLER);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);
}

/*
 * What stands before the trainer and hands on the requests of others may look out for the trainer's
 * next word, too: who waits at the other end is who would end the wait.
 */
static void test_front(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?l7:7 ?t1:1-2:2 ?t7:7-8:8", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* it waits for nothing else; nor is it somebody outside who gives */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?t1:1-2:2", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	EXPECT(t.b.asks);
	end(&t);

	begin(&t); /* a thread of that process is at work meanwhile */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?l7:7 ?t1:1-2:2 ?t7:7-8:8", LOOP);
	keep(&t, 301, WIRE_WAIT_NONE, "", MAKE);
	t.e.thread[2]->pid = 300;
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin(&t); /* two of one process wait at one end */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	keep(&t, 101, WIRE_WAIT_SOCKET, "?l7:7 ?t1:1-2:2 ?t7:7-8:8", LOOP);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* the other end was seen after the wait */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	see(&t, 300, 9000, WIRE_WAIT_SOCKET, "?l7:7 ?t1:1-2:2 ?t7:7-8:8", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	EXPECT(t.b.asks);
	end(&t);

	begin(&t); /* one that makes goes before who waits there, too */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	keep(&t, 300, WIRE_WAIT_SOCKET, "?l7:7 ?t1:1-2:2 ?t7:7-8:8", LOOP);
	keep(&t, 301, WIRE_WAIT_NONE, "!t1:1-2:2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	end(&t);
}

/* A stack with which somebody listens, or waits for a caller, at any time of the run. */
static void test_front_unnamed(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	keep(&t, 300, WIRE_WAIT_SOCKET, "!t1:1-2:2 ?s5 ?s6", LOOP);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:1-2:2 ?d1:1", USER);
	keep(&t, 300, WIRE_WAIT_SOCKET, "!t1:1-2:2 ?s5 ?s6", LOOP);
	see(&t, 300, 900000, WIRE_WAIT_SOCKET, "?l7:7 ?t7:7-8:8", LOOP);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	EXPECT(t.b.asks);
	end(&t);

	begin(&t); /* of connections that it knows the other end tells */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", EVENT);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1 ?t3:3-4:4", LOOP);
	see(&t, 101, 900000, WIRE_WAIT_SOCKET, "?l7:7 ?t7:7-8:8", LOOP);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);
}

/* It gives at that end, too: who waits for our next word there waits in no circle. */
static void test_called_no_circle(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?u1-2", USER);
	see(&t, 300, 0, WIRE_WAIT_SOCKET, "?u1-2 ?a/run/s", MAKE);
	see(&t, 300, 1000, WIRE_WAIT_LOCK, "?o7 !u1-2", GET);
	see(&t, 300, 2000, WIRE_WAIT_LOCK, "?o7 !u1-2", GET);
	EXPECT_ALL(&t, ANA_HOST_NET, ANA_HIGH);
	EXPECT(t.b.asks);
	end(&t);
}

/*
 * A line that reads from a socket before the copy takes requests where connections are known to be
 * others' calls: what it reads while nothing is known yet may be the same.
 */
static void test_reads_unknown(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = t.given.made = t.given.fed = true;
	see_turns(&t, 50);
	keep(&t, PID, WIRE_WAIT_SOCKET, "", REPLY);
	EXPECT_ALL(&t, ANA_INPUT_INLINE, ANA_HIGH);
	EXPECT(t.b.asks && t.b.place && !t.b.served);
	end(&t);

	begin(&t); /* data of somebody else: nobody else is asked */
	t.given.at_once = t.given.made = t.given.fed = true;
	see_turns(&t, 50);
	keep(&t, PID, WIRE_WAIT_SOCKET, "?t1:2-3:4", REPLY);
	EXPECT_ALL(&t, ANA_INPUT_INLINE, ANA_HIGH);
	EXPECT(!t.b.asks);
	end(&t);
}

/*
 * Who connected here and rests between what he sends has requests; one who makes it meanwhile
 * feeds.
 */
static void test_visitor(void)
{
	static const char *const at[] = { "?t1:2-3:4 ?a1:2 ?d3:4", "?u1-2 ?a/run/x" };
	static const char *const sends[] = { "!t1:2-3:4", "!u1-2" };
	static const char *const awaits[] = { "?t1:2-3:4", "?u1-2" };
	struct bench t;
	size_t i;

	for (i = 0; i < 2; i++) {
		begin(&t);
		t.given.at_once = true;
		keep(&t, PID, WIRE_WAIT_SOCKET, at[i], USER);
		see(&t, 300, -3000, WIRE_WAIT_SOCKET, awaits[i], MAKE); /* for the answer */
		see(&t, 300, -2000, WIRE_WAIT_SOCKET, awaits[i], MAKE);
		keep(&t, 300, WIRE_WAIT_SLEEP, sends[i], MAKE);
		EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
		end(&t);

		begin(&t); /* a look may find the socket and not what it leads to */
		t.given.at_once = true;
		keep(&t, PID, WIRE_WAIT_SOCKET, at[i], USER);
		see(&t, 300, -3000, WIRE_WAIT_SOCKET, sends[i], MAKE);
		keep(&t, 300, WIRE_WAIT_SOCKET, sends[i], MAKE);
		EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
		end(&t);

		begin(&t); /* of another's it reads */
		t.given.at_once = true;
		keep(&t, PID, WIRE_WAIT_SOCKET, at[i], USER);
		see(&t, 300, -1000, WIRE_WAIT_SOCKET, "?t5:6-7:8", MAKE);
		keep(&t, 300, WIRE_WAIT_SLEEP, sends[i], MAKE);
		EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
		end(&t);

		begin(&t);
		t.given.at_once = true;
		keep(&t, PID, WIRE_WAIT_SOCKET, at[i], USER);
		keep(&t, 300, WIRE_WAIT_READ, sends[i], MAKE);
		EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
		end(&t);
	}

	begin(&t); /* it asked for the connection itself */
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_SOCKET, "?u1-2", USER);
	keep(&t, 300, WIRE_WAIT_SLEEP, "!u1-2", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);
}

/* All of [0, 4000) is told, and has no cause. */
#define EXPECT_UNKNOWN(t)                                                    \
	do {                                                                 \
		EXPECT(host_of(t, 0, 4000));                                 \
		EXPECT_INT((t)->b.ns[ANA_HOST_UNKNOWN], (int64_t)4000 * US); \
	} while (0)

/* The program looks for the next batch in memory that others write, and sleeps in between. */
static void see_polls(struct bench *t, const char *links)
{
	int64_t i;

	for (i = 0; i < 4; i++)
		see_counted(t, PID, i * 1000, WIRE_WAIT_SLEEP, links, "main\t/home/me/train.py\t80",
			    i * 100 + 1, 0);
}

/* Twice it was at that line, of main(), and came to the GPU at another one of it. */
static void begin_polling(struct bench *t, const char *launch)
{
	int64_t us;

	begin(t);
	t->given.at_once = t->given.made = true;
	for (us = -1500; us < -400; us += 500) {
		see(t, PID, us, WIRE_WAIT_SLEEP, "", "main\t/home/me/train.py\t80");
		see(t, PID, us + 100, WIRE_WAIT_GPU, "", launch);
	}
}

static void test_polls_memory(void)
{
	struct bench t;

	begin_polling(&t, "main\t/home/me/train.py\t90");
	see_polls(&t, "?m1a:77");
	keep(&t, 300, WIRE_WAIT_NONE, "~m1a:77", MAKE);
	keep(&t, 301, WIRE_WAIT_NONE, "", MAKE); /* busy, too, but it has not that memory */
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	EXPECT_INT(t.b.paths, 1);
	end(&t);

	begin_polling(
		&t,
		"main\t/home/me/train.py\t90"); /* one look finds it awake at that line, and it hardly ran since */
	see_polls(&t, "?m1a:77");
	see_counted(&t, PID, 3500, WIRE_WAIT_NONE, "", "main\t/home/me/train.py\t80", 400, 0);
	keep(&t, 300, WIRE_WAIT_NONE, "~m1a:77", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_LOW);
	end(&t);

	begin_polling(&t,
		      "main\t/home/me/train.py\t90"); /* one look does not tell: its place may */
	see_counted(&t, PID, 1000, WIRE_WAIT_SLEEP, "?m1a:77", "main\t/home/me/train.py\t80", 7, 0);
	keep(&t, 300, WIRE_WAIT_NONE, "~m1a:77", MAKE);
	EXPECT_UNKNOWN(&t);
	EXPECT(t.b.asks && t.b.place);
	end(&t);

	begin_polling(&t,
		      "main\t/home/me/train.py\t90"); /* who has it does nothing: nobody is known */
	see_polls(&t, "?m1a:77");
	keep(&t, 300, WIRE_WAIT_SLEEP, "~m1a:77", MAKE);
	EXPECT_UNKNOWN(&t);
	end(&t);

	begin_polling(&t,
		      "main\t/home/me/train.py\t90"); /* it sleeps once, for a time of its own */
	keep(&t, PID, WIRE_WAIT_SLEEP, "?m1a:77", "main\t/home/me/train.py\t80");
	keep(&t, 300, WIRE_WAIT_NONE, "~m1a:77", MAKE);
	EXPECT_UNKNOWN(&t);
	end(&t);

	begin_polling(&t, "main\t/home/me/train.py\t70"); /* behind the step: no batch */
	see_polls(&t, "?m1a:77");
	keep(&t, 300, WIRE_WAIT_NONE, "~m1a:77", MAKE);
	EXPECT_UNKNOWN(&t);
	EXPECT(!t.b.asks);
	end(&t);

	begin(&t); /* it was not seen to come to the GPU from there: its place may tell */
	t.given.at_once = t.given.made = true;
	see_polls(&t, "?m1a:77");
	keep(&t, 300, WIRE_WAIT_NONE, "~m1a:77", MAKE);
	EXPECT_UNKNOWN(&t);
	end(&t);
}

/*
 * The program sleeps and looks, for files perhaps, of which it reads as much as it copies: one
 * other process at work is whom it may wait for.
 */
static void test_polls_files(void)
{
	static const char launch[] = "main\t/home/me/train.py\t90";
	struct bench t;

	begin_polling(&t, launch);
	t.given.read = ANA_READ_DATA;
	see_polls(&t, "");
	keep(&t, 300, WIRE_WAIT_READ, "", MAKE);
	keep(&t, 301, WIRE_WAIT_LOCK, "", MAKE); /* it does nothing */
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_LOW);
	end(&t);

	begin_polling(&t, launch); /* it reads a word: a turn, a barrier */
	t.given.read = ANA_READ_WORDS;
	see_polls(&t, "");
	keep(&t, 300, WIRE_WAIT_READ, "", MAKE);
	EXPECT_UNKNOWN(&t);
	end(&t);

	begin_polling(&t, launch); /* which of two it is nobody knows */
	t.given.read = ANA_READ_DATA;
	see_polls(&t, "");
	keep(&t, 300, WIRE_WAIT_READ, "", MAKE);
	keep(&t, 301, WIRE_WAIT_NONE, "", MAKE);
	EXPECT_UNKNOWN(&t);
	end(&t);

	begin_polling(&t, launch); /* threads of its own would show what joins them */
	t.given.read = ANA_READ_DATA;
	see_polls(&t, "");
	keep(&t, 110, WIRE_WAIT_NONE, "", MAKE);
	EXPECT_UNKNOWN(&t);
	end(&t);

	begin_polling(&t, launch); /* it sleeps once */
	t.given.read = ANA_READ_DATA;
	keep(&t, PID, WIRE_WAIT_SLEEP, "", "main\t/home/me/train.py\t80");
	keep(&t, 300, WIRE_WAIT_READ, "", MAKE);
	EXPECT_UNKNOWN(&t);
	end(&t);
}

/* A thread of the trainer's accepted the connection, and hands on what comes there. */
static void test_visitor_of_thread(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 110, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4 ?a1:2", MAKE);
	keep(&t, 111, WIRE_WAIT_SOCKET, "!o1 ?t1:2-5:6 ?a1:2", MAKE);
	keep(&t, 300, WIRE_WAIT_SLEEP, "!t1:2-3:4", MAKE);
	see(&t, 301, -3000, WIRE_WAIT_SOCKET, "?t1:2-5:6", MAKE); /* for the answer */
	see(&t, 301, -2000, WIRE_WAIT_SOCKET, "?t1:2-5:6", MAKE);
	keep(&t, 301, WIRE_WAIT_SLEEP, "!t1:2-5:6", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* it computes a little of what it hands on */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	see(&t, 110, -500, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4 ?a1:2", MAKE);
	see_counted(&t, 110, 0, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4 ?a1:2", MAKE, 1, 0);
	see_counted(&t, 110, 1000, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4 ?a1:2", MAKE, 100001, 0);
	see_counted(&t, 110, 4500, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4 ?a1:2", MAKE, 200001, 0);
	keep(&t, 300, WIRE_WAIT_SLEEP, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_HOST_NO_WORK, ANA_HIGH);
	end(&t);

	begin(&t); /* one of them sends what it reads */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 110, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4 ?a1:2", MAKE);
	keep(&t, 300, WIRE_WAIT_READ, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* somebody else gives, too, whom no one visits */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 110, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4 ?a1:2", MAKE);
	keep(&t, 300, WIRE_WAIT_SLEEP, "!t1:2-3:4", MAKE);
	keep(&t, 111, WIRE_WAIT_SLEEP, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* who is visited is another process: a cluster's scheduler, and its worker */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 110, WIRE_WAIT_SOCKET, "!o1 ?t1:2-7:8", MAKE);
	keep(&t, 300, WIRE_WAIT_SOCKET, "!t1:2-7:8 ?t1:2-3:4 ?a1:2", MAKE);
	keep(&t, 301, WIRE_WAIT_SLEEP, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);

	begin(&t); /* the thread asked for the connection itself */
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 110, WIRE_WAIT_SOCKET, "!o1 ?t1:2-3:4", MAKE);
	keep(&t, 300, WIRE_WAIT_SLEEP, "!t1:2-3:4", MAKE);
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	end(&t);
}

/*
 * The same of multiprocessing's pipes, where the processes below tell; torch's loader's are its
 * own.
 */
static void test_word_of_child(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_QUEUE, "", RECV);
	keep(&t, 300, WIRE_WAIT_SLEEP, "", MAKE);
	t.e.thread[1]->role = WIRE_ROLE_WORKER;
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	t.given.read = ANA_READ_ONE_LOOK;
	EXPECT(!host_of(&t, 0, 4000));
	t.given.read = ANA_READ_WORDS;
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	EXPECT(t.b.served && t.b.place); /* others there may wait for the same */
	end(&t);

	begin(&t); /* one look at who wakes up is no work */
	keep(&t, PID, WIRE_WAIT_QUEUE, "", RECV);
	see(&t, 300, 2000, WIRE_WAIT_NONE, "", MAKE);
	t.e.thread[1]->role = WIRE_ROLE_WORKER;
	t.given.read = ANA_READ_WORDS;
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_QUEUE, "", RECV);
	keep(&t, 300, WIRE_WAIT_READ, "", MAKE);
	t.e.thread[1]->role = WIRE_ROLE_WORKER;
	t.given.read = ANA_READ_WORDS;
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_QUEUE, "", NEXT);
	keep(&t, 300, WIRE_WAIT_SLEEP, "", MAKE);
	t.e.thread[1]->role = WIRE_ROLE_WORKER;
	t.given.read = ANA_READ_WORDS;
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_MEDIUM);
	end(&t);
}

/* A submitter without Python idles; who hands it work waits for a batch. */
static void test_feeder(void)
{
	struct wire_sample s;
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "", "");
	keep(&t, 101, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 102, WIRE_WAIT_READ, "!o1", MAKE);
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "", "");
	keep(&t, 101, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 102, WIRE_WAIT_READ, "!o1", MAKE);
	s = t.e.thread[1]->sample[3];
	s.role = WIRE_ROLE_FEEDER;
	s.t_ns++;
	REQUIRE(!ana_evidence_add_sample(&t.e, &s, INT64_MIN));
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	EXPECT(t.b.by_feeder && !t.b.asks);
	t.given.fed = false;
	EXPECT(host_of(&t, 0, 4000));
	EXPECT(!t.b.by_feeder);
	end(&t);
}

/*
 * A thread without Python waits, and nobody was looked at meanwhile: what the others at work there
 * tell.
 */
static void test_feeder_not_seen(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "", "");
	EXPECT(host_of(&t, 0, 4000));
	EXPECT(t.b.asks && t.b.place == ANA_PLACE_NATIVE && !t.b.by_feeder);
	t.given.fed = false;
	EXPECT_ALL(&t, ANA_HOST_WAIT, ANA_HIGH);
	EXPECT(!t.b.asks);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?n40", "");
	EXPECT(host_of(&t, 0, 4000));
	EXPECT(t.b.asks);
	end(&t);
}

/*
 * A maker without a line of the user's: theirs that waits is told, what the maker does beside it,
 * and the library.
 */
static void test_line(void)
{
	struct ana_hotspots s = { 0 };
	const struct ana_hotspot *x;
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_LOCK, "!o1 ?o2",
	     "get\t" LIB "queue.py\t171\nrun\t" PACKAGES "zarr/core/sync.py\t5");
	keep(&t, 102, WIRE_WAIT_READ, "!o2",
	     "read_bytes\t" LIB "pathlib.py\t1052\nrun\t" LIB "threading.py\t975");
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	REQUIRE(s.count == 1);
	x = &s.row[0].hotspot;
	EXPECT_STR(x->file, "/home/me/train.py");
	EXPECT(x->line == 40 && x->role == WIRE_ROLE_PRODUCER && x->wait == WIRE_WAIT_READ);
	EXPECT_STR(x->leaf, "read_bytes\t" LIB "pathlib.py");
	EXPECT_INT(x->feeder, FACTS_FEEDER_ZARR);
	ana_hotspots_fini(&s);
	end(&t);

	begin(&t); /* nobody has one */
	s = (struct ana_hotspots){ 0 };
	keep(&t, PID, WIRE_WAIT_LOCK, "?q1", "get\t" LIB "queue.py\t171");
	keep(&t, 102, WIRE_WAIT_READ, "!q1", "read_bytes\t" LIB "pathlib.py\t1052");
	EXPECT_ALL(&t, ANA_INPUT_FETCH, ANA_HIGH);
	REQUIRE(!ana_hotspots_add(&s, &t.e, &t.b));
	REQUIRE(s.count == 1);
	EXPECT(s.row[0].hotspot.line == 1052);
	ana_hotspots_fini(&s);
	end(&t);
}

/*
 * A thread prepares and copies to the GPU itself; another waits for it and gives the GPU the rest.
 */
static void test_copier(void)
{
	struct bench t;

	begin(&t);
	t.given.at_once = true;
	keep(&t, PID, WIRE_WAIT_NONE, "!o1", MAKE);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o1", GET);
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_HIGH);
	t.given.left = PID;
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_HIGH);
	t.given.left = 101;
	EXPECT_ALL(&t, ANA_INPUT_PREP, ANA_HIGH);
	EXPECT_INT(t.b.path[0].link[0].thread->tid, 101);
	EXPECT_INT(t.b.path[0].link[1].thread->tid, PID);
	t.given.at_once = false; /* it ends with a kernel of the one that was waited for */
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_HIGH);
	end(&t);

	begin(&t); /* that one waits for somebody else */
	t.given.at_once = true;
	t.given.left = 101;
	keep(&t, PID, WIRE_WAIT_NONE, "!o1", MAKE);
	keep(&t, 101, WIRE_WAIT_LOCK, "?o2", GET);
	keep(&t, 102, WIRE_WAIT_READ, "!o2", MAKE);
	EXPECT_ALL(&t, ANA_HOST_DISPATCH, ANA_HIGH);
	end(&t);
}

/* ---- torch's loader -------------------------------------------------------------------------- */

/* Its range says that this is a wait for a batch; the data set has a thread of its own. */
static void test_loader(void)
{
	struct bench t;

	begin(&t);
	keep(&t, PID, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1", MAKE);
	ana_cause_begin(&t.b, 0, 4000 * US, ANA_INPUT_UNKNOWN, ANA_HIGH, true);
	EXPECT(ana_cause_wait(&t.b, &t.e, PID));
	EXPECT_INT(t.b.ns[ANA_INPUT_FETCH], 4000 * US);
	end(&t);

	begin(&t);
	keep(&t, PID, WIRE_WAIT_QUEUE, "", USER);
	keep(&t, 300, WIRE_WAIT_LOCK, "?o1", GET);
	keep(&t, 101, WIRE_WAIT_SOCKET, "!o1", MAKE);
	t.e.thread[1]->role = WIRE_ROLE_WORKER;
	ana_cause_begin(&t.b, 0, 4000 * US, ANA_INPUT_UNKNOWN, ANA_HIGH, true);
	EXPECT(ana_cause_wait(&t.b, &t.e, PID));
	EXPECT_INT(t.b.ns[ANA_INPUT_FETCH], 4000 * US);
	end(&t);
}

static const struct t_case cases[] = {
	T_CASE(test_words),
	T_CASE(test_takes),
	T_CASE(test_iterators),
	T_CASE(test_asks_late),
	T_CASE(test_producer),
	T_CASE(test_nobody),
	T_CASE(test_depth),
	T_CASE(test_circles),
	T_CASE(test_circle_is_told),
	T_CASE(test_nap_in_circle),
	T_CASE(test_as_it_was_last),
	T_CASE(test_most_have_none),
	T_CASE(test_socket_of_others),
	T_CASE(test_socket_of_givers),
	T_CASE(test_reply),
	T_CASE(test_visitor),
	T_CASE(test_polls_memory),
	T_CASE(test_polls_files),
	T_CASE(test_visitor_of_thread),
	T_CASE(test_sample_before),
	T_CASE(test_is_for_nobody),
	T_CASE(test_unnamed),
	T_CASE(test_four_before),
	T_CASE(test_gives),
	T_CASE(test_outside),
	T_CASE(test_far),
	T_CASE(test_no_input),
	T_CASE(test_writer),
	T_CASE(test_event),
	T_CASE(test_answer),
	T_CASE(test_called),
	T_CASE(test_front),
	T_CASE(test_front_unnamed),
	T_CASE(test_called_no_circle),
	T_CASE(test_requests),
	T_CASE(test_driver),
	T_CASE(test_feeder),
	T_CASE(test_feeder_not_seen),
	T_CASE(test_copier),
	T_CASE(test_loader),
	T_CASE(test_helpers),
	T_CASE(test_served),
	T_CASE(test_word),
	T_CASE(test_word_of_child),
	T_CASE(test_delivery),
	T_CASE(test_callers),
	T_CASE(test_anew),
	T_CASE(test_lost),
	T_CASE(test_anew_at_once),
	T_CASE(test_held_by_idle),
	T_CASE(test_comes_back),
	T_CASE(test_waits_for_all_but_unseen),
	T_CASE(test_line),
	T_CASE(test_seen_running),
	T_CASE(test_sender),
	T_CASE(test_queue_alone),
	T_CASE(test_reads_unknown),
	T_CASE(test_messenger),
	T_CASE(test_messenger_loop),
	T_CASE(test_beyond),
	T_CASE(test_maker_wakes_late),
	T_CASE(test_nap),
	T_CASE(test_wakes_late),
	T_CASE(test_lock_of_makers),
	T_CASE(test_makers_by_turns),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
