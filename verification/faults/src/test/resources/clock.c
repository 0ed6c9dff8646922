/*
 * Copyright 2026-present the original author or authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

/* The time of day of a process, ahead by the seconds in a mapped file. Time that passes is left alone, as it is when an
 * operator sets a clock. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *ahead;

__attribute__((constructor)) static void map_file(void) {
	const char *name = getenv("CLOCK_FILE");
	int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
	if (file >= 0) {
		void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
		ahead = (mapped != MAP_FAILED) ? mapped : NULL;
		close(file);
	}
}

int clock_gettime(clockid_t clock, struct timespec *now) {
	static int (*system_clock)(clockid_t, struct timespec *);
	if (!system_clock) {
		system_clock = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT, "clock_gettime");
	}
	int result = system_clock(clock, now);
	if (result == 0 && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
		now->tv_sec += *ahead;
	}
	return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
	struct timespec precise;
	int result = clock_gettime(CLOCK_REALTIME, &precise);
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return result;
}

time_t time(time_t *seconds) {
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (seconds) {
		*seconds = now.tv_sec;
	}
	return now.tv_sec;
}
