/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds libtorch_cpu, reads its version, and registers a RecordFunction callback.
 *
 * What is called (Itanium-mangled, exported by libtorch_cpu from 1.12 on):
 *   at::addGlobalCallback(at::RecordFunctionCallback) -> uint64_t    any thread: it locks
 *   at::RecordFunction::name() const -> const char *
 *   at::removeCallback(uint64_t)
 * RecordFunctionCallback is trivially copyable, so a C struct of its layout passes by value as it
 * does. Its start function returns a std::unique_ptr, for whose place the caller passes a hidden
 * pointer: on x86-64 in the first argument, to be returned as the value, on aarch64 in x8, which is
 * not returned. We only ever return an empty one.
 */
#include "torchhook.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/thread.h"
#include "marks.h"

#define PATH_BYTES 1024u
#define CHECKED 8u /* callbacks looked at closely before they are trusted */
#define FORK_WAIT_NS 100000000

#if defined(__x86_64__) || defined(__aarch64__)
#define ABI_KNOWN 1
#else
#define ABI_KNOWN 0 /* elsewhere the hidden pointer may travel otherwise */
#endif

enum scope {
	SCOPE_USER = 7,
	SCOPES = 10
};

struct record_callback { /* at::RecordFunctionCallback */
	void (*start)(void); /* see on_start */
	void (*end)(const void *fn, void *context);
	double sampling;
	bool scopes[SCOPES];
	bool needs_inputs, needs_outputs, needs_ids;
};
_Static_assert(sizeof(struct record_callback) == 40, "layout of at::RecordFunctionCallback");

enum stage {
	STAGE_LOOKING, /* no libtorch_cpu yet */
	STAGE_BUSY, /* a thread registers */
	STAGE_CHECKED, /* registered; each callback is looked at closely */
	STAGE_TRUSTED,
	STAGE_FAILED, /* registered, but wrong: to be removed */
	STAGE_OFF, /* not registered, and will not be; note says why */
};

static atomic_int stage;
static char note[240];
static char version[64];

static const char *(*record_name)(const void *fn);
static uint64_t (*add_callback)(struct record_callback);
static void (*remove_callback)(uint64_t);
static uint64_t handle;

/* ---- the callbacks, on the host's threads ---- */

static atomic_uint seen, seen_operators;
static _Atomic uintptr_t last_start;

/* Are these bytes there? A kernel that cannot tell is believed. */
static bool readable(const void *from, void *to, size_t bytes)
{
	struct iovec local = { .iov_base = to, .iov_len = bytes };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)from, .iov_len = bytes };
	int kept = errno;
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	bool ok = n > 0 || (n < 0 && errno != EFAULT);

	errno = kept;
	return ok;
}

static bool is_text(const char *text, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes && text[i]; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\t')
			return false;
	return i > 0;
}

/*
 * The self-check: a RecordFunction that can be read, with a name that is text; and not operators
 * only, which would mean that we were registered for another scope.
 */
static bool looks_right(const void *fn)
{
	char bytes[32] = "?";
	const char *name;

	if (!readable(fn, bytes, sizeof(bytes)))
		return false;
	name = record_name(fn);
	memcpy(bytes, "?", 2);
	if (!name || !readable(name, bytes, 8) || !is_text(bytes, 8))
		return false;
	if (!strncmp(bytes, "aten::", 6) && atomic_fetch_add(&seen_operators, 1) + 1 == CHECKED)
		return false;
	atomic_fetch_add(&seen, 1);
	atomic_store(&last_start, (uintptr_t)fn);
	return true;
}

/* Called by on_start, on aarch64 by a name that assembly can use. */
__attribute__((used, visibility("hidden"))) void prof_torch_begun(const void *fn);

void prof_torch_begun(const void *fn)
{
	int now = atomic_load_explicit(&stage, memory_order_relaxed);
	const char *name;

	if (!prof_marks_on() || (now != STAGE_TRUSTED && now != STAGE_CHECKED))
		return;
	if (now == STAGE_CHECKED && !looks_right(fn)) {
		atomic_compare_exchange_strong(&stage, &now, STAGE_FAILED);
		return;
	}
	name = record_name(fn);
	if (name)
		prof_mark_begin(PROF_SOURCE_TORCH, (uintptr_t)fn, name,
				strnlen(name, PROF_MARK_NAME_MAX));
}

