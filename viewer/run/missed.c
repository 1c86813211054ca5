/* SPDX-License-Identifier: Apache-2.0 */
#include "missed.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define ABOVE_MAX 64 /* processes between it and init */

static const char *const remedies[] = {
	[VIEW_MISSED_NOTHING] = "",
	[VIEW_MISSED_NO_CUDA] = "",
	[VIEW_MISSED_NOBODY] = "put `gpustarve run --` in front of the command that trains",
	[VIEW_MISSED_DROPPED] = "put `gpustarve run --` after that launcher",
	[VIEW_MISSED_SUDO] = "put `gpustarve run --` after it",
	[VIEW_MISSED_RAY] = "name LD_PRELOAD and GPUSTARVE_* in runtime_env's env_vars, or put "
			    "`gpustarve run --` before `ray start`",
	[VIEW_MISSED_PRIVILEGED] = "start a program without these",
	[VIEW_MISSED_NO_FILE] = "mount or install gpustarve at that path where the job runs",
	[VIEW_MISSED_LATE] = "start it again",
	[VIEW_MISSED_STATIC] = "link it dynamically",
	[VIEW_MISSED_MUSL] = "use an image with glibc",
	[VIEW_MISSED_OTHER] = "use a program of this machine's kind",
	[VIEW_MISSED_OPT_OUT] = "unset it",
	[VIEW_MISSED_NO_PRELOAD] = "unset it, for a program that no runtime of a sanitizer is in",
	[VIEW_MISSED_SANITIZER] = "use a build without it",
	[VIEW_MISSED_INJECTION] = "unset it, or run that tool another time",
	[VIEW_MISSED_TOOL] = "run without it",
	[VIEW_MISSED_SOCKET] = "start gpustarve-collector there, or look for .spool files in the "
			       "run's folder: `gpustarve report` reads them",
};

__attribute__((format(printf, 3, 4))) static void tell(struct view_missed *out,
						       enum view_missed_link link, const char *fmt,
						       ...)
{
	va_list list;

	va_start(list, fmt);
	vsnprintf(out->what, sizeof(out->what), fmt, list);
	va_end(list);
	for (char *c = out->what; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	out->link = link;
	out->remedy = remedies[link];
}

static bool is_off(const char *value)
{
	return value && (!strcmp(value, "0") || !strcmp(value, "off") || !strcmp(value, "no"));
}

static const char *name_of(const char *path)
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
		if (!strcmp(name_of(out), "libprof.so"))
			return true;
	}
	return false;
}

/* ---- what a program is ---- */

static bool tell_kind(enum view_needs_kind kind, const char *name, struct view_missed *out)
{
	if (kind == VIEW_NEEDS_STATIC)
		tell(out, VIEW_MISSED_STATIC,
		     "%s is linked statically: no library can be loaded into it", name);
	else if (kind == VIEW_NEEDS_MUSL)
		tell(out, VIEW_MISSED_MUSL,
		     "%s is a program of musl, in which libprof.so does nothing", name);
	else if (kind == VIEW_NEEDS_OTHER)
		tell(out, VIEW_MISSED_OTHER, "%s is of another word size than libprof.so", name);
	return kind != VIEW_NEEDS_UNKNOWN && kind != VIEW_NEEDS_GLIBC;
}

/* AddressSanitizer's lets CUDA load us all the same, ThreadSanitizer's nothing. */
static bool tell_sanitizer(const char *sanitizer, const char *name, struct view_missed *out)
{
	if (!sanitizer[0])
		return false;
	tell(out, VIEW_MISSED_SANITIZER, "%s needs %s, which lets no other library be preloaded%s",
	     name, sanitizer,
	     strstr(sanitizer, "asan") ? ": GPUs are recorded through CUDA alone, without lines"
				       : "");
	return true;
}

/* ---- who dropped it ---- */

static bool has_preload(const struct view_process *p)
{
	char path[PATH_MAX];

	return listed(view_process_env(p, "LD_PRELOAD"), path);
}

static bool is_sudo(const char *name)
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

/*
 * Goes up from @p. The last process without the variable below one that has it is where it was
 * lost; of one that is another user's nothing is known but its name, which is enough for sudo.
 */
