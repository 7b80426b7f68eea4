// pass: a message queue that calls a function (mq_notify, SIGEV_THREAD): the calls are threads under control, which meet others at a barrier and at a condition variable
// outside: yes
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static mqd_t queue;
static int messages;
static struct sigevent event;

static void meet(void) {
    int result = pthread_barrier_wait(&barrier);
    CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
}

static void meets(union sigval value) {
    IS(7, value.sival_int);
    meet();
}

// As in the manual: it registers anew, and then takes what is there.
static void takes(union sigval) {
    char text[8];
    int taken = 0;
    OK(mq_notify(queue, &event));
    while (mq_receive(queue, text, sizeof text, NULL) >= 0) taken++;
    IS(EAGAIN, errno);
    OK(pthread_mutex_lock(&mutex));
    messages += taken;
    OK(pthread_cond_signal(&called));
    OK(pthread_mutex_unlock(&mutex));
}

static void *sends(void *) {
    OK(mq_send(queue, "b", 1, 0));
    return NULL;
}

int main(void) {
    char name[64], text[8];
    snprintf(name, sizeof name, "/raddle-notify-%d", getpid());
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = sizeof text};
    mq_unlink(name);
    queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR | O_NONBLOCK, 0600, &attributes);
    CHECK(queue != (mqd_t)-1);
    OK(mq_unlink(name));
    OK(pthread_barrier_init(&barrier, NULL, 2));

    event.sigev_notify = SIGEV_THREAD;
    event.sigev_notify_function = meets;
    event.sigev_value.sival_int = 7;
    OK(mq_notify(queue, &event));
    IS(-1, mq_notify(queue, &event));
    IS(EBUSY, errno);
    OK(mq_send(queue, "a", 1, 0));
    meet();
    IS(1, mq_receive(queue, text, sizeof text, NULL));

    // Removed, it does not call.
    OK(mq_notify(queue, &event));
    OK(mq_notify(queue, NULL));
    OK(mq_send(queue, "a", 1, 0));
    IS(1, mq_receive(queue, text, sizeof text, NULL));

    event.sigev_notify_function = takes;
    OK(mq_notify(queue, &event));
    pthread_t thread = start(sends, NULL);
    OK(mq_send(queue, "a", 1, 0));
    OK(pthread_mutex_lock(&mutex));
    while (messages < 2) OK(pthread_cond_wait(&called, &mutex));
    OK(pthread_mutex_unlock(&mutex));
    finish(thread);
    // A call may still be under way, so the queue stays open.
    return 0;
}
