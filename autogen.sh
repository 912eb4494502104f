#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes configure and Makefile.in from a git checkout.
set -e
cd "$(dirname "$0")"
exec autoreconf --install --force "$@"
