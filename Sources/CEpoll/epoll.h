// epoll(7) and timerfd_create(2), which Swift's Glibc module leaves out. No code: the functions are the C library's.
#include <sys/epoll.h>
#include <sys/timerfd.h>
