// fail: an object is put into the registry before it is filled in; every access is locked, only the order is wrong
// expect: assert
#include "check.h"

struct session {
    pthread_mutex_t mutex;
    int user;
};

static pthread_mutex_t registry_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct session *registry;

static void *logs_in(void *) {
    static struct session session = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    OK(pthread_mutex_lock(&registry_mutex));
    registry = &session;
    OK(pthread_mutex_unlock(&registry_mutex));
    OK(pthread_mutex_lock(&session.mutex));
    session.user = 42;
    OK(pthread_mutex_unlock(&session.mutex));
    return NULL;
}

static void *looks(void *) {
    OK(pthread_mutex_lock(&registry_mutex));
    struct session *session = registry;
    OK(pthread_mutex_unlock(&registry_mutex));
    if (session != NULL) {
        OK(pthread_mutex_lock(&session->mutex));
        assert(session->user == 42);
        OK(pthread_mutex_unlock(&session->mutex));
    }
    return NULL;
}

int main(void) {
    pthread_t first = start(logs_in, NULL), second = start(looks, NULL);
    finish(first);
    finish(second);
    return 0;
}
