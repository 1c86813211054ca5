/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.h - the driver's own thread. It exists only once there is pending work: it runs host
 * functions when their turn comes, moves the bytes of what waited, and looks whether a collective
 * is complete.
 */
#ifndef SIM_WORKER_H
#define SIM_WORKER_H

/* There is new pending work. Process lock held. */
void sim_worker_wake(void);

#endif
