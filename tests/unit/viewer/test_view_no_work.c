/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who waits for work: terminals, listeners, loops by name; and who only looks so.
 */
#include "harness.h"
#include "analysis/evidence/no_work.h"

#define LIB "/usr/lib/python3.11/"
#define SP "/venv/lib/python3.11/site-packages/"
#define USER "step\t/home/me/serve.py\t30"
#define LOOP                                                                                 \
	"select\t" LIB "selectors.py\t468\n_run_once\t" LIB "asyncio/base_events.py\t1900\n" \
	"run_forever\t" LIB "asyncio/base_events.py\t607"
#define GET "wait\t" LIB "threading.py\t327\nget\t" LIB "queue.py\t171"

static enum ana_no_work frames(const char *stack)
{
	return ana_no_work_frames(stack, (uint32_t)strlen(stack));
}

static struct ana_text text(const char *t)
{
	return (struct ana_text){ t, t ? (uint32_t)strlen(t) : 0 };
}

static enum ana_no_work look(enum wire_wait wait, const char *stack, const char *target,
			     const char *links)
{
	struct wire_sample s = { .wait = (uint8_t)wait,
				 .state = wait ? WIRE_STATE_SLEEPING : WIRE_STATE_RUNNING };

	return ana_no_work_of(&s, frames(stack), text(target), text(links));
}

static void test_terminals(void)
{
	EXPECT_INT(look(WIRE_WAIT_READ, USER, "/dev/pts/12", NULL), ANA_NO_WORK_PERSON);
	EXPECT_INT(look(WIRE_WAIT_OTHER, "", "/dev/tty", NULL), ANA_NO_WORK_PERSON);
	EXPECT_INT(look(WIRE_WAIT_OTHER, "", "/dev/tty1", NULL), ANA_NO_WORK_PERSON);
	EXPECT_INT(look(WIRE_WAIT_OTHER, "", "/dev/console", NULL), ANA_NO_WORK_PERSON);
	/* an instrument, a file that is called so, a terminal that takes no more */
	EXPECT_INT(look(WIRE_WAIT_READ, USER, "/dev/ttyUSB0", NULL), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_READ, USER, "/data/dev/pts/1", NULL), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_READ, USER, "/dev/pts/1.bin", NULL), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_WRITE, USER, "/dev/pts/1", NULL), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_READ, USER, NULL, NULL), ANA_NO_WORK_NOT);
	/* a pipe on a program's input may bring its data */
	EXPECT_INT(look(WIRE_WAIT_PIPE, USER, "pipe", "?p77"), ANA_NO_WORK_NOT);
}

static void test_listeners(void)
{
	EXPECT_INT(look(WIRE_WAIT_SOCKET, LOOP "\n" USER, NULL, "?l127.0.0.1:80"),
		   ANA_NO_WORK_REQUESTS);
	EXPECT_INT(look(WIRE_WAIT_SOCKET, USER, NULL, "?u1-2 ?l[::]:80"), ANA_NO_WORK_REQUESTS);
	EXPECT_INT(look(WIRE_WAIT_SOCKET, "", NULL, "!o1f ?l[::]:80"), ANA_NO_WORK_REQUESTS);
	EXPECT_INT(look(WIRE_WAIT_SOCKET, USER, NULL, "!l[::]:80"), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_SOCKET, USER, NULL, "?o7f12 ~l1:2"), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_SOCKET, LOOP "\n" USER, NULL, "?t1:2-3:4"), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_SOCKET, USER, NULL, "?"), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_NONE, USER, NULL, "?l[::]:80"), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_GIL, USER, NULL, "?l[::]:80"), ANA_NO_WORK_NOT);
	EXPECT_INT(look(WIRE_WAIT_GPU, "", "/dev/pts/1", NULL), ANA_NO_WORK_NOT);
}

static void test_loops(void)
{
	EXPECT_INT(frames(LOOP "\nstart\t" SP "tornado/platform/asyncio.py\t211\nstart\t" SP
			       "ipykernel/kernelapp.py\t739\n<module>\t" SP
			       "ipykernel_launcher.py\t18"),
		   ANA_NO_WORK_PERSON);
	EXPECT_INT(frames("accept\t" LIB "socket.py\t292\n" USER), ANA_NO_WORK_REQUESTS);
	EXPECT_INT(frames("raw_input\t" LIB "code.py\t290\ninteract\t" LIB "code.py\t240\n" USER),
		   ANA_NO_WORK_PERSON);
	EXPECT_INT(frames("select\t" LIB "selectors.py\t415\nserve_forever\t" LIB
			  "socketserver.py\t235\n" USER),
		   ANA_NO_WORK_REQUESTS);
	EXPECT_INT(frames(GET "\n_process_input_queue\t" SP "vllm/v1/engine/core.py\t600"),
		   ANA_NO_WORK_REQUESTS);
	EXPECT_INT(look(WIRE_WAIT_NONE,
			"acquire_read\t" SP
			"vllm/distributed/device_communicators/shm_broadcast.py\t430",
			NULL, NULL),
		   ANA_NO_WORK_REQUESTS);
	EXPECT_INT(look(WIRE_WAIT_LOCK,
			GET "\n_process_input_queue\t" SP "vllm/v1/engine/core.py\t6", NULL, NULL),
		   ANA_NO_WORK_REQUESTS);
}

/* The loop is on the stack, and somebody works inside it. */
static void test_no_loops(void)
{
	static const char kernel[] = "\nstart\t" SP "ipykernel/kernelapp.py\t739";
	char cell[512];

	snprintf(cell, sizeof(cell), "%s%s", "<module>\t/tmp/ipykernel_9/1.py\t3", kernel);
	EXPECT_INT(frames(cell), ANA_NO_WORK_NOT);
	snprintf(cell, sizeof(cell), "%s%s", "forward\t" SP "torch/nn/modules/linear.py\t3",
		 kernel);
	EXPECT_INT(frames(cell), ANA_NO_WORK_NOT);
	snprintf(cell, sizeof(cell), "%s%s", GET "\nwork\t<ipython-input-1-abc>\t3", kernel);
	EXPECT_INT(frames(cell), ANA_NO_WORK_NOT);
	EXPECT_INT(frames(GET "\n" USER), ANA_NO_WORK_NOT);
	EXPECT_INT(frames(LOOP "\n" USER), ANA_NO_WORK_NOT);
	EXPECT_INT(frames("read\t/home/me/code.py\t4\ninteract\t/home/me/code.py\t3"),
		   ANA_NO_WORK_NOT);
	EXPECT_INT(frames("step\t" SP "vllm/v1/engine/core.py\t300"), ANA_NO_WORK_NOT);
	EXPECT_INT(frames("run\t" SP "serve_forever/x.py\t1"), ANA_NO_WORK_NOT);
	EXPECT_INT(frames("serve\t" LIB "socketserver.py\t1"), ANA_NO_WORK_NOT);
	EXPECT_INT(frames(""), ANA_NO_WORK_NOT);
	EXPECT_INT(frames("\t\t\n\n<python>\t\t"), ANA_NO_WORK_NOT);
}

static const struct t_case cases[] = {
	T_CASE(test_terminals),
	T_CASE(test_listeners),
	T_CASE(test_loops),
	T_CASE(test_no_loops),
};

int main(void)
{
	return t_run(cases, sizeof(cases) / sizeof(cases[0]));
}
