/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of native functions: from a module's file and an offset in its address space, as native
 * frames have them (wire/evidence.h), to the function that covers it. The file is believed only if
 * it is the one that was loaded: its build id must be that of the frame.
 *
 * What a trace says is hostile, and so is the file: only regular files by absolute paths are
 * opened, and libelf reads them (it checks, and never maps). One thread at a time.
 */
#ifndef VIEW_SYMBOLS_H
#define VIEW_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct view_symbols; /* a cache, bounded */

/* NULL: no memory, or not to be opened: core/local.h */
struct view_symbols *view_symbols_new(void);
void view_symbols_free(struct view_symbols *s);

/*
 * The function's name as the linker knows it (of C++ mangled), valid until view_symbols_free; NULL:
 * not known, because the file is not here, is another build, or names no function there.
 * @build_id: hexadecimal, "" if the module has none; then the file may have none either.
 */
const char *view_symbol(struct view_symbols *s, const char *path, uint64_t offset,
			const char *build_id);

/*
 * The same for one line of a native stack, which need not end with NUL: "module\toffset\tbuild id".
 * "<python>" and lines that make no sense give NULL.
 */
const char *view_symbol_of_frame(struct view_symbols *s, const char *frame, size_t len);

#endif
