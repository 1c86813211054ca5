/* SPDX-License-Identifier: Apache-2.0 */
#include "missed_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "reach.h"

#define ABOVE_MAX 64 /* processes between it and init */

static const char *const remedies[] = {
	[VIEW_MISSED_NOTHING] = "",
	[VIEW_MISSED_NO_CUDA] = "",
	[VIEW_MISSED_WRAPPER] = "ask for its command's number",
	[VIEW_MISSED_NOBODY] = "put `gpustarve run --` in front of the command that trains",
	[VIEW_MISSED_DROPPED] = "put `gpustarve run --` after that launcher",
	[VIEW_MISSED_EMPTIED] = "look at what `gpustarve run` said when it began, and put it "
				"behind what empties the environment",
	[VIEW_MISSED_SUDO] = "put `gpustarve run --` after it",
	[VIEW_MISSED_RAY] = "name LD_PRELOAD and GPUSTARVE_* in runtime_env's env_vars, or put "
			    "`gpustarve run --` before `ray start`",
	[VIEW_MISSED_PRIVILEGED] = "start a program without these",
	[VIEW_MISSED_NO_FILE] = "mount or install gpustarve at that path where the job runs",
	[VIEW_MISSED_UNREADABLE] = "let its user read that file, and the folders above",
	[VIEW_MISSED_LATE] = "start it again",
	[VIEW_MISSED_STATIC] = "link it dynamically",
	[VIEW_MISSED_MUSL] = "use an image with glibc",
	[VIEW_MISSED_OTHER] = "use a program of this machine's kind",
	[VIEW_MISSED_OPT_OUT] = "unset it",
	[VIEW_MISSED_NO_PRELOAD] = "unset it, for a program that no runtime of a sanitizer is in",
	[VIEW_MISSED_SANITIZER] = "use a build without it",
	[VIEW_MISSED_INJECTION] = "unset it, or run that tool another time",
	[VIEW_MISSED_TOOL] = "run without it",
	[VIEW_MISSED_LOST] = "start gpustarve-collector there, or give it a GPUSTARVE_OUT that it "
			     "may write to",
	[VIEW_MISSED_TURNED_AWAY] = "start the collector as that user, or with --any-user; or give "
				    "it a GPUSTARVE_OUT that it may write to",
	[VIEW_MISSED_UNTOLD] = "ask as root, or as its user, on its machine",
	[VIEW_MISSED_NO_COMMAND] = "check its name, its permissions and PATH",
	[VIEW_MISSED_ELSEWHERE] = "put `gpustarve run --` in front of the command that it starts, "
				  "there",
	[VIEW_MISSED_NO_LIBRARY] = "set GPUSTARVE_LIB to its path, or unset it",
	[VIEW_MISSED_NO_FOLDER] =
		"give a folder that you may write to: GPUSTARVE_OUT, or `gpustarve "
		"run -o`",
	[VIEW_MISSED_NO_CUPTI] = "unset it, or set it to a libcupti that is there",
	[VIEW_MISSED_UPSTREAM] = "until then the run stays on this machine",
};

void view_missed_vtell(struct view_missed *out, enum view_missed_link link, const char *fmt,
		       va_list list)
{
	char text[sizeof(out->what)];

	vsnprintf(text, sizeof(text), fmt, list);
	base_escape_text(out->what, sizeof(out->what), BASE_AS_TERMINAL, text);
	out->link = link;
	out->remedy = remedies[link];
}

void view_missed_tell(struct view_missed *out, enum view_missed_link link, const char *fmt, ...)
{
	va_list list;

	va_start(list, fmt);
	view_missed_vtell(out, link, fmt, list);
	va_end(list);
}

bool view_missed_off(const char *value)
{
	return value && (!strcmp(value, "0") || !strcmp(value, "off") || !strcmp(value, "no"));
}

const char *view_missed_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The word of a list (spaces or colons between) that is a libprof.so; false: none is. */
static bool listed(const char *list, char out[PATH_MAX])
{
	for (size_t n; list && *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ": ");
		if (n >= PATH_MAX)
			continue;
		snprintf(out, PATH_MAX, "%.*s", (int)n, list);
		if (!strcmp(view_missed_name(out), "libprof.so"))
			return true;
	}
	return false;
}

/* ---- what a program is ---- */

bool view_missed_kind(enum view_needs_kind kind, const char *name, struct view_missed *out)
{
	if (kind == VIEW_NEEDS_STATIC)
		view_missed_tell(out, VIEW_MISSED_STATIC,
				 "%s is linked statically: no library can be loaded into it", name);
	else if (kind == VIEW_NEEDS_MUSL)
		view_missed_tell(out, VIEW_MISSED_MUSL,
				 "%s is a program of musl, in which libprof.so does nothing", name);
	else if (kind == VIEW_NEEDS_OTHER)
		view_missed_tell(out, VIEW_MISSED_OTHER,
				 "%s is of another word size than libprof.so", name);
	return kind != VIEW_NEEDS_UNKNOWN && kind != VIEW_NEEDS_GLIBC;
}

