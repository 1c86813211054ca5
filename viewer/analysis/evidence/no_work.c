/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for work: terminals, listening sockets, and the loops that only their names tell of. */
#include "no_work.h"

#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define FRAMES_MAX WIRE_STACK_FRAMES_MAX

struct loop { /* file: beginning of its path within where packages or the standard library are */
	const char *file, *functions; /* functions: NULL: all, else "|name|name|" */
	uint8_t whom; /* enum ana_no_work */
};

/* Of the standard library. */
static const struct loop standard[] = {
	{ "socket.py", "|accept|", ANA_NO_WORK_REQUESTS },
	{ "socketserver.py", "|serve_forever|", ANA_NO_WORK_REQUESTS },
	{ "http/server.py", "|handle_one_request|", ANA_NO_WORK_REQUESTS },
	{ "multiprocessing/connection.py", "|accept|", ANA_NO_WORK_REQUESTS },
	{ "code.py", "|raw_input|interact|", ANA_NO_WORK_PERSON },
	{ "cmd.py", "|cmdloop|", ANA_NO_WORK_PERSON }, /* pdb's, too */
	{ "_pyrepl/", NULL, ANA_NO_WORK_PERSON },
};

/*
 * Of installed packages: kernels and consoles, debuggers, web servers, inference engines, actors.
 */
static const struct loop packages[] = {
	{ "ipykernel/kernelapp.py", "|start|main|", ANA_NO_WORK_PERSON },
	{ "ipykernel/kernelbase.py", "|raw_input|_input_request|", ANA_NO_WORK_PERSON },
	{ "ipykernel_launcher.py", NULL, ANA_NO_WORK_PERSON },
	{ "prompt_toolkit/", NULL, ANA_NO_WORK_PERSON },
	{ "IPython/terminal/", NULL, ANA_NO_WORK_PERSON },
	{ "debugpy/_vendored/pydevd/pydevd.py", "|do_wait_suspend|_do_wait_suspend|",
	  ANA_NO_WORK_PERSON },
	{ "uvicorn/server.py", "|run|", ANA_NO_WORK_REQUESTS },
	{ "uvicorn/_compat.py", "|asyncio_run|", ANA_NO_WORK_REQUESTS },
	{ "hypercorn/asyncio/run.py", NULL, ANA_NO_WORK_REQUESTS },
	{ "gunicorn/arbiter.py", "|sleep|", ANA_NO_WORK_REQUESTS },
	{ "gunicorn/workers/", "|wait|run|run_for_one|run_for_multiple|", ANA_NO_WORK_REQUESTS },
	{ "waitress/wasyncore.py", "|poll|poll2|loop|", ANA_NO_WORK_REQUESTS },
	{ "werkzeug/serving.py", "|serve_forever|", ANA_NO_WORK_REQUESTS },
	{ "aiohttp/web.py", "|run_app|", ANA_NO_WORK_REQUESTS },
	{ "grpc/_server.py", "|_serve|", ANA_NO_WORK_REQUESTS },
	{ "gradio/blocks.py", "|block_thread|", ANA_NO_WORK_REQUESTS },
	{ "streamlit/web/bootstrap.py", "|run|", ANA_NO_WORK_REQUESTS },
	{ "ray/_private/worker.py", "|main_loop|", ANA_NO_WORK_REQUESTS },
	{ "vllm/distributed/device_communicators/shm_broadcast.py", "|acquire_read|dequeue|",
	  ANA_NO_WORK_REQUESTS },
	{ "vllm/v1/engine/core.py", "|_process_input_queue|", ANA_NO_WORK_REQUESTS },
	{ "vllm/executor/multiproc_worker_utils.py", "|_run_worker_process|",
	  ANA_NO_WORK_REQUESTS },
	{ "sglang/srt/managers/scheduler.py", "|recv_requests|", ANA_NO_WORK_REQUESTS },
};

