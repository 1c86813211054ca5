/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder by a name that holds neither a space nor a colon. The dynamic linker cuts LD_PRELOAD at
 * both and knows no way to quote them, so what lies below such a folder is preloaded through a
 * symbolic link in $TMPDIR's stead, /tmp/gpustarve-links-<uid>: not in $XDG_RUNTIME_DIR, which goes
 * when the user logs out, while a job goes on to start programs. Others may pass through that
 * folder, since a job may start programs as somebody else, and nobody but the user may write there.
 * The link stays: the next run takes it again.
 */
#ifndef VIEW_PRELOAD_PATH_H
#define VIEW_PRELOAD_PATH_H

#include <stddef.h>

/*
 * Rewrites @path, absolute and in @room bytes, so that its folder goes by such a name. 0, also
 * where it does already, or a negative errno with @path as it was: -EPERM if the folder of links is
 * not ours alone, -EINVAL if the file's own name holds one of the two. Any thread.
 */
int view_preload_path(char *path, size_t room);

#endif
