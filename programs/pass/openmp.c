// pass: an OpenMP program: libgomp's threads, its futexes and its barriers
// flags: -fopenmp
#include <assert.h>
#include <omp.h>

int main(void) {
    long sum = 0, critical = 0;
    int threads = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(3)
    for (int i = 0; i < 30; i++)
        sum += i;
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        critical++;
#pragma omp barrier
#pragma omp single
        threads = omp_get_num_threads();
    }
    assert(sum == 435 && threads == 3 && critical == 3);
    return 0;
}
