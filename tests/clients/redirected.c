/* SPDX-License-Identifier: MIT */

/*
 * A program whose fd 2 is another one than at its start when it transfers: redirected HOW FILE URL
 *
 *     log      dup2() of a log file onto 2, as PHP-FPM and Apache have it
 *     both     onto 1 and 2, with /dev/null for 0: a daemon
 *     freopen  freopen() of stderr
 *     pipe     dup2() of a pipe to a child that writes what it gets to FILE
 *     null     dup2() of /dev/null: what is written there, nobody reads
 *     data     2 is closed, and the number goes to a data file
 *     all      all three are closed, and a data file to append to is the third that is opened
 *     socket   2 is closed, and the number goes to a listening socket
 */

#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG (O_WRONLY | O_APPEND | O_CREAT)

static void put_at(int fd, const char *path, int flags)
{
	int opened = open(path, flags, 0600);
	dup2(opened, fd);
	if (opened != fd)
		close(opened);
}

static pid_t pipe_to_child(const char *path)
{
	int ends[2];
	if (pipe(ends) != 0)
		return -1;
	pid_t child = fork();
	if (child == 0) {
		dup2(ends[0], STDIN_FILENO);
		put_at(STDOUT_FILENO, path, LOG);
		close(ends[0]);
		close(ends[1]);
		execlp("cat", "cat", (char *)NULL);
		_exit(127);
	}
	dup2(ends[1], STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	return child;
}

static void listen_at_2(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	close(STDERR_FILENO);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd != STDERR_FILENO || bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 1) != 0)
		exit(3);
}

static pid_t redirect(const char *how, const char *path)
{
	if (strcmp(how, "log") == 0) {
		put_at(STDERR_FILENO, path, LOG);
	} else if (strcmp(how, "both") == 0) {
		put_at(STDIN_FILENO, "/dev/null", O_RDWR);
		put_at(STDOUT_FILENO, path, LOG);
		dup2(STDOUT_FILENO, STDERR_FILENO);
	} else if (strcmp(how, "freopen") == 0) {
		if (!freopen(path, "a", stderr))
			exit(3);
	} else if (strcmp(how, "pipe") == 0) {
		return pipe_to_child(path);
	} else if (strcmp(how, "null") == 0) {
		put_at(STDERR_FILENO, "/dev/null", O_RDWR);
	} else if (strcmp(how, "data") == 0) {
		close(STDERR_FILENO);
		open(path, O_RDWR | O_CREAT, 0600);
	} else if (strcmp(how, "all") == 0) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		if (socket(AF_INET, SOCK_STREAM, 0) != 0 || socket(AF_INET, SOCK_STREAM, 0) != 1)
			exit(3);
		open(path, LOG, 0600);
	} else {
		listen_at_2();
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	pid_t child = redirect(argv[1], argv[2]);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[3]);
	curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	CURLcode result = curl_easy_perform(curl);
	curl_easy_cleanup(curl);
	close(STDERR_FILENO);
	if (child > 0)
		waitpid(child, NULL, 0);
	return (int)result;
}
