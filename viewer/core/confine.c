/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory first, then files, and system calls last: what comes before needs some of them.
 */
#include "confine_priv.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CONFINES 0
#elif defined(__has_feature)
#define CONFINES !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define CONFINES 1
#endif

static void limit_memory(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_AS, &r) || r.rlim_cur <= VIEW_CONFINE_MEMORY)
		return;
	r.rlim_cur = r.rlim_max = VIEW_CONFINE_MEMORY;
	setrlimit(RLIMIT_AS, &r);
}

bool view_confine(const struct view_confine *c)
{
	bool files;

	if (!CONFINES)
		return false;
	limit_memory();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	files = view_confine_files(c);
	return view_confine_calls() && files;
}

char *view_confine_folder(const char *path, bool is_file)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!is_file && (stat(path, &st) || S_ISDIR(st.st_mode)))
		return strdup(path);
	if (!slash)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}
