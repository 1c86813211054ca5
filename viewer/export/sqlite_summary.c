/* SPDX-License-Identifier: Apache-2.0 */
/* What summary.json says, and who took part. */
#include "sqlite_db.h"

static void put_fact(struct view_db *p, const char *name, const char *text)
{
	sqlite3_stmt *s = view_db_once(p, "INSERT INTO run VALUES (?,?)");

	view_db_name(p, s, name);
	if (text)
		view_db_text(p, s, text, strlen(text));
	else
		view_db_null(p, s);
	view_db_insert_once(p, s);
}

static void put_number(struct view_db *p, const char *name, int64_t v, bool known)
{
	sqlite3_stmt *s = view_db_once(p, "INSERT INTO run VALUES (?,?)");

	view_db_name(p, s, name);
	view_db_known(p, s, v, known);
	view_db_insert_once(p, s);
}

static void put_run(struct view_db *p)
{
	const struct view_summary *v = p->x->summary;
	const struct ana_result *r = v->result;

	put_fact(p, "id", v->id);
	put_fact(p, "window", v->window == ANA_WINDOW_JOB ? "job" : "device");
	put_fact(p, "verdict", ana_verdict_names[r->judgement.verdict]);
	put_fact(p, "severity", ana_severity_names[r->judgement.severity]);
	put_fact(p, "imported", r->import_kind);
	put_number(p, "simulated", r->simulated, true);
	put_number(p, "complete", r->complete, true);
	put_number(p, "start_unix_ns", v->start_unix_ns, true);
	put_number(p, "wall_ns", v->wall_ns, true);
	put_number(p, "gpu_ns", r->gpu_ns, true);
	put_number(p, "starved_ns", v->starved_ns, true);
	put_number(p, "wasted_ns", v->wasted_ns, true);
	put_number(p, "nano_usd", v->cost.total, v->cost.known);
	put_number(p, "starved_nano_usd", v->cost.starved, v->cost.known);
	put_number(p, "wasted_nano_usd", v->cost.wasted, v->cost.known);
	put_number(p, "dropped_events", (int64_t)r->quality.dropped, true);
	put_number(p, "unobserved_ns", r->quality.unobserved_ns, true);
	put_number(p, "metered_ns", r->units.known_ns, r->units.known_ns > 0);
	put_number(p, "metered_busy_ns", r->units.busy_ns, r->units.known_ns > 0);
	put_number(p, "metered_tensor_ns", r->units.tensor_ns, r->units.known_ns > 0);
	put_number(p, "metered_dram_ns", r->units.dram_ns,
		   r->units.known_ns > 0 && r->units.dram_ns >= 0);
}

static void put_gpu(struct view_db *p, size_t i)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[i];
	const int64_t ns[] = { g->held_start_ns, g->held_end_ns,  g->held_ns,
			       g->span_ns,	 g->busy_ns,	  g->idle_ns,
			       g->empty_ns,	 g->queued_ns,	  view_gpu_starved_ns(g),
			       (int64_t)g->ops,	 (int64_t)g->gaps };
	sqlite3_stmt *s =
		view_db_once(p, "INSERT INTO gpus VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	size_t k;

	view_db_int(p, s, (int64_t)i);
	view_db_text(p, s, g->host, strlen(g->host));
	view_db_int(p, s, g->index);
	if (g->uuid)
		view_db_name(p, s, g->uuid);
	else
		view_db_null(p, s);
	view_db_text(p, s, g->name, strlen(g->name));
	for (k = 0; k < sizeof(ns) / sizeof(ns[0]); k++)
		view_db_int(p, s, ns[k]);
	view_db_name(p, s, ana_verdict_names[g->judgement.verdict]);
	view_db_known(p, s, view_gpu_nano_usd(p->x->summary, i), p->x->summary->cost.known);
	view_db_insert_once(p, s);
}

static void put_class(struct view_db *p, size_t gpu, int c)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[gpu];
	const struct view_cost *cost = &p->x->summary->cost;
	sqlite3_stmt *s = view_db_once(p, "INSERT INTO classes VALUES (?,?,?,?,?,?,?,?)");
	int k;

	view_db_int(p, s, (int64_t)gpu);
	view_db_name(p, s, ana_class_names[c]);
	view_db_int(p, s, g->classes[c]);
	view_db_known(p, s, cost->gpu_class[gpu][c], cost->known);
	for (k = 0; k < ANA_CONFIDENCES; k++)
		view_db_int(p, s, g->confidence[c][k]);
	view_db_insert_once(p, s);
}

static void put_device(struct view_db *p, size_t i)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[i];
	uint32_t n = view_export_gpu_number(p->x, i);
	sqlite3_stmt *s = view_db_once(p, "INSERT INTO TARGET_INFO_GPU (id, name, totalMemory) "
					  "VALUES (?,?,?)");

	view_db_int(p, s, n);
	view_db_text(p, s, g->name, strlen(g->name));
	view_db_int(p, s, (int64_t)g->memory_total_bytes);
	view_db_insert_once(p, s);
}

static void put_uses(struct view_db *p, size_t i)
{
	const struct ana_gpu *g = &p->x->summary->result->gpu[i];
	const struct ana_device *d = &p->x->plan.device[i];
	uint32_t n = view_export_gpu_number(p->x, i);
	size_t u;

	for (u = 0; u < d->uses; u++) {
		sqlite3_stmt *s =
			view_db_once(p, "INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, "
					"pid, uuid) VALUES (?,?,?,?)");

		view_db_int(p, s, n);
		view_db_int(p, s, n); /* as deviceId has it: it is the same GPU in every process */
		view_db_int(p, s, p->x->source[d->use[u].source].pid);
		if (g->uuid)
			view_db_name(p, s, g->uuid);
		else
			view_db_null(p, s);
		view_db_insert_once(p, s);
	}
}

