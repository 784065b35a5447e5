/* SPDX-License-Identifier: MIT */

/*
 * The stubs are assembly, since a compiler makes jumps of calls only if it likes to. All are alike: a stub loads the
 * address of its reference and goes to the common part, which calls watch_stub_first_call once and keeps the arguments
 * meanwhile. The functions have up to four arguments, none a floating-point number.
 */
#include "interpose/bind/watch_stub.h"

#include <stddef.h>

#include "interpose/bind/watch_line.h"

#define STUBS_PER_FUNCTION 32
#define STUB_COUNT         (STUBS_PER_FUNCTION * WATCH_FUNCTION_COUNT)

/* As numbers for the assembler. */
#define STUB_COUNT_TEXT      "160"
#define STUB_BYTES           16
#define REFERENCE_BYTES_TEXT "128"

enum reference_state { REFERENCE_FREE, REFERENCE_CLAIMED, REFERENCE_READY };

struct reference {
	uintptr_t address;     /* the assembly knows its place */
	atomic_uint is_called; /* and this one's */
	atomic_uint state;
	_Atomic(const struct link_map *) referrer;
	struct watch_binding binding;
} __attribute__((aligned(128)));

_Static_assert(sizeof(struct reference) == 128, "REFERENCE_BYTES_TEXT");
_Static_assert(STUB_COUNT == 160, "STUB_COUNT_TEXT");
_Static_assert(offsetof(struct reference, address) == 0 && offsetof(struct reference, is_called) == 8, "the assembly");

__attribute__((visibility("hidden"))) extern struct reference watch_stub_references[STUB_COUNT];
struct reference watch_stub_references[STUB_COUNT];

__attribute__((visibility("hidden"))) extern const char watch_stub_code[];
__attribute__((visibility("hidden"), used)) void watch_stub_first_call(struct reference *reference);

#if defined(__x86_64__)
#define STUB                                                                                                           \
	"	endbr64\n"                                                                                                   \
	"	leaq watch_stub_references + .Lstub_index * " REFERENCE_BYTES_TEXT "(%rip), %r11\n"                    \
	"	jmp .Lstub_common\n"
#define COMMON                                                                                                         \
	"	cmpl $0, 8(%r11)\n"                                                                                          \
	"	je 1f\n"                                                                                                     \
	"	jmp *(%r11)\n"                                                                                               \
	"1:	push %rdi\n"                                                                                               \
	"	push %rsi\n"                                                                                                 \
	"	push %rdx\n"                                                                                                 \
	"	push %rcx\n"                                                                                                 \
	"	push %r11\n"                                                                                                 \
	"	mov %r11, %rdi\n"                                                                                            \
	"	call watch_stub_first_call\n"                                                                                \
	"	pop %r11\n"                                                                                                  \
	"	pop %rcx\n"                                                                                                  \
	"	pop %rdx\n"                                                                                                  \
	"	pop %rsi\n"                                                                                                  \
	"	pop %rdi\n"                                                                                                  \
	"	jmp *(%r11)\n"
#elif defined(__aarch64__)
#define STUB                                                                                                           \
	"	hint #34\n"                                                                                                  \
	"	adrp x16, watch_stub_references + .Lstub_index * " REFERENCE_BYTES_TEXT "\n"                           \
	"	add x16, x16, :lo12:watch_stub_references + .Lstub_index * " REFERENCE_BYTES_TEXT "\n"                 \
	"	b .Lstub_common\n"
#define COMMON                                                                                                         \
	"	ldr w17, [x16, #8]\n"                                                                                        \
	"	cbnz w17, 1f\n"                                                                                              \
	"	stp x29, x30, [sp, #-64]!\n"                                                                                 \
	"	mov x29, sp\n"                                                                                               \
	"	stp x0, x1, [sp, #16]\n"                                                                                     \
	"	stp x2, x3, [sp, #32]\n"                                                                                     \
	"	str x16, [sp, #48]\n"                                                                                        \
	"	mov x0, x16\n"                                                                                               \
	"	bl watch_stub_first_call\n"                                                                                  \
	"	ldr x16, [sp, #48]\n"                                                                                        \
	"	ldp x2, x3, [sp, #32]\n"                                                                                     \
	"	ldp x0, x1, [sp, #16]\n"                                                                                     \
	"	ldp x29, x30, [sp], #64\n"                                                                                   \
	"1:	ldr x17, [x16]\n"                                                                                          \
	"	br x17\n"
#else
#error "how does a stub jump on this machine?"
#endif

/* clang-format off */
__asm__(".text\n"
        "	.balign 16\n"
        "	.hidden watch_stub_code\n"
        "	.globl watch_stub_code\n"
        "	.type watch_stub_code, %function\n"
        "watch_stub_code:\n"
        "	.set .Lstub_index, 0\n"
        "	.rept " STUB_COUNT_TEXT "\n"
        "	.balign 16\n"
        STUB
        "	.set .Lstub_index, .Lstub_index + 1\n"
        "	.endr\n"
        "	.balign 16\n"
        ".Lstub_common:\n"
        COMMON
        "	.size watch_stub_code, . - watch_stub_code\n");
/* clang-format on */

void watch_stub_first_call(struct reference *reference)
{
	const struct watch_binding *binding = &reference->binding;
	const char *const fields[] = {
	    binding->object, binding->when, binding->function, binding->target, binding->libcurl, binding->how, NULL};
	if (atomic_exchange(&reference->is_called, 1) == 0)
		watch_line_append(WATCH_CALL, fields);
}

static bool is_equal(struct reference *reference, const struct watch_binding *binding)
{
	return atomic_load_explicit(&reference->state, memory_order_acquire) == REFERENCE_READY &&
	       atomic_load_explicit(&reference->referrer, memory_order_relaxed) == binding->referrer &&
	       reference->address == binding->address && reference->binding.how == binding->how;
}

static bool claim(struct reference *reference, const struct watch_binding *binding)
{
	unsigned expected = REFERENCE_FREE;
	if (!atomic_compare_exchange_strong(&reference->state, &expected, REFERENCE_CLAIMED))
		return false;
	reference->address = binding->address;
	reference->binding = *binding;
	atomic_store_explicit(&reference->referrer, binding->referrer, memory_order_relaxed);
	atomic_store_explicit(&reference->state, REFERENCE_READY, memory_order_release);
	return true;
}

uintptr_t watch_stub_take(enum watch_function function, const struct watch_binding *binding)
{
	size_t first = (size_t)function * STUBS_PER_FUNCTION;
	for (size_t i = first; i < first + STUBS_PER_FUNCTION; i++) {
		struct reference *reference = &watch_stub_references[i];
		if (is_equal(reference, binding) || claim(reference, binding))
			return (uintptr_t)watch_stub_code + i * STUB_BYTES;
	}
	return binding->address;
}

void watch_stub_forget(const struct link_map *referrer)
{
	for (size_t i = 0; i < STUB_COUNT; i++) {
		const struct link_map *expected = referrer;
		atomic_compare_exchange_strong(&watch_stub_references[i].referrer, &expected, NULL);
	}
}
