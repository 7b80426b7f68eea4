// bug: main frees the queue when the last block is written; a consumer that has yet to unlock it uses a mutex that is no more
// kind: signal
// depth: 2
// threads: 4
// source: NeedlePoint (PLDI'12), table 1 and section 4.2: Pbzip2; PCT (ASPLOS'10), figure 2 and table 2
// finds: pct; random hardly, because the consumers leave long before main does
// args: 60
// row: needlepoint:Pbzip2, pct:Pbzip2
// A compressor of blocks: main reads, two consumers compress, a writer writes. As in the program that it stands for,
// consumers learn by polling that there is something, or nothing more, to do. Argument: blocks.
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sched.h>
#include <sys/mman.h>

#include "../include/bug.h"

namespace {

constexpr int CONSUMERS = 2, CAPACITY = 4;
constexpr size_t BLOCK = 256;

struct block {
    int number;
    std::string bytes;
};

// The queue from the reader to the consumers. It has pages of its own, so that its end is a real one.
struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_full;
    int first, count;
    block *blocks[CAPACITY];
};

queue *input;
volatile bool all_read;

pthread_mutex_t output_mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t output_changed = PTHREAD_COND_INITIALIZER;
std::vector<std::unique_ptr<block>> output; // By number; null when not there yet.
std::vector<size_t> written;                // The sizes of the blocks, as they are read again.
int blocks;

queue *make_queue() {
    void *pages = mmap(nullptr, sizeof(queue), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) abort();
    auto *q = static_cast<queue *>(pages);
    OK(pthread_mutex_init(&q->mutex, nullptr));
    OK(pthread_cond_init(&q->not_full, nullptr));
    return q;
}

void delete_queue(queue *q) {
    pthread_mutex_destroy(&q->mutex); // Nobody looks whether it is in use.
    OK(munmap(q, sizeof(queue)));
}

// Runs of a byte become the byte, twice, and how many more there are.
std::string compress(const std::string &bytes) {
    std::string out;
    for (size_t i = 0; i < bytes.size();) {
        size_t run = 1;
        while (i + run < bytes.size() && bytes[i + run] == bytes[i] && run < 257) run++;
        out += bytes[i];
        if (run > 1) {
            out += bytes[i];
            out += static_cast<char>(run - 2);
        }
        i += run;
    }
    return out;
}

size_t decompressed_size(const std::string &bytes) {
    size_t size = 0;
    for (size_t i = 0; i < bytes.size();) {
        bool is_run = i + 1 < bytes.size() && bytes[i + 1] == bytes[i];
        size += is_run ? 2 + static_cast<unsigned char>(bytes[i + 2]) : 1;
        i += is_run ? 3 : 1;
    }
    return size;
}

block *read_block(int number) {
    auto *read = new block{number, std::string(BLOCK, '\0')};
    for (size_t i = 0; i < BLOCK; i++) read->bytes[i] = static_cast<char>('a' + (i / static_cast<size_t>(3 + number)) % 7);
    return read;
}

void put(block *next) {
    lock(&input->mutex);
    while (input->count == CAPACITY) OK(pthread_cond_wait(&input->not_full, &input->mutex));
    input->blocks[(input->first + input->count++) % CAPACITY] = next;
    unlock(&input->mutex);
}

// Hands a compressed block to the writer.
void deliver(std::unique_ptr<block> done) {
    lock(&output_mutex);
    size_t number = static_cast<size_t>(done->number);
    output[number] = std::move(done);
    OK(pthread_cond_signal(&output_changed));
    unlock(&output_mutex);
}

void *consume(void *unused) {
    for (;;) {
        lock(&input->mutex);
        if (input->count > 0) {
            std::unique_ptr<block> taken(input->blocks[input->first]);
            input->first = (input->first + 1) % CAPACITY;
            input->count--;
            OK(pthread_cond_signal(&input->not_full));
            unlock(&input->mutex);
            taken->bytes = compress(taken->bytes);
            deliver(std::move(taken));
        } else {
            bool over = all_read;
            unlock(&input->mutex); // When this thread is late, the last block is written, and the queue is gone.
            if (over) return unused;
            sched_yield();
        }
    }
}

void *write_blocks(void *unused) {
    for (size_t next = 0; next < static_cast<size_t>(blocks); next++) {
        lock(&output_mutex);
        while (!output[next]) OK(pthread_cond_wait(&output_changed, &output_mutex));
        std::unique_ptr<block> ready = std::move(output[next]);
        unlock(&output_mutex);
        size_t size = decompressed_size(ready->bytes);
        lock(&output_mutex);
        written.push_back(size);
        unlock(&output_mutex);
    }
    return unused;
}

// What main has to say in the end.
uint64_t report() {
    uint64_t sum = 0;
    for (size_t i = 0; i < static_cast<size_t>(blocks); i++) {
        lock(&output_mutex);
        sum += written[i];
        unlock(&output_mutex);
    }
    printf("%d blocks, %lu bytes\n", blocks, static_cast<unsigned long>(sum));
    return sum;
}

} // namespace

int main(int count, char **words) {
    blocks = number(count, words, 1, 60, 1, 10000);
    input = make_queue();
    output.resize(static_cast<size_t>(blocks));

    pthread_t consumers[CONSUMERS];
    for (auto &consumer : consumers) consumer = start(consume, nullptr);
    pthread_t writer = start(write_blocks, nullptr);

    for (int i = 0; i < blocks; i++) put(read_block(i));
    all_read = true;
    finish(writer);
#ifdef FIXED
    for (auto consumer : consumers) finish(consumer);
#else
    for (auto consumer : consumers) OK(pthread_detach(consumer));
#endif
    delete_queue(input);
    exit(report() == BLOCK * static_cast<uint64_t>(blocks) ? 0 : 3);
}
