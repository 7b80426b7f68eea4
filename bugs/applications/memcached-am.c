// bug: the lost increment of memcached.c, with a schedule point before every access to memory
// kind: assert
// depth: 2
// threads: 4
// source: NeedlePoint (PLDI'12), table 1 and section 4.1: Memc am
// finds: pct, random
// points: memory
// args: 240 12
// row: needlepoint:Memc-am
// More increments than there, because they are a small part of so many accesses.
#define INCREMENTS 8
#include "memcached.c"
