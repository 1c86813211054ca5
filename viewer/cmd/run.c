/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve run: starts the command with libprof in it, waits, and ends with the verdict. The
 * order here is the order of events; each step that fails leaves the command as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cmd.h"
#include "cost/cost.h"
#include "run/identities.h"
#include "run/install.h"
#include "run/live.h"
#include "core/log.h"
#include "job/cgroup.h"
#include "run/left.h"
#include "run/others.h"
#include "run/preload_path.h"
#include "run/report_run.h"
#include "run/run.h"

#define COLLECTOR_SECONDS 15
#define OTHERS_SECONDS 30
#define FAILED_SECONDS 2

/*
 * What execvp will find: 0, 126 or 127. Asked first, so that a typing error leaves no run behind.
 */
static int command_trouble(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];
	int worst = 127;

	if (strchr(name, '/'))
		return !access(name, X_OK) ? 0 : errno == ENOENT || errno == ENOTDIR ? 127 : 126;
	if (!path)
		path = "/bin:/usr/bin";
	for (const char *p = path;; p++) {
		size_t len = strcspn(p, ":");
		struct stat st;
		snprintf(file, sizeof(file), "%.*s%s%s", (int)len, p, len ? "/" : "", name);
		if (!stat(file, &st) && S_ISREG(st.st_mode)) {
			if (!access(file, X_OK))
				return 0;
			worst = 126;
		}
		p += len;
		if (!*p)
			return worst;
	}
}

static int say_trouble(const char *name, int status)
{
	if (status == 127)
		view_error("%s: command not found; check the name and PATH", name);
	else
		view_error("%s: cannot be executed; check its permissions and its first line",
			   name);
	return status;
}

/* Folders as needed; 0 or negative errno. */
static int make_folders(const char *path)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return -ENAMETOOLONG;
	for (char *p = part + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(part, 0755) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(part, 0755) && errno != EEXIST ? -errno : 0;
}

/* 0 or negative errno: then there is no folder to keep runs in. */
static int set_base(struct view_run *r)
{
	const char *env = getenv("GPUSTARVE_OUT");
	const char *out = r->out ? r->out : env && env[0] ? env : "gpustarve-runs";
	char here[PATH_MAX];
	int err;

	if (out[0] == '/')
		snprintf(r->base, sizeof(r->base), "%s", out);
	else if (!getcwd(here, sizeof(here)) ||
		 snprintf(r->base, sizeof(r->base), "%s/%s", here, out) >= (int)sizeof(r->base))
		return -ENAMETOOLONG;
	for (size_t n = strlen(r->base); n > 1 && r->base[n - 1] == '/'; n--)
		r->base[n - 1] = '\0';
	view_run_id(r->id, sizeof(r->id), r->command);
	err = make_folders(r->base);
	if (!err)
		view_turn_take(&r->turn, r->base, r->id, sizeof(r->id));
	snprintf(r->dir, sizeof(r->dir), "%s/%s.gst", r->base, r->id);
	size_t n = strlen(out);
	snprintf(r->shown, sizeof(r->shown), "%s%s%s.gst", out, n && out[n - 1] == '/' ? "" : "/",
		 r->id);
	return err;
}

static void about_begin(struct view_run *r)
{
	if (gethostname(r->host, sizeof(r->host) - 1))
		strcpy(r->host, "localhost");
	clock_gettime(CLOCK_MONOTONIC, &r->began);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	r->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	const char *env = getenv("GPUSTARVE_USD_PER_GPU_HOUR");
	int64_t nano;
	bool from_env = !r->price && !r->price_model && env && !view_cost_parse(env, &nano);
	r->about = (struct view_run_record){
		.id = r->id,
		.command = r->command,
		.start_unix_ns = r->began_ns,
		.label = r->label,
		.labels = r->labels,
		.host = r->host,
		.price = from_env ? env : r->price,
		.price_model = r->price_model,
		.price_from = from_env ? "GPUSTARVE_USD_PER_GPU_HOUR" : "--price",
		.unit = r->unit,
		.units = r->units,
		.user = getenv("USER") ? getenv("USER") : getenv("LOGNAME"),
	};
	view_job_from_environment(&r->about.job);
	view_job_from_cgroup(&r->about.job);
}

