// SPDX-License-Identifier: Apache-2.0
import './charts.css';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import flamegraph from 'd3-flame-graph';
globalThis.x = [uPlot, flamegraph];
