/* SPDX-License-Identifier: MIT */
/*
 * The program runs as under `tenacurl run`, by run's own code, and with the watcher (interpose/bind/watch.c) behind the
 * binder. What can't be watched runs all the same; the report is then the prediction.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/check/check.h"
#include "cli/check/target.h"
#include "cli/check/watch_file.h"
#include "cli/check/watched.h"
#include "cli/elf/binder.h"
#include "cli/elf/object.h"
#include "cli/elf/preload.h"
#include "cli/say/exit.h"
#include "cli/say/plain_text.h"
#include "interpose/bind/bind.h"
#include "interpose/bind/watch_format.h"

/* The program, for what this process is sent in its place; 0: it doesn't run. */
static volatile pid_t forward_to;

static void forward(int signal_number)
{
	int reason = errno;
	if (forward_to)
		kill(forward_to, signal_number);
	errno = reason;
}

/*
 * As system(3) does: what the terminal sends to both is for the program, and this process has its report to make then.
 * Who wants this process to end wants the program to.
 */
static const struct {
	int number;
	void (*handler)(int);
} SIGNALS[] = {{SIGINT, SIG_IGN}, {SIGQUIT, SIG_IGN}, {SIGTERM, forward}, {SIGHUP, forward}, {SIGCHLD, SIG_DFL}};

#define SIGNAL_COUNT (sizeof(SIGNALS) / sizeof(SIGNALS[0]))

/* What run is started with. */
struct watched_run {
	const struct check_request *request;
	char *watcher; /* NULL: it can't be watched */
	struct watch_file file;
	int started_pipe[2]; /* closed by exec, so that it tells whether there was one */
	struct sigaction saved[SIGNAL_COUNT];
};

/* Why the program can't be watched, as half a sentence; "" if it can. The watcher asks for as much as the binder. */
static const char *unwatchable_reason(const struct check_request *request, const char *name, const char *object)
{
	struct target target;
	char *preload = preload_compose(getenv("LD_PRELOAD"), name);
	char *watcher = object_beside(object, WATCH_LIBRARY);
	const char *reason = "";
	if (!watcher || access(watcher, R_OK) != 0) {
		reason = WATCH_LIBRARY " is missing";
	} else {
		target_read(request->command, preload, object, &target);
		reason = target_binder_obstacle(&target);
		target_free(&target);
	}
	free(watcher);
	free(preload);
	return reason;
}

/* Returns what LD_AUDIT is to name, to free(); NULL with `*reason` set if the program can't be watched. */
static char *find_watcher(const struct check_request *request, const char **reason)
{
	struct say_error error = {""};
	char *object = object_find(&error), *watcher = NULL;
	char *by_architecture = object ? object_name_by_architecture(object) : NULL;
	const char *name = by_architecture ? by_architecture : object;
	*reason = object ? unwatchable_reason(request, name, object) : "tenacurl itself can't be loaded";
	if (!**reason && !(watcher = object_beside(name, WATCH_LIBRARY)))
		*reason = "there is no memory";
	free(by_architecture);
	free(object);
	return watcher;
}

/* Says what failed, as errno has it. Returns the exit status for that. */
static int complain(const char *what)
{
	fprintf(stderr, "tenacurl check: %s: %s\n", plain_text(what), strerror(errno));
	return SAY_EXIT_REFUSED;
}

static int prepare_watch(struct watched_run *run, struct check_report *report)
{
	const char *reason;
	run->watcher = find_watcher(run->request, &reason);
	if (!run->watcher) {
		snprintf(report->note, sizeof(report->note), "it ran unwatched, since %s", reason);
		return 0;
	}
	return watch_file_create(&run->file) ? 0 : complain("can't make a file for what is seen");
}

static bool set_watch(const struct watched_run *run)
{
	const char *inherited = getenv("LD_AUDIT");
	char *audit = NULL;
	if (asprintf(&audit, "%s%s%s", run->watcher, inherited && inherited[0] ? ":" : "", inherited ? inherited : "") <
	    0)
		audit = NULL;
	char *tunables = binder_compose_tunables(getenv("GLIBC_TUNABLES"));
	bool set = audit && tunables && setenv("LD_AUDIT", audit, 1) == 0 &&
	           setenv("GLIBC_TUNABLES", tunables, 1) == 0 && setenv(WATCH_VARIABLE, run->file.path, 1) == 0;
	free(audit);
	free(tunables);
	return set;
}

static size_t count_words(char **words)
{
	size_t count = 0;
	while (words[count])
		count++;
	return count;
}

static void take_signals(struct watched_run *run)
{
	for (size_t i = 0; i < SIGNAL_COUNT; i++) {
		struct sigaction action = {.sa_handler = SIGNALS[i].handler};
		sigaction(SIGNALS[i].number, NULL, &run->saved[i]);
		bool is_ignored = run->saved[i].sa_handler == SIG_IGN && SIGNALS[i].handler == forward;
		if (!is_ignored)
			sigaction(SIGNALS[i].number, &action, NULL);
	}
}

