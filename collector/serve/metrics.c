/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /metrics: what the collector counts, what is open now, how long commits take, what is on
 * disk, in Prometheus' text format. Of runs and disks a token sees its own team's alone. Made from
 * memory.
 */
#include <inttypes.h>
#include <sys/resource.h>
#include <unistd.h>
#include "alert/runs.h"
#include "base/escape.h"
#include "core/clock.h"
#include "core/log.h"
#include "daemon.h"
#include "gateway/gateway.h"
#include "ingest/clients.h"
#include "ingest/intake.h"
#include "render_jobs.h"
#include "retain/digests.h"
#include "retain/admit.h"
#include "routes.h"
#include "work/work.h"

#define TYPE "text/plain; version=0.0.4; charset=utf-8"
#define RUNS_MAX 200
#define NAME "gpustarve_collector_"

static void head(FILE *f, const char *name, const char *type, const char *help)
{
	fprintf(f, "# HELP " NAME "%s %s\n# TYPE " NAME "%s %s\n", name, help, name, type);
}

static void gauge(FILE *f, const char *name, const char *help, uint64_t value)
{
	head(f, name, "gauge", help);
	fprintf(f, NAME "%s %" PRIu64 "\n", name, value);
}

static void counter(FILE *f, const char *name, const char *help, uint64_t value)
{
	fprintf(f, "# HELP " NAME "%s_total %s\n# TYPE " NAME "%s_total counter\n", name, help,
		name);
	fprintf(f, NAME "%s_total %" PRIu64 "\n", name, value);
}

static void put_counters(FILE *f, const struct coll_counters *c)
{
#define COLL_COUNTER_METRIC(name, what) counter(f, #name, what, c->name);
	COLL_COUNTERS(COLL_COUNTER_METRIC)
#undef COLL_COUNTER_METRIC
	counter(f, "log_dropped", "lines that stderr did not take", coll_log_dropped());
}

static void put_open(FILE *f, const struct coll_http *h)
{
	const struct coll_http_parts *p = h->parts;

	gauge(f, "open_clients", "connections to the Unix socket", p->clients->count);
	gauge(f, "open_http_connections", "HTTP connections", h->conn_count);
	gauge(f, "waiting_http_requests", "HTTP requests that wait for what is being made",
	      h->suspended);
	gauge(f, "open_streams", "streams that are being fed", p->retention->open_streams);
	gauge(f, "open_runs", "runs with such streams", p->retention->open_runs);
	gauge(f, "children", "programs that run for the collector", p->context->children.count);
	gauge(f, "waiting_reports", "reports and lists that wait to be made", p->render->waiting);
	gauge(f, "waiting_digests", "runs whose digest is to be handed over",
	      p->digests->queue.count);
	gauge(f, "parked_digests", "runs without a digest, because it failed too often",
	      p->digests->parked);
	gauge(f, "waiting_work", "runs without a digest in the object store, as of the last look",
	      coll_work_waiting(p->work));
	gauge(f, "dead_work", "runs that are put aside there", coll_work_dead(p->work));
	gauge(f, "clock_jump_seconds", "the clock jumped by this much, and nothing is removed",
	      p->retention->clock_jump_s);
	if (p->retention->free_known)
		gauge(f, "disk_spare_bytes", "free on the disk, beyond the limit free-floor",
		      p->retention->free_bytes);
	gauge(f, "half_frame_bytes", "memory for frames that have come in part", p->intake->held);
}

