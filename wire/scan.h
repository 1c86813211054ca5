/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scan of frame.h with its budget in the caller's hand, for readers that call it often on one
 * file. Private to wire.
 */
#ifndef WIRE_SCAN_H
#define WIRE_SCAN_H

#include "frame.h"

/* Bytes of payload that may be checked in vain before lengths are believed to get on. */
#define WIRE_SCAN_BUDGET (64u << 20)

enum wire_scan wire_scan_step(const uint8_t *data, size_t len, bool final, uint64_t *budget,
			      struct wire_frame *f, size_t *skip);

#endif