#ifdef __aarch64__
/* The range is in x0, as a first argument is; hint #34 is `bti c`, for who branches here. */
__attribute__((visibility("hidden"))) void on_start(void) __asm__("prof_torch_start");
__asm__("\t.text\n"
	"\t.p2align 2\n"
	"\t.hidden prof_torch_start\n"
	"\t.globl prof_torch_start\n"
	"\t.type prof_torch_start, %function\n"
	"prof_torch_start:\n"
	"\thint #34\n"
	"\tstr xzr, [x8]\n"
	"\tb prof_torch_begun\n"
	"\t.size prof_torch_start, . - prof_torch_start\n");
#else
static void *on_start(void **context, const void *fn)
{
	*context = NULL;
	prof_torch_begun(fn);
	return context;
}
#endif

static void on_end(const void *fn, void *context)
{
	int now = atomic_load_explicit(&stage, memory_order_relaxed);

	(void)context;
	if (!prof_marks_on() || (now != STAGE_TRUSTED && now != STAGE_CHECKED))
		return;
	if (now == STAGE_CHECKED && atomic_load(&seen) >= CHECKED &&
	    atomic_load(&last_start) == (uintptr_t)fn)
		atomic_compare_exchange_strong(&stage, &now, STAGE_TRUSTED);
	prof_mark_end(PROF_SOURCE_TORCH, (uintptr_t)fn);
}

/* ---- which libraries are there ---- */

static atomic_int forking; /* threads between prepare and parent */
static atomic_bool listing; /* we are inside the loader's list */

struct found {
	char torch[PATH_BYTES]; /* libtorch_cpu */
	char python[PATH_BYTES]; /* torch/_C, the Python module, or empty */
	unsigned long long adds; /* objects ever loaded, as last seen */
	bool first;
};

static struct found found;

static void copy_path(char *to, const char *from)
{
	if (strlen(from) < PATH_BYTES)
		strcpy(to, from);
}

/* Called by dl_iterate_phdr for each object; stops when nothing was loaded since the last time. */
static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct found *f = arg;
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	if (f->first && info->dlpi_adds == f->adds)
		return 1;
	f->first = false;
	f->adds = info->dlpi_adds;
	if (base && !strncmp(base, "/libtorch_cpu.so", 16))
		copy_path(f->torch, info->dlpi_name);
	else if (strstr(info->dlpi_name, "/torch/_C."))
		copy_path(f->python, info->dlpi_name);
	return 0;
}

/*
 * dl_iterate_phdr holds a lock that fork does not mend: a child made meanwhile hangs when it next
 * loads a library. So no list while a fork is under way, and a fork waits for the list (some
 * microseconds). Each side raises its flag before it reads the other's.
 */
static bool enter_list(void)
{
	atomic_store(&listing, true);
	if (!atomic_load(&forking))
		return true;
	atomic_store(&listing, false);
	return false;
}

static void leave_list(void)
{
	atomic_store_explicit(&listing, false, memory_order_release);
}

static bool look_for_torch(void)
{
	if (!enter_list())
		return false;
	found.first = true;
	dl_iterate_phdr(look_at, &found);
	leave_list();
	return found.torch[0];
}

static _Thread_local bool raised; /* by this thread's fork that is under way */

void prof_torch_fork_prepare(void)
{
	int64_t limit;

	if (!prof_marks_on())
		return;
	raised = true;
	atomic_fetch_add(&forking, 1);
	for (limit = prof_mono_ns() + FORK_WAIT_NS;
	     atomic_load(&listing) && prof_mono_ns() < limit;)
		sched_yield();
}

void prof_torch_fork_parent(void)
{
	if (raised) /* not: marks are on, for they may have come on meanwhile */
		atomic_fetch_sub(&forking, 1);
	raised = false;
}

void prof_torch_fork_child(void)
{
	atomic_store(&forking, 0);
	raised = false;
	atomic_store(&listing, false);
}

/* ---- which torch it is ---- */

static size_t read_start(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0 ? (size_t)n : 0;
}

static bool set_version(const char *text)
{
	size_t n = strcspn(text, "'\"\r\n");

	if (*text < '0' || *text > '9' || n >= sizeof(version))
		return false;
	memcpy(version, text, n);
	version[n] = 0;
	return true;
}

/* torch/version.py has a line __version__ = '2.4.0+cu121'. */
static bool version_from_python(const char *path)
{
	char text[4096];
	const char *line = text;

	if (!read_start(path, text, sizeof(text)))
		return false;
	while (strncmp(line, "__version__", 11)) {
		line = strchr(line, '\n');
		if (!line)
			return false;
		line++;
	}
	line += strcspn(line, "'\"\n");
	return *line && set_version(line + 1);
}

