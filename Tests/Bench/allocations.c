/* Counts what a process allocates and what it reads and writes on sockets, for counts.py; glibc and Linux.
 *
 *     cc -O2 -shared -fPIC -o allocations.so allocations.c
 *     ALLOCATIONS_COUNTS=FILE LD_PRELOAD=./allocations.so PROGRAM
 *
 * FILE has at least 64 bytes: eight u64 of this machine, in the order of `enum`, which others map and read while the
 * program runs. It neither stops nor answers for that. With ALLOCATIONS_STACKS=FILE the next `stacks` allocations (the
 * last number, written by who watches) put their call stacks there: the process's maps first, then a line each, the
 * return addresses in hexadecimal.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* allocations, their bytes; writes on sockets, those that the socket did not take whole, bytes; reads that got bytes, bytes */
enum { ALLOCATIONS, ALLOCATED, WRITES, SHORT, WRITTEN, READS, READ, STACKS, COUNTS };

static uint64_t nowhere[COUNTS], *counts = nowhere;
static int stacks = -1;
static __thread int is_inside __attribute__((tls_model("initial-exec")));

static void count(int what, uint64_t by) { __atomic_fetch_add(&counts[what], by, __ATOMIC_RELAXED); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("ALLOCATIONS_COUNTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *shared = mmap(NULL, sizeof nowhere, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (shared != MAP_FAILED) counts = shared;
        close(file);
    }
    path = getenv("ALLOCATIONS_STACKS");
    if (!path || (stacks = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)) < 0) return;
    void *first[1];
    backtrace(first, 1); /* loads what it needs now, not inside malloc */
    int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char part[4096];
    for (ssize_t n; maps >= 0 && (n = read(maps, part, sizeof part)) > 0;) if (write(stacks, part, n) < 0) break;
    close(maps);
}

/* -- memory ------------------------------------------------------------------------------------------------------- */

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static void show_stack(void) {
    uint64_t left = __atomic_load_n(&counts[STACKS], __ATOMIC_RELAXED);
    if (left == 0 || is_inside) return;
    is_inside = 1;
    __atomic_store_n(&counts[STACKS], left - 1, __ATOMIC_RELAXED);
    int error = errno, at = 0;
    void *frames[48];
    char line[48 * 20];
    int depth = backtrace(frames, 48);
    for (int i = 2; i < depth; i++) at += snprintf(line + at, sizeof line - at, "%lx ", (unsigned long)frames[i]);
    line[at++] = '\n';
    if (write(stacks, line, at) < 0) stacks = -1;
    errno = error;
    is_inside = 0;
}

static void allocated(size_t bytes) {
    count(ALLOCATIONS, 1);
    count(ALLOCATED, bytes);
    if (stacks >= 0) show_stack();
}

void *malloc(size_t bytes) { allocated(bytes); return __libc_malloc(bytes); }
void *calloc(size_t n, size_t bytes) { allocated(n * bytes); return __libc_calloc(n, bytes); }
void *realloc(void *old, size_t bytes) { allocated(bytes); return __libc_realloc(old, bytes); }
void *memalign(size_t to, size_t bytes) { allocated(bytes); return __libc_memalign(to, bytes); }
void *aligned_alloc(size_t to, size_t bytes) { allocated(bytes); return __libc_memalign(to, bytes); }

int posix_memalign(void **place, size_t to, size_t bytes) {
    if (to % sizeof(void *) != 0 || to == 0 || (to & (to - 1)) != 0) return EINVAL;
    allocated(bytes);
    void *got = __libc_memalign(to, bytes);
    if (!got) return ENOMEM;
    *place = got;
    return 0;
}

/* -- sockets ------------------------------------------------------------------------------------------------------ */

#define NEXT(name) ({ static __typeof__(&name) next; if (!next) next = dlsym(RTLD_NEXT, #name); next; })

static int is_socket(int file) {
    struct stat about;
    int error = errno, is = fstat(file, &about) == 0 && S_ISSOCK(about.st_mode);
    errno = error;
    return is;
}

static ssize_t wrote(ssize_t n, size_t wanted) {
    count(WRITES, 1);
    if (n < 0 || (size_t)n < wanted) count(SHORT, 1);
    if (n > 0) count(WRITTEN, n);
    return n;
}

static ssize_t got(ssize_t n) {
    if (n > 0) { count(READS, 1); count(READ, n); }
    return n;
}

static size_t sum(const struct iovec *parts, size_t n) {
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) bytes += parts[i].iov_len;
    return bytes;
}

ssize_t send(int file, const void *bytes, size_t n, int flags) { return wrote(NEXT(send)(file, bytes, n, flags), n); }
ssize_t sendmsg(int file, const struct msghdr *what, int flags) { return wrote(NEXT(sendmsg)(file, what, flags), sum(what->msg_iov, what->msg_iovlen)); }
ssize_t recv(int file, void *bytes, size_t n, int flags) { return got(NEXT(recv)(file, bytes, n, flags)); }
ssize_t recvmsg(int file, struct msghdr *what, int flags) { return got(NEXT(recvmsg)(file, what, flags)); }

ssize_t write(int file, const void *bytes, size_t n) {
    ssize_t done = NEXT(write)(file, bytes, n);
    return is_socket(file) ? wrote(done, n) : done;
}

ssize_t writev(int file, const struct iovec *parts, int n) {
    ssize_t done = NEXT(writev)(file, parts, n);
    return is_socket(file) ? wrote(done, sum(parts, n)) : done;
}

ssize_t read(int file, void *bytes, size_t n) {
    ssize_t done = NEXT(read)(file, bytes, n);
    return is_socket(file) ? got(done) : done;
}
