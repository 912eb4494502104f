/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The public API of libbitscrub. */
#ifndef BITSCRUB_H
#define BITSCRUB_H
#endif
