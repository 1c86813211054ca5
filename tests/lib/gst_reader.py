#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a run directory by docs/FORMAT.md alone and prints each device's ops and busy time.

    gst_reader.py RUN.gst [--evidence | --meters | --costs]

Output: {"frames": n, "damaged_bytes": n, "devices": [{"device": uuid or stream/ordinal, "ops": n,
"busy_ns": n}]}. Several processes' devices are one by UUID. An op with end < start is none.
With --evidence: {"samples": [...], "batches": [...]}, rows with their strings, in order of frames.
With --meters: [{"stream", "ordinal", "start_ns", "end_ns", "gpm", and what is known of METER}].
With --costs: [{"stream", "t_ns", "launch_ns" and COST}], of pulses that tell what recording cost.
"""
import ctypes
import json
import os
import struct
import sys

HEADER = struct.Struct("<4sHHII16sQqIIII")
HEAD_MAX, BODY_MAX, RAW_MAX = 1 << 16, 1 << 24, 1 << 26
HELLO, STRINGS, BLOCK, SAMPLES, WORKERS, PULSE, BYE = 1, 2, 3, 5, 6, 10, 11
KIND_OP, KIND_SAMPLE, KIND_BATCH = 1, 16, 17
M32, M64, SIGN = (1 << 32) - 1, (1 << 64) - 1, 1 << 63


TABLE = list(range(256))
for _ in range(8):
    TABLE = [i >> 1 ^ (0x82F63B78 & -(i & 1)) for i in TABLE]


def crc32c(data):
    crc = M32
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ M32


def decompress(body, raw_len):
    zstd = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
    zstd.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(max(raw_len, 1))
    got = zstd(out, ctypes.c_size_t(raw_len), body, ctypes.c_size_t(len(body)))
    if got != raw_len:
        sys.exit("gst_reader: a body does not decompress")
    return out.raw[:raw_len]


def frame_at(data, at, known):
    """(type, stream, seq, head, body, raw_len or None, end) of a whole frame, else None."""
    if data[at:at + 4] != b"GSTF" or len(data) - at < 64:
        return None
    (_, version, kind, flags, head_len, stream, seq, _, body_len, raw_len, crc,
     header_crc) = HEADER.unpack_from(data, at)
    body, end = at + 64 + head_len, at + 64 + head_len + body_len
    if (crc32c(data[at:at + 60]) != header_crc or not 1 <= version <= 255 or head_len > HEAD_MAX
            or body_len > BODY_MAX or raw_len > RAW_MAX or end > len(data)
            or crc32c(data[at + 64:end]) != crc or (known and stream not in known)):
        return None
    kind = kind if version == 1 and flags <= 1 else None
    return kind, stream, seq, data[at + 64:body], data[body:end], raw_len if flags else None, end


def frames(data):
    """The frames of a file, and the number of damaged bytes."""
    at, bad, found, known, lost = 0, 0, [], set(), False
    while at < len(data):
        frame = frame_at(data, at, known if lost else None)
        if frame:
            found.append(frame[:-1])
            known.add(frame[1])
            at, lost = frame[-1], False
        else:
            after = data.find(b"GSTF", at + 1)
            after = len(data) if after < 0 else after
            bad, at, lost = bad + after - at, after, True
    return found, bad


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def varints(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def fields(data):
    """(number, value) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(tag & 7) or varint(data, at)
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def sections(data):
    out, at = {}, 0
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 1)[0]
        out[data[at]] = data[at + 5:at + 5 + size]
        at += 5 + size
    return out


def column(data, n):
    """The values of a column that fills @data; None stands for zeros."""
    if data is None:
        return [0] * n
    width, end = data[0], 1 + data[0] * n
    if width == 0:
        return [varint(data, 1)[0]] * n
    values = [int.from_bytes(bytes(v), "little") for v in zip(*[data[1 + k * n:1 + (k + 1) * n]
                                                                 for k in range(width)])]
    more, index = list(varints(data[end:])), -1
    for gap, high in zip(more[1::2], more[2::2]):
        index += gap + 1
        values[index] += high << 8 * width
    return values


def unzigzag(v):
    return v >> 1 ^ -(v & 1)


