/* SPDX-License-Identifier: Apache-2.0 */
#include "html.h"
void view_html_write(const struct view_summary *s, FILE *f)
{
	fprintf(f, "<!doctype html><title>%zu</title>\n", s->result->gpus);
}
