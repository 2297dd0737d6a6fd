/* Clock skew: the clock of the day, moved by the seconds (a double) that the file $CLOCK_OFFSET holds. Loaded in front
 * of libc (LD_PRELOAD). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile double *offset;

__attribute__((constructor)) static void look(void) {
    const char *name = getenv("CLOCK_OFFSET");
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return;
    void *found = mmap(0, sizeof(double), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (found != MAP_FAILED) offset = found;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(clock, now);
    if (done == 0 && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += (time_t)*offset;
    return done;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec at;
    (void)zone;
    int done = clock_gettime(CLOCK_REALTIME, &at);
    now->tv_sec = at.tv_sec;
    now->tv_usec = at.tv_nsec / 1000;
    return done;
}

time_t time(time_t *out) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    if (out) *out = at.tv_sec;
    return at.tv_sec;
}
