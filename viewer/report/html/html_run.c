/* SPDX-License-Identifier: Apache-2.0 */
/* Which run this was: the exact command line, when, where, and which processes. */
#include <inttypes.h>
#include <string.h>
#include "html_priv.h"

#define HOSTS_SHOWN 64
#define ENDS_SHOWN 8
#define PROCESSES_SHOWN 32
#define PLAIN                                                            \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" \
	"%+,-./:=@_"

/* As a shell would take it again: a word with anything special in it is quoted. */
static void put_word(struct html *h, const char *word)
{
	size_t plain = strspn(word, PLAIN);

	if (word[0] && !word[plain]) {
		html_escape(h->f, word);
		return;
	}
	html_put(h, "&#39;");
	for (size_t n; *word; word += n) {
		n = strcspn(word, "'");
		html_escape(h->f, base_arena_copy(&h->mem, word, n));
		if (word[n] == '\'') {
			html_put(h, "&#39;\\&#39;&#39;");
			n++;
		}
	}
	html_put(h, "&#39;");
}

static void put_command(struct html *h)
{
	const struct view_summary *s = h->s;

	if (!s->commands)
		return;
	html_put(h,
		 "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Command line\">"
		 "<pre data-from=\"/run/command\"><bdi>");
	for (size_t i = 0; i < s->commands; i++) {
		html_put(h, i ? " " : "");
		put_word(h, s->command[i]);
	}
	html_put(h, "</bdi></pre></div>\n");
}

static void put_hosts(struct html *h)
{
	const struct view_summary *s = h->s;

	if (!s->hosts)
		return;
	html_put(h, "<dt>Hosts</dt><dd>");
	for (size_t i = 0; i < s->hosts && i < HOSTS_SHOWN; i++) {
		html_put(h, i ? ", " : "");
		html_text(h, "bdi", s->host[i], "/run/hosts/%zu", i);
	}
	if (s->hosts > HOSTS_SHOWN) {
		html_put(h, " and others, ");
		html_count(h, s->hosts, "#/run/hosts");
		html_put(h, " in all");
	}
	html_put(h, "</dd>\n");
}

static void put_machine(struct html *h)
{
	const struct view_machine *m = &h->s->machine;

	if (!m->provider[0] && !m->instance_type[0])
		return;
	html_put(h, "<dt>Machine</dt><dd>");
	if (m->provider[0])
		html_text(h, "bdi", m->provider, "/run/provider");
	html_put(h, m->provider[0] && m->instance_type[0] ? " " : "");
	if (m->instance_type[0])
		html_text(h, "bdi", m->instance_type, "/run/instance_type");
	html_put(h, "</dd>\n");
}

static void put_labels(struct html *h)
{
	for (size_t i = 0; i < h->s->labels; i++) {
		html_put(h, "<dt>Label</dt><dd><span data-from=\"/run/labels\"><bdi>");
		html_escape(h->f, h->s->label[i].key);
		html_put(h, "</bdi> = <bdi>");
		html_escape(h->f, h->s->label[i].value);
		html_put(h, "</bdi></span></dd>\n");
	}
}

/* A member of run.slurm, where it is known. */
static void put_job_text(struct html *h, const char *term, enum view_job_text what)
{
	const char *text = h->s->job.text[what];

	if (!text)
		return;
	fprintf(h->f, "<dt>%s</dt><dd>", term);
	html_text(h, "bdi", text, "/run/slurm/%s", view_job_text_names[what]);
	html_put(h, "</dd>\n");
}

static void put_job_id(struct html *h)
{
	const int64_t *n = h->s->job.number;

	html_put(h, "<dt>Slurm job</dt><dd>");
	html_id(h, n[VIEW_JOB_ID], "/run/slurm/job");
	if (n[VIEW_JOB_ARRAY] >= 0 && n[VIEW_JOB_ARRAY_TASK] >= 0) {
		html_put(h, ", task ");
		html_id(h, n[VIEW_JOB_ARRAY_TASK], "/run/slurm/array_task");
		html_put(h, " of the array ");
		html_id(h, n[VIEW_JOB_ARRAY], "/run/slurm/array_job");
	}
	for (size_t i = 0; i < h->s->steps; i++) {
		html_put(h, i ? ", " : h->s->steps > 1 ? ", steps " : ", step ");
		html_text(h, "bdi", h->s->step[i], "/run/slurm/steps/%zu", i);
	}
	if (n[VIEW_JOB_RESTART] > 0) {
		html_put(h, ", requeued ");
		html_count(h, (uint64_t)n[VIEW_JOB_RESTART], "/run/slurm/restart");
		html_put(h, n[VIEW_JOB_RESTART] == 1 ? " time" : " times");
	}
	html_put(h, "</dd>\n");
}

