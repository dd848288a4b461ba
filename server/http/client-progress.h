// SPDX-License-Identifier: Apache-2.0
// How much a client reads and sends, as the kernel counts it. Any thread.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Whether the other end of a socket has taken or sent LIMIT_STOP_PROGRESS bytes since *moved was set, which is set again. Of a
// socket that is no TCP connection the kernel only knows what waits in it: there any change is enough.
bool client_progress_is_enough(int fd, uint64_t *moved);
