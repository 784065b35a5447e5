/* SPDX-License-Identifier: MIT */
/*
 * syslog(3) is the host program's: it has one connection, tag, option set and lock per process, and openlog() by us
 * would change what the program's own messages look like. So we send a datagram of our own.
 */
#include "log/syslog.h"

#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/bounded_text.h"
#include "base/clock.h"
#include "log/calendar.h"

#define FACILITY_USER    1
#define SEVERITY_DEBUG   7
#define HEADER_BYTES_MAX 64 /* <15>Jan  2 03:04:05 tenacurl[4294967295]: */

static size_t put_header(char out[static HEADER_BYTES_MAX], int severity)
{
	static const char MONTHS[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	struct calendar_time time = {.month = 1, .day = 1};
	calendar_from_us(clock_calendar_us(), &time);

	char stamp[] = "Mmm dd hh:mm:ss";
	memcpy(stamp, MONTHS + 3 * (time.month - 1), 3);
	calendar_put_digits(stamp + 4, time.day, 2);
	if (stamp[4] == '0')
		stamp[4] = ' '; /* RFC 3164 §4.1.2: a day below 10 is preceded by a space */
	calendar_put_digits(stamp + 7, time.hour, 2);
	calendar_put_digits(stamp + 10, time.minute, 2);
	calendar_put_digits(stamp + 13, time.second, 2);

	struct bounded_text writer = {.out = out, .capacity_bytes = HEADER_BYTES_MAX};
	bounded_put(&writer, "<", 1);
	bounded_put_integer(&writer, FACILITY_USER << 3 | (severity & SEVERITY_DEBUG));
	bounded_put(&writer, ">", 1);
	bounded_put(&writer, stamp, sizeof(stamp) - 1);
	bounded_put(&writer, " tenacurl[", 10);
	bounded_put_integer(&writer, getpid());
	bounded_put(&writer, "]: ", 3);
	return writer.used_bytes;
}

bool log_send_datagram(const char *socket_path, int severity, const char *text, size_t text_bytes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t path_bytes = strlen(socket_path);
	if (path_bytes >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, socket_path, path_bytes);

	while (text_bytes > 0 && (text[text_bytes - 1] == '\n' || text[text_bytes - 1] == '\0'))
		text_bytes--;
	if (text_bytes > LOG_SYSLOG_BYTES_MAX)
		text_bytes = LOG_SYSLOG_BYTES_MAX;

	char header[HEADER_BYTES_MAX];
	struct iovec parts[] = {{header, put_header(header, severity)}, {(void *)(uintptr_t)text, text_bytes}};
	struct msghdr message = {
	    .msg_name = &address, .msg_namelen = sizeof(address), .msg_iov = parts, .msg_iovlen = 2};

	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	bool sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
	close(fd);
	return sent;
}
