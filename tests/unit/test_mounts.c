/* SPDX-License-Identifier: MIT */
/* Which file systems answer at once, by tables of mounts as hosts have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "interpose/host/mounts.h"

#define LINE(mount_point, type) "36 35 98:0 /x " mount_point " rw,noatime shared:1 - " type " source rw\n"

static const char host[] = LINE("/", "ext4") LINE("/proc", "proc") LINE("/tmp", "tmpfs") LINE("/nfs", "nfs4")
    LINE("/nfs/local", "xfs") LINE("/home", "autofs") LINE("/home/far", "nfs") LINE("/fuse", "fuse.sshfs")
        LINE("/new\\040disk\\134", "btrfs") LINE("/share", "cifs") LINE("/vm", "9p") LINE("/odd", "newfs")
            LINE("/under", "nfs") LINE("/under", "tmpfs");

static void test_h09_kinds(void **state)
{
	static const struct {
		const char *path;
		enum mounts_distance distance;
	} rows[] = {
	    {"/", MOUNTS_LOCAL},
	    {"/nonexistent/policy.ini", MOUNTS_LOCAL},
	    {"/nfs/policy.ini", MOUNTS_REMOTE},
	    {"/nfs", MOUNTS_REMOTE},
	    {"/nfsx/policy.ini", MOUNTS_LOCAL},
	    {"/home/user/.config/tenacurl/policy.ini", MOUNTS_REMOTE},
	    {"/home/far/policy.ini", MOUNTS_REMOTE},
	    {"/fuse/policy.ini", MOUNTS_REMOTE},
	    {"/new disk\\/policy.ini", MOUNTS_LOCAL},
	    {"/share/policy.ini", MOUNTS_REMOTE},
	    {"/vm/policy.ini", MOUNTS_REMOTE},
	    {"/odd/policy.ini", MOUNTS_REMOTE},
	    {"/under/policy.ini", MOUNTS_LOCAL}, /* the one that was mounted last is on top */
	    {"//tmp/./policy.ini", MOUNTS_LOCAL},
	    {"/nonexistent/../nfs/policy.ini", MOUNTS_LOCAL}, /* the way ends where there is nothing */
	    {"/tmp/../nfs/policy.ini", MOUNTS_REMOTE},
	    {"relative", MOUNTS_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (mounts_find(host, rows[i].path) != rows[i].distance)
			fail_msg("%s", rows[i].path);
}

/* The way to a local file through a remote directory asks the remote one. */
static void test_h09_links(void **state)
{
	char directory[] = "/tmp/tenacurl-mounts-XXXXXX", link[64], below[128];

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(link, sizeof link, "%s/link", directory);
	snprintf(below, sizeof below, "%s/policy.ini", link);
	assert_int_equal(symlink("/nfs/local", link), 0);
	assert_int_equal(mounts_find(host, below), MOUNTS_REMOTE);
	unlink(link);
	assert_int_equal(symlink("../../etc", link), 0);
	assert_int_equal(mounts_find(host, below), MOUNTS_LOCAL);
	unlink(link);
	assert_int_equal(symlink(link, link), 0);
	assert_int_equal(mounts_find(host, below), MOUNTS_LOCAL); /* a look at it fails, but at once */
	unlink(link);
	rmdir(directory);
}

/* After a chroot the table may lack "/", and says nothing of what is directly in it. */
static void test_h09_parts_of_a_table(void **state)
{
	(void)state;
	assert_int_equal(mounts_find(LINE("/tmp", "tmpfs"), "/etc/policy.ini"), MOUNTS_UNKNOWN);
	assert_int_equal(mounts_find("", "/etc/policy.ini"), MOUNTS_UNKNOWN);
	assert_int_equal(mounts_find("garbage\n\n - \n1 2 3", "/etc/policy.ini"), MOUNTS_UNKNOWN);
}

static void test_h09_this_host(void **state)
{
	char *table = mounts_read();

	(void)state;
	/* Where chroot(2) alone made the root, it is in no table. */
	if (table == NULL || mounts_find(table, "/policy.ini") == MOUNTS_UNKNOWN) {
		free(table);
		skip();
	}
	assert_int_equal(mounts_find(table, "/dev/shm/policy.ini"), MOUNTS_LOCAL);
	free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_h09_kinds),
	    cmocka_unit_test(test_h09_links),
	    cmocka_unit_test(test_h09_parts_of_a_table),
	    cmocka_unit_test(test_h09_this_host),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
