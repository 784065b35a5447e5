/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_FUZZ_REQUESTS_H
#define TENACURL_FUZZ_REQUESTS_H

/*
 * Random histories of one easy handle against a server with random faults, in one process: see scripts/fuzz-requests,
 * which runs the same histories with and without tenacurl and judges the difference.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operations: performs of one history. */
#define OPERATIONS_MAX 6
#define STEPS_MAX      8
#define SENDS_MAX      256
#define TEXT_BYTES     160

/*
 * What the server does, a letter for each request of an operation; when they are used up, 'o'.
 *
 *   o c   200; 'c' closes the connection and says so        g   200, then closes without a word
 *   b B   503, 'B' closes                                    q   503 with "quota" in its body
 *   r R   429, 'R' with Retry-After: 0                       p   500
 *   e     503 as soon as the head is read; closes            w   417 likewise
 *   f x   reads all, then closes or resets without answer    y   resets as soon as the head is read
 *   h t T half of a 200's head; half of the body of a 200; of a 503
 *   1 2 3 7 8   301, 302, 303, 307, 308 to the same server    4   307 to localhost
 *   a     401 that asks for Digest, unless it was given       n   401 that asks for Basic, likewise
 *   d D   303, 307 to a port where nobody listens             U   302 to a scheme that there isn't
 *   F G   302, 307 to the FTP server                          S   307 to https:// on the same port
 *
 * The FTP server confirms a transfer (o …), refuses it when it is over (b B q r R p), or closes instead (f x …).
 * CONNECT has letters of its own: '2' 200, '5' 503, '4' 429, '7' 407, 'f' 'x' as above; used up: '2'.
 */
struct script {
	char steps[OPERATIONS_MAX][STEPS_MAX + 1];
	char connects[STEPS_MAX + 1];
};

/* A request that reached the server. */
struct send {
	int operation;
	char method[32];
	char target[TEXT_BYTES];   /* without what is the same in all of a history */
	char location[TEXT_BYTES]; /* where it was sent on to */
	char step;
	int status;             /* that was answered; 0: none */
	int connection, number; /* number-th request on it, CONNECT not counted */
	int opened;             /* during which operation the connection was */
	bool complete;          /* its whole body came */
	bool announced;         /* that there is a body */
	bool empty;             /* Content-Length: 0, as libcurl says before it knows what credentials to send */
	int64_t start;          /* position in the stream where the body begins; -1: it is something else */
	int64_t bytes;
	uint64_t body_hash, head_hash;
	bool has_key, conditional, overridden, authorised;
};

/* Record (record.c). A server's threads add to it, the main thread prints it between two histories. */
void record_reset(const struct script *script);
/* Returns the next letter for a request of this operation, or for a CONNECT (operation -1). */
char record_step(int operation);
/* Returns the record's number of this request. */
int record_add(const struct send *send);
void record_answered(int number, int status);
void record_print(void);

/* Server (server.c, ftp.c), in threads of its own. */
void server_start(void);
int server_port(void);
int server_dead_port(void);
int server_ftp_port(void);
/* The operation that begins now. */
void server_expect(int operation);
/* Waits until the last connection is closed. Returns false if that takes too long. */
bool server_is_quiet(void);

/* For ftp.c. */
struct connection {
	int fd;
	int number;
	int requests;
	int opened; /* during which operation */
	bool tunnelled;
	size_t filled, used;
	char buffer[16384];
};
void connection_start(int listener, void (*serve)(struct connection *connection));
/* How long it waits for more bytes; 0: for ever. */
void connection_be_patient(struct connection *connection, int patience_ms);
void connection_reset(struct connection *connection);
/* Returns false at the end. The line is without its end. */
bool connection_read_line(struct connection *connection, char *line, size_t line_bytes);
/* Returns the number of bytes, 0 at the end, negative after an error. */
long connection_read(struct connection *connection, char *out, size_t bytes);
bool connection_write(struct connection *connection, const char *text);
void ftp_start(void);

/* Bytes that tell where they come from (pattern.c). */
char pattern_at(int64_t position);

uint64_t hash_bytes(const char *bytes, size_t count);
/* Fills in what a body turned out to be. A form's boundary is another each time: it is written over. */
void describe_body(char *bytes, size_t count, const char *boundary, struct send *send);
/* Writes over each place where the boundary is. */
void mask_boundary(char *bytes, size_t count, const char *boundary);

/* One history (history.c), all of whose choices follow from the seed. Prints what the program saw. */
void history_run(uint64_t seed, int policies);

#endif
