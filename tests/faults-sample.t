#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# A sample of the system calls of each step, killed or failed; `tests/faults --all` takes each of them.
exec "${top_srcdir:-..}/tests/faults" "--sample=1/${FAULTS_EVERY:-151}"
