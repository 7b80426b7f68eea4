// pass: epoll waits for eventfds and pipes that other threads make ready, edge and level triggered
#include "check.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int poller, ends[2], event;

static void *writes(void *) {
    for (int i = 0; i < 3; i++) IS(1, write(ends[1], "x", 1));
    OK(close(ends[1]));
    return NULL;
}

static void *notifies(void *) {
    for (int i = 0; i < 3; i++) OK(eventfd_write(event, 1));
    return NULL;
}

int main(void) {
    struct epoll_event ready[4];
    CHECK((poller = epoll_create1(EPOLL_CLOEXEC)) >= 0);
    CHECK((event = eventfd(0, EFD_NONBLOCK)) >= 0);
    OK(pipe(ends));
    OK(epoll_ctl(poller, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){.events = EPOLLIN, .data.fd = ends[0]}));
    OK(epoll_ctl(poller, EPOLL_CTL_ADD, event, &(struct epoll_event){.events = EPOLLIN | EPOLLET, .data.fd = event}));
    struct timespec soon = after(CLOCK_MONOTONIC, 2);
    OK(epoll_wait(poller, ready, 4, 3));
    CHECK(passed(CLOCK_MONOTONIC, soon));

    pthread_t threads[] = {start(writes, NULL), start(notifies, NULL)};
    int open = 1, bytes = 0;
    eventfd_t events = 0, value;
    while (open || events < 3) {
        int count = epoll_wait(poller, ready, 4, -1);
        CHECK(count > 0);
        for (int i = 0; i < count; i++) {
            char byte;
            if (ready[i].data.fd == event) {
                // Edge triggered: drain it, or the next edge is not told.
                while (eventfd_read(event, &value) == 0) events += value;
                IS(EAGAIN, errno);
            } else if (read(ends[0], &byte, 1) == 1) {
                bytes++;
            } else {
                OK(epoll_ctl(poller, EPOLL_CTL_DEL, ends[0], NULL));
                open = 0;
            }
        }
    }
    IS(3, bytes);
    IS(3, events);
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