/* Packages that loops wait in, whoever's they are. */
static const char *const through[] = { "zmq/", "tornado/", "anyio/", "uvloop/" };

/* A file deep within a package is known by its path there, whatever the package is called. */
static bool is_file(struct ana_text file, const char *loop)
{
	const char *part = strchr(loop, '/');
	const char *at = file.len ? memchr(file.at, '/', file.len) : NULL;
	struct ana_text rest;

	if (ana_text_begins(file, loop))
		return true;
	if (!part || !at || !strchr(part + 1, '/') || part[strlen(part) - 1] == '/')
		return false;
	rest = (struct ana_text){ at, (uint32_t)(file.at + file.len - at) };
	return ana_text_begins(rest, part);
}

static enum ana_no_work look_up(const struct loop *list, size_t n, struct ana_text file,
				struct ana_text function)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (is_file(file, list[i].file) &&
		    (!list[i].functions || ana_text_among(function, list[i].functions)))
			return (enum ana_no_work)list[i].whom;
	return ANA_NO_WORK_NOT;
}

static bool passes(struct ana_text file)
{
	size_t i;

	for (i = 0; i < COUNT(through); i++)
		if (ana_text_begins(file, through[i]))
			return true;
	return false;
}

enum ana_no_work ana_no_work_frames(const char *stack, uint32_t len)
{
	struct ana_frame frame[FRAMES_MAX];
	size_t i, n = ana_frames_read(frame, FRAMES_MAX, stack, len);
	enum ana_no_work whom = ANA_NO_WORK_NOT;

	for (i = 0; i < n && !whom; i++) {
		struct ana_text rest;

		switch (ana_module_within(frame[i].file, &rest)) {
		case ANA_WITHIN_STANDARD:
			whom = look_up(standard, COUNT(standard), rest, frame[i].function);
			break;
		case ANA_WITHIN_PACKAGES:
			whom = look_up(packages, COUNT(packages), rest, frame[i].function);
			if (!whom && !passes(rest))
				return whom;
			break;
		default:
			if (ana_module_place(frame[i].file) == ANA_PLACE_USER)
				return whom;
		}
	}
	return whom;
}

static bool all_digits(struct ana_text t)
{
	uint32_t i;

	for (i = 0; i < t.len; i++)
		if (t.at[i] < '0' || t.at[i] > '9')
			return false;
	return true;
}

bool ana_no_work_terminal(struct ana_text t)
{
	static const char *const device[] = { "/dev/pts/", "/dev/tty" };
	size_t i;

	for (i = 0; i < COUNT(device); i++)
		if (ana_text_begins(t, device[i]) &&
		    all_digits((struct ana_text){ t.at + strlen(device[i]),
						  t.len - (uint32_t)strlen(device[i]) }))
			return true;
	return t.len == strlen("/dev/console") && ana_text_begins(t, "/dev/console");
}

/* "?l...": one of the descriptors that it waits for is a listening socket. */
static bool listens(struct ana_text links)
{
	uint32_t i;

	for (i = 0; i + 1 < links.len; i++)
		if (links.at[i] == '?' && links.at[i + 1] == 'l' && (!i || links.at[i - 1] == ' '))
			return true;
	return false;
}

enum ana_no_work ana_no_work_of(const struct wire_sample *s, enum ana_no_work frames,
				struct ana_text target, struct ana_text links)
{
	bool runs = s->state == WIRE_STATE_RUNNING;

	if (s->wait == WIRE_WAIT_GIL || s->wait == WIRE_WAIT_GPU || s->wait == WIRE_WAIT_STOPPED)
		return ANA_NO_WORK_NOT;
	if (!runs && s->wait != WIRE_WAIT_WRITE && ana_no_work_terminal(target))
		return ANA_NO_WORK_PERSON;
	if (!runs && listens(links))
		return frames == ANA_NO_WORK_PERSON ? ANA_NO_WORK_PERSON : ANA_NO_WORK_REQUESTS;
	return frames;
}