static void give_signals_back(const struct watched_run *run)
{
	for (size_t i = 0; i < SIGNAL_COUNT; i++)
		sigaction(SIGNALS[i].number, &run->saved[i], NULL);
}

/* In the child. Returns only if nothing was started, with run's exit status. */
static int start_run(const struct watched_run *run)
{
	static char name[] = "run", no_binder[] = "--no-binder", end_of_options[] = "--";
	size_t word_count = count_words(run->request->command);
	char **arguments = calloc(word_count + 4, sizeof(*arguments));
	int count = 0;
	if (!arguments || (run->watcher && !set_watch(run)) ||
	    (run->request->json && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)) {
		free(arguments);
		return complain("can't start the program");
	}
	arguments[count++] = name;
	if (run->request->no_binder)
		arguments[count++] = no_binder;
	arguments[count++] = end_of_options;
	memcpy(arguments + count, run->request->command, word_count * sizeof(*arguments));
	int status = run->request->run(count + (int)word_count, arguments);
	free(arguments);
	return status;
}

static int shell_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In the child: nobody waits for more of it than its status and, if nothing was started, a byte. */
static _Noreturn void be_program(const struct watched_run *run)
{
	int failure = start_run(run);
	ssize_t written = write(run->started_pipe[1], "", 1);
	_exit(written == 1 ? failure : SAY_EXIT_REFUSED);
}

/* Waits for the end of the program, with its status in the report. Returns run's own if nothing was started, else 0. */
static int wait_for_end(struct watched_run *run, pid_t child, struct check_report *report)
{
	siginfo_t ended;
	int status;
	char byte;
	ssize_t failed;
	close(run->started_pipe[1]);
	run->started_pipe[1] = -1;
	while ((failed = read(run->started_pipe[0], &byte, 1)) < 0 && errno == EINTR)
		;
	while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	/* Once it is collected, its id may be another process's. */
	forward_to = 0;
	if (waitpid(child, &status, 0) < 0)
		return SAY_EXIT_REFUSED;
	report->has_run = failed == 0;
	report->program_status = shell_status(status);
	return report->has_run ? 0 : report->program_status;
}

/* Starts the program and waits for its end. Returns as wait_for_end() does. */
static int run_and_wait(struct watched_run *run, struct check_report *report)
{
	sigset_t forwarded, before;
	sigemptyset(&forwarded);
	sigaddset(&forwarded, SIGTERM);
	sigaddset(&forwarded, SIGHUP);
	fflush(NULL);
	/* Until it is known to whom they are forwarded. */
	sigprocmask(SIG_BLOCK, &forwarded, &before);
	pid_t child = fork();
	if (child == 0) {
		give_signals_back(run);
		sigprocmask(SIG_SETMASK, &before, NULL);
		be_program(run);
	}
	forward_to = child > 0 ? child : 0;
	int reason = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	errno = reason;
	return child > 0 ? wait_for_end(run, child, report) : complain("can't start the program");
}

static int run_undisturbed(struct watched_run *run, struct check_report *report)
{
	if (pipe2(run->started_pipe, O_CLOEXEC) != 0)
		return complain("can't start the program");
	take_signals(run);
	int failure = run_and_wait(run, report);
	give_signals_back(run);
	close(run->started_pipe[0]);
	if (run->started_pipe[1] >= 0)
		close(run->started_pipe[1]);
	return failure;
}

/* Where the watcher was put aside the binder was, too (interpose/bind/step_aside.c). */
static void report_unwatched(struct check_report *report)
{
	static const char REASON[] = "the program was started anew without it";
	snprintf(report->note, sizeof(report->note), "it ran unwatched: nothing of it let itself be watched");
	for (size_t i = 0; i < report->use_count; i++) {
		struct check_use *use = &report->uses[i];
		if (use->binding != CHECK_BINDING_BINDER)
			continue;
		use->binding = CHECK_BINDING_NONE;
		use->reason = CHECK_REASON_NO_BINDER;
		report->binder = false;
		snprintf(report->binder_reason, sizeof(report->binder_reason), REASON);
	}
}

static int read_watch(const struct watched_run *run, struct check_report *report)
{
	struct watch_log log = {0};
	bool read = watch_file_read(&run->file, &log);
	if (read && log.process_count)
		read = check_report_watched(&log, report);
	else if (read)
		report_unwatched(report);
	int failure = read ? 0 : complain("can't read what was seen");
	watch_log_free(&log);
	return failure;
}

int check_run(const struct check_request *request, struct check_report *report)
{
	struct watched_run run = {.request = request, .file = {.fd = -1}, .started_pipe = {-1, -1}};
	if (!check_static(request, report)) {
		int reason = errno;
		complain("can't check the program");
		return check_status_of(reason);
	}
	int failure = prepare_watch(&run, report);
	if (!failure)
		failure = run_undisturbed(&run, report);
	if (!failure && run.watcher)
		failure = read_watch(&run, report);
	watch_file_remove(&run.file);
	free(run.watcher);
	return failure;
}
