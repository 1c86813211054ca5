/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpustarve run: starts the command with libprof in it, waits, and ends with the verdict. The
 * order here is the order of events; each step that fails leaves the command as it was.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "child.h"
#include "cmd.h"
#include "cost.h"
#include "install.h"
#include "live.h"
#include "log.h"
#include "node.h"
#include "options.h"
#include "others.h"
#include "report_run.h"
#include "runid.h"
#include "runjson.h"

#define LABELS_MAX 64
#define ENV_MAX 16
#define COLLECTOR_SECONDS 15
#define OTHERS_SECONDS 30
#define FAILED_SECONDS 2

struct run {
	char *const *command;
	const char *out, *collector, *price, *price_model, *max_overhead, *level, *max_trace;
	struct view_run_label label[LABELS_MAX];
	size_t labels;
	bool no_report, quiet;

	char id[VIEW_RUN_ID_BYTES];
	char base[PATH_MAX]; /* absolute */
	char dir[PATH_MAX + VIEW_RUN_ID_BYTES + 8];
	char shown[PATH_MAX + VIEW_RUN_ID_BYTES + 8]; /* as the user would write it */
	char host[256];
	char libprof[3072];
	bool traced; /* there is a place to record to */
	bool first; /* of the wrappers of this run */
	bool failed; /* the command did */
	char *record; /* path of run.json or of our exit file */
	struct view_run_record about;
	struct view_node node;
	struct view_child child;
	struct timespec began;
	int64_t began_ns;
	struct view_env env[ENV_MAX];
	size_t envs;
	char preload[8192], labels_text[1024];
};

static const char usage[] =
	"usage: gpustarve run [options] -- COMMAND...\n"
	"\n"
	"Runs COMMAND, records what its GPUs do, and ends with a verdict and a report.\n"
	"The exit status is COMMAND's own (127: not found, 126: not executable).\n"
	"\n"
	"  -o DIR              where run directories go (./gpustarve-runs)\n"
	"  --price USD         dollars per GPU-hour\n"
	"  --price-model M     on-demand (default), spot, reserved or owned\n"
	"  --label K=V         a label of the run; may be given several times\n"
	"  --level 0|1|2       how much to record (1)\n"
	"  --max-overhead PCT  step down rather than cost more than this (1)\n"
	"  --max-trace SIZE    stop recording beyond this size, such as 2G\n"
	"  --collector ADDR    send to this collector's socket instead of starting one\n"
	"  --no-report         no verdict and no report at the end\n"
	"  --quiet             print nothing of our own but errors\n"
	"\n"
	"  gpustarve run -- python train.py\n"
	"  gpustarve run --price 2.50 --label team=vision -- torchrun --nproc-per-node 8 train.py\n";

static bool add_label(struct run *r, char *text)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text || strchr(text, ',')) {
		view_error("--label %s: no label; write KEY=VALUE without commas", text);
		return false;
	}
	if (r->labels == LABELS_MAX) {
		view_error("--label %s: more than %d labels; leave some out", text, LABELS_MAX);
		return false;
	}
	*equals = '\0';
	r->label[r->labels++] = (struct view_run_label){ text, equals + 1 };
	return true;
}

static bool good_price(const char *text)
{
	int64_t nano;

	if (!view_cost_parse(text, &nano))
		return true;
	view_error("--price %s: no price; give dollars per GPU-hour such as 6.88", text);
	return false;
}

static bool good_percent(const char *text)
{
	int64_t nano;

	if (!view_cost_parse(text, &nano) && nano <= 100 * VIEW_NANO_USD)
		return true;
	view_error("--max-overhead %s: no percentage; give a number such as 1 or 0.5", text);
	return false;
}

static bool good_level(const char *text)
{
	if (text[0] >= '0' && text[0] <= '2' && !text[1])
		return true;
	view_error("--level %s: no such level; 0, 1 or 2", text);
	return false;
}

