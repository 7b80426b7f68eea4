// A check with all options; they are what the arguments say: runs, policy, seed and steps.
#include "race.h"

static void body(void *unused) {
    (void)unused;
    upset();
}

int main(int argc, char **argv) {
    struct raddle_options options = {0};
    options.name = "with options";
    if (argc > 1) options.runs = strtoull(argv[1], NULL, 10);
    if (argc > 2) options.policy = argv[2];
    if (argc > 3) options.seed = strtoull(argv[3], NULL, 10), options.has_seed = 1;
    if (argc > 4) options.max_steps = strtoull(argv[4], NULL, 10);
    return raddle_check_with(&options, body, NULL);
}
