/* SPDX-License-Identifier: Apache-2.0 */
#include "take.h"

#include <stddef.h>
#include <string.h>

struct row { /* file: beginning of its path in the standard library */
	const char *file, *functions; /* functions: NULL: all, else "|name|name|" */
	uint8_t take;
	const char *words;
};

static const struct row rows[] = {
	{ "queue.py", "|get|get_nowait|", ANA_TAKE_ITEM, "queue.get" },
	{ "queue.py", "|put|put_nowait|", ANA_TAKE_GIVES, "queue.put" },
	{ "queue.py", "|join|", ANA_TAKE_SETTLES, "queue.join" },
	{ "threading.py", "|join|_join_thread|_wait_for_tstate_lock|_shutdown|", ANA_TAKE_SETTLES,
	  "Thread.join" },
	{ "threading.py", "|_wait|_enter|", ANA_TAKE_SETTLES, "Barrier.wait" },
	{ "threading.py", "|start|", ANA_TAKE_SETTLES, "Thread.start" },
	{ "threading.py", "|wait|wait_for|", ANA_TAKE_EVENT, "Condition.wait" },
	{ "threading.py", "|acquire|__enter__|", ANA_TAKE_EVENT, "Semaphore.acquire" },
	{ "multiprocessing/queues.py", "|get|", ANA_TAKE_ITEM, "multiprocessing's Queue.get" },
	{ "multiprocessing/queues.py", "|put|", ANA_TAKE_GIVES, "multiprocessing's Queue.put" },
	{ "multiprocessing/queues.py", "|join|join_thread|_finalize_join|", ANA_TAKE_SETTLES,
	  "multiprocessing's Queue.join" },
	{ "multiprocessing/connection.py",
	  "|recv|recv_bytes|recv_bytes_into|_recv|_recv_bytes|poll|_poll|wait|", ANA_TAKE_ITEM,
	  "Connection.recv" },
	{ "multiprocessing/connection.py", "|send|send_bytes|_send|_send_bytes|", ANA_TAKE_GIVES,
	  "Connection.send" },
	{ "multiprocessing/connection.py", "|accept|", ANA_TAKE_SERVES, "Listener.accept" },
	{ "multiprocessing/pool.py", "|get|wait|next|__next__|map|starmap|apply|", ANA_TAKE_ITEM,
	  "Pool's result" },
	{ "multiprocessing/pool.py", "|worker|_handle_tasks|", ANA_TAKE_ITEM, "Pool's tasks" },
	{ "multiprocessing/pool.py", "|_handle_results|", ANA_TAKE_ITEM, "Pool's workers" },
	{ "multiprocessing/queues.py", "|_feed|", ANA_TAKE_ITEM, "what is to be sent" },
	{ "multiprocessing/pool.py", "|join|terminate|_terminate_pool|", ANA_TAKE_SETTLES,
	  "Pool.join" },
	{ "multiprocessing/synchronize.py", "|wait|wait_for|", ANA_TAKE_EVENT,
	  "multiprocessing's Condition.wait" },
	{ "multiprocessing/synchronize.py", "|acquire|__enter__|", ANA_TAKE_LOCK,
	  "multiprocessing's Lock.acquire" },
	{ "multiprocessing/process.py", "|join|", ANA_TAKE_SETTLES, "Process.join" },
	{ "multiprocessing/popen_", "|wait|poll|", ANA_TAKE_SETTLES, "Process.join" },
	{ "concurrent/futures/_base.py", "|result|exception|", ANA_TAKE_ITEM, "Future.result" },
	{ "concurrent/futures/_base.py", "|result_iterator|_result_or_cancel|", ANA_TAKE_ITEM,
	  "Executor.map" },
	{ "concurrent/futures/_base.py", "|as_completed|wait|", ANA_TAKE_ITEM, "futures.wait" },
	{ "concurrent/futures/_base.py", "|__exit__|shutdown|", ANA_TAKE_SETTLES,
	  "Executor.shutdown" },
	{ "concurrent/futures/thread.py", "|_worker|", ANA_TAKE_ITEM, "the executor's tasks" },
	{ "concurrent/futures/thread.py", "|shutdown|_python_exit|", ANA_TAKE_SETTLES,
	  "Executor.shutdown" },
	{ "concurrent/futures/process.py", "|_process_worker|", ANA_TAKE_ITEM,
	  "the executor's tasks" },
	{ "concurrent/futures/process.py", "|wait_result_broken_or_wakeup|run|", ANA_TAKE_ITEM,
	  "the executor's processes" },
	{ "concurrent/futures/process.py", "|shutdown|_python_exit|", ANA_TAKE_SETTLES,
	  "Executor.shutdown" },
	{ "asyncio/", "|run|run_until_complete|run_forever|_run_once|", ANA_TAKE_EVENT,
	  "the event loop" },
	{ "selectors.py", "|select|poll|", ANA_TAKE_EVENT, "select" },
	{ "socket.py", "|read|readinto|recv|recv_into|recvfrom|", ANA_TAKE_ITEM,
	  "a socket's read" },
	{ "socket.py", "|write|send|sendall|sendfile|connect|create_connection|", ANA_TAKE_GIVES,
	  "a socket's send" },
	{ "socket.py", "|accept|", ANA_TAKE_SERVES, "accept" },
	{ "ssl.py", "|read|recv|recv_into|", ANA_TAKE_ITEM, "a socket's read" },
	{ "ssl.py", "|write|send|sendall|do_handshake|", ANA_TAKE_GIVES, "a socket's send" },
	{ "http/client.py",
	  "|read|read1|readinto|readline|_read_status|_safe_read|begin|getresponse|", ANA_TAKE_ITEM,
	  "an HTTP response" },
	{ "http/client.py", "|send|request|endheaders|_send_output|_send_request|connect|",
	  ANA_TAKE_GIVES, "an HTTP request" },
	{ "socketserver.py", NULL, ANA_TAKE_SERVES, "a server's loop" },
	{ "subprocess.py", "|communicate|_communicate|check_output|", ANA_TAKE_ITEM,
	  "a program's output" },
	{ "subprocess.py", "|wait|_wait|_try_wait|call|", ANA_TAKE_SETTLES, "a program's end" },
	{ "logging/", NULL, ANA_TAKE_GIVES, "logging" },
	{ "code.py", "|interact|raw_input|", ANA_TAKE_SERVES, "the console" },
	{ "cmd.py", "|cmdloop|", ANA_TAKE_SERVES, "the console" },
	{ "pdb.py", NULL, ANA_TAKE_SERVES, "the debugger" },
};

const char *ana_take_function(struct ana_text file, struct ana_text function, enum ana_take *take)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];

		if (!ana_text_begins(file, r->file) ||
		    (r->functions && !ana_text_among(function, r->functions)))
			continue;
		*take = (enum ana_take)r->take;
		return r->words;
	}
	return NULL;
}

enum ana_take ana_take_of_words(const char *words)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].words, words))
			return (enum ana_take)rows[i].take;
	return ANA_TAKE_NOT_TOLD;
}

bool ana_take_between(struct ana_text file)
{
	static const char *const begins[] = { "multiprocessing/", "concurrent/futures/process.py",
					      "socket.py", "ssl.py", "http/client.py" };
	size_t i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (ana_text_begins(file, begins[i]))
			return true;
	return false;
}

bool ana_take_iterates(struct ana_text function)
{
	return ana_text_among(function, "|__next__|__iter__|__anext__|iter_next|");
}
