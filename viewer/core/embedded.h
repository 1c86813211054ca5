/* SPDX-License-Identifier: Apache-2.0 */
/* Files of this folder that are compiled into the program. Made by cmake/embed.cmake. */
#ifndef VIEW_EMBEDDED_H
#define VIEW_EMBEDDED_H

#include <stddef.h>

extern const unsigned char view_embedded_catalogue[]; /* cost/prices/catalogue.csv */
extern const size_t view_embedded_catalogue_len;
extern const unsigned char view_embedded_gpus[]; /* fit/gpus.csv */
extern const size_t view_embedded_gpus_len;
extern const unsigned char view_embedded_replay_py[]; /* check/replay/sitecustomize.py */
extern const size_t view_embedded_replay_py_len;
extern const unsigned char view_embedded_look_py[]; /* check/replay/look.py */
extern const size_t view_embedded_look_py_len;
extern const unsigned char view_embedded_report_css[]; /* report/assets/report.css */
extern const size_t view_embedded_report_css_len;
extern const unsigned char view_embedded_report_css_sha256[];
/* Made by cmake/charts.cmake from report/assets/charts; both empty in a build without npm. */
extern const unsigned char view_embedded_charts_js[];
extern const size_t view_embedded_charts_js_len;
extern const unsigned char view_embedded_charts_js_sha256[];
extern const unsigned char view_embedded_charts_css[];
extern const size_t view_embedded_charts_css_len;
extern const unsigned char view_embedded_charts_css_sha256[];

#endif