static bool good_size(const char *text)
{
	uint64_t bytes;

	if (view_option_size(text, &bytes))
		return true;
	view_error("--max-trace %s: no size; write bytes, or a number with K, M, G or T", text);
	return false;
}

static bool not_yet(const char *option)
{
	view_error("%s: this version does not have it; leave it out", option);
	return false;
}

static bool take(struct run *r, int c)
{
	switch (c) {
	case 'o':
		r->out = optarg;
		return true;
	case 'c':
		r->collector = optarg;
		return true;
	case 'p':
		r->price = optarg;
		return good_price(optarg);
	case 'm':
		r->price_model = optarg;
		return view_option_price_model(optarg);
	case 'l':
		return add_label(r, optarg);
	case 'O':
		r->max_overhead = optarg;
		return good_percent(optarg);
	case 'L':
		r->level = optarg;
		return good_level(optarg);
	case 'T':
		r->max_trace = optarg;
		return good_size(optarg);
	case 'n':
		r->no_report = true;
		return true;
	case 'q':
		r->quiet = true;
		return true;
	case 'b':
		return not_yet("--budget");
	case 'a':
		return not_yet("--alert");
	case 'e':
		return not_yet("--exec");
	default:
		return false;
	}
}

/* 1: go on, 0: help was shown, -1: error. */
static int parse(int argc, char **argv, struct run *r)
{
	static const struct option longs[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "collector", required_argument, NULL, 'c' },
		{ "price", required_argument, NULL, 'p' },
		{ "price-model", required_argument, NULL, 'm' },
		{ "label", required_argument, NULL, 'l' },
		{ "max-overhead", required_argument, NULL, 'O' },
		{ "level", required_argument, NULL, 'L' },
		{ "max-trace", required_argument, NULL, 'T' },
		{ "budget", required_argument, NULL, 'b' },
		{ "alert", required_argument, NULL, 'a' },
		{ "exec", required_argument, NULL, 'e' },
		{ "no-report", no_argument, NULL, 'n' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int c;

	while ((c = view_getopt(argc, argv, "+:o:qh", longs)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!take(r, c))
			return -1;
	}
	r->command = argv + optind;
	if (optind < argc)
		return 1;
	view_error("run: no command; write gpustarve run -- COMMAND...");
	return -1;
}

/* What execvp will find: 0, 126 or 127. Asked first, so that a typing error leaves no run behind. */
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
		if (mkdir(part, 0777) && errno != EEXIST)
			return -errno;
		*p = '/';
	}
	return mkdir(part, 0777) && errno != EEXIST ? -errno : 0;
}

static int set_base(struct run *r)
{
	const char *env = getenv("GPUSTARVE_OUT");
	const char *out = r->out ? r->out : env && env[0] ? env : "gpustarve-runs";
	char here[PATH_MAX];

	if (out[0] == '/')
		snprintf(r->base, sizeof(r->base), "%s", out);
	else if (!getcwd(here, sizeof(here)) ||
		 snprintf(r->base, sizeof(r->base), "%s/%s", here, out) >= (int)sizeof(r->base))
		return -ENAMETOOLONG;
	for (size_t n = strlen(r->base); n > 1 && r->base[n - 1] == '/'; n--)
		r->base[n - 1] = '\0';
	view_run_id(r->id, sizeof(r->id), r->command);
	snprintf(r->dir, sizeof(r->dir), "%s/%s.gst", r->base, r->id);
	size_t n = strlen(out);
	snprintf(r->shown, sizeof(r->shown), "%s%s%s.gst", out, n && out[n - 1] == '/' ? "" : "/",
		 r->id);
	return 0;
}

static void about_begin(struct run *r)
{
	if (gethostname(r->host, sizeof(r->host) - 1))
		strcpy(r->host, "localhost");
	clock_gettime(CLOCK_MONOTONIC, &r->began);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	r->began_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	const char *env = getenv("GPUSTARVE_USD_PER_GPU_HOUR");
	bool from_env = !r->price && !r->price_model && env && env[0] && good_price(env);
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
	};
}

