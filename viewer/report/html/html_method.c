/* SPDX-License-Identifier: Apache-2.0 */
/* How each number comes about: the rules in short, and each class of this run by itself. */
#include "findings/findings.h"
#include "html_priv.h"

/* What proves each class; docs/CAUSES.md says it at length. */
static const char *const proof[ANA_CLASSES] = {
	[ANA_COMPUTE] = "Records of the device: a kernel that is no collective, or a graph launch.",
	[ANA_COMM] =
		"Records of the device: a kernel with nccl or rccl in its name, and no other kernel.",
	[ANA_COPY] = "Records of the device: a copy or memset, and no kernel.",
	[ANA_INPUT_FETCH] =
		"Nothing was submitted, inside a wait for the loader, while whoever made the "
		"batch was off the CPU and its samples show storage, network or sleep.",
	[ANA_INPUT_PREP] =
		"Nothing was submitted, inside a wait for the loader, while whoever made the "
		"batch was on a CPU.",
	[ANA_INPUT_CPU_STARVED] = "Nothing was submitted, inside a wait for the loader; the kernel "
				  "counted time in which its worker could run and had no CPU.",
	[ANA_INPUT_PIPELINE] =
		"Nothing was submitted, inside a wait for the loader, while workers had "
		"no work, waited for a lock, or held a later batch.",
	[ANA_INPUT_HANDOFF] = "From the end of making the batch to the return of next().",
	[ANA_INPUT_EPOCH] = "Nothing was submitted, inside the first wait of an iterator.",
	[ANA_INPUT_INLINE] =
		"Nothing was submitted, outside of waits and calls, while samples show the "
		"training thread in code that handles data.",
	[ANA_INPUT_H2D] = "Work was queued behind a pageable copy from the host.",
	[ANA_INPUT_UNKNOWN] =
		"Nothing was submitted, inside a wait for the loader; no evidence says why "
		"the loader was late.",
	[ANA_HOST_DISPATCH] = "Nothing was submitted, inside a call of the driver or an operator.",
	[ANA_HOST_SYNC] = "Nothing was submitted, inside a blocking synchronisation.",
	[ANA_HOST_ALLOC] = "Inside a call that allocates or frees memory.",
	[ANA_HOST_GC] = "Nothing was submitted, inside a run of Python's collector.",
	[ANA_HOST_LOCK] =
		"Nothing was submitted, while samples show the training thread at a lock.",
	[ANA_HOST_CHECKPOINT] =
		"Nothing was submitted, inside torch.save or a range named for saving.",
	[ANA_HOST_PHASE] = "Nothing was submitted, inside a range named for evaluation or logging.",
	[ANA_HOST_CPU_STARVED] =
		"Nothing was submitted; the kernel counted time in which the training "
		"thread could run and had no CPU.",
	[ANA_HOST_WARMUP] = "Inside the loading of a module, or a first launch that took long.",
	[ANA_HOST_NET] =
		"Nothing was submitted, while samples show the training thread at a socket.",
	[ANA_HOST_UNKNOWN] = "Nothing was submitted; no call, wait, range or sample covers it.",
	[ANA_DEVICE_TURNAROUND] = "Work was queued, and the pause was shorter than a launch takes.",
	[ANA_DEVICE_LAUNCH] = "Work was queued, and began within the time that a launch takes.",
	[ANA_DEVICE_DEPENDENCY] =
		"Work was queued on a stream that had been told to wait for another.",
	[ANA_DEVICE_GRAPH] = "The operations on both sides belong to one graph launch.",
	[ANA_DEVICE_CONTENTION] =
		"Work was queued, while a process of another job was on the device.",
	[ANA_DEVICE_LOST] = "Records of this time were lost.",
	[ANA_DEVICE_UNKNOWN] = "Work was queued and did not run; nothing explains why.",
	[ANA_COMM_SKEW] = "Inside a collective, before the last of its ranks had come.",
	[ANA_EXCLUDED_STARTUP] = "From when the GPU was taken to its first operation.",
	[ANA_EXCLUDED_TEARDOWN] = "From the GPU's last operation to its release.",
	[ANA_EXCLUDED_UNOBSERVED] = "Recording was off, cut short, or held by another tool.",
	[ANA_EXCLUDED_NO_PROCESS] = "The GPU was allocated, and no process used it.",
};

static const char *chapter(int c)
{
	if (c <= ANA_COPY)
		return "Busy time";
	if (ana_class_is_input(c))
		return "input: the GPU is starved";
	if (ana_class_is_host(c))
		return "host: the GPU waits for the training program";
	if (ana_class_is_device(c))
		return "device: submitted, not running";
	return "Outside";
}

static void put_class(struct html *h, int c)
{
	fprintf(h->f,
		"<div id=\"class-%s\"><dt><span class=\"key f-%s\"></span>%s</dt><dd>%s%s "
		"<span class=\"soft\">docs/CAUSES.md, &#8220;%s&#8221;.</span></dd></div>\n",
		ana_class_names[c], html_family(c), ana_class_names[c], proof[c] ? proof[c] : "",
		h->s->waste[c] ? " Counts as waste." : "", chapter(c));
}

void html_method(struct html *h)
{
	html_section(h, "method", "How the numbers are made");
	html_put(
		h,
		"<dl class=\"facts\">\n"
		"<dt>Held</dt><dd>From when a process of the run took the GPU until it gave it back. "
		"All shares are of this time.</dd>\n"
		"<dt>Starved</dt><dd>The sum of all <code>input.*</code> classes.</dd>\n"
		"<dt>Wasted</dt><dd>The sum of the classes marked as waste in the ledger. Start-up, "
		"teardown and what is unknown are never waste.</dd>\n"
		"<dt>Cost</dt><dd>Price per GPU-hour times nanoseconds, for each GPU and class, rounded to "
		"a billionth of a dollar; totals are sums of these. Cents appear only in print.</dd>\n"
		"<dt>At most</dt><dd>A saving is the whole time of its cause, or less where arithmetic "
		"says so. It is never a promise.</dd>\n"
		"<dt>How sure</dt><dd>High: the records, and a range or three samples, say the same. "
		"Medium: fewer samples, or a split in proportion. Low: taken from its neighbours. None: "
		"not known.</dd>\n</dl>\n<h3>The classes of this run</h3>\n<dl class=\"classes\">\n");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (h->s->result->classes[c])
			put_class(h, c);
	html_put(h, "</dl>\n");
	html_section_end(h);
}
