// A library to be preloaded (LD_PRELOAD) that makes file operations fail, or records them.
//
//   FAULT_ROOT    only files below this folder count
//   FAULT_AT      this operation fails, counted from 1; with FAULT_STICKY=1 all later ones too
//   FAULT_ERRNO   with this error (28: no space left on device, 5: input/output error)
//   FAULT_LOG     every operation is appended to this file: "OP\tPATH\tOFFSET\tLENGTH\tOTHER\n" and LENGTH bytes of data
//
// Operations are creating opens, writes, syncs, truncations, renames, removals and new folders. In place of one that this
// library makes fail, "fault" is recorded; of one that fails by itself, "failed". Build:
//   cc -shared -fPIC -O1 -U_FORTIFY_SOURCE -o shim.so shim.c -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;
static int log_file = -2;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static int counts(const char *path) {
    const char *root = variable("FAULT_ROOT");
    if (!root || !path || strncmp(path, root, strlen(root)) != 0) return 0;
    return path[strlen(root)] == '/' || path[strlen(root)] == 0;
}

// The absolute path of a name that need not exist.
static const char *absolute(const char *name, char *buffer, size_t size) {
    if (name[0] == '/') return name;
    char folder[4096];
    if (!getcwd(folder, sizeof folder)) return name;
    while (name[0] == '.' && name[1] == '/') name += 2;
    snprintf(buffer, size, "%s/%s", folder, name);
    return buffer;
}

static const char *path_of(int file, char *buffer, size_t size) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, buffer, size - 1);
    if (length < 0) return NULL;
    buffer[length] = 0;
    return buffer;
}

static void record(const char *operation, const char *path, long offset, const char *data, size_t length, const char *other) {
    const char *name = variable("FAULT_LOG");
    if (!name) return;
    int error = errno;
    if (log_file == -2) log_file = REAL(open)(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    char line[9000];
    int size = snprintf(line, sizeof line, "%s\t%s\t%ld\t%zu\t%s\n", operation, path, offset, length, other ? other : "");
    char *all = malloc(size + length);
    memcpy(all, line, size);
    if (length) memcpy(all + size, data, length);
    ssize_t written = REAL(write)(log_file, all, size + length);
    (void)written;
    free(all);
    errno = error; // that of the operation
}

// Whether the next operation is to fail. With the lock held.
static int fails(void) {
    count++;
    const char *at = variable("FAULT_AT");
    if (!at) return 0;
    long number = atol(at);
    if (!(count == number || (count > number && variable("FAULT_STICKY")))) return 0;
    record("fault", "", 0, NULL, 0, NULL);
    errno = variable("FAULT_ERRNO") ? atoi(variable("FAULT_ERRNO")) : EIO;
    return 1;
}

static int opened(int folder, const char *name, int flags, mode_t mode, int has_folder) {
    char buffer[9000];
    const char *path = absolute(name, buffer, sizeof buffer);
    if (!(flags & (O_CREAT | O_TRUNC)) || !counts(path))
        return has_folder ? REAL(openat)(folder, name, flags, mode) : REAL(open)(name, flags, mode);
    pthread_mutex_lock(&lock);
    int file = -1;
    if (!fails()) {
        int is_new = access(path, F_OK) != 0;
        file = has_folder ? REAL(openat)(folder, name, flags, mode) : REAL(open)(name, flags, mode);
        const char *operation = file < 0 ? "failed" : is_new ? "create" : flags & O_TRUNC ? "truncate" : "open";
        record(operation, path, 0, NULL, 0, NULL);
    }
    pthread_mutex_unlock(&lock);
    return file;
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); } \
        return opened(AT_FDCWD, path, flags, mode, 0); \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list list; va_start(list, flags); mode = va_arg(list, mode_t); va_end(list); } \
        return opened(folder, path, flags, mode, 1); \
    }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void *data, size_t length) {
    char buffer[4096];
    const char *path = path_of(file, buffer, sizeof buffer);
    if (!counts(path)) return REAL(write)(file, data, length);
    pthread_mutex_lock(&lock);
    ssize_t written = -1;
    if (!fails()) {
        int flags = fcntl(file, F_GETFL);
        struct stat status;
        long offset = (flags & O_APPEND) && fstat(file, &status) == 0 ? (long)status.st_size : (long)lseek(file, 0, SEEK_CUR);
        written = REAL(write)(file, data, length);
        if (written > 0) record("write", path, offset, data, written, NULL);
    }
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t writev(int file, const struct iovec *parts, int number) {
    char buffer[4096];
    if (!counts(path_of(file, buffer, sizeof buffer))) return REAL(writev)(file, parts, number);
    return number > 0 ? write(file, parts[0].iov_base, parts[0].iov_len) : 0; // a short write is allowed
}

#define ON_FILE(name, operation, parameters, arguments, offset) \
    int name parameters { \
        char buffer[4096]; \
        const char *path = path_of(file, buffer, sizeof buffer); \
        if (!counts(path)) return REAL(name) arguments; \
        pthread_mutex_lock(&lock); \
        int fault = fails(), result = fault ? -1 : REAL(name) arguments; \
        if (!fault) record(result == 0 ? operation : "failed", path, offset, NULL, 0, NULL); \
        pthread_mutex_unlock(&lock); \
        return result; \
    }
ON_FILE(fsync, "sync", (int file), (file), 0)
ON_FILE(fdatasync, "sync", (int file), (file), 0)
ON_FILE(ftruncate, "truncate", (int file, off_t length), (file, length), (long)length)
ON_FILE(ftruncate64, "truncate", (int file, off64_t length), (file, length), (long)length)

#define ON_PATH(name, operation, parameters, arguments, target) \
    int name parameters { \
        char buffer[9000], other[9000]; \
        const char *from = absolute(path, buffer, sizeof buffer); \
        const char *to = target ? absolute(target, other, sizeof other) : NULL; \
        if (!counts(from)) return REAL(name) arguments; \
        pthread_mutex_lock(&lock); \
        int fault = fails(), result = fault ? -1 : REAL(name) arguments; \
        if (!fault) record(result == 0 ? operation : "failed", from, 0, NULL, 0, to); \
        pthread_mutex_unlock(&lock); \
        return result; \
    }
ON_PATH(rename, "rename", (const char *path, const char *target), (path, target), target)
ON_PATH(unlink, "unlink", (const char *path), (path), (const char *)NULL)
ON_PATH(mkdir, "mkdir", (const char *path, mode_t mode), (path, mode), (const char *)NULL)
