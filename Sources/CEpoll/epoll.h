// epoll(7), which Swift's Glibc module leaves out. No code: the functions are the C library's.
#include <sys/epoll.h>
