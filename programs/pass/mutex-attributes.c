// pass: every call on mutexes of every type, protocol, robustness and sharing returns what it returns natively
// outside: yes
// runs: 20
// uncontrolled: child processes
#include "mutex-attributes.h"

int main(void) {
    compare();
    return 0;
}