static void put_job(struct html *h)
{
	if (h->s->user) {
		html_put(h, "<dt>User</dt><dd>");
		html_text(h, "bdi", h->s->user, "/run/user");
		html_put(h, "</dd>\n");
	}
	if (!view_job_known(&h->s->job))
		return;
	put_job_id(h);
	put_job_text(h, "Job name", VIEW_JOB_NAME);
	put_job_text(h, "Cluster", VIEW_JOB_CLUSTER);
	put_job_text(h, "Account", VIEW_JOB_ACCOUNT);
	put_job_text(h, "Partition", VIEW_JOB_PARTITION);
	put_job_text(h, "QOS", VIEW_JOB_QOS);
	put_job_text(h, "Nodes", VIEW_JOB_NODES);
}

/* "training: steps of an optimizer, kernels of backward passes" */
static void put_kind(struct html *h)
{
	const struct view_kind *k = &h->s->kind;

	html_put(h, "<dt>Kind</dt><dd>");
	html_text(h, "span", facts_run_kinds[k->kind], "/run/kind");
	for (size_t i = 0; i < k->signs; i++) {
		html_put(h, i ? ", " : ": ");
		html_put(h, facts_run_sign_words[k->sign[i]]);
	}
	if (k->kind == FACTS_RUN_UNKNOWN)
		fprintf(h->f, "; called %s here", view_work_word(k));
	if (k->after_last_ns) {
		html_put(h, "; after the last kernel it went on for ");
		html_ns(h, k->after_last_ns, "/run/after_last_ns");
		html_put(h, " of GPU time");
	}
	html_put(h, "</dd>\n");
}

/* Where the joined runs stand in the document. */
static const char *parts_at(const struct html *h)
{
	return view_job_known(&h->s->job) ? "/run/slurm/runs" : "/run/runs";
}

/* How it ended; of joined runs the last ones, as they began. */
static void put_ends(struct html *h)
{
	const struct view_summary *s = h->s;
	size_t from = s->parts > ENDS_SHOWN ? s->parts - ENDS_SHOWN : 0;

	if (s->parts < 2 && !s->has_exit_status)
		return;
	html_put(h, "<dt>Exit status</dt><dd>");
	if (s->parts < 2)
		html_id(h, s->exit_status, "/run/exit_status");
	if (from)
		html_put(h, "of the last runs: ");
	for (size_t i = from; s->parts > 1 && i < s->parts; i++) {
		if (i > from)
			html_put(h, ", then ");
		if (s->part[i].has_exit_status)
			html_id(h, s->part[i].exit_status, "%s/%zu/exit_status", parts_at(h), i);
		else
			html_put(h, "not known");
	}
	html_put(h, "</dd>\n");
}

static void put_facts(struct html *h)
{
	const struct view_summary *s = h->s;

	html_put(h, "<dl class=\"facts\">\n<dt>Run</dt><dd>");
	html_text(h, "bdi class=\"mono\"", s->id, "/run/id");
	html_put(h, "</dd>\n<dt>Began</dt><dd>");
	html_moment(h, s->start_unix_ns, "/run/start_unix_ns");
	html_put(h, ", and took ");
	html_ns(h, s->wall_ns, "/run/wall_ns");
	html_put(h, "</dd>\n");
	put_ends(h);
	put_job(h);
	put_hosts(h);
	put_machine(h);
	html_put(h, "<dt>Ranks</dt><dd>");
	html_count(h, (uint64_t)s->ranks, "/run/ranks");
	html_put(h, ", in ");
	html_count(h, s->result->processes, "#/run/processes");
	html_put(h, s->result->processes == 1 ? " process</dd>\n" : " processes</dd>\n");
	put_kind(h);
	put_labels(h);
	fprintf(h->f, "<dt>Window</dt><dd>%s</dd>\n",
		s->window == ANA_WINDOW_JOB ? "the time the GPUs were held"
					    : "first to last operation of each GPU");
	if (s->result->imported) {
		html_put(h, "<dt>Imported from</dt><dd>");
		html_text(h, "span", s->result->import_kind, "/run/imported");
		html_put(h, "</dd>\n");
	}
	html_put(h, "</dl>\n");
}

static void put_process(struct html *h, size_t i)
{
	const struct ana_process *p = &h->s->result->process[i];

	html_put(h, "<tr>");
	HTML_ROW(h, html_id(h, p->pid, "/run/processes/%zu/pid", i));
	HTML_NUMBER_IF(h, p->has_rank, html_id(h, p->rank, "/run/processes/%zu/rank", i));
	HTML_CELL(h, html_text(h, "bdi", p->host ? p->host : "", "/run/processes/%zu/host", i));
	HTML_CELL(h,
		  html_text(h, "span", p->role ? p->role : "other", "/run/processes/%zu/role", i));
	HTML_NUMBER(h, html_ns(h, p->end_ns - p->start_ns,
			       "/run/processes/%zu/end_ns - /run/processes/%zu/start_ns", i, i));
	HTML_CELL(h, html_text(h, "span", p->ended, "/run/processes/%zu/ended", i));
	html_put(h, "</tr>\n");
}

