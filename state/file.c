/* SPDX-License-Identifier: MIT */
/*
 * The file comes into being whole: it has no name until every block is allocated and its header is written, and then
 * link(2) gives it one. Of many who make it at once the first wins, the others take the winner's. Blocks are allocated
 * before anybody maps them, since on a full file system a write to memory that has none is a SIGBUS.
 *
 * Nothing ever makes the file shorter, which would be a SIGBUS for whoever mapped it. Another program of the same user
 * could, as it could kill our hosts; nobody else can open it. The kernel seals only files without a name against that.
 *
 * What can't be trusted is replaced by removing its name, never by writing to it. Between the look at it and the
 * removal somebody else may have put a good one there, so those who remove take turns: a lock on a file beside it,
 * which is not waited for. (Not flock on the directory: there are system call filters that know fcntl and not flock.)
 */
#include "state/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "state/directory.h"
#include "state/file_name.h"
#include "state/layout.h"

#define NEW_PREFIX "new-" /* what is left over of these goes after a day */
#define LOCK_NAME  NEW_PREFIX "lock"
#define FILE_MODE  0600
#define FILE_FLAGS (O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
#define STALE_S    86400
#define ROUNDS_MAX 8

static int fail(struct state_outcome *outcome, enum state_trouble trouble, int os_errno)
{
	outcome->trouble = trouble;
	outcome->os_errno = os_errno;
	return -1;
}

/* By reading, not through a mapping: a file that shrinks meanwhile is a short read here and a SIGBUS there. */
static bool has_our_header(int fd)
{
	uint64_t ours[STATE_IDENTITY_WORDS], found[STATE_IDENTITY_WORDS];
	state_layout_identity(ours);
	return pread(fd, found, sizeof(found), 0) == sizeof(found) && memcmp(found, ours, sizeof(ours)) == 0;
}

static enum state_trouble suspect(const struct stat *file, uid_t owner)
{
	if (!S_ISREG(file->st_mode))
		return STATE_NOT_REGULAR;
	if (file->st_uid != owner)
		return STATE_WRONG_OWNER;
	if ((file->st_mode & 07777) != FILE_MODE)
		return STATE_WRONG_MODE;
	if (file->st_size != sizeof(struct state_layout))
		return STATE_WRONG_SIZE;
	return STATE_NO_TROUBLE;
}

int state_open_file(int directory, const char *name, uid_t owner, int flags, struct state_outcome *outcome)
{
	struct stat file;
	/* Looked at before it is opened: opening a device or fifo can have effects of its own. */
	if (fstatat(directory, name, &file, AT_SYMLINK_NOFOLLOW) != 0)
		return fail(outcome, errno == ENOENT ? STATE_NO_FILE : STATE_CANT_READ, errno);
	enum state_trouble trouble = suspect(&file, owner);
	if (trouble != STATE_NO_TROUBLE)
		return fail(outcome, trouble, 0);

	int fd = openat(directory, name, flags | FILE_FLAGS);
	if (fd < 0)
		return fail(outcome, errno == ENOENT ? STATE_NO_FILE : STATE_CANT_READ, errno);
	trouble = fstat(fd, &file) == 0 ? suspect(&file, owner) : STATE_NOT_REGULAR;
	if (trouble == STATE_NO_TROUBLE && !has_our_header(fd))
		trouble = STATE_WRONG_HEADER;
	if (trouble == STATE_NO_TROUBLE)
		return fd;
	close(fd);
	return fail(outcome, trouble, 0);
}

/* Allocates all blocks and writes the header. Returns 0 or an errno. */
static int fill(int fd)
{
	uint64_t identity[STATE_IDENTITY_WORDS];
	int os_errno;
	/* A umask can have taken rights from it that we need. */
	if (fchmod(fd, FILE_MODE) != 0)
		return errno;
	do
		os_errno = posix_fallocate(fd, 0, sizeof(struct state_layout));
	while (os_errno == EINTR);
	if (os_errno != 0)
		return os_errno;
	state_layout_identity(identity);
	if (pwrite(fd, identity, sizeof(identity), 0) != sizeof(identity))
		return EIO;
	return 0;
}

/* The kernel would send SIGXFSZ, which ends programs. */
static bool may_be_over_file_limit(void)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
	       (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < sizeof(struct state_layout));
}

/* A file without a name: nothing stays behind if we are killed. Returns 0, or an errno. */
static int make_unnamed(int directory, const char *name, int *made)
{
	char path[32];
	int fd = openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, FILE_MODE);
	if (fd < 0)
		return errno;
	int os_errno = fill(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (os_errno == 0 && linkat(AT_FDCWD, path, directory, name, AT_SYMLINK_FOLLOW) != 0)
		os_errno = errno;
	if (os_errno != 0)
		close(fd);
	else
		*made = fd;
	return os_errno;
}

/* Where the file system knows no files without a name. */
static int make_named(int directory, const char *name, int *made)
{
	char temporary[64];
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(temporary, sizeof(temporary), NEW_PREFIX "%ld-%lld-%ld", (long)getpid(), (long long)now.tv_sec,
	         now.tv_nsec);
	int fd = openat(directory, temporary, O_RDWR | O_CREAT | O_EXCL | FILE_FLAGS, FILE_MODE);
	if (fd < 0)
		return errno;
	int os_errno = fill(fd);
	if (os_errno == 0 && linkat(directory, temporary, directory, name, 0) != 0)
		os_errno = errno;
	unlinkat(directory, temporary, 0);
	if (os_errno != 0)
		close(fd);
	else
		*made = fd;
	return os_errno;
}

