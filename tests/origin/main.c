/* SPDX-License-Identifier: MIT */
/*
 * origin: a scripted HTTP/1.1 server for fault tests. README.md in this folder describes script and record.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "tests/origin/clock.h"
#include "tests/origin/connection.h"
#include "tests/origin/listener.h"
#include "tests/origin/server.h"

/* How long the end waits for connections to record theirs. */
#define END_S_MAX 4

static const char USAGE[] = "Usage: origin --script FILE [--address 127.0.0.1] [--port N] [--record FILE]\n"
                            "              [--refuse-ms N] [--blackhole] [--blackhole-ms N]\n";

struct options {
	const char *script, *address, *record;
	int port;
	int64_t refuse_ms;    /* STEP_UNSET: the script decides */
	int64_t blackhole_ms; /* STEP_UNSET: no black hole */
};

/* What the accepting thread is at, and until when. */
enum phase { PHASE_LISTENING, PHASE_REFUSING, PHASE_SWALLOWING };

struct accepting {
	struct server *server;
	enum phase phase;
	int64_t phase_end_us;
	int64_t connection_count;
};

static bool parse_options(struct options *options, int argc, char **argv)
{
	static const struct option LONG[] = {
	    {"script", required_argument, NULL, 's'},       {"address", required_argument, NULL, 'a'},
	    {"port", required_argument, NULL, 'p'},         {"record", required_argument, NULL, 'r'},
	    {"refuse-ms", required_argument, NULL, 'R'},    {"blackhole", no_argument, NULL, 'b'},
	    {"blackhole-ms", required_argument, NULL, 'B'}, {NULL, 0, NULL, 0}};
	int option;

	while ((option = getopt_long(argc, argv, "", LONG, NULL)) != -1) {
		switch (option) {
		case 's':
			options->script = optarg;
			break;
		case 'a':
			options->address = optarg;
			break;
		case 'p':
			options->port = atoi(optarg);
			break;
		case 'r':
			options->record = optarg;
			break;
		case 'R':
			options->refuse_ms = atoll(optarg);
			break;
		case 'b':
			options->blackhole_ms = INT32_MAX;
			break;
		case 'B':
			options->blackhole_ms = atoll(optarg);
			break;
		default:
			return false;
		}
	}
	return options->script && optind == argc;
}

static void begin_phase(struct accepting *accepting, enum phase phase, int64_t for_ms)
{
	accepting->phase = phase;
	accepting->phase_end_us = clock_us() + for_ms * 1000;
}

static bool end_phase(struct accepting *accepting)
{
	enum phase ended = accepting->phase;

	accepting->phase = PHASE_LISTENING;
	if (ended == PHASE_SWALLOWING)
		return listener_stop_swallowing(&accepting->server->listener);
	return listener_listen(&accepting->server->listener);
}

static bool start_listening(struct accepting *accepting, const struct options *options)
{
	int64_t refuse_ms =
	    options->refuse_ms != STEP_UNSET ? options->refuse_ms : accepting->server->script.refuse_for_ms;

	if (options->blackhole_ms != STEP_UNSET) {
		begin_phase(accepting, PHASE_SWALLOWING, options->blackhole_ms);
		return listener_swallow(&accepting->server->listener);
	}
	if (refuse_ms != STEP_UNSET) {
		begin_phase(accepting, PHASE_REFUSING, refuse_ms);
		return true;
	}
	return listener_listen(&accepting->server->listener);
}

static void accept_all(struct accepting *accepting)
{
	int fd;

	while ((fd = listener_accept(&accepting->server->listener)) >= 0) {
		int64_t number = ++accepting->connection_count;

		record_accepted(&accepting->server->record, number, clock_us());
		connection_start(accepting->server, fd, number);
	}
}

static void take_refusal(struct accepting *accepting)
{
	struct server *server = accepting->server;
	eventfd_t ignored;
	int64_t for_ms;

	eventfd_read(server->wake_fd, &ignored);
	pthread_mutex_lock(&server->lock);
	for_ms = server->refuse_for_ms;
	server->refuse_for_ms = STEP_UNSET;
	pthread_mutex_unlock(&server->lock);
	if (for_ms == STEP_UNSET || accepting->phase == PHASE_SWALLOWING)
		return;
	begin_phase(accepting, PHASE_REFUSING, for_ms);
}

/* SIGUSR1 ends a refusal or black hole at once. Returns whether the server goes on. */
static bool take_signal(struct accepting *accepting, int signal_fd)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof info) != (ssize_t)sizeof info || info.ssi_signo != SIGUSR1)
		return false;
	accepting->phase_end_us = clock_us();
	return true;
}

/* Serves until a signal says to end. */
static void serve(struct accepting *accepting, int signal_fd)
{
	struct pollfd fds[3] = {{.fd = signal_fd, .events = POLLIN},
	                        {.fd = accepting->server->wake_fd, .events = POLLIN},
	                        {.fd = accepting->server->listener.fd, .events = POLLIN}};

	for (;;) {
		bool listening = accepting->phase == PHASE_LISTENING;
		int64_t left_us = accepting->phase_end_us - clock_us();
		int timeout_ms = listening ? -1 : left_us > 0 ? (int)(left_us / 1000) + 1 : 0;

		if (poll(fds, listening ? 3 : 2, timeout_ms) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && !take_signal(accepting, signal_fd))
			return;
		if (fds[1].revents)
			take_refusal(accepting);
		else if (listening && fds[2].revents)
			accept_all(accepting);
		if (accepting->phase != PHASE_LISTENING && clock_us() >= accepting->phase_end_us &&
		    !end_phase(accepting))
			return;
	}
}

/* Blocks the server's signals in all threads; they come through the descriptor. */
static int open_signals(void)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	return signalfd(-1, &signals, SFD_CLOEXEC);
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool open_server(struct server *server, const struct options *options)
{
	char error[512];

	if (!script_load(&server->script, options->script, error, sizeof error)) {
		fprintf(stderr, "origin: %s\n", error);
		return false;
	}
	server->record.fd = STDOUT_FILENO;
	if (options->record)
		server->record.fd = open(options->record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (server->record.fd < 0) {
		fprintf(stderr, "origin: %s: %s\n", options->record, strerror(errno));
		return false;
	}
	server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	server->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&server->record.lock, NULL);
	pthread_mutex_init(&server->lock, NULL);
	pthread_cond_init(&server->all_gone, NULL);
	server->refuse_for_ms = STEP_UNSET;
	return server->stop_fd >= 0 && server->wake_fd >= 0;
}

int main(int argc, char **argv)
{
	struct options options = {.address = "127.0.0.1", .refuse_ms = STEP_UNSET, .blackhole_ms = STEP_UNSET};
	struct server server = {.stop_fd = -1};
	struct accepting accepting = {.server = &server};
	int signal_fd;

	if (!parse_options(&options, argc, argv)) {
		fputs(USAGE, stderr);
		return 2;
	}
	signal_fd = open_signals();
	raise_descriptor_limit();
	if (signal_fd < 0 || !open_server(&server, &options))
		return 1;
	if (!listener_bind(&server.listener, options.address, options.port) || !start_listening(&accepting, &options)) {
		fprintf(stderr, "origin: %s:%d: %s\n", options.address, options.port, strerror(errno));
		return 1;
	}
	printf("{\"port\":%d}\n", server.listener.port);
	fflush(stdout);
	serve(&accepting, signal_fd);
	close(server.listener.fd);
	eventfd_write(server.stop_fd, 1);
	if (server_await_end(&server, END_S_MAX))
		script_free(&server.script);
	return 0;
}
