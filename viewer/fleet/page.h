/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the fleet's page share. Private to them. Texts are escaped here. */
#ifndef FLEET_PAGE_H
#define FLEET_PAGE_H

#include "fleet_out.h"
#include "report/html/html_shared.h"

struct fleet_page {
	const struct fleet *f;
	FILE *out;
	struct base_arena mem;
};

/* page.c: a table in a section of its own. @columns: heads in markup of ours. */
#define N(head) "<th scope=\"col\" class=\"n\">" head "</th>"
#define T(head) "<th scope=\"col\">" head "</th>"
#define TIME "\001" /* stands for the unit of time, once */
void fleet_page_table(struct fleet_page *s, const char *id, const char *title, const char *columns);
void fleet_page_table_end(struct fleet_page *s, size_t all, size_t shown);
void fleet_page_named(struct fleet_page *s, const char *text); /* begins a row */
/* The same, with where it is below. */
void fleet_page_what(struct fleet_page *s, const char *text, const char *place);
void fleet_page_number(struct fleet_page *s, const char *text);
void fleet_page_cell(struct fleet_page *s, const char *text);
void fleet_page_run_name(struct fleet_page *s, const char *id); /* begins a row */
void fleet_page_runs(struct fleet_page *s, const char *id, const char *title,
		     const struct fleet_runs *r);

void fleet_page_lost(struct fleet_page *s); /* lost_out.c */
void fleet_page_vacant(struct fleet_page *s); /* vacant_out.c */
void fleet_page_plan(struct fleet_page *s); /* capacity_out.c */
void fleet_page_savings(struct fleet_page *s); /* savings_out.c */
void fleet_page_review(struct fleet_page *s); /* review_out.c */
void fleet_page_review_first(struct fleet_page *s);

/* page_bill.c */
void fleet_page_bill(struct fleet_page *s);
void fleet_page_whole(struct fleet_page *s);
void fleet_page_rates(struct fleet_page *s);
void fleet_page_budgets(struct fleet_page *s);

#endif
