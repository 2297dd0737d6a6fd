/* Crash injection: SIGKILL at the n-th call that changes a file below $FATAL_BELOW; half of a write is done before.
 *
 * Loaded in front of libc (LD_PRELOAD). $FATAL_CALLS is a file of two numbers of 8 bytes, shared by all processes: how many
 * such calls there were, and at which one ends whoever makes it (0: at none). Only memory files, records and exports
 * count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static volatile int64_t *numbers;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("FATAL_CALLS");
    int file = name ? open(name, O_RDWR) : -1;
    if (file < 0) return;
    void *found = mmap(0, 16, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (found != MAP_FAILED) numbers = found;
    close(file);
}

static int concerns(const char *path) {
    const char *below = getenv("FATAL_BELOW");
    return numbers && below && path && strncmp(path, below, strlen(below)) == 0 && !strstr(path, "-shm") &&
           (strstr(path, "/memory/") || strstr(path, "/records/") || strstr(path, "/exports/"));
}

static int fatal(const char *path) {
    if (!concerns(path)) return 0;
    int64_t number = __sync_add_and_fetch(&numbers[0], 1);
    return numbers[1] && number == numbers[1];
}

static int fatal_for(int fd) {
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fatal(path);
}

static void end(void) { kill(getpid(), SIGKILL); }

ssize_t write(int fd, const void *data, size_t size) {
    if (fatal_for(fd)) {
        REAL(write)(fd, data, size / 2);
        end();
    }
    return REAL(write)(fd, data, size);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    if (fatal_for(fd)) {
        REAL(pwrite)(fd, data, size / 2, offset);
        end();
    }
    return REAL(pwrite)(fd, data, size, offset);
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    if (fatal_for(fd)) {
        REAL(pwrite64)(fd, data, size / 2, offset);
        end();
    }
    return REAL(pwrite64)(fd, data, size, offset);
}

#define AT_ONCE(test, call) \
    if (test) end();        \
    return call;

int ftruncate(int fd, off_t size) { AT_ONCE(fatal_for(fd), REAL(ftruncate)(fd, size)) }
int ftruncate64(int fd, off64_t size) { AT_ONCE(fatal_for(fd), REAL(ftruncate64)(fd, size)) }
int fsync(int fd) { AT_ONCE(fatal_for(fd), REAL(fsync)(fd)) }
int fdatasync(int fd) { AT_ONCE(fatal_for(fd), REAL(fdatasync)(fd)) }
int unlink(const char *name) { AT_ONCE(fatal(name), REAL(unlink)(name)) }
int rename(const char *from, const char *to) { AT_ONCE(fatal(to), REAL(rename)(from, to)) }
int link(const char *from, const char *to) { AT_ONCE(fatal(to), REAL(link)(from, to)) }
int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    AT_ONCE(fatal(to), REAL(linkat)(from_folder, from, to_folder, to, flags))
}