static void put_processes(struct html *h)
{
	const struct ana_result *r = h->s->result;

	if (!r->processes)
		return;
	html_details(h, "Processes");
	html_table(h, "Processes of the run");
	HTML_HEADS(h, "pid", "n:Rank", "Host", "Role", "n:Lived", "Ended");
	for (size_t i = 0; i < r->processes && i < html_budget(h, PROCESSES_SHOWN); i++)
		put_process(h, i);
	html_table_end(h);
	if (r->processes > html_budget(h, PROCESSES_SHOWN))
		html_put(h, "<p class=\"soft\">summary.json has all.</p>\n");
	html_details_end(h);
}

static void put_alerts(struct html *h)
{
	for (size_t i = 0; i < h->s->alerts; i++) {
		const struct view_alert *a = &h->s->alert[i];
		html_put(h, i ? "" : "<h3>Alerts</h3>\n<ul>\n");
		html_put(h, "<li>");
		html_moment(h, a->t_unix_ns, "/alerts/%zu/t_unix_ns", i);
		html_put(h, ": ");
		html_sentence(h, "span", a->text, "/alerts/%zu/text", i);
		if (a->exec_status > 0) {
			html_put(h, "; its command ended with ");
			html_id(h, a->exec_status, "/alerts/%zu/exec_status", i);
		}
		html_put(h, "</li>\n");
	}
	html_put(h, h->s->alerts ? "</ul>\n" : "");
}

static void put_attempt(struct html *h, size_t i)
{
	const struct ana_attempt *a = &h->s->result->attempt[i];

	html_put(h, "<tr>");
	HTML_ROW(h, html_id(h, a->restart, "/run/slurm/attempts/%zu/restart", i));
	HTML_CELL(h, html_moment(h, a->start_ns, "/run/slurm/attempts/%zu/start_ns", i));
	HTML_NUMBER(h, html_ns(h, a->end_ns - a->start_ns,
			       "/run/slurm/attempts/%zu/end_ns - /run/slurm/attempts/%zu/start_ns",
			       i, i));
	HTML_NUMBER(h, html_count(h, a->gpus, "/run/slurm/attempts/%zu/gpus", i));
	html_put(h, "<td class=\"n\">");
	html_ns(h, a->held_ns, "/run/slurm/attempts/%zu/gpu_ns", i);
	html_put(h, a->open ? "</td><td>still running</td></tr>\n" : "</td><td>ended</td></tr>\n");
}

/* A requeued job held its GPUs several times. */
static void put_attempts(struct html *h)
{
	const struct ana_result *r = h->s->result;

	if (r->attempts < 2)
		return;
	html_details(h, "Requeues");
	html_table(h, "What the job held between requeues");
	HTML_HEADS(h, "Restart", "Began", "n:Lasted", "n:GPUs", "n:GPU time held", "State");
	for (size_t i = 0; i < r->attempts && i < html_budget(h, PROCESSES_SHOWN); i++)
		put_attempt(h, i);
	html_table_end(h);
	html_details_end(h);
}

static void put_part(struct html *h, size_t i)
{
	const struct view_job_part *p = &h->s->part[i];
	const char *at = parts_at(h);

	html_put(h, "<tr>");
	HTML_ROW(h, html_text(h, "bdi", p->id, "%s/%zu/id", at, i));
	HTML_CELL(h, html_text(h, "bdi", p->step, "%s/%zu/step", at, i));
	HTML_NUMBER_IF(h, p->restart >= 0, html_id(h, p->restart, "%s/%zu/restart", at, i));
	HTML_NUMBER_IF(h, p->wall_ns, html_ns(h, p->wall_ns, "%s/%zu/wall_ns", at, i));
	HTML_NUMBER_IF(h, p->has_exit_status,
		       html_id(h, p->exit_status, "%s/%zu/exit_status", at, i));
	html_put(h, "</tr>\n");
}

static void put_parts(struct html *h)
{
	if (!h->s->parts)
		return;
	html_details(h, view_job_known(&h->s->job) ? "Runs of the job" : "Runs of the label");
	html_table(h, "Runs that were joined");
	HTML_HEADS(h, "Run", "Step", "n:Restart", "n:Took", "n:Exit status");
	for (size_t i = 0; i < h->s->parts && i < html_budget(h, PROCESSES_SHOWN); i++)
		put_part(h, i);
	html_table_end(h);
	html_details_end(h);
}

void html_run(struct html *h)
{
	html_section(h, "run", "The run");
	put_command(h);
	put_facts(h);
	put_alerts(h);
	put_attempts(h);
	put_parts(h);
	put_processes(h);
	html_section_end(h);
}
