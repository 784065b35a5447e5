/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "interpose/host/dice.h"

/* Where the kernel has no random numbers to give (very early boot, a seccomp filter): the clock and the process, well
 * mixed. */
static uint64_t mix_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t word = (uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 32) ^ ((uint64_t)getpid() << 48);
	/* SplitMix64's finaliser (Steele, Lea, Flood 2014). */
	word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
	return word ^ (word >> 31);
}

static uint64_t random_word(void)
{
	int saved_errno = errno;
	uint64_t word;
	if (getrandom(&word, sizeof(word), GRND_NONBLOCK) != (ssize_t)sizeof(word))
		word = mix_clock();
	errno = saved_errno;
	return word;
}

double dice_draw(void)
{
	return (double)(random_word() >> 11) / (double)((UINT64_C(1) << 53) - 1);
}

uint64_t dice_number(void)
{
	uint64_t number = random_word();
	return number ? number : 1;
}