static void tell_who_dropped(const struct view_process *p, struct view_missed *out)
{
	char lost[32], sudo[32] = "";
	pid_t at = p->parent, lost_pid = p->pid, sudo_pid = 0;
	bool ray = is_ray(p), has = false;

	snprintf(lost, sizeof(lost), "%s", p->name);
	for (int i = 0; at > 0 && i < ABOVE_MAX && !has; i++) {
		struct view_process above;
		int err = view_process_read(&above, at);

		if (err == -ESRCH)
			break;
		if (is_sudo(above.name) && !sudo_pid) {
			snprintf(sudo, sizeof(sudo), "%s", above.name);
			sudo_pid = at;
		}
		ray |= is_ray(&above);
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
		tell(out, VIEW_MISSED_SUDO, "%s (pid %d) started it, which drops LD_PRELOAD", sudo,
		     (int)sudo_pid);
	else if (ray)
		tell(out, VIEW_MISSED_RAY,
		     "a raylet of Ray started it, whose environment has no LD_PRELOAD of ours");
	else if (has)
		tell(out, VIEW_MISSED_DROPPED,
		     "LD_PRELOAD was dropped on the way: %s (pid %d) does not have it, and what "
		     "started that has",
		     lost, (int)lost_pid);
	else
		tell(out, VIEW_MISSED_NOBODY,
		     "LD_PRELOAD names no libprof.so, in it or in any process above");
}

/* ---- libprof.so is not in it ---- */

static void tell_not_loaded(const struct view_process *p, struct view_missed *out)
{
	char path[PATH_MAX];
	int err;

	if (is_off(view_process_env(p, "GPUSTARVE_PRELOAD")))
		tell(out, VIEW_MISSED_NO_PRELOAD,
		     "GPUSTARVE_PRELOAD is off: CUDA alone is told of libprof.so");
	else if (tell_sanitizer(p->sanitizer, p->name, out))
		return;
	else if (!listed(view_process_env(p, "LD_PRELOAD"), path))
		tell_who_dropped(p, out);
	else if (p->privileged)
		tell(out, VIEW_MISSED_PRIVILEGED,
		     "%s is setuid or setgid or has file capabilities: its loader drops LD_PRELOAD",
		     p->name);
	else if ((err = view_process_sees(p, path)))
		tell(out, VIEW_MISSED_NO_FILE, "LD_PRELOAD names %s, and where it runs that is: %s",
		     path, strerror(-err));
	else
		tell(out, VIEW_MISSED_LATE,
		     "%s could not be loaded when it began, and is there now", path);
}

/* ---- it is in it ---- */

static int try_socket(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd, err = 0;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	strcpy(a.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) && errno != EAGAIN)
		err = -errno;
	close(fd);
	return err;
}

static bool tell_tools(const char *injection, bool theirs, struct view_missed *out)
{
	if (theirs)
		tell(out, VIEW_MISSED_TOOL,
		     "ncu or compute-sanitizer started it, and keeps CUDA to itself");
	else if (injection && injection[0] && strcmp(name_of(injection), "libprof.so") != 0)
		tell(out, VIEW_MISSED_INJECTION,
		     "CUDA_INJECTION64_PATH is another tool's: CUDA loads %s in place of "
		     "libprof.so",
		     injection);
	else
		return false;
	return true;
}

static void tell_loaded(const struct view_process *p, struct view_missed *out)
{
	const char *socket = view_process_env(p, "GPUSTARVE_SOCKET");
	char path[PATH_MAX];
	int err = 0;

	if (tell_tools(view_process_env(p, "CUDA_INJECTION64_PATH"),
		       view_process_env(p, "NV_NSIGHT_INJECTION_TRANSPORT_TYPE") ||
			       view_process_env(p, "NV_SANITIZER_INJECTION_TRANSPORT_TYPE"),
		       out))
		return;
	if (socket && socket[0] == '/' &&
	    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)p->pid, socket) <
		    (int)sizeof(path)) {
		err = try_socket(path);
		if (err == -ENAMETOOLONG)
			err = try_socket(socket);
	}
	if (err)
		tell(out, VIEW_MISSED_SOCKET, "no collector takes it in at %s: %s", socket,
		     strerror(-err));
	else if (!p->has_cuda)
		tell(out, VIEW_MISSED_NO_CUDA, "libprof.so is in it, but it has not loaded CUDA");
	else
		tell(out, VIEW_MISSED_NOTHING, "libprof.so is in it and nothing is in its way");
}

void view_missed_process(const struct view_process *p, struct view_missed *out)
{
	const char *on = view_process_env(p, "GPUSTARVE");

	if (is_off(on))
		tell(out, VIEW_MISSED_OPT_OUT, "GPUSTARVE=%s is in its environment", on);
	else if (tell_kind(p->kind, p->name, out))
		return;
	else if (p->has_library)
		tell_loaded(p, out);
	else
		tell_not_loaded(p, out);
}

/* ---- a command that is still to be started ---- */

static bool is_privileged(const char *file)
{
	struct stat st;

	return !stat(file, &st) && (st.st_mode & (S_ISUID | S_ISGID)) &&
	       (st.st_uid != getuid() || (st.st_mode & S_ISGID));
}

void view_missed_command(const char *command, struct view_missed *out)
{
	const char *on = getenv("GPUSTARVE"), *name = name_of(command);
	char file[PATH_MAX], sanitizer[VIEW_NEEDS_NAME];
	bool found = view_needs_program(command, getenv("PATH"), file);

	if (is_off(on))
		tell(out, VIEW_MISSED_OPT_OUT, "GPUSTARVE=%s is in the environment", on);
	else if (is_sudo(name))
		tell(out, VIEW_MISSED_SUDO, "%s drops LD_PRELOAD", name);
	else if (!found)
		tell(out, VIEW_MISSED_NO_FILE, "%s is not a program here", command);
	else if (tell_kind(view_needs_kind(file), name, out))
		return;
	else if (is_privileged(file))
		tell(out, VIEW_MISSED_PRIVILEGED,
		     "%s is setuid or setgid: its loader drops LD_PRELOAD", file);
	else if (view_needs_sanitizer(file, NULL, sanitizer))
		tell_sanitizer(sanitizer, name, out);
	else if (!tell_tools(getenv("CUDA_INJECTION64_PATH"),
			     getenv("NV_NSIGHT_INJECTION_TRANSPORT_TYPE") ||
				     getenv("NV_SANITIZER_INJECTION_TRANSPORT_TYPE"),
			     out))
		tell(out, VIEW_MISSED_NOTHING, "`gpustarve run -- %s` would record it", command);
}
