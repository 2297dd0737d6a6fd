/* Records what a process writes below $RECORD_BELOW, and when it is forced to the disk, into $RECORD_TO.
 *
 * Loaded in front of libc (LD_PRELOAD). A record is a letter, the length of the path, a number, the length of the data,
 * the path, the data: W write (number: offset), T truncate (size), S sync, R remove, M rename (data: new path), L link (the same).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int concerns(const char *path) {
    const char *below = getenv("RECORD_BELOW");
    return below && path && strncmp(path, below, strlen(below)) == 0 && !strstr(path, "-shm");
}

static void note(char kind, const char *path, int64_t number, const void *data, uint32_t size) {
    uint32_t length = strlen(path);
    if (record < 0) {
        record = REAL(open)(getenv("RECORD_TO"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    }
    ssize_t (*put)(int, const void *, size_t) = REAL(write);
    put(record, &kind, 1);
    put(record, &length, 4);
    put(record, &number, 8);
    put(record, &size, 4);
    put(record, path, length);
    if (size) put(record, data, size);
}

static int path_of(int fd, char *path) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, 4095);
    if (length < 0) return 0;
    path[length] = 0;
    return concerns(path);
}

#define RECORDED(call, kind, number, data, size)                                  \
    char path[4096];                                                              \
    if (!path_of(fd, path)) return call;                                          \
    pthread_mutex_lock(&lock);                                                    \
    int64_t at = (number);                                                        \
    __typeof__(call) done = call;                                                 \
    if (done >= 0) note(kind, path, at, data, size);                              \
    pthread_mutex_unlock(&lock);                                                  \
    return done;

ssize_t write(int fd, const void *data, size_t size) {
    RECORDED(REAL(write)(fd, data, size), 'W', lseek(fd, 0, SEEK_CUR), data, done)
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    RECORDED(REAL(pwrite)(fd, data, size, offset), 'W', offset, data, done)
}
ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    RECORDED(REAL(pwrite64)(fd, data, size, offset), 'W', offset, data, done)
}
int ftruncate(int fd, off_t size) { RECORDED(REAL(ftruncate)(fd, size), 'T', size, 0, 0) }
int ftruncate64(int fd, off64_t size) { RECORDED(REAL(ftruncate64)(fd, size), 'T', size, 0, 0) }
int fsync(int fd) { RECORDED(REAL(fsync)(fd), 'S', 0, 0, 0) }
int fdatasync(int fd) { RECORDED(REAL(fdatasync)(fd), 'S', 0, 0, 0) }

int unlink(const char *name) {
    pthread_mutex_lock(&lock);
    int done = REAL(unlink)(name);
    if (done == 0 && concerns(name)) note('R', name, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    return done;
}
int linkat(int in, const char *from, int out, const char *to, int flags) {
    pthread_mutex_lock(&lock);
    int done = REAL(linkat)(in, from, out, to, flags);
    if (done == 0 && concerns(to)) note('L', from, 0, to, strlen(to));
    pthread_mutex_unlock(&lock);
    return done;
}
int link(const char *from, const char *to) {
    pthread_mutex_lock(&lock);
    int done = REAL(link)(from, to);
    if (done == 0 && concerns(to)) note('L', from, 0, to, strlen(to));
    pthread_mutex_unlock(&lock);
    return done;
}
int rename(const char *from, const char *to) {
    pthread_mutex_lock(&lock);
    int done = REAL(rename)(from, to);
    if (done == 0 && concerns(to)) note('M', from, 0, to, strlen(to));
    pthread_mutex_unlock(&lock);
    return done;
}
