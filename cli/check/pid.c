/* SPDX-License-Identifier: MIT */
/*
 * A process is judged by where its references to libcurl lead. ld.so fills in those of the linkage table at the first
 * call; before that they lead back into the object, and under an audit module they always do. Then another reference of
 * the same object may tell, and else what ld.so would do: the preloaded object, if it is there, comes first.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/check/check.h"
#include "cli/check/known_programs.h"
#include "cli/check/process_environment.h"
#include "cli/check/process_objects.h"
#include "cli/elf/binder.h"
#include "cli/elf/read.h"
#include "cli/launch/words.h"
#include "config/variable.h"
#include "interpose/bind/bind.h"

/* What is known of the process. */
struct inspected {
	pid_t id;
	char *executable; /* NULL: it can't be told */
	char **arguments; /* NULL: they can't */
	struct subject subject;
	struct process_memory memory;
	struct process_objects objects;
	const struct process_object *program, *tenacurl;
	struct bind_table table; /* the preloaded object's, all 0 without one */
	bool has_binder;
	bool *is_linked;           /* for each object: the program, or a library of its, is linked to it */
	enum check_reason absence; /* why tenacurl isn't in it, or has no effect; NONE: it has */
};

/* Where the easy calls of an object go. */
struct course {
	enum check_binding binding;
	bool is_past;                         /* to a libcurl directly */
	bool is_data;                         /* … by an address in its data */
	const struct process_object *libcurl; /* NULL: not known from where they go */
};

static bool is_libcurl(const struct inspected *process, const struct process_object *object)
{
	return object && object->exports_easy && object != process->tenacurl && object->bind_table == 0;
}

/* Whether the reference goes to an entry point that the binder gives away. */
static bool is_binder_entry(const struct inspected *process, uintptr_t address)
{
	for (size_t slot = 0; slot < BIND_SLOT_COUNT; slot++)
		for (size_t function = 0; function < BIND_FUNCTION_COUNT; function++)
			if ((uintptr_t)process->table.entries[slot][function] == address)
				return true;
	return false;
}

/* Follows one reference. Returns false if it says nothing. */
static bool follow(const struct inspected *process, const struct process_object *object,
                   const struct process_reference *reference, struct course *course)
{
	const struct process_object *target = process_objects_at(&process->objects, reference->address);
	if (!target || target == object)
		return false;
	*course = (struct course){.binding = CHECK_BINDING_NONE};
	if (target != process->tenacurl) {
		course->is_past = true;
		course->is_data = reference->is_data;
		course->libcurl = is_libcurl(process, target) ? target : NULL;
	} else if (is_binder_entry(process, reference->address)) {
		course->binding = CHECK_BINDING_BINDER;
	} else {
		course->binding = CHECK_BINDING_PRELOAD;
	}
	return true;
}

/* Where the object's easy calls go: what its reference to the perform says, else another one, else what is likely. */
static struct course find_course(const struct inspected *process, const struct process_object *object)
{
	struct course perform = {0}, other = {0}, found;
	bool has_perform = false, has_other = false;
	for (size_t i = 0; i < object->reference_count; i++) {
		const struct process_reference *reference = &object->references[i];
		if (process_is_multi_function(reference->function) || !follow(process, object, reference, &found))
			continue;
		bool is_perform = process_is_easy_function(reference->function);
		if (is_perform && !perform.is_past)
			perform = found;
		else if (!is_perform && !other.is_past)
			other = found;
		has_perform |= is_perform;
		has_other |= !is_perform;
	}
	if (has_perform)
		return perform;
	if (has_other)
		return other;
	return (struct course){.binding = process->tenacurl ? CHECK_BINDING_PRELOAD : CHECK_BINDING_NONE,
	                       .is_past = !process->tenacurl};
}

/* The interfaces whose functions the object refers to. */
static enum check_interface references_of(const struct process_object *object)
{
	unsigned interface = 0;
	for (size_t i = 0; i < object->reference_count; i++) {
		if (process_is_easy_function(object->references[i].function))
			interface |= CHECK_EASY;
		if (process_is_multi_function(object->references[i].function))
			interface |= CHECK_MULTI;
	}
	return (enum check_interface)interface;
}

