// epoll(7), eventfd(2), timerfd_create(2), pthread_setname_np(3), accept4(2) and a part of posix_spawn(3), which Swift's Glibc module leaves out. No code: the functions are the C library's.
#include <sys/epoll.h>
#include <sys/eventfd.h>

// <sys/timerfd.h> would take `struct timespec` into this module, away from Glibc's.
struct itimerspec;
int timerfd_create(int clock, int flags);
int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old);

// The address as it is: <sys/socket.h> would take its types into this module.
int accept4(int descriptor, void *address, unsigned int *length, int flags);

// With pthread_t as it is in Linux's C libraries.
int pthread_setname_np(unsigned long thread, const char *name);

// Of glibc 2.34; <spawn.h> would take its types into this module.
int posix_spawn_file_actions_addclosefrom_np(void *actions, int first);