/* A run directory that we can write to, or none: then the command runs without us. */
static void open_run(struct run *r)
{
	int err = set_base(r);

	about_begin(r);
	if (!err)
		err = make_folders(r->dir);
	if (!err)
		err = view_run_record_begin(r->dir, &r->about, &r->first, &r->record);
	if (err)
		view_error("%s: %s; the command runs unrecorded, give a folder you may write to "
			   "with -o",
			   r->dir[0] ? r->dir : "run directory", strerror(-err));
	r->traced = !err;
}

static void set_env(struct run *r, const char *name, const char *value)
{
	r->env[r->envs++] = (struct view_env){ name, value };
}

static void set_unless_set(struct run *r, const char *name, const char *value)
{
	const char *have = getenv(name);

	if (!have || !have[0])
		set_env(r, name, value);
}

/* True if the list (spaces or colons between) names @path already. */
static bool listed(const char *list, const char *path)
{
	size_t want = strlen(path);

	for (size_t len; *list; list += len + (list[len] != '\0')) {
		len = strcspn(list, ": ");
		if (len == want && !strncmp(list, path, len))
			return true;
	}
	return false;
}

static void set_preload(struct run *r)
{
	const char *have = getenv("LD_PRELOAD");

	if (have && listed(have, r->libprof))
		return;
	bool more = have && have[0];
	int n = snprintf(r->preload, sizeof(r->preload), "%s%s%s", r->libprof, more ? ":" : "",
			 more ? have : "");
	if (n < (int)sizeof(r->preload))
		set_env(r, "LD_PRELOAD", r->preload);
}

static void set_labels(struct run *r)
{
	const char *have = getenv("GPUSTARVE_LABELS");
	size_t at = 0;

	if (!r->labels)
		return;
	if (have && have[0])
		at = (size_t)snprintf(r->labels_text, sizeof(r->labels_text), "%s", have);
	for (size_t i = 0; i < r->labels && at < sizeof(r->labels_text); i++)
		at += (size_t)snprintf(r->labels_text + at, sizeof(r->labels_text) - at, "%s%s=%s",
				       at ? "," : "", r->label[i].key, r->label[i].value);
	if (at < sizeof(r->labels_text))
		set_env(r, "GPUSTARVE_LABELS", r->labels_text);
	else
		view_note("labels: longer than %zu bytes; run.json has them, the trace does not",
			  sizeof(r->labels_text));
}

static void set_environment(struct run *r)
{
	set_env(r, "GPUSTARVE_OUT", r->base);
	set_env(r, "GPUSTARVE_RUN_ID", r->id);
	if (r->node.socket[0])
		set_env(r, "GPUSTARVE_SOCKET", r->node.socket);
	if (r->level)
		set_env(r, "GPUSTARVE_LEVEL", r->level);
	if (r->max_overhead)
		set_env(r, "GPUSTARVE_MAX_OVERHEAD", r->max_overhead);
	if (r->max_trace)
		set_env(r, "GPUSTARVE_MAX_TRACE", r->max_trace);
	set_labels(r);
	/* The dynamic linker cuts LD_PRELOAD at spaces and colons; CUDA does not cut its variable. */
	if (strpbrk(r->libprof, ": "))
		view_note("%s: the path holds a space or a colon, so that only CUDA programs load "
			  "it; install gpustarve elsewhere",
			  r->libprof);
	else
		set_preload(r);
	set_unless_set(r, "CUDA_INJECTION64_PATH", r->libprof);
	set_unless_set(r, "NVTX_INJECTION64_PATH", r->libprof);
}

