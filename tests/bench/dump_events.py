#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the events of a Kineto JSON or nsys SQLite trace as flat 64-byte wire events.

For benches only: no importer, knows the common rows and skips the rest. The layout is struct
wire_event of wire/event.h, little endian. Events are ordered by kind, then by when they ended,
which is roughly how a tracer gets them.

    dump_events.py TRACE[.gz] OUT
"""
import gzip
import json
import os
import sqlite3
import struct
import sys
import tempfile
from decimal import Decimal

OP, API, SYNC, RANGE = 1, 2, 3, 4
EVENT = struct.Struct("<qqQQIIIIIIBBBBBBH")
COPIES = {"HtoD": 1, "DtoH": 2, "DtoD": 8, "HtoH": 9, "PtoP": 10}
MEMORY = {"Pageable": 1, "Pinned": 2, "Device": 3, "Array": 4, "Managed": 5}


class Names:
    def __init__(self):
        self.ids = {}

    def __getitem__(self, text):
        return self.ids.setdefault(text, len(self.ids) + 1)


def nanoseconds(text):
    return int(Decimal(text) * 1000)


def event(kind, start, end, corr=0, size=0, name=0, device=0, context=0, stream=0, tid=0, graph=0,
          op=0, copy=0, src=0, dst=0, flags=0):
    number = lambda v: int(v) & 0xffffffff
    return (start, end, int(corr), int(size), name, number(device), number(context),
            number(stream), number(tid), number(graph), kind, op, copy, src, dst, flags, 0)


def kineto_op(row, args, names, start, end):
    common = dict(corr=args.get("correlation", 0), device=args.get("device", 0),
                  context=args.get("context", 1), stream=args.get("stream", 0),
                  size=args.get("bytes", 0))
    text = row["name"]
    if row["cat"].lower() == "kernel":
        return event(OP, start, end, op=1, name=names[text], graph=args.get("graph id", 0), **common)
    if row["cat"].lower() in ("gpu_memset", "memset"):
        return event(OP, start, end, op=3, **common)
    word = text.split()
    ends = [e.strip("()") for e in word[2:] if e != "->"] + ["", ""]
    return event(OP, start, end, op=2, copy=COPIES.get(word[1] if len(word) > 1 else "", 0),
                 src=MEMORY.get(ends[0], 0), dst=MEMORY.get(ends[1], 0), flags=8, **common)


def kineto_event(row, names):
    cat = row.get("cat", "").lower()
    args = row.get("args", {})
    start = nanoseconds(row["ts"])
    end = start + nanoseconds(row["dur"])
    if cat in ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"):
        return kineto_op(row, args, names, start, end)
    if not str(row["tid"]).lstrip("-").isdigit():
        return None
    if cat in ("cuda_runtime", "cuda_driver", "runtime"):
        return event(API, start, end, corr=args.get("correlation", 0), name=names[row["name"]],
                     tid=row["tid"], op=1 if cat == "cuda_driver" else 2)
    if cat == "cuda_sync":
        return event(SYNC, start, end, corr=args.get("correlation", 0), op=3,
                     stream=args.get("stream", 0), context=args.get("context", 1))
    if cat in ("cpu_op", "user_annotation", "operator"):
        return event(RANGE, start, end, name=names[row["name"]], tid=row["tid"],
                     op=3 if cat != "user_annotation" else 2)
    return None


def kineto(data):
    rows = json.loads(data, parse_float=str, parse_int=str)
    rows = rows["traceEvents"] if isinstance(rows, dict) else rows
    names = Names()
    for row in rows:
        got = kineto_event(row, names) if row.get("ph") == "X" and "dur" in row else None
        if got:
            yield got


def nsys_rows(db, table, columns):
    """Rows of a table that may not be there, 0 for columns that are not."""
    have = {row[1] for row in db.execute(f"pragma table_info({table})")}
    wanted = ", ".join(c if c in have else "0" for c in columns.split())
    return db.execute(f"select {wanted} from {table}") if have else ()


def nsys(path):
    db = sqlite3.connect(path)
    names = Names()
    common = "start end correlationId bytes deviceId contextId streamId "
    prefix = "CUPTI_ACTIVITY_KIND_"
    for row in nsys_rows(db, prefix + "KERNEL", common + "shortName"):
        yield event(OP, *row[:4], names[row[7]], *row[4:7], op=1)
    for row in nsys_rows(db, prefix + "MEMCPY", common + "copyKind srcKind dstKind"):
        yield event(OP, *row[:4], 0, *row[4:7], op=2, copy=row[7], src=row[8] + 1, dst=row[9] + 1,
                    flags=8)
    for row in nsys_rows(db, prefix + "MEMSET", common):
        yield event(OP, *row[:4], 0, *row[4:7], op=3)
    for row in nsys_rows(db, prefix + "RUNTIME", "start end correlationId nameId globalTid"):
        yield event(API, *row[:3], 0, names[row[3]], tid=row[4], op=2)


def read(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    if not data.startswith(b"SQLite format 3"):
        return list(kineto(data))
    with tempfile.TemporaryDirectory() as d:
        plain = os.path.join(d, "trace.sqlite")
        with open(plain, "wb") as out:
            out.write(data)
        return list(nsys(plain))


def main():
    events = read(sys.argv[1])
    events.sort(key=lambda e: (e[10], e[1], e[0]))
    with open(sys.argv[2], "wb") as out:
        for e in events:
            out.write(EVENT.pack(*e))


main()
