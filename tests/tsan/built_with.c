/* SPDX-License-Identifier: Apache-2.0 */
/*
 * built_with.c - in the place of libprof/core/sanitizer.c: here libprof is built with the
 * sanitizer, which therefore sees what orders memory in it. And what that one cannot know.
 */
#include "core/sanitizer.h"

__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);

/*
 * The writer has a table of descriptors of its own (libprof/stream/writer.h), whose numbers the
 * sanitizer takes for the same files. dl_iterate_phdr holds a lock inside ld.so, where nothing is
 * seen: the runtime therefore forgets who wrote an object's name before it calls back, but for the
 * zero at its end, which tells where eight bytes begin there.
 */
const char *__tsan_default_suppressions(void)
{
	return "race_top:open\nrace_top:openat\nrace_top:close\nrace_top:read\nrace_top:write\n"
	       "race:dl_iterate_phdr_cb\n"
	       "race:_dl_close_worker\n";
}

bool prof_sanitizer_judges(void)
{
	return false;
}
