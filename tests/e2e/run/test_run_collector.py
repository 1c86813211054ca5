#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""`gpustarve run --collector`: a collector that was started by hand stores the trace in its own
folder; with the same folder the run ends with its verdict, with another one it says what to do."""
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

MIXLOOP = [os.path.join(gs.BUILD, 'workloads', 'mixloop'), '--ops=200', '--devices=1', '--processes=1']


def started(where):
    """A collector that serves; returns it and its socket."""
    socket = os.path.join(where, 'sock')
    reading, writing = os.pipe()
    collector = subprocess.Popen([gs.CLI + '-collector', '--dir', os.path.join(where, 'stored'), '--unix', socket,
                                  '--ready-fd', str(writing)], pass_fds=[writing], env=gs.environment())
    os.close(writing)
    gs.check(os.read(reading, 100), 'the collector is ready')
    os.close(reading)
    return collector, socket


def run(where, out, address):
    return gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, out), '--collector', address,
                       '--', *MIXLOOP], cwd=where, env=gs.environment())


with gs.scratch() as where:
    collector, socket = started(where)
    done = run(where, 'stored', 'unix:' + socket)
    gs.equal(done.returncode, 0, f'{done.stderr.decode()}')
    gs.check(b'  report: ' in done.stderr, f'the same folder: a verdict: {done.stderr}')
    stored = gs.runs(os.path.join(where, 'stored'))
    gs.equal(len(stored), 1, 'one run')
    gs.check(any(n.endswith('.gst') for n in os.listdir(stored[0])), 'the collector wrote it')

    done = run(where, 'elsewhere', socket)
    said = done.stderr.decode()
    gs.equal(done.returncode, 0, said)
    gs.check('stores it elsewhere; give -o the folder' in said and socket in said, f'another folder: {said}')
    gs.equal(gs.runs(os.path.join(where, 'elsewhere')), [], 'nothing is left behind there')
    gs.equal(len(gs.runs(os.path.join(where, 'stored'))), 2, 'the trace is where the collector stores')

    done = gs.gpustarve('run', '--collector', 'relative/sock', '--', 'true', cwd=where)
    gs.equal(done.returncode, 1, 'an address that is no absolute path')
    collector.terminate()
    gs.equal(collector.wait(60), 0, 'the collector ends')
gs.finish()