/* The one of them that the program is known to use. */
static enum check_interface interface_of(const struct inspected *process, const struct process_object *object)
{
	enum check_interface possible = references_of(object);
	return known_interface(&process->subject, object->path, object == process->program, possible, possible);
}

static bool needs(const struct process_object *object, const char *soname)
{
	for (size_t i = 0; i < object->needed_count; i++)
		if (soname[0] && strcmp(object->needed[i], soname) == 0)
			return true;
	return false;
}

/* The libcurl that the object is linked to, or the only one there is. */
static const struct process_object *find_libcurl(const struct inspected *process, const struct process_object *object)
{
	const struct process_object *only = NULL;
	size_t count = 0;
	for (size_t i = 0; i < process->objects.count; i++) {
		const struct process_object *libcurl = &process->objects.all[i];
		if (!is_libcurl(process, libcurl))
			continue;
		if (needs(object, libcurl->soname))
			return libcurl;
		only = libcurl;
		count++;
	}
	return count == 1 ? only : NULL;
}

/* Marks what the marked objects are linked to, until nothing is left to mark. */
static bool find_linked(struct inspected *process)
{
	const struct process_objects *objects = &process->objects;
	bool changed = true;
	process->is_linked = calloc(objects->count + 1, sizeof(*process->is_linked));
	if (!process->is_linked)
		return false;
	for (size_t i = 0; i < objects->count; i++)
		process->is_linked[i] = &objects->all[i] == process->program;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < objects->count; i++) {
			for (size_t j = 0; process->is_linked[i] && j < objects->count; j++) {
				if (!process->is_linked[j] && needs(&objects->all[i], objects->all[j].soname))
					process->is_linked[j] = changed = true;
			}
		}
	}
	return true;
}

static enum check_role role_of(const struct inspected *process, const struct process_object *object)
{
	if (object == process->program)
		return CHECK_ROLE_PROGRAM;
	return process->is_linked[object - process->objects.all] ? CHECK_ROLE_LIBRARY : CHECK_ROLE_PLUGIN;
}

/* The version is told by the libcurl's file, if that is still the one that is mapped. */
static bool describe_libcurl(const struct inspected *process, const struct process_object *libcurl,
                             struct check_use *use)
{
	char file[PATH_MAX + 64];
	if (!libcurl)
		return true;
	snprintf(file, sizeof(file), "%s%s", process_path(process->id, "root").text, libcurl->path);
	return check_describe_libcurl(libcurl->node, libcurl->path, file, use);
}

static bool add_use(const struct inspected *process, const struct process_object *object,
                    const struct process_object *libcurl, const struct check_use *found, struct check_report *report)
{
	struct check_use *use = check_add_use(report);
	if (!use)
		return false;
	*use = *found;
	use->program = strdup(process->executable);
	use->object = strdup(object ? object->path : process->executable);
	use->role = object ? role_of(process, object) : CHECK_ROLE_PROGRAM;
	return use->program && use->object && describe_libcurl(process, libcurl, use);
}

/* Why easy calls that go past tenacurl do. */
static enum check_reason reason_of(const struct inspected *process, const struct course *course)
{
	if (process->absence != CHECK_REASON_NONE)
		return process->absence;
	if (course->libcurl && course->libcurl == process->program)
		return CHECK_REASON_BUNDLED;
	if (course->is_data)
		return CHECK_REASON_DEEPBIND_DATA;
	return process->has_binder ? CHECK_REASON_NO_BINDER : CHECK_REASON_DEEPBIND;
}

