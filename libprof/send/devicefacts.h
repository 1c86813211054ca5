/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices NVML is asked about and when, by one process of the run for each device: every ten
 * seconds for the Facts, which are written here, every second for what their meters say, which
 * pulses tell (report.h). Sender thread.
 */
#ifndef PROF_DEVICEFACTS_H
#define PROF_DEVICEFACTS_H

/*
 * Each tick of the sender's, once devices are known and while the trace may grow. @run_id must
 * stay.
 */
void prof_devicefacts_tick(unsigned int tick, const char *run_id);

#endif