/* GPUSTARVE=0 in a site's or a job's environment turns us off without a change of command lines. */
static bool switched_off(void)
{
	const char *on = getenv("GPUSTARVE");

	return on && (!strcmp(on, "0") || !strcmp(on, "off") || !strcmp(on, "no"));
}

/* Wrappers of a run begin together: who comes when the first has ended is no rank of it. */
static void tell_joined(const struct view_run *r)
{
	if (!r->first && !r->quiet && view_run_exit_read(r->dir) >= 0)
		view_note("%s is a run already, whose command has ended: this one is recorded as "
			  "more of it, with its labels, price and end; give it a step of its own "
			  "(srun) or a GPUSTARVE_RUN_ID",
			  r->shown);
}

/* A run directory that we can write to, or none: then the command runs without us. */
static void open_run(struct view_run *r)
{
	int err = set_base(r);

	view_run_identities(r);
	about_begin(r);
	if (!err)
		err = make_folders(r->dir);
	if (!err)
		err = view_run_record_begin(r->dir, &r->about, &r->first, &r->record);
	if (err) {
		view_turn_end(&r->turn);
		if (!rmdir(r->dir))
			rmdir(r->base); /* stays if it was not empty */
		view_error("%s: %s; the command runs unrecorded, give a folder you may write to "
			   "with -o",
			   r->dir[0] ? r->dir : "run directory", strerror(-err));
	} else {
		tell_joined(r);
	}
	r->traced = !err;
}

static bool local_collector(struct view_run *r)
{
	const char *env = getenv("GPUSTARVE_COLLECTOR");
	const char *address = r->collector ? r->collector : env && env[0] ? env : NULL;

	if (!address)
		return true;
	if (!strncmp(address, "https://", 8) || !strncmp(address, "http://", 7)) {
		r->upstream = address;
		return true;
	}
	if (!strncmp(address, "unix:", 5))
		address += 5;
	if (address[0] != '/' || strlen(address) >= sizeof(r->node.socket)) {
		view_error("--collector %s: neither https:// nor a Unix socket; give an absolute "
			   "path shorter than %zu bytes, or a URL",
			   address, sizeof(r->node.socket));
		return false;
	}
	r->node = (struct view_node){ .leash = -1, .words = -1 };
	strcpy(r->node.socket, address);
	return true;
}

static void start_recording(struct view_run *r)
{
	if (!view_find_libprof(r->libprof, sizeof(r->libprof))) {
		view_error("%s: libprof.so is not there; the command runs unrecorded, set "
			   "GPUSTARVE_LIB to its path",
			   r->libprof);
		r->traced = false;
		return;
	}
	/* Where it fails, view_run_environment says what that means. */
	view_preload_path(r->libprof, sizeof(r->libprof));
	if (!r->node.socket[0]) {
		view_node_start(&r->node, r->base, r->id, r->upstream);
		r->own_socket = r->node.socket[0] != '\0';
	}
	if (r->node.trouble && !r->quiet)
		view_note("no collector: %s; the trace is written by the processes themselves%s%s",
			  r->node.trouble, r->upstream ? " and does not go to " : "",
			  r->upstream ? r->upstream : "");
	view_run_environment(r);
}

/* Our standard input and output must not keep the command's pipes open behind it. */
static void let_go_of_pipes(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

static int64_t since_ns(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)(now.tv_sec - then->tv_sec) * 1000000000 + now.tv_nsec - then->tv_nsec;
}

static void tick(void *arg)
{
	struct view_run *r = arg;

	view_run_hear(r);
	if (!r->following)
		return;
	view_follow_look(&r->follow);
	view_alerts_look(&r->alerts, &r->follow, r->id);
	if (r->live)
		view_live_draw(r->live, &r->follow, r->alerts.last);
}

static void resized(void *arg)
{
	struct view_run *r = arg;

	view_live_resized(r->live);
}

static void pause_line(void *arg)
{
	struct view_run *r = arg;

	view_live_pause(r->live);
}