/* AddressSanitizer's lets CUDA load us all the same, ThreadSanitizer's nothing. */
bool view_missed_sanitizer(const char *sanitizer, const char *name, struct view_missed *out)
{
	if (!sanitizer[0])
		return false;
	view_missed_tell(out, VIEW_MISSED_SANITIZER,
			 "%s needs %s, which lets no other library be preloaded%s", name, sanitizer,
			 strstr(sanitizer, "asan")
				 ? ": GPUs are recorded through CUDA alone, without lines"
				 : "");
	return true;
}

/* ---- who dropped it ---- */

static bool has_preload(const struct view_process *p)
{
	char path[PATH_MAX];

	return listed(view_process_env(p, "LD_PRELOAD"), path);
}

bool view_missed_is_sudo(const char *name)
{
	static const char *const names[] = { "sudo", "su", "doas", "pkexec", "runuser", "setpriv" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_ray(const struct view_process *p)
{
	return !strcmp(p->name, "raylet") || !strncmp(p->name, "ray::", 5) ||
	       (p->command && strstr(p->command, "/raylet/raylet "));
}

static bool is_wrapper(const struct view_process *p)
{
	return !strcmp(p->name, "gpustarve") && p->command &&
	       strstr(p->command, "gpustarve run ") != NULL;
}

/*
 * Goes up from @p. The last process without the variable below one that has it is where it was
 * lost; of one that is another user's nothing is known but its name, which is enough for sudo.
 */
static void tell_who_dropped(const struct view_process *p, struct view_missed *out)
{
	char lost[32], sudo[32] = "";
	pid_t at = p->parent, lost_pid = p->pid, sudo_pid = 0;
	pid_t wrapper = 0;
	bool ray = is_ray(p), has = false;

	snprintf(lost, sizeof(lost), "%s", p->name);
	for (int i = 0; at > 0 && i < ABOVE_MAX && !has; i++) {
		struct view_process above;
		int err = view_process_read(&above, at);

		if (err == -ESRCH)
			break;
		if (view_missed_is_sudo(above.name) && !sudo_pid) {
			snprintf(sudo, sizeof(sudo), "%s", above.name);
			sudo_pid = at;
		}
		ray |= is_ray(&above);
		if (!err && !wrapper && is_wrapper(&above))
			wrapper = at;
		has = !err && has_preload(&above);
		if (!has) {
			snprintf(lost, sizeof(lost), "%s", above.name);
			lost_pid = at;
		}
		at = above.parent;
		if (!err)
			view_process_fini(&above);
	}
	if (sudo_pid)
		view_missed_tell(out, VIEW_MISSED_SUDO,
				 "%s (pid %d) started it, which drops LD_PRELOAD", sudo,
				 (int)sudo_pid);
	else if (ray)
		view_missed_tell(
			out, VIEW_MISSED_RAY,
			"a raylet of Ray started it, whose environment has no LD_PRELOAD of ours");
	else if (has)
		view_missed_tell(
			out, VIEW_MISSED_DROPPED,
			"LD_PRELOAD was dropped on the way: %s (pid %d) does not have it, and what "
			"started that has",
			lost, (int)lost_pid);
	else if (wrapper)
		view_missed_tell(out, VIEW_MISSED_EMPTIED,
				 "`gpustarve run` (pid %d) is above it, and its LD_PRELOAD did not "
				 "come down: that could not record, or something on the way threw "
				 "the environment away, as env -i does",
				 (int)wrapper);
	else
		view_missed_tell(out, VIEW_MISSED_NOBODY,
				 "LD_PRELOAD names no libprof.so, in it or in any process above");
}

/* ---- libprof.so is not in it ---- */

static void tell_not_loaded(const struct view_process *p, struct view_missed *out)
{
	struct view_reach r;
	char path[PATH_MAX];
	int err;

	if (view_missed_off(view_process_env(p, "GPUSTARVE_PRELOAD")))
		view_missed_tell(out, VIEW_MISSED_NO_PRELOAD,
				 "GPUSTARVE_PRELOAD is off: CUDA alone is told of libprof.so");
	else if (view_missed_sanitizer(p->sanitizer, p->name, out))
		return;
	else if (!listed(view_process_env(p, "LD_PRELOAD"), path))
		tell_who_dropped(p, out);
	else if (p->privileged)
		view_missed_tell(
			out, VIEW_MISSED_PRIVILEGED,
			"%s is setuid or setgid or has file capabilities: its loader drops LD_PRELOAD",
			p->name);
	else if ((err = view_reach_look(p, path, &r)))
		view_missed_tell(out, VIEW_MISSED_UNTOLD,
				 "LD_PRELOAD names %s, and whether it is there for it cannot be "
				 "told: %s",
				 path, strerror(-err));
	else if (r.library)
		view_missed_tell(
			out, r.library == -EACCES ? VIEW_MISSED_UNREADABLE : VIEW_MISSED_NO_FILE,
			"LD_PRELOAD names %s, and where it runs that is: %s", path,
			strerror(-r.library));
	else
		view_missed_tell(out, VIEW_MISSED_LATE,
				 "%s could not be loaded when it began, and is there now", path);
}

/* ---- it is in it ---- */

bool view_missed_tools(const char *injection, bool theirs, struct view_missed *out)
{
	if (theirs)
		view_missed_tell(out, VIEW_MISSED_TOOL,
				 "ncu or compute-sanitizer started it, and keeps CUDA to itself");
	else if (injection && injection[0] &&
		 strcmp(view_missed_name(injection), "libprof.so") != 0)
		view_missed_tell(
			out, VIEW_MISSED_INJECTION,
			"CUDA_INJECTION64_PATH is another tool's: CUDA loads %s in place of "
			"libprof.so",
			injection);
	else
		return false;
	return true;
}

static const char *collector_word(int err)
{
	return err == -EPERM ? "it turns this user away" : strerror(-err);
}

/* Where its bytes go now: to a collector, else to spool files. */
static void tell_where(const struct view_process *p, const struct view_reach *r,
		       struct view_missed *out)
{
	const char *socket = view_reach_socket(p), *to = view_reach_out(p);
	bool away = r->collector == -EPERM || r->collector == -EACCES;

	if (!r->collector)
		view_missed_tell(out, VIEW_MISSED_NOTHING,
				 "libprof.so is in it and nothing is in its way to the collector "
				 "at %s",
				 socket);
	else if (r->collector == -ENOTSOCK && !r->spool)
		view_missed_tell(out, VIEW_MISSED_NOTHING,
				 "libprof.so is in it; its trace goes to .spool files below %s, "
				 "which `gpustarve report` reads",
				 to);
	else if (!r->spool)
		view_missed_tell(
			out, VIEW_MISSED_NOTHING,
			"libprof.so is in it; no collector takes it in at %s (%s), so that "
			"its trace goes to .spool files below %s, which `gpustarve "
			"report` reads",
			socket, collector_word(r->collector), to);
	else if (r->collector == -ENOTSOCK)
		view_missed_tell(out, VIEW_MISSED_TURNED_AWAY,
				 "it has no GPUSTARVE_SOCKET, and no file can be made below %s: %s",
				 to, strerror(-r->spool));
	else
		view_missed_tell(out, away ? VIEW_MISSED_TURNED_AWAY : VIEW_MISSED_LOST,
				 "no collector takes it in now at %s (%s), and no file can be made "
				 "below %s (%s)",
				 socket, collector_word(r->collector), to, strerror(-r->spool));
}

static void tell_loaded(const struct view_process *p, struct view_missed *out)
{
	struct view_reach r;
	int err;

	if (view_missed_tools(view_process_env(p, "CUDA_INJECTION64_PATH"),
			      view_process_env(p, "NV_NSIGHT_INJECTION_TRANSPORT_TYPE") ||
				      view_process_env(p, "NV_SANITIZER_INJECTION_TRANSPORT_TYPE"),
			      out))
		return;
	err = view_reach_look(p, "", &r);
	if (err) {
		view_missed_tell(out, VIEW_MISSED_UNTOLD,
				 "libprof.so is in it, and where its trace goes cannot be told: %s",
				 strerror(-err));
		return;
	}
	tell_where(p, &r, out);
	if (!p->has_cuda && out->link == VIEW_MISSED_NOTHING)
		view_missed_tell(out, VIEW_MISSED_NO_CUDA,
				 "libprof.so is in it, but it has not loaded CUDA");
}

void view_missed_process(const struct view_process *p, struct view_missed *out)
{
	const char *on = view_process_env(p, "GPUSTARVE");

	if (is_wrapper(p))
		view_missed_tell(out, VIEW_MISSED_WRAPPER,
				 "it is `gpustarve run` itself, which uses no GPU");
	else if (view_missed_off(on))
		view_missed_tell(out, VIEW_MISSED_OPT_OUT, "GPUSTARVE=%s is in its environment",
				 on);
	else if (view_missed_kind(p->kind, p->name, out))
		return;
	else if (p->has_library)
		tell_loaded(p, out);
	else
		tell_not_loaded(p, out);
}
