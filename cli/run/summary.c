/* SPDX-License-Identifier: MIT */
/*
 * `run --summary` stays while the command runs, since somebody has to tell of it in the end. Nobody shall notice that:
 *
 *   the command is in the same process group and session, with the same standard streams, so that it reads from the
 *   terminal and gets its signals (^C, ^Z, ^\, a hang-up, a new size of the window) as it would without us;
 *   what is sent to our process alone goes on to the command;
 *   when the command stops, so do we, as a shell's job control expects of its child;
 *   we end as the command did, by the same signal if by one, but without a core of our own;
 *   when we are killed, it is, too.
 */
#include "cli/run/summary.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/execute.h"
#include "cli/say/exit.h"
#include "cli/say/plain_text.h"
#include "engine/engine.h"
#include "state/run_page.h"

/* What is changed for the wait, to be as it was in the command. */
struct signals {
	sigset_t mask;
	struct sigaction child;
};

static void keep_signals(struct signals *kept)
{
	static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
	sigset_t all;
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(FAULTS) / sizeof(FAULTS[0]); i++)
		sigdelset(&all, FAULTS[i]);
	sigprocmask(SIG_BLOCK, &all, &kept->mask);
	sigaction(SIGCHLD, &usual, &kept->child); /* ignored, it would leave us no status */
}

static void give_signals_back(const struct signals *kept)
{
	sigaction(SIGCHLD, &kept->child, NULL);
	sigprocmask(SIG_SETMASK, &kept->mask, NULL);
}

static pid_t start(const struct run_options *options, const struct signals *kept, struct run_page *page)
{
	pid_t parent = getpid();
	pid_t child = fork();
	if (child != 0)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		raise(SIGKILL);
	give_signals_back(kept);
	int status = run_execute(options->command);
	atomic_store(&page->not_started, 1);
	_exit(status);
}

/* Returns whether the command is over, with its status. */
static bool look_at(pid_t child, int *status)
{
	pid_t changed;
	while ((changed = waitpid(-1, status, WNOHANG | WUNTRACED)) > 0) {
		if (changed != child)
			continue; /* an orphan's, if we are the first process of a container */
		if (!WIFSTOPPED(*status))
			return true;
		kill(getpid(), SIGSTOP);
		kill(child, SIGCONT); /* here we were continued, perhaps alone */
	}
	return false;
}

/*
 * The kernel's signals are for the group, so the command has its own of each. A hang-up is told to the leader of the
 * session alone: the group gets it when that ends.
 */
static bool is_for_command(const siginfo_t *info)
{
	bool is_leaders = info->si_signo == SIGHUP && getsid(0) == getpid();
	return info->si_code != SI_KERNEL || is_leaders;
}

static int wait_for(pid_t child)
{
	sigset_t all;
	siginfo_t info;
	int status = 0;
	sigfillset(&all);
	for (bool is_over = look_at(child, &status); !is_over;) {
		int number = sigwaitinfo(&all, &info);
		if (number == SIGCHLD)
			is_over = look_at(child, &status);
		else if (number > 0 && is_for_command(&info))
			kill(child, number);
	}
	return status;
}

/* "2 given up (attempt_cap 1, budget_empty 1)", of the reasons for which `wanted` is true. */
static void put_failures(FILE *out, const struct run_page *page, const char *what, bool is_ours)
{
	static const enum engine_reason NOT_OURS[] = {ENGINE_TERMINAL_ERROR, ENGINE_CANCELLED, ENGINE_SUCCESS};
	char *names = NULL;
	size_t bytes = 0;
	uint64_t total = 0;
	FILE *list = open_memstream(&names, &bytes);
	for (size_t i = 0; list && i < RUN_PAGE_REASONS; i++) {
		bool is_not_ours = false;
		for (size_t j = 0; j < sizeof(NOT_OURS) / sizeof(NOT_OURS[0]); j++)
			is_not_ours |= i == NOT_OURS[j];
		if (page->failed[i] == 0 || is_not_ours == is_ours)
			continue;
		fprintf(list, "%s%s %llu", total ? ", " : "", engine_reason_name((enum engine_reason)i),
		        (unsigned long long)page->failed[i]);
		total += page->failed[i];
	}
	if (list && fclose(list) == 0 && total)
		fprintf(out, ", %llu %s (%s)", (unsigned long long)total, what, names);
	free(names);
}

static void put_count(FILE *out, uint64_t count, const char *noun, const char *nouns)
{
	fprintf(out, "%llu %s", (unsigned long long)count, count == 1 ? noun : nouns);
}

static void print(FILE *out, const struct run_page *page)
{
	fputs("tenacurl run: ", out);
	if (page->requests == 0) {
		fputs("no request came to tenacurl\n", out);
		return;
	}
	put_count(out, page->requests, "request", "requests");
	fprintf(out, ", %llu saved, ", (unsigned long long)page->saved);
	put_count(out, page->retries, "retry", "retries");
	fputs(", waited ", out);
	plain_text_put_duration(out, (int64_t)page->waited_ms);
	if (page->would_retry)
		fprintf(out, ", %llu would have been retried (audit)", (unsigned long long)page->would_retry);
	put_failures(out, page, "given up", true);
	put_failures(out, page, "failed, not to be retried", false);
	putc('\n', out);
}

/* In one write, so that the line isn't torn; SIGTTOU and SIGPIPE are blocked. */
static void tell(const struct run_page *page)
{
	char *line = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&line, &bytes);
	if (!out)
		return;
	print(out, page);
	if (fclose(out) == 0 && write(STDERR_FILENO, line, bytes) < 0)
		errno = 0; /* nobody is there to be told */
	free(line);
}

/* As the command did. Returns the exit status, if it wasn't by a signal. */
static int end_like(int status)
{
	const struct rlimit no_core = {0, 0};
	sigset_t one;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	int number = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(number, SIG_DFL);
	raise(number);
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	return 128 + number;
}

int run_with_summary(const struct run_options *options)
{
	char name[RUN_PAGE_NAME_BYTES];
	const char *outer_name = getenv("TENACURL_SUMMARY");
	struct run_page *outer = outer_name ? run_page_open(outer_name) : NULL;
	struct run_page *page = run_page_make(name);
	struct signals kept;
	if (!page || setenv("TENACURL_SUMMARY", name, 1) != 0) {
		fprintf(stderr, "tenacurl run: --summary: %s\n", strerror(errno));
		return SAY_EXIT_REFUSED;
	}
	keep_signals(&kept);
	pid_t child = start(options, &kept, page);
	if (child < 0) {
		fprintf(stderr, "tenacurl run: can't start a process: %s\n", strerror(errno));
		return SAY_EXIT_REFUSED;
	}
	int status = wait_for(child);
	if (outer)
		run_page_add(outer, page);
	if (!page->not_started)
		tell(page);
	return end_like(status);
}
