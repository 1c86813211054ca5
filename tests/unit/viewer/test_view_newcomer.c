/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gap that ends with the work of a thread that had not begun (LEDGER.md, 6): whose samples tell
 * that nothing was asked for, and whose say that it may be otherwise. All rows are made by hand,
 * times in ms, the piece is [1000, 1100).
 */
#include "harness.h"
#include "analysis/evidence/newcomer.h"

#define PID 100
#define MS INT64_C(1000000)
#define REQUEST 150 /* the thread whose work ends the gap */

#define SERVES \
	"select\t/usr/lib/python3.11/selectors.py\t415\nserve_forever\t/usr/lib/python3.11/socketserver.py\t232"
#define POLLS "select\t/usr/lib/python3.11/selectors.py\t468\nmain\t/home/me/serve.py\t9"
#define LOOP "main\t/home/me/train.py\t9"
#define LISTENS "?l127.0.0.1:8000"

struct bench {
	struct ana_evidence e;
	struct wire_strtab *names;
	struct ana_cause b;
};

static void begin(struct bench *t)
{
	memset(t, 0, sizeof(*t));
	REQUIRE(t->names = wire_strtab_new());
	ana_evidence_bare(&t->e, t->names);
	t->e.pid = PID;
}

static void end(struct bench *t)
{
	ana_cause_fini(&t->b);
	ana_evidence_fini(&t->e);
	wire_strtab_free(t->names);
}

struct look {
	uint32_t tid;
	int64_t ms;
	enum wire_role role;
	enum wire_wait wait; /* none: it runs */
	const char *stack, *links;
	uint64_t cpu; /* us */
	bool counted; /* in a census */
};

static uint32_t name(struct bench *t, const char *text)
{
	return text ? wire_strtab_intern(t->names, text, strlen(text)) : 0;
}

static void see(struct bench *t, const struct look *l)
{
	const struct wire_sample s = {
		.t_ns = l->ms * MS,
		.cpu_ns = l->cpu * 1000,
		.period_ns = (uint32_t)(10 * MS),
		.pid = PID,
		.tid = l->tid,
		.stack = name(t, l->stack),
		.links = name(t, l->links),
		.role = (uint8_t)l->role,
		.state = l->wait ? WIRE_STATE_SLEEPING : WIRE_STATE_RUNNING,
		.wait = (uint8_t)l->wait,
		.flags = l->counted ? WIRE_SAMPLE_FL_CENSUS : 0,
	};

	REQUIRE(!ana_evidence_foresee(&t->e, &s));
	REQUIRE(!ana_evidence_add_sample(&t->e, &s, INT64_MIN));
}

/* The same thread at 980, before the piece, and at three instants within it. */
static void watch(struct bench *t, struct look l, uint64_t runs)
{
	static const int64_t at[] = { 980, 1010, 1040, 1080 };
	size_t i;

	for (i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		l.ms = at[i];
		see(t, &l);
		l.cpu += runs;
	}
}

static const struct look server = {
	PID, 0, WIRE_ROLE_SUBMITTER, WIRE_WAIT_SOCKET, SERVES, LISTENS, 50000, false
};
static const struct look trainer = { PID,   0,	  WIRE_ROLE_SUBMITTER, WIRE_WAIT_SLEEP, LOOP, NULL,
				     50000, false };

static bool told(struct bench *t)
{
	ana_cause_begin(&t->b, 1000 * MS, 1100 * MS, ANA_HOST_UNKNOWN, ANA_NONE, false);
	return ana_newcomer_cause(&t->b, &t->e, REQUEST);
}

#define EXPECT_NO_WORK(t)                                                    \
	do {                                                                 \
		EXPECT(told(t));                                             \
		EXPECT_INT((t)->b.ns[ANA_HOST_NO_WORK], 100 * MS);           \
		EXPECT_INT((t)->b.confidence[ANA_HOST_NO_WORK], ANA_MEDIUM); \
	} while (0)

static void test_who_has_not_begun(void)
{
	struct bench t;
	struct look l = {
		REQUEST, 1050, WIRE_ROLE_SUBMITTER, WIRE_WAIT_NONE, LOOP, NULL, 1, false
	};

	begin(&t);
	EXPECT(ana_newcomer(&t.e, REQUEST, PID, 1000 * MS));
	EXPECT(!ana_newcomer(&t.e, REQUEST, REQUEST, 1000 * MS)); /* it gave work before */
	EXPECT(!ana_newcomer(&t.e, 0, PID, 1000 * MS));
	see(&t, &l);
	EXPECT(ana_newcomer(&t.e, REQUEST, PID, 1000 * MS));
	EXPECT(!ana_newcomer(&t.e, REQUEST, PID, 1051 * MS)); /* it was seen before */
	end(&t);
}

