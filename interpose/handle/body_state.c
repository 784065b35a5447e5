/* SPDX-License-Identifier: MIT */

#include <stdlib.h>

#include "interpose/handle/body_state.h"

void body_state_free(struct body *body)
{
	free(body->copy);
	body->copy = NULL;
	body->copy_capacity_bytes = 0;
	body->copy_bytes = 0;
}