def spans(n, columns):
    """(device, start, end) of each of a block's ops."""
    got = sections(columns)
    device = list(varints(got[1]))[1::4]
    shapes, at = varint(got[3], 0)
    has_bytes = [got[3][at + 8 * i] & 1 for i in range(shapes)]
    shape, name = column(got.get(4), n), column(got.get(5), n)
    m, at = varint(got[6], 0) if 6 in got else (0, 0)
    sizes = iter(column(got[6][at:], m) if m else [])
    model, bits, before = struct.unpack("<BBq", got[9])
    by_history, by_symbol = [0] * (1 << bits), [0] * (1 << bits)
    time, history = {}, [0] * len(device)
    for i, (p, start, duration) in enumerate(zip(column(got.get(2), n), column(got.get(10), n),
                                                 column(got.get(11), n))):
        size = next(sizes) if has_bytes[shape[i]] else 0
        duration = unzigzag(duration)
        if bits:
            symbol = (name[i] * 0x9E3779B1 + shape[i] * 0x85EBCA77 + size * 0xC2B2AE3D) & M32
            history[p] = (history[p] << 4 & M32) ^ symbol
            a, b = ((h * 0x9E3779B1 & M32) >> (32 - bits) for h in (history[p], symbol))
            duration = (duration + (by_history[a] or by_symbol[b])) & M64
            by_history[a] = by_symbol[b] = duration & M32
        before = (time.get(p, before) + unzigzag(start)) & M64
        end = (before + duration) & M64
        time[p] = before if model else end
        yield device[p], (before ^ SIGN) - SIGN, (end ^ SIGN) - SIGN


# What a shape holds, and the fields in order of sections: name, coding, is a string.
PLAIN, AFTER, LENGTH = range(3)
ROWS = {
    SAMPLES: (struct.Struct("<HBBBB"), ("syscall", "role", "state", "wait", "flags"), [
        ("time", AFTER), ("cpu", AFTER), ("delay", AFTER), ("throttled", AFTER), ("period", AFTER),
        ("stack", AFTER), ("native", AFTER), ("target", AFTER), ("fs", AFTER),
        ("links", AFTER), ("rchar", AFTER)]),
    WORKERS: (struct.Struct("<B"), ("what",), [
        ("start", AFTER), ("end", LENGTH), ("batch", AFTER), ("cpu", PLAIN), ("delay", PLAIN),
        ("rchar", PLAIN), ("read", PLAIN), ("faults", PLAIN), ("loader", AFTER),
        ("worker", AFTER), ("samples", AFTER), ("text", AFTER)]),
}
# Fields that came later have sections that old readers skip.
ADDED = {(SAMPLES, "links"): 128, (SAMPLES, "rchar"): 129}
STRING_FIELDS = ("stack", "native", "target", "fs", "links", "text")
SIGNED_FIELDS = ("time", "start", "end")


def rows(kind, n, columns):
    """The rows of a Samples or Workers frame, strings as ids."""
    got = sections(columns)
    shape, names, coded = ROWS[kind]
    threads = list(varints(got[1]))[1:]
    _, at = varint(got[3], 0)
    shapes = list(shape.iter_unpack(got[3][at:]))
    values = [column(got.get(ADDED.get((kind, name), 5 + i)), n) for i, (name, _) in enumerate(coded)]
    last, done = {}, []
    for i, (t, s) in enumerate(zip(column(got.get(2), n), column(got.get(4), n))):
        before = done[last.get(t, i - 1)] if done else {}
        row = dict(zip(names, shapes[s]), pid=threads[2 * t], tid=threads[2 * t + 1])
        for (name, coding), z in zip(coded, (v[i] for v in values)):
            if coding == PLAIN:
                row[name] = z
            else:
                row[name] = unzigzag(z) + (row["start"] if coding == LENGTH else
                                           before.get(name, 0)) & M64
        last[t] = i
        done.append(row)
    for row in done:
        row.update({k: (row[k] ^ SIGN) - SIGN for k in SIGNED_FIELDS if k in row})
        yield row


def busy(ops):
    total, until = 0, -SIGN
    for start, end in sorted(ops):
        total += max(0, end - max(start, until))
        until = max(until, end)
    return total


def messages(run):
    """(stream, type, head, body) of each frame, as (None, None, bytes, None) how much is damage."""
    seen, found = set(), []
    for name in sorted(n for n in os.listdir(run) if n.endswith((".gst", ".spool"))):
        with open(os.path.join(run, name), "rb") as f:
            some, damaged = frames(f.read())
        found += some
        yield None, None, damaged, None
    for kind, stream, seq, head, body, raw_len in sorted(found, key=lambda f: (f[1], f[2])):
        if (stream, seq) not in seen:
            seen.add((stream, seq))
            yield stream, kind, head, (body if raw_len is None or kind is None else
                                       decompress(body, raw_len))