static bool report_object(const struct inspected *process, const struct process_object *object,
                          struct check_report *report)
{
	struct check_use use = {.interface = interface_of(process, object)};
	const struct process_object *libcurl = NULL;
	if (use.interface & CHECK_EASY) {
		struct course course = find_course(process, object);
		use.binding = course.binding;
		libcurl = course.libcurl;
		if (course.is_past || process->absence != CHECK_REASON_NONE)
			use.reason = reason_of(process, &course);
	}
	return add_use(process, object, libcurl ? libcurl : find_libcurl(process, object), &use, report);
}

/* A libcurl that nothing is linked to was opened, and its functions were looked up. */
static bool report_opened_libcurl(const struct inspected *process, const struct process_object *libcurl,
                                  struct check_report *report)
{
	struct check_use use = {.interface = CHECK_EASY};
	for (size_t i = 0; i < process->objects.count; i++)
		if (needs(&process->objects.all[i], libcurl->soname))
			return true;
	if (libcurl == process->program)
		use.reason = CHECK_REASON_BUNDLED;
	else if (process->absence != CHECK_REASON_NONE)
		use.reason = process->absence;
	else if (process->has_binder)
		use.binding = CHECK_BINDING_BINDER;
	else
		use.reason = CHECK_REASON_DLSYM;
	return add_use(process, NULL, libcurl, &use, report);
}

static bool report_objects(const struct inspected *process, struct check_report *report)
{
	for (size_t i = 0; i < process->objects.count; i++) {
		const struct process_object *object = &process->objects.all[i];
		bool is_user =
		    !is_libcurl(process, object) && object != process->tenacurl && interface_of(process, object);
		if ((is_user && !report_object(process, object, report)) ||
		    (is_libcurl(process, object) && !report_opened_libcurl(process, object, report)))
			return false;
	}
	return true;
}

/* Returns the reason that lies in what the executable is. */
static enum check_reason executable_reason(pid_t id)
{
	const struct process_path path = process_path(id, "exe");
	char name[PATH_MAX] = "";
	struct elf_file file;
	enum check_reason reason = CHECK_REASON_NONE;
	bool is_named = readlink(path.text, name, sizeof(name) - 1) > 0;
	if (elf_file_read_part(path.text, ELF_PART_LAYOUT, &file) != ELF_RESULT_OK)
		reason = CHECK_REASON_UNREADABLE;
	else if (!elf_file_is_native(&file))
		reason = CHECK_REASON_CLASS;
	else if (!file.interpreter && !(is_named && elf_file_is_linker(&file, name)))
		reason = CHECK_REASON_STATIC;
	else if (elf_file_is_musl(&file))
		reason = CHECK_REASON_MUSL;
	elf_file_free(&file);
	return reason;
}

static enum check_reason privilege_reason(pid_t id)
{
	struct stat file;
	if (stat(process_path(id, "exe").text, &file) != 0 || !(file.st_mode & (S_ISUID | S_ISGID)))
		return CHECK_REASON_CAPABILITIES;
	return file.st_mode & S_ISUID ? CHECK_REASON_SETUID : CHECK_REASON_SETGID;
}

static bool has_variable(pid_t id, const char *name, const char *part)
{
	char *value = process_variable(id, name);
	bool has = value && strstr(value, part);
	free(value);
	return has;
}

/* Why tenacurl isn't in the process. */
static enum check_reason absence_reason(pid_t id)
{
	enum check_reason reason = executable_reason(id);
	if (reason != CHECK_REASON_NONE)
		return reason;
	if (process_is_secure(id))
		return privilege_reason(id);
	if (!has_variable(id, "LD_PRELOAD", PRELOAD_LIBRARY))
		return CHECK_REASON_ENVIRONMENT;
	return process_has_other_root(id) ? CHECK_REASON_CHROOT : CHECK_REASON_UNREADABLE;
}

static bool is_switched_off(pid_t id)
{
	char *disable = process_variable(id, "TENACURL_DISABLE"), *mode = process_variable(id, "TENACURL_MODE");
	bool off = variable_read_switch(disable) != VARIABLE_OFF || variable_is_word(variable_value(mode), "off");
	free(disable);
	free(mode);
	return off;
}

