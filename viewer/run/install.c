/* SPDX-License-Identifier: Apache-2.0 */
#include "install.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef GPUSTARVE_LIBDIR
#define GPUSTARVE_LIBDIR "lib"
#endif
#ifndef GPUSTARVE_DATADIR
#define GPUSTARVE_DATADIR "share"
#endif

/* The folder of this program, without a trailing slash. */
static bool own_folder(char *out, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", out, room - 1);

	if (n <= 0 || (size_t)n >= room - 1)
		return false;
	out[n] = '\0';
	char *slash = strrchr(out, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return true;
}

static bool readable(const char *path)
{
	return access(path, R_OK) == 0;
}

bool view_find_libprof(char *out, size_t room)
{
	static const char *const place[] = {
		"../lib/libprof.so",
		"../" GPUSTARVE_LIBDIR "/gpustarve/libprof.so",
		"../lib/gpustarve/libprof.so",
		"../lib64/gpustarve/libprof.so",
	};
	const char *given = getenv("GPUSTARVE_LIB");
	char folder[2048], path[3072];

	if (given && given[0]) {
		char *real = realpath(given, NULL);
		snprintf(out, room, "%s", real ? real : given);
		free(real);
		return readable(out);
	}
	if (!own_folder(folder, sizeof(folder)))
		return false;
	for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, place[i]);
		char *real = realpath(path, NULL);
		if (real)
			snprintf(out, room, "%s", real);
		else if (!i)
			snprintf(out, room, "%s", path);
		free(real);
		if (real && readable(out))
			return true;
	}
	return false;
}

bool view_find_demo(char *out, size_t room)
{
	char folder[2048];
	struct stat st;

	if (!own_folder(folder, sizeof(folder)))
		return false;
	snprintf(out, room, "%s/../" GPUSTARVE_DATADIR "/gpustarve/demo", folder);
	return !stat(out, &st) && S_ISDIR(st.st_mode);
}

bool view_find_collector(char *out, size_t room)
{
	char folder[2048];

	if (!own_folder(folder, sizeof(folder)))
		return false;
	snprintf(out, room, "%s/gpustarve-collector", folder);
	return access(out, X_OK) == 0;
}