static int make_file(int directory, const char *name, int *made)
{
	if (may_be_over_file_limit())
		return EFBIG;
	int os_errno = make_unnamed(directory, name, made);
	if (os_errno == EOPNOTSUPP || os_errno == EISDIR || os_errno == EINVAL)
		os_errno = make_named(directory, name, made);
	return os_errno;
}

/*
 * Ours, not of this boot, and not touched for a day: on a directory that two hosts share, the other host's file has a
 * boot id of its own too.
 */
static bool is_left_over(int directory, const char *file_name, const char *current_name, time_t now_s)
{
	struct stat file;
	const char *boot_id = state_file_name_boot_id(file_name);
	if (boot_id && strcmp(boot_id, state_file_name_boot_id(current_name)) == 0)
		return false;
	if (!boot_id && strncmp(file_name, NEW_PREFIX, strlen(NEW_PREFIX)) != 0)
		return false;
	return fstatat(directory, file_name, &file, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(file.st_mode) &&
	       file.st_uid == geteuid() && file.st_mtime < now_s - STALE_S;
}

/* Whoever makes the file of a new boot removes those of old ones. */
static void remove_left_over(int directory, const char *current_name)
{
	DIR *listing = state_list_directory(directory);
	const struct dirent *file;
	if (!listing)
		return;
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	while ((file = readdir(listing)))
		if (is_left_over(directory, file->d_name, current_name, now.tv_sec))
			unlinkat(directory, file->d_name, 0);
	closedir(listing);
}

/* Not blocking; a child that another thread forks meanwhile has the descriptor, and the lock, too. */
static bool set_lock(int fd, short type)
{
	struct flock whole = {.l_type = type, .l_whence = SEEK_SET};
	return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

static int open_lock(int directory)
{
	int fd = openat(directory, LOCK_NAME, O_RDWR | O_CREAT | FILE_FLAGS, FILE_MODE);
	/* A umask can have taken rights from it that the next one needs. */
	if (fd >= 0)
		fchmod(fd, FILE_MODE);
	return fd;
}

/* Whoever had the lock has removed its file: a lock on one that has no name is none. */
static bool take_lock(int directory, int lock)
{
	struct stat ours, named;
	return set_lock(lock, F_WRLCK) && fstat(lock, &ours) == 0 &&
	       fstatat(directory, LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 && ours.st_ino == named.st_ino;
}

/* Takes away what can't be trusted, if it still can't. Returns false if it is there to stay. */
static bool remove_untrusted(int directory, const char *name)
{
	static const struct timespec A_MOMENT = {.tv_nsec = 1000000};
	struct state_outcome now = {0};
	int lock = open_lock(directory);
	bool is_gone = true;
	if (lock < 0)
		return false;
	if (!take_lock(directory, lock)) {
		close(lock);
		nanosleep(&A_MOMENT, NULL);
		return true;
	}
	int fd = state_open_file(directory, name, geteuid(), O_RDWR, &now);
	if (fd >= 0)
		close(fd);
	else if (now.trouble >= STATE_NOT_REGULAR)
		is_gone = unlinkat(directory, name, 0) == 0;
	unlinkat(directory, LOCK_NAME, 0);
	set_lock(lock, F_UNLCK);
	close(lock);
	return is_gone;
}

/* Returns whether there is a file by this name now, which somebody made who couldn't know it. */
static bool name_properly(int directory, const char *name)
{
	char unknown[STATE_FILE_NAME_BYTES];
	struct state_outcome outcome = {0};
	if (!state_file_name_unknown(directory, unknown))
		return false;
	int fd = state_open_file(directory, unknown, geteuid(), O_RDWR, &outcome);
	if (fd < 0)
		return false;
	close(fd);
	if (linkat(directory, unknown, directory, name, 0) != 0)
		return false;
	unlinkat(directory, unknown, 0);
	return true;
}

int state_reach_file(int directory, const char *name, struct state_outcome *outcome)
{
	enum state_trouble replaced = STATE_NO_TROUBLE;
	int make_errno = 0;

	for (int round = 0; round < ROUNDS_MAX; round++) {
		int fd = state_open_file(directory, name, geteuid(), O_RDWR, outcome);
		bool is_missing = fd < 0 && outcome->trouble == STATE_NO_FILE;
		/* Our attempt failed, and nobody else's succeeded meanwhile. */
		if (is_missing && make_errno != 0)
			return fail(outcome, STATE_CANT_MAKE, make_errno);
		if (is_missing && !name_properly(directory, name)) {
			make_errno = make_file(directory, name, &fd);
			if (make_errno == EEXIST)
				make_errno = 0;
			else if (make_errno == 0)
				remove_left_over(directory, name);
		}
		if (fd >= 0) {
			fail(outcome, replaced, 0);
			return fd;
		}
		if (is_missing)
			continue;
		if (outcome->trouble < STATE_NOT_REGULAR)
			return -1;
		replaced = outcome->trouble;
		if (!remove_untrusted(directory, name))
			break;
	}
	return fail(outcome, STATE_CANT_REPLACE, 0);
}
