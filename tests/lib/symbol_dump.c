/* SPDX-License-Identifier: Apache-2.0 */
/* Names the native frames on standard input, one per line; "?" where there is no name. */
#include <stdio.h>
#include <string.h>

#include "trace/symbols.h"

int main(void)
{
	struct view_symbols *symbols = view_symbols_new();
	char line[8192];

	while (symbols && fgets(line, sizeof(line), stdin)) {
		const char *name = view_symbol_of_frame(symbols, line, strcspn(line, "\n"));

		puts(name ? name : "?");
	}
	view_symbols_free(symbols);
	return !symbols;
}
