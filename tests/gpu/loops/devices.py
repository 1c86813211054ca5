# SPDX-License-Identifier: Apache-2.0
"""Prints as JSON what the driver and NVML each say of the first GPU. Simulated and real alike."""
import ctypes
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'workloads'))
from gpudev import INT, SIZE, Device, driver  # noqa: E402

MULTIPROCESSORS, MAJOR, MINOR = 16, 75, 76


class Pci(ctypes.Structure):
    _fields_ = [('legacy', ctypes.c_char * 16)] + \
        [(n, ctypes.c_uint) for n in ('domain', 'bus', 'device', 'id', 'subsystem')] + \
        [('text', ctypes.c_char * 32)]


class Memory(ctypes.Structure):
    _fields_ = [(n, ctypes.c_ulonglong) for n in ('total', 'free', 'used')]


def of_driver():
    def attribute(what):
        value = INT()
        driver().cuDeviceGetAttribute(ctypes.byref(value), what, 0)
        return value.value

    version, total = INT(), SIZE()
    driver().cuDriverGetVersion(ctypes.byref(version))
    driver().cuDeviceTotalMem_v2(ctypes.byref(total), 0)
    dev = Device(0)
    return dict(name=dev.name, uuid=dev.uuid, memory=total.value, cuda=version.value,
                multiprocessors=attribute(MULTIPROCESSORS), capability=[attribute(MAJOR), attribute(MINOR)])


def of_nvml(uuid):
    """Of the GPU of that UUID; None without NVML."""
    try:
        lib = ctypes.CDLL('libnvidia-ml.so.1')
    except OSError:
        return None
    handle, text, pci, memory = ctypes.c_void_p(), ctypes.create_string_buffer(96), Pci(), Memory()
    now, then = ctypes.c_uint(), ctypes.c_uint()
    if lib.nvmlInit_v2() or lib.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)):
        return None
    found = {}
    if not lib.nvmlDeviceGetName(handle, text, 96):
        found['name'] = text.value.decode()
    if not lib.nvmlDeviceGetUUID(handle, text, 96):
        found['uuid'] = text.value.decode()
    if not lib.nvmlSystemGetDriverVersion(text, 96):
        found['driver'] = text.value.decode()
    if not lib.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)):
        found['memory'] = memory.total
    if not lib.nvmlDeviceGetPciInfo_v3(handle, ctypes.byref(pci)):
        found['pci'] = f'{pci.id & 0xffff:04x}:{pci.id >> 16:04x}'
    rc = lib.nvmlDeviceGetMigMode(handle, ctypes.byref(now), ctypes.byref(then))
    found['mig'] = 'none' if rc else ('off', 'on')[now.value & 1]
    return found


if __name__ == '__main__':
    said = of_driver()
    print(json.dumps(dict(driver=said, nvml=of_nvml(said['uuid']))))
