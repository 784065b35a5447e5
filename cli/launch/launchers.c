/* SPDX-License-Identifier: MIT */
#include "cli/launch/launchers.h"

#include <string.h>

static const struct launcher LAUNCHERS[] = {
    {.name = "tenacurl", .subcommand = "run", .longs = "policy|mode|log|deadline|job", .flags = LAUNCHER_IS_OURS},
    {.name = "env",
     .valued = "uCS",
     .longs = "unset=u|chdir=C|split-string=S|ignore-environment=i",
     .chdir = 'C',
     .clears = "i",
     .flags = LAUNCHER_ASSIGNS | LAUNCHER_IS_ENV},
    {.name = "nice", .valued = "n", .longs = "adjustment=n"},
    {.name = "nohup"},
    {.name = "setsid"},
    {.name = "timeout", .valued = "ks", .longs = "kill-after=k|signal=s", .positionals = 1},
    {.name = "stdbuf", .valued = "ioe", .longs = "input=i|output=o|error=e"},
    {.name = "ionice", .valued = "cnpPu", .longs = "class=c|classdata=n|pid=p|pgid=P|uid=u"},
    {.name = "taskset", .positionals = 1},
    {.name = "chrt", .valued = "TPD", .longs = "sched-runtime=T|sched-period=P|sched-deadline=D", .positionals = 1},
    {.name = "prlimit", .valued = "op", .attached = "cdefilmnqrstuvxy", .longs = "output=o|pid=p"},
    {.name = "numactl",
     .valued = "iNmCpP",
     .longs = "interleave=i|cpunodebind=N|membind=m|physcpubind=C|preferred=p|preferred-many=P"},
    {.name = "time", .valued = "fo", .longs = "format=f|output=o"},
    {.name = "flock",
     .valued = "wE",
     .longs = "timeout=w|wait=w|conflict-exit-code=E|command=c",
     .positionals = 1,
     .shell = "c"},
    {.name = "xargs",
     .valued = "adEILnPs",
     .attached = "eil",
     .longs = "arg-file=a|delimiter=d|max-args=n|max-procs=P|max-chars=s|process-slot-var"},
    {.name = "watch", .valued = "nq", .longs = "interval=n|equexit=q|exec=x", .direct = "x"},
    {.name = "strace",
     .valued = "abeEIoOpPsSuUX",
     .longs = "attach=p|expr=e|env=E|output=o|string-limit=s|trace-path=P|user=u|columns=a|interruptible=I|summary-"
              "sort-by=S|summary-columns=U"},
    {.name = "valgrind"},
    {.name = "faketime", .valued = "p", .positionals = 1},
    {.name = "envdir", .positionals = 1},
    {.name = "setuidgid", .positionals = 1},
    {.name = "su-exec", .positionals = 1},
    {.name = "gosu", .positionals = 1},
    {.name = "tini", .valued = "pe"},
    {.name = "dumb-init", .valued = "r", .longs = "rewrite=r"},
    {.name = "dbus-run-session", .longs = "config-file|dbus-daemon"},
    {.name = "chroot", .longs = "userspec|groups", .positionals = 1, .root = '1'},
    {.name = "unshare",
     .valued = "RwSGl",
     .longs = "root=R|wd=w|setuid=S|setgid=G|load-interp=l|propagation|setgroups|map-user|map-users|map-group|map-"
              "groups|monotonic|boottime",
     .chdir = 'w',
     .root = 'R'},
    {.name = "nsenter",
     .valued = "tSGW",
     .attached = "muinpCUTrw",
     .longs = "target=t|setuid=S|setgid=G|wdns=W|all=a|mount=m|root=r",
     .namespaces = "amr"},
    {.name = "setpriv",
     .longs = "ambient-caps|inh-caps|bounding-set|ruid|euid|rgid|egid|reuid|regid|groups|securebits|pdeathsig|selinux-"
              "label|apparmor-profile|reset-env=i",
     .clears = "i"},
    {.name = "runuser",
     .valued = "ucsgGwT",
     .longs = "user=u|command=c|session-command=c|shell=s|group=g|supp-group=G|whitelist-environment=w|login=l",
     .clears = "l",
     .shell = "c",
     .direct = "u"},
    {.name = "su",
     .valued = "csgGwT",
     .longs = "command=c|session-command=c|shell=s|group=g|supp-group=G|whitelist-environment=w|login=l",
     .clears = "l",
     .shell = "c",
     .direct = ""},
    /* These drop LD_… whatever they are asked to keep. */
    {.name = "sudo",
     .valued = "aCcDghpRrTtUu",
     .longs = "close-from=C|chdir=D|group=g|host=h|prompt=p|chroot=R|role=r|command-timeout=T|type=t|other-user=U|"
              "user=u",
     .chdir = 'D',
     .root = 'R',
     .clears = "*",
     .flags = LAUNCHER_ASSIGNS},
    {.name = "doas", .valued = "aCu", .clears = "*"},
    {.name = "pkexec", .longs = "user", .clears = "*"},
    {.name = "systemd-run",
     .valued = "HMpEu",
     .longs = "host=H|machine=M|property=p|setenv=E|unit=u|description|slice|uid|gid|nice|working-directory|service-"
              "type|on-active|on-boot|on-startup|on-unit-active|on-unit-inactive|on-calendar|timer-property|path-"
              "property|socket-property|scope=1",
     .clears = "*",
     .keeps = "1"},
};

const struct launcher *launcher_find(const char *name)
{
	for (size_t i = 0; i < sizeof(LAUNCHERS) / sizeof(LAUNCHERS[0]); i++)
		if (strcmp(LAUNCHERS[i].name, name) == 0)
			return &LAUNCHERS[i];
	return NULL;
}
