/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of many threads are asked about an interval, and whether anybody is: never fewer than those
 * that all samples tell of, as threads come, go and are forgotten.
 */
#include "harness.h"
#include "analysis/evidence/evidence.h"

#define ROWS 20000
#define PID 100
#define MS INT64_C(1000000)
#define THINGS 12

struct made {
	struct ana_evidence e;
	struct wire_strtab *names;
	uint32_t links[2 * THINGS]; /* of each thing: who gives it, who awaits it */
	struct wire_sample row[ROWS];
	size_t rows;
	size_t few; /* questions of which less than half of the threads were asked */
};

static void begin(struct made *m)
{
	char text[32];

	memset(m, 0, sizeof(*m));
	REQUIRE(m->names = wire_strtab_new());
	for (int i = 0; i < 2 * THINGS; i++) {
		snprintf(text, sizeof(text), "%co%d", i < THINGS ? '!' : '?', i % THINGS);
		m->links[i] = wire_strtab_intern(m->names, text, strlen(text));
	}
	ana_evidence_bare(&m->e, m->names);
	m->e.pid = PID;
}

static void end(struct made *m)
{
	ana_evidence_fini(&m->e);
	wire_strtab_free(m->names);
}

/* Where they are many, threads live for a while, some for ever. */
static void add(struct made *m, uint64_t *rnd, int64_t t, uint32_t threads)
{
	const uint32_t base = threads < 100 ? 0 : m->rows / 4 % 1000;
	struct wire_sample *s = &m->row[m->rows++];

	*s = (struct wire_sample){
		.t_ns = t,
		.pid = PID,
		.tid = t_random(rnd) % 3 ? 1 + base + t_random(rnd) % threads
					 : 5000 + t_random(rnd) % 5,
		.state = WIRE_STATE_SLEEPING,
		.links = m->links[t_random(rnd) % (2 * THINGS)],
	};
	REQUIRE(!ana_evidence_add_sample(&m->e, s, t - 500 * MS));
}

static bool is_among(const struct ana_among *among, const struct ana_thread_samples *s)
{
	for (uint32_t i = 0; i < among->threads; i++)
		if (among->thread[i] == s)
			return true;
	return false;
}

static void ask(struct made *m, int64_t a, int64_t b, uint32_t thing)
{
	const struct ana_links *who = ana_linktexts_get(&m->e.links, m->links[THINGS + thing]);
	const bool handed = ana_handed_since(&m->e.handed, who, a);
	const struct ana_among among = ana_evidence_among(&m->e, a, b);

	for (uint32_t i = 1; i < among.threads; i++)
		EXPECT(among.thread[i - 1]->number < among.thread[i]->number);
	m->few += 2 * among.threads < m->e.threads;
	for (size_t i = m->rows; i-- && m->row[i].t_ns >= a;) {
		if (m->row[i].t_ns >= b)
			continue;
		EXPECT(is_among(&among, ana_evidence_thread(&m->e, PID, m->row[i].tid)));
		EXPECT(handed || m->row[i].links != m->links[thing]);
	}
}

static void play(uint32_t threads, int64_t every)
{
	static struct made m;
	uint64_t rnd = t_seed(threads);
	int64_t t = 10000 * MS, a;

	begin(&m);
	while (m.rows < ROWS) {
		t += (int64_t)(t_random(&rnd) % (uint64_t)(2 * every));
		add(&m, &rnd, t, threads);
		a = t - (int64_t)(t_random(&rnd) %
				  (uint64_t)(every < 100 * MS ? 30 * every : 4000 * MS));
		ask(&m, a, a + (int64_t)(t_random(&rnd) % (uint64_t)(20 * every)),
		    (uint32_t)(t_random(&rnd) % THINGS));
	}
	EXPECT((m.few != 0) == (threads >= 100));
	end(&m);
}

static void test_few_threads(void)
{
	play(3, MS);
}

static void test_many_threads(void)
{
	play(100, MS);
	play(700, MS / 10);
}

/* Nobody was seen for so long that all are forgotten but those who come now. */
static void test_long_gaps(void)
{
	play(100, 500 * MS);
}

static const struct t_case cases[] = {
	T_CASE(test_few_threads),
	T_CASE(test_many_threads),
	T_CASE(test_long_gaps),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