/* Each bucket holds those before it, as Prometheus wants it. */
static void put_commits(FILE *f, const struct coll_counters *c)
{
	uint64_t sum = 0;

	head(f, "commit_seconds", "histogram", "how long it took to make a stream durable");
	for (int i = 0; i < COLL_COMMIT_BUCKETS; i++) {
		sum += c->commit_bucket[i];
		if (i < COLL_COMMIT_BUCKETS - 1)
			fprintf(f, NAME "commit_seconds_bucket{le=\"%d.%06d\"} %" PRIu64 "\n",
				coll_commit_bound_us[i] / 1000000,
				coll_commit_bound_us[i] % 1000000, sum);
		else
			fprintf(f, NAME "commit_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n", sum);
	}
	fprintf(f, NAME "commit_seconds_sum %" PRIu64 ".%09" PRIu64 "\n",
		c->commit_ns / COLL_SECOND_NS, c->commit_ns % COLL_SECOND_NS);
	fprintf(f, NAME "commit_seconds_count %" PRIu64 "\n", sum);
}

static void put_limits(FILE *f, const struct coll_limits *limits)
{
	head(f, "limit", "gauge", "limits, 0: none; times in nanoseconds");
	for (int i = 0; i < COLL_LIMIT_COUNT; i++) {
		fputs(NAME "limit{name=", f);
		base_put_quoted(f, BASE_AS_LABEL, coll_limit_name(i));
		fprintf(f, "} %" PRIu64 "\n", limits->value[i]);
	}
}

static void put_disk(FILE *f, const struct coll_retention *k, const struct coll_team *team)
{
	const struct coll_use *use = coll_admit_use_of(team->store);

	if (!k->known || !use)
		return;
	gauge(f, "team_disk_bytes", "on disk of the team's runs, as of the last sweep and since",
	      use->bytes);
	gauge(f, "team_disk_runs", "runs of the team on disk, as of the last sweep", use->runs);
	gauge(f, "disk_bytes", "on disk of all runs, as of the last sweep and since", k->bytes);
	gauge(f, "disk_runs", "runs on disk, as of the last sweep", k->runs);
}

