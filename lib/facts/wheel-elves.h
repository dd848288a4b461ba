// SPDX-License-Identifier: Apache-2.0
// Reads the ELF files of a wheel into its facts. One thread at a time.
#pragma once

#include "lib/facts/wheel-reading.h"

// ERR_IO only; what is wrong with a file is one of its facts.
int wheel_elves_read(struct wheel_reading *r, struct err *e) MUST_CHECK;
