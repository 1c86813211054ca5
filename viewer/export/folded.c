/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks: frames from the outermost, separated by semicolons, a blank, nanoseconds. */
#include "stacks.h"

/* What separates frames and lines cannot stand within one. */
static void put_frame(struct view_out *o, const char *text)
{
	for (; *text; text++)
		view_out_char(o, *text == ';' ? ':' : (unsigned char)*text < 0x20 ? ' ' : *text);
}

static int put_stack(void *arg, const struct view_stack *s)
{
	struct view_export *x = arg;
	size_t i;

	for (i = 0; i < s->frames; i++) {
		const struct view_frame *f = &s->frame[i];

		if (i)
			view_out_char(&x->out, ';');
		put_frame(&x->out, f->name);
		if (!f->file[0])
			continue;
		view_out_text(&x->out, " (");
		put_frame(&x->out, f->file);
		if (f->line)
			view_out_printf(&x->out, ":%lld", (long long)f->line);
		view_out_char(&x->out, ')');
	}
	view_out_printf(&x->out, " %lld\n", (long long)s->ns);
	x->rows++;
	return x->out.err;
}

int view_export_folded(struct view_export *x)
{
	return view_export_stacks(x, put_stack, x);
}
