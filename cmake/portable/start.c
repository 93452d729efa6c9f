/* SPDX-License-Identifier: Apache-2.0 */
/* How a program for an older glibc begins, and the few functions that this system's headers and libstdc++ ask for and an older glibc
   does not have under these names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until 2.33 a program ran its own constructors; since 2.34 its start code leaves that to libc, which an older libc does not do. One
   that gets such a function calls it and no more, whatever its version. */
typedef void Constructor(int, char**, char**);
extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
void _init(void);

__attribute__((visibility("hidden"))) void cudal1_constructors(int count, char** words, char** environment) {
  _init();
  const size_t all = (size_t)(__init_array_end - __init_array_start);
  for (size_t i = 0; i < all; ++i) __init_array_start[i](count, words, environment);
}
__attribute__((visibility("hidden"))) void cudal1_destructors(void) {}   /* the loader runs them */

__asm__(
    ".text\n.globl _start\n.type _start, @function\n_start:\n"
    "  xor %ebp, %ebp\n  mov %rdx, %r9\n  pop %rsi\n  mov %rsp, %rdx\n  and $-16, %rsp\n  push %rax\n  push %rsp\n"
    "  lea cudal1_destructors(%rip), %r8\n  lea cudal1_constructors(%rip), %rcx\n  lea main(%rip), %rdi\n"
    "  call *__libc_start_main@GOTPCREL(%rip)\n  hlt\n.size _start, . - _start\n");

/* Functions of their own since 2.33. */
int __xstat(int version, const char* path, struct stat* facts);
int __fxstat(int version, int file, struct stat* facts);
int __lxstat(int version, const char* path, struct stat* facts);
int __fxstatat(int version, int folder, const char* path, struct stat* facts, int flags);
enum { stat_version = 1 };   /* of x86-64 */
int stat(const char* path, struct stat* facts) { return __xstat(stat_version, path, facts); }
int fstat(int file, struct stat* facts) { return __fxstat(stat_version, file, facts); }
int lstat(const char* path, struct stat* facts) { return __lxstat(stat_version, path, facts); }
int fstatat(int folder, const char* path, struct stat* facts, int flags) { return __fxstatat(stat_version, folder, path, facts, flags); }
int stat64(const char* path, struct stat64* facts) { return __xstat(stat_version, path, (struct stat*)facts); }
int fstat64(int file, struct stat64* facts) { return __fxstat(stat_version, file, (struct stat*)facts); }
int lstat64(const char* path, struct stat64* facts) { return __lxstat(stat_version, path, (struct stat*)facts); }
int fstatat64(int folder, const char* path, struct stat64* facts, int flags) { return __fxstatat(stat_version, folder, path, (struct stat*)facts, flags); }

/* libstdc++ saves atomic operations where it is true; false is always right. */
char __libc_single_threaded = 0;

/* libgcc's unwinder asks for the tables of the object that holds an address, since 2.35 with this. */
struct sought {
  char* address;
  struct dl_find_object* found;
};
static int is_it(struct dl_phdr_info* object, size_t size, void* data) {
  struct sought* sought = data;
  const ElfW(Phdr)* tables = NULL;
  (void)size;
  sought->found->dlfo_map_start = NULL;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &object->dlpi_phdr[i];
    char* begin = (char*)object->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) tables = part;
    if (part->p_type != PT_LOAD || sought->address < begin || sought->address >= begin + part->p_memsz) continue;
    sought->found->dlfo_map_start = begin;
    sought->found->dlfo_map_end = begin + part->p_memsz;
  }
  if (sought->found->dlfo_map_start == NULL || tables == NULL) return 0;
  sought->found->dlfo_eh_frame = (char*)object->dlpi_addr + tables->p_vaddr;
  return 1;
}
int _dl_find_object(void* address, struct dl_find_object* found) {
  struct sought sought = {address, found};
  found->dlfo_flags = 0;
  found->dlfo_link_map = NULL;
  return dl_iterate_phdr(is_it, &sought) == 1 ? 0 : -1;
}

/* libstdc++'s random_device. */
unsigned arc4random(void) {
  unsigned value = 0;
  while (syscall(SYS_getrandom, &value, sizeof value, 0) != (long)sizeof value) {}
  return value;
}

/* Waits by another clock, since 2.30. Here by the one that a condition variable has; a step of that clock moves the end of the wait. */
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  struct timespec there, here;
  clock_gettime(clock, &there);
  clock_gettime(CLOCK_REALTIME, &here);
  const long long second = 1000000000LL;
  long long left = (until->tv_sec - there.tv_sec) * second + until->tv_nsec - there.tv_nsec;
  left = (left > 0 ? left : 0) + here.tv_nsec;
  const struct timespec end = {here.tv_sec + left / second, left % second};
  return pthread_cond_timedwait(condition, mutex, &end);
}
