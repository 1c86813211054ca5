/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one percentage that leads every page: how much of the training time went to what the verdict
 * names, or to what took more (view_lead_beside). Training time is what was held without start-up,
 * shutdown and the like (view_working_ns), which is paid, too, and stands beside it in a line of
 * its own. And what that comes to per GPU-hour, per day and month, and per thousand
 * steps.
 */
#ifndef VIEW_LEAD_H
#define VIEW_LEAD_H

#include "model/model.h"

struct view_lead {
	bool warmup; /* view_is_warmup */
	bool waits; /* most of communication was waiting for others, whom nobody blames */
	bool host_waits; /* most of what is in doubt: the program waited itself (host.wait) */
	bool known; /* there is training time, and some GPU was used */
	enum ana_verdict verdict;
	/* whose time it is, with what others waited for late ranks by these */
	bool set[ANA_CLASSES];
	int64_t ns, ppm; /* of the training time */
	bool cost; /* it is time that is paid for nothing, and every GPU has a price */
	int64_t nano_usd;
	size_t gpus; /* that did something */
	const struct view_kind *kind; /* of the run, whose words these are */
	bool with_input; /* ns, ppm and nano_usd: with what was lost to input beside it */
};

/*
 * "only 3.50 GPU-seconds of training, slow first steps among them: too short for figures per day
 * or month"; NULL: there is enough of it (VIEW_SHORT_NS per GPU), or none.
 */
/* What follows from it: where projections are wanted, that there are none. */
#define VIEW_SHORT_WORDS(s) \
	((s)->no_projection ? "run longer" : "too short for figures per day or month")
#define VIEW_SHORT_NS 10000000000LL
bool view_is_short(const struct view_summary *s);
const char *view_short_words(const struct view_summary *s, struct base_arena *mem);

struct view_lead view_lead_of(const struct view_summary *s);

/*
 * An inconclusive run whose waits for requests, or for a person, are longer than all that is in
 * doubt, or a busy one that waited so for more than half of the time held: they lead, and what
 * nobody knows, or how busy the rest was, stands behind them.
 */
bool view_waits_for_work(const struct view_summary *s);
#define VIEW_WAITING_BEFORE(gpus) \
	((gpus) > 1 ? "The GPUs had nothing to do for" : "The GPU had nothing to do for")
/* " of the time held: the process waited for requests, or for a person" */
const char *view_waiting_after(const struct view_summary *s);
/* Most of host.no_work came behind the last kernel. */
bool view_held_on(const struct view_summary *s);
/* "The GPU had nothing to do for 53.7 % of the time held: ..."; NULL: it does not lead. */
const char *view_waiting_words(const struct view_summary *s, struct base_arena *mem);

/*
 * The verdict names input from 5 % of the training time on (LEDGER 7), so that no larger loss hides
 * a loader. Where there is a larger one that leads, and what was lost to input is told beside it:
 * true, with
 * @input's share. Causes and advice go by what they cost then, of whichever.
 */
bool view_lead_beside(const struct view_summary *s, struct view_lead *input);
/* What is paid for: the lead, with what was lost to input where that stands beside it. */
struct view_lead view_lead_paid_of(const struct view_summary *s);
/* "and it waited for input for"; what follows is the share. */
const char *view_lead_and(const struct view_lead *input);

/*
 * "input-bound, critical"; "host-bound and input-bound, warning"; "busy, 3 of 4 GPUs idle"; "idle"
 * where all of them were. The second: without the idle GPUs.
 */
const char *view_verdict_words(const struct view_summary *s, struct base_arena *mem);
const char *view_judgement_words(const struct view_summary *s, struct base_arena *mem);

/* The same of the GPU @i by itself: of the only one, the run's words. */
const char *view_gpu_verdict_words(const struct view_summary *s, size_t i, struct base_arena *mem);

/* Of a run on a simulated GPU, what of it is a model; once on each page. */
#define VIEW_SIMULATED_WORDS \
	"a simulated GPU: kernel times are computed, the program's are measured"

/* What was paid for the training time. */
int64_t view_working_nano_usd(const struct view_summary *s);

#define VIEW_HOUR_NS 3600000000000LL
#define VIEW_DAY_NS (24 * VIEW_HOUR_NS)
#define VIEW_MONTH_NS (30 * VIEW_DAY_NS)

/* What @amount of the training time comes to in @ns of it. */
int64_t view_lead_in(const struct view_summary *s, int64_t amount, int64_t ns);
int64_t view_per_thousand(const struct view_summary *s,
			  int64_t amount); /* steps, which there are */