/* Of several wrappers of a run the first one draws, and watches what alerts wait for. */
static void begin_watching(struct view_run *r)
{
	struct view_rate_options rates = { r->price, r->price_model, "--price" };

	if (!r->traced || !r->first)
		return;
	if (!r->quiet)
		r->live = view_live_new(&r->began);
	if (!r->live && !view_alerts_any(&r->alerts))
		return;
	r->following = !view_follow_init(&r->follow, r->dir, &rates);
	r->alerts.quiet = r->quiet;
	if (r->following)
		view_alerts_begin(&r->alerts, r->dir);
}

/* What the last frames tell: a budget may have been reached in the last second. */
static void watch_a_last_time(struct view_run *r)
{
	if (!r->following)
		return;
	view_follow_look(&r->follow);
	view_alerts_look(&r->alerts, &r->follow, r->id);
	view_follow_fini(&r->follow);
	r->following = false;
}

static void wait_for_command(struct view_run *r)
{
	struct view_child_watch w = { .arg = r };

	begin_watching(r);
	if (r->following || r->node.words >= 0)
		w.tick = tick;
	if (r->live) {
		w.resized = resized;
		w.pause = pause_line;
	}
	view_child_wait(&r->child, &w);
	view_live_free(r->live);
	r->live = NULL;
}

static void close_run(struct view_run *r)
{
	view_run_identities_end(r);
	r->about.pid = r->child.pid;
	r->about.wall_ns = since_ns(&r->began);
	r->about.ended = true;
	r->about.exit_status = view_child_status(&r->child);
	int err = view_run_record_end(r->record, &r->about);
	if (view_run_is_full(err))
		view_run_no_room(r, err);
	else if (err)
		view_error("%s: %s; the run's end is not recorded", r->record, strerror(-err));
}

static int report(void *arg)
{
	struct view_run *r = arg;
	int status = view_child_status(&r->child);
	struct view_run_report o = {
		.dir = r->dir,
		.shown = r->shown,
		.record = r->record,
		.patience_s = r->failed ? 0 : OTHERS_SECONDS,
		.rates = { .price = r->price, .model = r->price_model, .price_from = "--price" },
		.no_projection = r->no_projection,
		.open = r->open,
		.quiet = r->quiet,
		.killed = status > 128 ? status : 0,
		.told = r->told
	};

	return view_run_report(&o);
}

/* The first wrapper kept its record for others that came after it, and none of them is any more. */
static void drop_first_record(struct view_run *r)
{
	char *path = NULL;

	if (!view_run_has_more_wrappers(r->dir) && view_run_exit_read(r->dir) >= 0 &&
	    !view_left_by_run(r->dir) && asprintf(&path, "%s/run.json", r->dir) >= 0)
		unlink(path);
	free(path);
}

/*
 * A folder with nothing but records is of no use to anybody, unless somebody may still put a trace
 * into it: whose that is, and its price, stand there.
 */
static void drop_empty_run(struct view_run *r)
{
	if (r->left)
		return;
	if (r->counter[0])
		unlink(r->counter);
	if (!r->first) {
		unlink(r->record);
		drop_first_record(r);
	} else if (!view_run_has_more_wrappers(r->dir)) {
		unlink(r->record);
	}
	if (r->first && r->told)
		view_run_drop_empty_streams(r->dir);
	view_turn_end(&r->turn);
	if (!rmdir(r->dir))
		rmdir(r->base); /* stays if it holds another run */
}

static int run_failed_to_start(struct view_run *r, int err)
{
	view_node_finish(&r->node, COLLECTOR_SECONDS);
	if (r->record)
		drop_empty_run(r);
	if (err) {
		view_error("%s: cannot be started: %s; end some processes", r->command[0],
			   strerror(-err));
		return VIEW_EXIT_ERROR;
	}
	return say_trouble(r->command[0], r->child.exec_errno == ENOENT ? 127 : 126);
}

/* In a process of its own: whatever happens there, our exit status is the command's. */
static void report_aside(struct view_run *r)
{
	if (view_child_aside(&r->child, report, r) < 0)
		view_error("%s: the report was not finished; make it with gpustarve report",
			   r->shown);
}