static bool local_collector(struct run *r)
{
	const char *env = getenv("GPUSTARVE_COLLECTOR");
	const char *address = r->collector ? r->collector : env && env[0] ? env : NULL;

	if (!address)
		return true;
	if (!strncmp(address, "unix:", 5))
		address += 5;
	if (address[0] != '/' || strlen(address) >= sizeof(r->node.socket)) {
		view_error("--collector %s: this version sends to a Unix socket only; give an "
			   "absolute path shorter than %zu bytes",
			   address, sizeof(r->node.socket));
		return false;
	}
	r->node = (struct view_node){ .leash = -1 };
	strcpy(r->node.socket, address);
	return true;
}

static void start_recording(struct run *r)
{
	if (!view_find_libprof(r->libprof, sizeof(r->libprof))) {
		view_error("%s: libprof.so is not there; the command runs unrecorded, set "
			   "GPUSTARVE_LIB to its path",
			   r->libprof);
		r->traced = false;
		return;
	}
	if (!r->node.socket[0])
		view_node_start(&r->node, r->base, r->id, r->quiet);
	if (r->node.trouble && !r->quiet)
		view_note("no collector: %s; the trace is written by the processes themselves",
			  r->node.trouble);
	set_environment(r);
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

static void wait_for_command(struct run *r)
{
	struct view_live *live = NULL;

	if (!r->quiet && r->traced)
		live = view_live_new(r->dir, r->price, r->price_model, &r->began);
	view_child_wait(&r->child, live ? view_live_tick : NULL, live);
	view_live_free(live);
}

static void close_run(struct run *r)
{
	r->about.pid = r->child.pid;
	r->about.wall_ns = since_ns(&r->began);
	r->about.ended = true;
	r->about.exit_status = view_child_status(&r->child);
	int err = view_run_record_end(r->record, &r->about);
	if (err)
		view_error("%s: %s; the run's end is not recorded", r->record, strerror(-err));
}

static int report(void *arg)
{
	struct run *r = arg;
	struct view_run_report o = {
		.dir = r->dir,
		.shown = r->shown,
		.record = r->record,
		.patience_s = r->failed ? 0 : OTHERS_SECONDS,
		.rates = { .price = r->price, .model = r->price_model, .price_from = "--price" },
		.quiet = r->quiet
	};

	return view_run_report(&o);
}

/* A folder with nothing but our own record is of no use to anybody. */
static void drop_empty_run(struct run *r)
{
	unlink(r->record);
	if (!rmdir(r->dir))
		rmdir(r->base); /* stays if it holds another run */
}

static int run_failed_to_start(struct run *r, int err)
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
static void report_aside(struct run *r)
{
	if (view_child_aside(&r->child, report, r) < 0)
		view_error("%s: the report was not finished; make it with gpustarve report",
			   r->shown);
}

/*
 * The first wrapper of a run speaks for all of them. Should it have spoken before the others were
 * done, the last of those brings the files up to date.
 */
static void tell(struct run *r)
{
	char *summary;

	if (r->no_report)
		return;
	if (r->first && view_run_has_streams(r->dir)) {
		report_aside(r);
	} else if (r->first && !r->quiet) {
		view_note("the job never touched a GPU: there is nothing to report");
	} else if (!r->first && asprintf(&summary, "%s/summary.json", r->dir) >= 0) {
		r->quiet = true;
		if (!access(summary, F_OK) && !view_others_go_on(r->dir, r->record))
			report_aside(r);
		free(summary);
	}
}

/*
 * Whoever started us may watch for failure in order to end the other ranks: a command that failed
 * waits for nobody. One that went well does, for its launcher waits for all of them anyhow.
 */
static _Noreturn void end(struct run *r)
{
	r->failed = view_child_status(&r->child) != 0;
	if (r->record)
		close_run(r);
	view_node_finish(&r->node, r->failed ? FAILED_SECONDS : COLLECTOR_SECONDS);
	if (r->traced)
		tell(r);
	if (r->record && !view_run_has_streams(r->dir))
		drop_empty_run(r);
	view_child_end_like(&r->child);
}

int view_cmd_run(int argc, char **argv)
{
	static struct run r; /* large, and there is one */
	int go = parse(argc, argv, &r), trouble, err;

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
		r.node.leash = -1;
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
