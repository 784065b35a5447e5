/* SPDX-License-Identifier: MIT */

#include "engine/facts.h"
#include "interpose/journal.h"
#include "interpose/operation.h"
#include "interpose/restraint.h"

bool sends_charge_resend(struct operation *operation)
{
	if (operation->section->rules.resend == POLICY_RESEND_FORBID && !operation->gate.observes) {
		operation->resend_refused = true;
		return false;
	}
	operation->sends.resends++;
	/* The log wants to know more of it than of what went well at once. */
	operation->gate.block.reads_success = journal_wants_success(operation);
	restraint_note_lost(operation);
	restraint_take_token(operation);
	return true;
}

void sends_add_proved(struct operation *operation, const struct engine_facts *facts)
{
	operation->sends.attempt = engine_proved_sends(facts);
}