static void tell_nothing(const struct view_run *r)
{
	if (r->node.socket[0] && !r->own_socket)
		view_note("no trace in %s: the job never touched a GPU, or the collector at %s "
			  "stores it elsewhere; give -o the folder that it was started with",
			  r->shown, r->node.socket);
	else if (r->left)
		view_note("the job never touched a GPU so far, and left processes behind that "
			  "may: what is known of it stays in %s, for gpustarve report",
			  r->shown);
	else if (view_child_status(&r->child) > 128)
		view_run_note_killed(view_child_status(&r->child));
	else if (r->failed)
		view_note("the job never touched a GPU, as far as was seen, and ended with status "
			  "%d: there is nothing to report",
			  view_child_status(&r->child));
	else
		view_note("the job never touched a GPU, as far as was seen: there is nothing to "
			  "report. If it should have, ask gpustarve doctor; gpustarve loader "
			  "measures, without a GPU, what its loader can feed");
}

/*
 * The first wrapper of a run speaks for all of them. Should it have spoken before the others were
 * done, the last of those brings the files up to date.
 */
static void tell(struct view_run *r)
{
	bool data = view_run_has_data(r->dir);
	char *summary;

	if (r->first && !data && view_run_has_streams(r->dir))
		view_run_no_room(r, 0);
	if (r->no_report) {
		if (!r->quiet && data)
			view_note("recorded in %s: no report was asked for; make one with "
				  "gpustarve report",
				  r->shown);
		return;
	}
	if (r->first && data) {
		report_aside(r);
	} else if (r->first && !r->quiet && !r->told) {
		tell_nothing(r);
	} else if (!r->first && asprintf(&summary, "%s/summary.json", r->dir) >= 0) {
		r->quiet = true;
		r->open = false;
		if (!access(summary, F_OK) && !view_others_go_on(r->dir, r->record))
			report_aside(r);
		free(summary);
	}
}

/* It stays for others who still send; then what our command sent has long been appended. */
static void finish_collector(struct view_run *r)
{
	if (!view_node_finish(&r->node, FAILED_SECONDS) && !r->failed && r->record &&
	    !view_others_go_on(r->dir, r->record))
		view_node_finish(&r->node, COLLECTOR_SECONDS);
	view_run_hear(r);
}

/*
 * Whoever started us may watch for failure in order to end the other ranks: a command that failed
 * waits for nobody. One that went well does, for its launcher waits for all of them anyhow.
 */
static _Noreturn void end(struct view_run *r)
{
	r->failed = view_child_status(&r->child) != 0;
	if (r->record)
		close_run(r);
	finish_collector(r);
	watch_a_last_time(r);
	r->left = r->record && !view_run_has_data(r->dir) && view_left_by(r->counter);
	if (r->traced)
		tell(r);
	view_turn_end(&r->turn);
	if (r->record && !view_run_has_data(r->dir))
		drop_empty_run(r);
	view_child_end_like(&r->child);
}

int view_cmd_run(int argc, char **argv)
{
	static struct view_run r; /* large, and there is one */
	int go = view_run_parse(argc, argv, &r), trouble, err;

	if (go <= 0)
		return go ? VIEW_EXIT_ERROR : VIEW_EXIT_OK;
	if (!local_collector(&r))
		return VIEW_EXIT_ERROR;
	trouble = command_trouble(r.command[0]);
	if (trouble)
		return say_trouble(r.command[0], trouble);
	err = view_child_prepare(&r.child);
	if (err) {
		view_error("signals: %s; try again", strerror(-err));
		return VIEW_EXIT_ERROR;
	}
	if (!r.node.socket[0])
		r.node = (struct view_node){ .leash = -1, .words = -1 };
	if (switched_off())
		about_begin(&r);
	else
		open_run(&r);
	if (r.traced)
		start_recording(&r);
	err = view_child_start(&r.child, r.command, r.env, r.envs);
	if (err || r.child.exec_errno)
		return run_failed_to_start(&r, err);
	let_go_of_pipes();
	wait_for_command(&r);
	end(&r);
}