static bool read_process(struct inspected *process)
{
	static char *none[] = {NULL};
	struct launch launch = {.path = process->executable,
	                        .arguments = process->arguments ? process->arguments : none};
	if (!subject_read(&launch, &process->subject) || !process_objects_read(&process->memory, &process->objects))
		return false;
	for (size_t i = 0; i < process->objects.count; i++) {
		const struct process_object *object = &process->objects.all[i];
		if (!process->program && strcmp(object->path, process->executable) == 0)
			process->program = object;
		if (object->bind_table &&
		    process_memory_read(&process->memory, object->bind_table, &process->table, sizeof(process->table)))
			process->tenacurl = object;
		process->has_binder |= strcmp(basename(object->path), BIND_LIBRARY) == 0;
	}
	if (!process->tenacurl)
		process->absence = absence_reason(process->id);
	else if (is_switched_off(process->id))
		process->absence = CHECK_REASON_OFF;
	return find_linked(process);
}

/* Whether the program has a libcurl inside that nothing else can be bound to. */
static bool has_own_libcurl(const struct inspected *process)
{
	struct elf_file file;
	bool has = elf_file_read(process_path(process->id, "exe").text, &file) == ELF_RESULT_OK &&
	           (file.defines_easy || file.curl_version[0]);
	elf_file_free(&file);
	return has;
}

static bool add_to_chain(const char *text, struct check_report *report)
{
	report->chain = calloc(1, sizeof(*report->chain));
	if (!report->chain || !(report->chain[0] = strdup(text)))
		return false;
	report->chain_count = 1;
	return true;
}

/* A process whose memory is closed to us: its name is all that there is to tell. */
static bool report_unreadable(pid_t id, int error, struct check_report *report)
{
	char *name = process_name(id);
	bool told = name && add_to_chain(name, report);
	report->reason = CHECK_REASON_UNREADABLE;
	report->detail = strdup(strerror(error));
	free(name);
	return told;
}

/* What there is to say of why tenacurl isn't there; NULL: nothing. */
static const char *absence_detail(const struct inspected *process)
{
	if (process->tenacurl)
		return NULL;
	if (process->absence == CHECK_REASON_ENVIRONMENT)
		return "LD_PRELOAD doesn't name " PRELOAD_LIBRARY;
	return process->absence == CHECK_REASON_UNREADABLE ? "LD_PRELOAD names " PRELOAD_LIBRARY ", which isn't mapped"
	                                                   : NULL;
}

static bool report_process(const struct inspected *process, struct check_report *report)
{
	const char *detail = absence_detail(process);
	report->observed = true;
	report->binder = process->has_binder;
	report->tenacurl = process->tenacurl ? strdup(process->tenacurl->path) : NULL;
	if (!add_to_chain(process->executable, report) || !report_objects(process, report))
		return false;
	report->reason = process->absence;
	report->detail = detail ? strdup(detail) : NULL;
	if (report->use_count == 0 && report->reason == CHECK_REASON_NONE)
		report->reason = has_own_libcurl(process) ? CHECK_REASON_BUNDLED : CHECK_REASON_NO_LIBCURL;
	return true;
}

bool check_pid(pid_t id, struct check_report *report)
{
	struct inspected process = {.id = id, .executable = process_executable(id), .memory = {.fd = -1}};
	int error = process.executable ? 0 : errno;
	process.arguments = process_arguments(id);
	bool told = false;
	if (!error && !process_memory_open(id, &process.memory))
		error = errno;
	if (!error)
		told = read_process(&process) && report_process(&process, report);
	else if (error == EACCES || error == EPERM)
		told = report_unreadable(id, error, report);
	if (!told)
		fprintf(stderr, "tenacurl check: can't look into process %ld: %s\n", (long)id,
		        strerror(error ? error : ENOMEM));
	process_memory_close(&process.memory);
	process_objects_free(&process.objects);
	subject_free(&process.subject);
	launch_free_words(process.arguments);
	free(process.is_linked);
	free(process.executable);
	return told;
}
