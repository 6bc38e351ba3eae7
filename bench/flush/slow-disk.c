/*
 * Preloaded into Postgres, so that each flush of its WAL takes as long as the bench says. Postgres calls fdatasync for its WAL
 * alone (wal_sync_method), and fsync for everything else, which stays as it is. SLOW_DISK names a folder: the file `delay` holds
 * the microseconds of a flush, and `flushes` gets a line for each with the statement that asked for it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static const volatile uint32_t *delay_us;
static int flushes = -1;

static int open_in_folder(const char *name, int flags)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", getenv("SLOW_DISK"), name);
	return open(path, flags | O_CLOEXEC);
}

/* Writes the statement, or the kind of a process that runs none, on one line. */
static void note_asker(void)
{
	const int *pid = dlsym(RTLD_DEFAULT, "MyProcPid");
	const int *kind = dlsym(RTLD_DEFAULT, "MyBackendType");
	const char *(*statement_of)(int, _Bool) =
		(const char *(*)(int, _Bool)) dlsym(RTLD_DEFAULT, "pgstat_get_backend_current_activity");
	const char *(*name_of)(int) = (const char *(*)(int)) dlsym(RTLD_DEFAULT, "GetBackendTypeDesc");
	const char *asker = kind && name_of ? name_of(*kind) : "unknown";
	/* A statement commits after its text is forgotten, but the activity keeps it. */
	if (pid && statement_of && strcmp(asker, "client backend") == 0)
		asker = statement_of(*pid, 0);
	char line[512];
	int length = snprintf(line, sizeof line - 1, "%s", asker);
	if (length > (int) sizeof line - 2)
		length = sizeof line - 2;
	for (int i = 0; i < length; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[length++] = '\n';
	/* One write appends the whole line. A lost one only falsifies a count. */
	if (write(flushes, line, length) < 0)
		return;
}

int fdatasync(int fd)
{
	(void) fd;
	if (delay_us == NULL)
	{
		int file = open_in_folder("delay", O_RDONLY);
		void *mapped = mmap(NULL, sizeof *delay_us, PROT_READ, MAP_SHARED, file, 0);
		if (mapped == MAP_FAILED)
			return -1;
		close(file);
		delay_us = mapped;
		flushes = open_in_folder("flushes", O_WRONLY | O_APPEND);
	}
	note_asker();
	struct timespec rest = {*delay_us / 1000000, *delay_us % 1000000 * 1000L};
	while (nanosleep(&rest, &rest) != 0)
		;
	return 0;
}
