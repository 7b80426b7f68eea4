// pass: threads talk through socket pairs: stream with shutdown, datagrams with boundaries, all kinds of send and recv
#include "check.h"
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static int stream[2], datagram[2];

static void *echo(void *) {
    char buffer[64];
    ssize_t length;
    while ((length = recv(stream[1], buffer, sizeof buffer, 0)) > 0) IS(length, send(stream[1], buffer, length, MSG_NOSIGNAL));
    OK(length);
    OK(shutdown(stream[1], SHUT_WR));
    return NULL;
}

static void *sends_messages(void *) {
    struct iovec parts[] = {{"on", 2}, {"ly", 2}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    IS(3, send(datagram[0], "one", 3, 0));
    IS(4, sendmsg(datagram[0], &message, 0));
    IS(5, sendto(datagram[0], "three", 5, 0, NULL, 0));
    return NULL;
}

int main(void) {
    char buffer[64];
    OK(socketpair(AF_UNIX, SOCK_STREAM, 0, stream));
    OK(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagram));
    pthread_t threads[] = {start(echo, NULL), start(sends_messages, NULL)};

    FAILS(EAGAIN, recv(stream[0], buffer, sizeof buffer, MSG_DONTWAIT));
    for (int i = 0; i < 3; i++) {
        IS(5, send(stream[0], "hello", 5, 0));
        IS(5, recv(stream[0], buffer, 5, MSG_WAITALL));
        OK(memcmp(buffer, "hello", 5));
    }
    OK(shutdown(stream[0], SHUT_WR));
    IS(0, recv(stream[0], buffer, sizeof buffer, 0));

    struct iovec parts[] = {{buffer, 2}, {buffer + 2, 2}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    IS(3, recv(datagram[1], buffer, sizeof buffer, 0));
    IS(4, recvmsg(datagram[1], &message, 0));
    OK(memcmp(buffer, "only", 4));
    IS(5, recvfrom(datagram[1], buffer, sizeof buffer, 0, NULL, NULL));
    finish(threads[0]);
    finish(threads[1]);
    return 0;
}