static uint64_t resident_bytes(void)
{
	unsigned long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void put_process(FILE *f)
{
	struct rusage use = { 0 };
	int64_t us;

	getrusage(RUSAGE_SELF, &use);
	us = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 + use.ru_utime.tv_usec +
	     use.ru_stime.tv_usec;
	fputs("# HELP process_resident_memory_bytes Resident memory size in bytes.\n"
	      "# TYPE process_resident_memory_bytes gauge\n",
	      f);
	fprintf(f, "process_resident_memory_bytes %" PRIu64 "\n", resident_bytes());
	fputs("# HELP process_cpu_seconds_total User and system CPU time in seconds.\n"
	      "# TYPE process_cpu_seconds_total counter\n",
	      f);
	fprintf(f, "process_cpu_seconds_total %" PRId64 ".%06" PRId64 "\n", us / 1000000,
		us % 1000000);
	head(f, "build_info", "gauge", "always 1; which version runs");
	fputs(NAME "build_info{version=\"" GPUSTARVE_VERSION "\"} 1\n", f);
}

static void put_ppm(FILE *f, const struct live_share *s, int64_t ppm)
{
	if (s->known)
		fprintf(f, "%" PRId64 ".%06" PRId64 "\n", ppm / 1000000, ppm % 1000000);
	else
		fputs("NaN\n", f);
}

static void put_ns(FILE *f, int64_t ns)
{
	fprintf(f, "%" PRId64 ".%09" PRId64 "\n", ns / COLL_SECOND_NS, ns % COLL_SECOND_NS);
}

static void run_gpus(FILE *f, const struct coll_run *run)
{
	fprintf(f, "%zu\n", run->totals.alive);
}

static void run_busy(FILE *f, const struct coll_run *run)
{
	put_ppm(f, &run->totals.now, run->totals.now.busy_ppm);
}

static void run_starved(FILE *f, const struct coll_run *run)
{
	put_ppm(f, &run->totals.now, run->totals.now.starved_ppm);
}

static void run_held_s(FILE *f, const struct coll_run *run)
{
	put_ns(f, run->totals.held_ns);
}

static void run_busy_s(FILE *f, const struct coll_run *run)
{
	put_ns(f, run->totals.busy_ns);
}

static void run_starved_s(FILE *f, const struct coll_run *run)
{
	put_ns(f, run->totals.starved_ns);
}

static void run_dropped(FILE *f, const struct coll_run *run)
{
	fprintf(f, "%" PRIu64 "\n", run->totals.dropped);
}

/* What is told of every run. */
static const struct run_metric {
	const char *name, *type, *help;
	void (*value)(FILE *f, const struct coll_run *run);
} run_metrics[] = {
	{ "gpus", "gauge", "GPUs that a living process of the run uses", run_gpus },
	{ "busy_ratio", "gauge", "share of the last half minute in which its GPUs worked",
	  run_busy },
	{ "starved_ratio", "gauge", "share in which they waited for input, at most", run_starved },
	{ "held_gpu_seconds_total", "counter", "time that it held GPUs", run_held_s },
	{ "busy_gpu_seconds_total", "counter", "time that they worked", run_busy_s },
	{ "starved_gpu_seconds_total", "counter", "time that they waited for input, at most",
	  run_starved_s },
	{ "dropped_events_total", "counter", "events that were dropped, not recorded",
	  run_dropped },
};

static void put_run_metric(FILE *f, const struct run_metric *m, const struct coll_run *const *runs,
			   size_t count)
{
	fprintf(f, "# HELP gpustarve_run_%s %s\n# TYPE gpustarve_run_%s %s\n", m->name, m->help,
		m->name, m->type);
	for (size_t i = 0; i < count; i++) {
		fprintf(f, "gpustarve_run_%s{run=", m->name);
		base_put_quoted(f, BASE_AS_LABEL, runs[i]->id);
		fputs("} ", f);
		m->value(f, runs[i]);
	}
}

/* The same runs for each metric; bounded, for each line costs whoever keeps it. */
static void put_runs(FILE *f, const struct coll_runs *all, const struct coll_team *team)
{
	const struct coll_run *runs[RUNS_MAX], *run = NULL;
	size_t count = 0, left_out = 0;

	while ((run = coll_runs_next(all, run))) {
		if (!coll_team_has(team, run->dir))
			continue;
		if (count < RUNS_MAX)
			runs[count++] = run;
		else
			left_out++;
	}
	gauge(f, "runs_left_out", "runs of the team that go on and that this page does not tell of",
	      left_out);
	for (size_t i = 0; i < sizeof(run_metrics) / sizeof(run_metrics[0]); i++)
		put_run_metric(f, &run_metrics[i], runs, count);
}

static void put_gateway(FILE *f, const struct coll_http *h)
{
	const struct coll_gateway *g = h->parts->gateway;

	gauge(f, "open_http_connections", "HTTP connections", h->conn_count);
	gauge(f, "waiting_http_requests", "HTTP requests that wait for what is being made",
	      h->suspended);
	gauge(f, "gateway_held_bytes", "memory for what comes and is not in the object store yet",
	      g->held);
	gauge(f, "gateway_jobs", "what the object store is asked, or waits to be",
	      coll_hands_out(&g->hands));
}

static void put_all(FILE *f, struct coll_http_request *r, const void *arg)
{
	(void)arg;
	put_process(f);
	if (r->parts->gateway) {
		put_gateway(f, r->http);
		put_counters(f, r->count);
		if (coll_exchange_is_there(&r->parts->gateway->exchange))
			put_runs(f, r->parts->runs, r->team);
		return;
	}
	put_open(f, r->http);
	put_counters(f, r->count);
	put_commits(f, r->count);
	put_limits(f, r->parts->limits);
	put_disk(f, r->parts->retention, r->team);
	put_runs(f, r->parts->runs, r->team);
}

static void metrics_end(struct coll_http_request *r)
{
	coll_http_answer_written(r, TYPE, put_all, NULL);
}

const struct coll_route coll_route_metrics = {
	.method = "GET",
	.pattern = "/metrics",
	.scope = COLL_SCOPE_READ,
	.end = metrics_end,
};