/*
 * Busy for so much of the training time that nothing is lost, no GPU idle, no rank late: there is
 * nothing to do first (view_advice_first). The words end the sentence of view_lead_words.
 */
#define VIEW_HEALTHY_PPM 900000
#define VIEW_HEALTHY_WORDS ": a healthy run, nothing in it is worth acting on"
bool view_is_healthy(const struct view_summary *s);

/* "The GPUs waited for input for"; what follows is the share. The text may lie in @mem. */
const char *view_lead_before(const struct view_lead *l, struct base_arena *mem);
/* "paid for waiting"; NULL where it says nothing of money. */
const char *view_lead_paid(const struct view_lead *l);

/* "The GPU waited for input for 36.0 % of the training time". */
const char *view_lead_words(const struct view_lead *l, struct base_arena *mem);
/*
 * "$1.44 of each $3.99 GPU-hour of training was paid for waiting"; NULL: nothing was, or nobody
 * knows its price.
 */
const char *view_lead_hour_words(const struct view_summary *s, struct base_arena *mem);
/*
 * "0.140 ¢ of 0.554 ¢ (and 0.010 ¢ wasted by other causes)": what the lead is of what was paid,
 * start-up included; in GPU time where no price is known.
 */
const char *view_lead_sum_words(const struct view_summary *s, struct base_arena *mem);
/*
 * May it be told what a GPU-hour of training, a day or a step has of what was lost? Not with
 * s->no_projection, nor where it is known of a part of the training time alone.
 */
bool view_projects(const struct view_summary *s);
/*
 * May what was lost be told for a day, a month and a thousand steps? Not with s->no_projection, nor
 * where a tenth of it or more comes once: warm-up, and what is behind the last kernel.
 */
#define VIEW_ONCE_PPM 100000
bool view_lead_projects(const struct view_summary *s, const struct view_lead *l);
/* The same of a saving out of a class, per thousand steps. */
bool view_class_projects(const struct view_summary *s, enum ana_class c);

/*
 * "if it went on like these 8.75 GPU-seconds of training, day and night: $34.47 per day and $1,034
 * per month; 2.00 ¢ of each 5.54 ¢ per thousand steps";
 * NULL: nothing to tell, or view_lead_projects says no.
 */
const char *view_lead_rate_words(const struct view_summary *s, struct base_arena *mem);
#define VIEW_OTHER_PPM 10000 /* of the waste: other causes than the lead's with less are not told */
#define VIEW_OUTSIDE_PPM 500 /* of what was held; less is not told of */
/* "start-up and shutdown: 0.166 ¢, 30.0 % of what was paid"; NULL: there was next to none. */
const char *view_outside_sentence(const struct view_summary *s, struct base_arena *mem);

/*
 * "of start-up 9.9 s until the program first used CUDA, ...", where start-up is a fifth of what
 * was held; NULL: it is less, or an import's, which knows nothing of it.
 */
#define VIEW_STARTUP_PPM 200000
const char *view_startup_sentence(const struct view_summary *s, struct base_arena *mem);
/* What both its parts are: in the sentence, and on the page. */
#define VIEW_BEFORE_CUDA_WORDS \
	" until the program first used CUDA (imports, preparation, maybe the model and a first batch), then "
#define VIEW_AFTER_CUDA_WORDS " to the GPU's first work"
#define VIEW_SHUTDOWN_WORDS "; shutdown took "
#define VIEW_ONCE_WORDS "; paid once per run"

#define VIEW_BETWEEN_PPM \
	100000 /* of the training time, from where pauses between operations are told */
/*
 * No waste, and of a run of many small operations the largest part: what a GPU needs for each, or
 * how late the next one came. Records do not part these.
 */
int64_t view_between_ns(const struct view_summary *s); /* 0: too little to tell */
/* What follows it: "of the training time passed from one operation to the next ..." */
#define VIEW_BETWEEN_WORDS                                                                      \
	" time passed from one operation to the next that was launched "                        \
	"already, 10 us or less each: what a GPU needs there, or the pace at which small ones " \
	"are launched. Not counted as waste, but CUDA graphs, torch.compile or larger batches " \
	"make them fewer, on top of what is said below"
/* The share, and that. NULL: too little to tell. */
const char *view_between_sentence(const struct view_summary *s, struct base_arena *mem);

/*
 * Where matmul, attention and convolution in fp32 are VIEW_FP32_PPM of the training time or more:
 * how much of compute they are, and what they cost, which is the most that another precision
 * spares; NULL: they are less.
 */
#define VIEW_FP32_PPM 100000
const char *view_fp32_sentence(const struct view_summary *s, struct base_arena *mem);

#endif