static void test_a_server(void)
{
	struct bench t;
	struct look polls = server;

	begin(&t);
	EXPECT(!told(&t)); /* nobody was looked at */
	watch(&t, server, 100);
	EXPECT_NO_WORK(&t);
	end(&t);

	begin(&t);
	polls.stack = POLLS; /* its own loop: by the socket */
	watch(&t, polls, 100);
	EXPECT_NO_WORK(&t);
	end(&t);

	begin(&t);
	polls.links = NULL; /* a loop of its own around nothing that listens */
	watch(&t, polls, 100);
	EXPECT(!told(&t));
	end(&t);
}

/* A server of metrics beside a loop that starts a thread for each step. */
static void test_a_loop_beside_a_server(void)
{
	struct bench t;
	struct look metrics = server;

	metrics.tid = 120;
	metrics.role = WIRE_ROLE_FEEDER;
	begin(&t);
	watch(&t, metrics, 100);
	watch(&t, trainer, 10); /* it wakes up between */
	EXPECT(!told(&t));
	end(&t);

	begin(&t); /* a thread that never ran started nobody */
	watch(&t, metrics, 100);
	see(&t, &(struct look){ PID, 600, WIRE_ROLE_SUBMITTER, WIRE_WAIT_SLEEP, LOOP, NULL, 50000,
				false });
	watch(&t, trainer, 0);
	EXPECT_NO_WORK(&t);
	end(&t);

	begin(&t); /* one that was not looked at before may have started the last one */
	watch(&t, metrics, 100);
	see(&t, &(struct look){ PID, 601, WIRE_ROLE_SUBMITTER, WIRE_WAIT_SLEEP, LOOP, NULL, 50000,
				false });
	watch(&t, trainer, 0);
	EXPECT(!told(&t));
	end(&t);

	begin(&t); /* one that was seen once may have run */
	watch(&t, metrics, 100);
	see(&t, &(struct look){ PID, 1080, WIRE_ROLE_SUBMITTER, WIRE_WAIT_SLEEP, LOOP, NULL, 50000,
				false });
	EXPECT(!told(&t));
	end(&t);
}

/* Who answers the request before ends in the gap; one that is seen to the end does not. */
static void test_the_request_before(void)
{
	struct bench t;
	struct look answers = { 149, 1005, WIRE_ROLE_SUBMITTER, WIRE_WAIT_NONE, LOOP, NULL,
				100, false };

	begin(&t);
	see(&t, &answers);
	watch(&t, server, 100);
	EXPECT_NO_WORK(&t);
	end(&t);

	begin(&t);
	watch(&t, server, 100);
	answers.ms = 1080;
	see(&t, &answers);
	EXPECT(!told(&t));
	end(&t);
}

/* The thread itself, before it gives its work: that is not the time of those who wait. */
static void test_from_its_first_sample(void)
{
	struct bench t;
	struct look begun = { REQUEST, 1070, WIRE_ROLE_FEEDER, WIRE_WAIT_NONE, LOOP, NULL,
			      100,     false };

	begin(&t);
	watch(&t, server, 100);
	begun.ms = 1081;
	see(&t, &begun);
	EXPECT_NO_WORK(&t); /* most of it */
	end(&t);

	begin(&t);
	see(&t, &(struct look){ REQUEST, 1020, WIRE_ROLE_FEEDER, WIRE_WAIT_NONE, LOOP, NULL, 100,
				false });
	watch(&t, server, 100);
	EXPECT(told(&t));
	EXPECT_INT(t.b.ns[ANA_HOST_NO_WORK], 0);
	EXPECT_INT(t.b.ns[ANA_HOST_UNKNOWN], 100 * MS);
	end(&t);
}

/* Who was counted alone was not looked at; anybody else who was, whatever he was taken for. */
static void test_others(void)
{
	static const enum wire_role role[] = { WIRE_ROLE_OTHER, WIRE_ROLE_PRODUCER,
					       WIRE_ROLE_FEEDER };
	struct look other = trainer;
	struct bench t;
	size_t i;

	for (i = 0; i < sizeof(role) / sizeof(role[0]); i++) {
		other.tid = 130;
		other.role = role[i];
		begin(&t);
		watch(&t, server, 100);
		watch(&t, other, 10);
		EXPECT(!told(&t));
		end(&t);
	}
	begin(&t);
	other.counted = true;
	watch(&t, server, 100);
	watch(&t, other, 10);
	EXPECT_NO_WORK(&t);
	end(&t);
}

int main(void)
{
	return RUN(test_who_has_not_begun, test_a_server, test_a_loop_beside_a_server,
		   test_the_request_before, test_from_its_first_sample, test_others);
}
