/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands' option parsing has in common. Errors are said on stderr. */
#ifndef VIEW_OPTIONS_H
#define VIEW_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * getopt_long without its own messages: says "gpustarve: run: unknown option ...; see ..." and
 * returns '?'. @shorts begins with ':' (after '+', if any).
 */
int view_getopt(int argc, char **argv, const char *shorts, const struct option *longs);

/* on-demand, spot, reserved or owned. */
bool view_option_price_model(const char *text);

/* "512M", "2G", "1000000" to bytes. */
bool view_option_size(const char *text, uint64_t *bytes);

#endif
