#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Some of what may be on the disk after a power cut; `tests/powercut --all` takes up to 4096 states
# for each moment.
exec "${top_srcdir:-..}/tests/powercut" "--states=${POWERCUT_STATES:-3}"
