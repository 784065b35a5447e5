/* SPDX-License-Identifier: MIT */

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct script script;
static int steps_taken[OPERATIONS_MAX], connects_taken;
static struct send sends[SENDS_MAX];
static int send_count;

void record_reset(const struct script *next)
{
	pthread_mutex_lock(&lock);
	script = *next;
	memset(steps_taken, 0, sizeof(steps_taken));
	connects_taken = 0;
	send_count = 0;
	pthread_mutex_unlock(&lock);
}

static char take(const char *steps, int *taken, char otherwise)
{
	return steps[*taken] ? steps[(*taken)++] : otherwise;
}

char record_step(int operation)
{
	pthread_mutex_lock(&lock);
	char step = operation < 0 ? take(script.connects, &connects_taken, '2')
	                          : take(script.steps[operation], &steps_taken[operation], 'o');
	pthread_mutex_unlock(&lock);
	return step;
}

int record_add(const struct send *send)
{
	pthread_mutex_lock(&lock);
	int number = send_count < SENDS_MAX ? send_count++ : SENDS_MAX - 1;
	sends[number] = *send;
	pthread_mutex_unlock(&lock);
	return number;
}

void record_answered(int number, int status)
{
	pthread_mutex_lock(&lock);
	sends[number].status = status;
	pthread_mutex_unlock(&lock);
}

static void print_send(int number, const struct send *send)
{
	printf("send %d op=%d method=%s target=%s location=%s step=%c status=%d connection=%d number=%d opened=%d "
	       "complete=%d "
	       "announced=%d empty=%d start=%" PRId64 " bytes=%" PRId64 " body=%016" PRIx64 " head=%016" PRIx64
	       " key=%d conditional=%d overridden=%d authorised=%d\n",
	       number, send->operation, send->method, send->target, send->location[0] ? send->location : "-",
	       send->step, send->status, send->connection, send->number, send->opened, send->complete, send->announced,
	       send->empty, send->start, send->bytes, send->body_hash, send->head_hash, send->has_key,
	       send->conditional, send->overridden, send->authorised);
}

void record_print(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < send_count; i++)
		print_send(i, &sends[i]);
	pthread_mutex_unlock(&lock);
}
