# SPDX-License-Identifier: Apache-2.0
"""Parts of tests/faults, the campaign of faults between trainers, node collectors and a central one.

    spaces    network namespaces with a pair of cables, and what is done to the cables
    wire      the relay between a node and the centre: what networks do to bytes and connections
    disks     small disks that can be full
    daemons   the collectors as processes, with clocks of their own that can be stepped
    diary     a side file that is written again and again
    senders   many frames of many streams, as libprof sends them; recorded traces sent again
    trainers  real processes with libprof in them, on the simulated GPU
    kinds     the faults: each does its harm, waits, and mends it
    ledger    what must hold whatever happened
    world     a centre with two nodes, and the rounds that are played in it
    tally     the table"""
