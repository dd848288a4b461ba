// SPDX-License-Identifier: Apache-2.0
// The log: one line a message on stderr, with the priority "<N>" in front if systemd's journal reads stderr.
// Any thread. Nothing here fails; a line longer than 1 KB is cut, and control characters become "?".
#pragma once

#include "lib/base/mem.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG, LOG_LEVEL_COUNT };

extern const char *const log_level_name[LOG_LEVEL_COUNT];

// Messages of a higher level than this are dropped. The default is LOG_LEVEL_INFO.
void log_set_level(enum log_level level);
void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);
