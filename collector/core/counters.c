/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters as lines.
 */
#include "counters.h"

#include <inttypes.h>
#include <sys/resource.h>
#include "log.h"

const int coll_commit_bound_us[COLL_COMMIT_BUCKETS - 1] = {
	1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000, 5000000,
};

void coll_counters_commit(struct coll_counters *c, int64_t ns)
{
	int i = 0;

	while (i < COLL_COMMIT_BUCKETS - 1 && ns > coll_commit_bound_us[i] * INT64_C(1000))
		i++;
	c->commit_bucket[i]++;
	c->commit_ns += (uint64_t)ns;
	c->commits++;
}

static void log_one(const char *name, uint64_t value, const char *what)
{
	if (value)
		coll_log("%-16s %12" PRIu64 "  %s", name, value, what);
}

void coll_counters_log(const struct coll_counters *c, size_t clients, size_t streams)
{
	struct rusage use = { 0 };

	getrusage(RUSAGE_SELF, &use);
	coll_log("status: %zu clients, %zu streams open, peak memory %ld KiB, cpu %ld.%03ld s",
		 clients, streams, use.ru_maxrss, use.ru_utime.tv_sec + use.ru_stime.tv_sec,
		 (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1000 % 1000);
#define COLL_COUNTER_LINE(name, what) log_one(#name, c->name, what);
	COLL_COUNTERS(COLL_COUNTER_LINE)
#undef COLL_COUNTER_LINE
	log_one("log_dropped", coll_log_dropped(), "lines that stderr did not take");
}
