#!/bin/sh
# manpage.sh LOWDOWN VERSION PAGE.md OUT: a page of the manual, written in markdown, as a man page.
# The first line names it, `% NAME(SECTION) source | book`. Hyphens become minus signs, so that an
# option copied from the page is an option; code is bold, for man(7) has no third font.
set -eu
title=$(sed -n '1s/^% \([A-Z-]*\)([0-9]).*/\1/p' "$3")
section=$(sed -n '1s/^% [A-Z-]*(\([0-9]\)).*/\1/p' "$3")
[ -n "$title" ] && [ -n "$section" ] || {
	echo "manpage.sh: $3: the first line is not '% NAME(SECTION) source | book'" >&2
	exit 1
}
sed 1d "$3" | "$1" -s -Tman --out-no-smarty --parse-no-intraemph --parse-no-math -m "title: $title" -m "section: $section" \
	-m "source: gpustarve $2" -m "volume: gpustarve manual" |
	sed -e '/^\.SH$/{N;N;s/^\.SH\n\([^\n]*\)\n\.LP$/.SH \1/}' \
		-e "/^[.']/!s/\\\\fC/\\\\fB/g" -e "/^[.']/!s/\\\\-/-/g" -e "/^[.']/!s/-/\\\\-/g" >"$4.part"
[ -s "$4.part" ] && mv "$4.part" "$4"