def evidence(run):
    """Samples and batches with their strings, and the stream."""
    names, out = {}, {SAMPLES: [], WORKERS: []}
    for stream, kind, head, message in messages(run):
        if kind == STRINGS:
            for entry in (dict(fields(value)) for _, value in fields(message)):
                names.setdefault((stream, entry[1]), entry.get(2, b"").decode(errors="replace"))
        elif (kind, head[2] if kind in out else 0) in ((SAMPLES, KIND_SAMPLE),
                                                       (WORKERS, KIND_BATCH)):
            n = struct.unpack_from("<I", head, 4)[0]
            for row in rows(kind, n, dict(fields(message))[1]):
                row.update({k: names.get((stream, row[k]), "") for k in STRING_FIELDS if k in row})
                out[kind].append(dict(row, stream=stream.hex()))
    return {"samples": out[SAMPLES], "batches": out[WORKERS]}


# Of a PulseMeter, by its bits and from field 4 on.
METER = ("busy", "sm", "occupancy", "tensor", "dram", "pcie_tx_mib", "pcie_rx_mib")


def pulse_meters(pulse):
    """(ordinal, start, end, fields) of the devices whose meter a pulse tells."""
    at = (dict(fields(pulse)).get(1, 0) ^ SIGN) - SIGN
    for device in (dict(fields(v)) for number, v in fields(pulse) if number == 3):
        if 4 in device:
            m = dict(fields(device[4]))
            end = at - 1000 * m.get(2, 0)
            yield device.get(1, 0), end - 1000 * m.get(3, 0), end, m


def meters(run):
    out = []
    for stream, kind, _, message in messages(run):
        if kind not in (PULSE, BYE):
            continue
        pulse = message if kind == PULSE else dict(fields(message)).get(4, b"")
        for ordinal, start, end, m in pulse_meters(pulse):
            out.append({"stream": stream.hex(), "ordinal": ordinal, "start_ns": start, "end_ns": end,
                        "gpm": m.get(11) == 1,
                        **{k: m.get(4 + i, 0) for i, k in enumerate(METER) if m.get(1, 0) >> i & 1}})
    return out


# Of a PulseCost, by its fields' numbers.
COST = {1: "limit", 2: "step", 3: "deepest", 4: "worst", 5: "spent_ns", 7: "learnt", 8: "left_ns",
        9: "passed", 10: "window_seed", 11: "windows_since_ns", 12: "windows", 13: "window_begin_ns"}


def whole(value):
    return value if isinstance(value, int) else int.from_bytes(value, "little")


def costs(run):
    out = []
    for stream, kind, _, message in messages(run):
        if kind not in (PULSE, BYE):
            continue
        pulse = dict(fields(message if kind == PULSE else dict(fields(message)).get(4, b"")))
        if 18 in pulse:
            c = dict(fields(pulse[18]))
            out.append({"stream": stream.hex(), "t_ns": (pulse.get(1, 0) ^ SIGN) - SIGN,
                        "launch_ns": list(varints(c.get(6, b""))), **{k: whole(c.get(n, 0)) for n, k in COST.items()}})
    return out


def devices(run):
    count, uuid, ops, bad = 0, {}, {}, 0
    for stream, kind, head, message in messages(run):
        count += stream is not None
        if stream is None:
            bad += head
        elif kind == HELLO:
            found = [dict(fields(value)) for number, value in fields(message) if number == 11]
            uuid.update({(stream, d.get(1, 0)): d[2].hex() for d in found if d.get(2)})
        elif kind == BLOCK and head[2] == KIND_OP:
            n = struct.unpack_from("<I", head, 4)[0]
            for device, start, end in spans(n, dict(fields(message))[1]):
                if end >= start:
                    ops.setdefault((stream, device), []).append((start, end))
    merged = {}
    for (stream, device), some in ops.items():
        key = uuid.get((stream, device), "%s/%d" % (stream.hex(), device))
        merged.setdefault(key, []).extend(some)
    return {"frames": count, "damaged_bytes": bad, "devices": [
        {"device": key, "ops": len(merged[key]), "busy_ns": busy(merged[key])}
        for key in sorted(merged)]}


if __name__ == "__main__":
    what = {"--evidence": evidence, "--meters": meters, "--costs": costs}.get((sys.argv[2:] or [""])[0], devices)
    print(json.dumps(what(sys.argv[1])))
