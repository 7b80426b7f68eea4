// fail: an object is freed while another thread may still read it; nothing orders the two
// expect: misuse
#include "check.h"

struct object {
    long numbers[8];
};

static struct object *object;
static volatile long seen;

static void *reads(UNUSED void *none) {
    seen = object->numbers[5];
    return NULL;
}

int main(void) {
    object = calloc(1, sizeof *object);
    pthread_t reader;
    pthread_create(&reader, NULL, reads, NULL);
    free(object);
    pthread_join(reader, NULL);
    return 0;
}