/* The C++ distribution has the bare number in build-version. */
static bool version_from_plain(const char *path)
{
	char text[256];

	return read_start(path, text, sizeof(text)) && set_version(text);
}

/* @file beside the object, or one folder up with "../". */
static const char *beside(const char *object, const char *file, char *path)
{
	const char *end = strrchr(object, '/');

	if (!end || snprintf(path, PATH_BYTES, "%.*s/%s", (int)(end - object), object, file) >=
			    (int)PATH_BYTES)
		path[0] = 0;
	return path;
}

static bool read_version(void)
{
	const char *number = strstr(found.torch, ".so.");
	char path[PATH_BYTES];

	return (found.python[0] && version_from_python(beside(found.python, "version.py", path))) ||
	       version_from_python(beside(found.torch, "../version.py", path)) ||
	       version_from_plain(beside(found.torch, "../build-version", path)) ||
	       (number && set_version(number + 4));
}

static bool version_known(void)
{
	char *end;
	unsigned long major = strtoul(version, &end, 10);
	unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	return (major == 1 && minor >= 12) || major == 2;
}

/* ---- registering ---- */

static void give_up(const char *why)
{
	snprintf(note, sizeof(note),
		 "torch%s%s: loader waits and record_function ranges are not recorded: %s",
		 version[0] ? " " : "", version, why);
	atomic_store_explicit(&stage, STAGE_OFF, memory_order_release);
}

static bool find_symbols(void)
{
	void *lib = dlopen(found.torch, RTLD_LAZY | RTLD_NOLOAD);

	if (!lib)
		return false;
	*(void **)&add_callback =
		dlsym(lib, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
	*(void **)&remove_callback = dlsym(lib, "_ZN2at14removeCallbackEm");
	*(void **)&record_name = dlsym(lib, "_ZNK2at14RecordFunction4nameEv");
	return add_callback && remove_callback && record_name;
}

static void add(void)
{
	struct record_callback callback = { .start = (void (*)(void))on_start,
					    .end = on_end,
					    .sampling = 1.0 };

	callback.scopes[SCOPE_USER] = true;
	handle = add_callback(callback);
	atomic_store(&stage, STAGE_CHECKED);
}

/* The loader's lock and torch's would stay locked in a child that is made meanwhile. */
static void link_and_add(void)
{
	if (!enter_list()) {
		atomic_store(&stage, STAGE_LOOKING);
		return;
	}
	if (find_symbols())
		add();
	else
		give_up("libtorch_cpu lacks a symbol that is needed");
	leave_list();
}

static void register_now(void)
{
	if (!ABI_KNOWN)
		give_up("its callback is known on x86-64 and aarch64 only");
	else if (!read_version())
		give_up("its version is not known");
	else if (!version_known())
		give_up("versions 1.12 to 2 are known");
	else
		link_and_add();
}

static void *register_late(void *unused)
{
	prof_thread_begin("gs-torch");
	register_now();
	return unused;
}

void prof_torch_init(void)
{
	if (look_for_torch())
		register_now();
}

static void poll_looking(void)
{
	if (!look_for_torch())
		return;
	atomic_store(&stage, STAGE_BUSY);
	if (prof_thread_start(register_late))
		atomic_store(&stage, STAGE_LOOKING);
}

void prof_torch_poll(void)
{
	switch (atomic_load_explicit(&stage, memory_order_acquire)) {
	case STAGE_LOOKING:
		poll_looking();
		break;
	case STAGE_FAILED:
		if (!enter_list())
			break;
		remove_callback(handle);
		leave_list();
		give_up("its callback is not what was expected");
		break;
	default:
		break;
	}
}

bool prof_torch_hooked(void)
{
	int now = atomic_load_explicit(&stage, memory_order_acquire);

	return now == STAGE_CHECKED || now == STAGE_TRUSTED;
}

bool prof_torch_mapped(void)
{
	return atomic_load_explicit(&stage, memory_order_acquire) != STAGE_LOOKING;
}

const char *prof_torch_note(void)
{
	return atomic_load_explicit(&stage, memory_order_acquire) == STAGE_OFF ? note : "";
}

const char *prof_torch_version(void)
{
	return atomic_load_explicit(&stage, memory_order_acquire) >= STAGE_CHECKED ? version : "";
}