static void put_gpus(struct view_db *p)
{
	const struct ana_result *r = p->x->summary->result;
	size_t i;
	int c;

	for (i = 0; i < r->gpus && !p->err; i++) {
		put_gpu(p, i);
		put_device(p, i);
		put_uses(p, i);
		for (c = 0; c < ANA_CLASSES; c++)
			if (r->gpu[i].classes[c])
				put_class(p, i, c);
	}
}

static void put_processes(struct view_db *p)
{
	size_t i;

	for (i = 0; i < p->x->plan.sources && !p->err; i++) {
		const Wire__Hello *h = p->x->plan.source[i].hello;
		const char *name = h && h->n_command ? h->command[0] : "";
		sqlite3_stmt *s = view_db_once(p, "INSERT INTO PROCESSES VALUES (?,?,?)");

		p->s = &p->x->source[i];
		view_db_int(p, s, view_db_pid(p));
		view_db_int(p, s, p->s->pid);
		view_db_text(p, s, name, strlen(name));
		view_db_insert_once(p, s);
	}
}

static void put_compute(struct view_db *p)
{
	const struct view_summary *v = p->x->summary;
	struct view_work rows[ANA_WORKS];
	size_t n = view_work_rows(v, rows);

	for (size_t i = 0; i < n && !p->err; i++) {
		sqlite3_stmt *s = view_db_once(p, "INSERT INTO compute VALUES (?,?,?,?,?)");

		view_db_name(p, s, rows[i].kind);
		view_db_name(p, s, rows[i].precision);
		view_db_int(p, s, rows[i].ns);
		view_db_known(p, s, rows[i].nano_usd, v->cost.known);
		view_db_int(p, s, (int64_t)rows[i].count);
		view_db_insert_once(p, s);
	}
}

static void put_findings(struct view_db *p)
{
	const struct view_summary *v = p->x->summary;
	size_t i;

	for (i = 0; i < v->findings && !p->err; i++) {
		const struct view_finding *f = &v->finding[i];
		sqlite3_stmt *s = view_db_once(p, "INSERT INTO findings VALUES (?,?,?,?,?)");

		view_db_name(p, s, ana_class_names[f->class]);
		view_db_int(p, s, f->ns);
		view_db_known(p, s, f->nano_usd, v->cost.known);
		view_db_name(p, s, ana_confidence_names[f->confidence]);
		view_db_text(p, s, f->basis, strlen(f->basis));
		view_db_insert_once(p, s);
	}
	for (i = 0; i < v->advices && !p->err; i++) {
		const struct view_advice *a = &v->advice[i];
		sqlite3_stmt *s = view_db_once(p, "INSERT INTO advice VALUES (?,?,?,?,?,?,?)");

		view_db_text(p, s, a->id, strlen(a->id));
		view_db_name(p, s, ana_class_names[a->class]);
		view_db_text(p, s, a->title, strlen(a->title));
		view_db_text(p, s, a->why, strlen(a->why));
		view_db_text(p, s, a->action, strlen(a->action));
		view_db_int(p, s, a->saving_ns);
		view_db_known(p, s, a->saving_nano_usd, v->cost.known);
		view_db_insert_once(p, s);
	}
}

void view_db_caveat(void *arg, const char *text)
{
	struct view_db *p = arg;
	sqlite3_stmt *s = view_db_once(p, "INSERT INTO caveats VALUES (?)");

	view_db_text(p, s, text, strlen(text));
	view_db_insert_once(p, s);
}

static const char enums[] =
	"INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (0,'CUDA_MEMCPY_KIND_UNKNOWN','Unknown'),"
	"(1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'),(2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),"
	"(3,'CUDA_MEMCPY_KIND_HTOA','Host-to-Array'),(4,'CUDA_MEMCPY_KIND_ATOH','Array-to-Host'),"
	"(5,'CUDA_MEMCPY_KIND_ATOA','Array-to-Array'),(6,'CUDA_MEMCPY_KIND_ATOD','Array-to-Device'),"
	"(7,'CUDA_MEMCPY_KIND_DTOA','Device-to-Array'),(8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),"
	"(9,'CUDA_MEMCPY_KIND_HTOH','Host-to-Host'),(10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');"
	"INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable'),"
	"(1,'CUDA_MEMOPR_MEMORY_KIND_PINNED','Pinned'),(2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device'),"
	"(3,'CUDA_MEMOPR_MEMORY_KIND_ARRAY','Array'),(4,'CUDA_MEMOPR_MEMORY_KIND_MANAGED','Managed');";

void view_db_summary(struct view_db *p)
{
	const struct ana_result *r = p->x->summary->result;
	sqlite3_stmt *s = view_db_once(p, "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_TOOL', ?)");

	view_db_name(p, s, "gpustarve " GPUSTARVE_VERSION);
	view_db_insert_once(p, s);
	s = view_db_once(p, "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)");
	view_db_int(p, s, r->imported ? 0 : p->x->summary->start_unix_ns);
	view_db_insert_once(p, s);
	view_db_script(p, enums);
	put_run(p);
	put_gpus(p);
	put_processes(p);
	put_compute(p);
	put_findings(p);
	view_export_caveats(p->x, view_db_caveat, p);
}
