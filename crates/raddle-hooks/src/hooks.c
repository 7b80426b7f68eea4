// What raddle links into an instrumented program: the functions that a compiler calls with
// -fsanitize=thread, and nothing of ThreadSanitizer's own.
//
// Each goes through a table. The table starts with functions that only do what the program asked for, so
// that the program runs by itself; under raddle the runtime, which is loaded first, puts its own in. Tables
// and functions are found by the linker alone: no function here may call an instrumented one.
//
// The table's layout is that of `Hooks` in raddle-core's hooks.rs.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef unsigned __int128 u128;

enum { VERSION = 1 };
// Sizes of accesses: 1, 2, 4, 8 and 16 bytes.
enum { SIZES = 5 };
// Sizes of atomics that fit a register.
enum { WORDS = 4 };
// What a read-modify-write does. A store is one too.
enum { STORE, EXCHANGE, ADD, SUB, AND, OR, XOR, NAND, OPERATIONS };
// On 16 bytes also.
enum { LOAD = OPERATIONS, COMPARE };

typedef void access_hook(void *address, void *pc);
typedef void range_hook(void *address, u64 size, void *pc);
typedef u64 load_hook(void *address, int order, void *pc);
typedef u64 modify_hook(void *address, u64 operand, int order, void *pc);
typedef int compare_hook(void *address, void *expected, u64 desired, int order, int failure, void *pc);
typedef int wide_hook(int operation, u128 *address, u128 *value, u128 *expected, int order, void *pc);

struct hooks {
	u32 version;
	u32 size;
	u32 offers;
	u32 reserved;
	access_hook *read[SIZES];
	access_hook *write[SIZES];
	access_hook *read_write[SIZES];
	access_hook *volatile_read[SIZES];
	access_hook *volatile_write[SIZES];
	range_hook *range_read;
	range_hook *range_write;
	load_hook *load[WORDS];
	modify_hook *modify[OPERATIONS][WORDS];
	compare_hook *compare[WORDS];
	wide_hook *wide;
	void (*fence)(int order, void *pc);
	void (*enter)(void *pc);
	void (*leave)(void);
	void (*acquire)(void *address);
	void (*release)(void *address);
};

#ifndef RADDLE_OFFERS
#error "RADDLE_OFFERS says what the compiler was asked to make visible: see raddle-core's hooks.rs"
#endif

// The same in the program's file, for the command line.
__attribute__((section(".note.raddle.offers,\"a\",@note#"), used, aligned(4))) static const struct {
	u32 name_size, descriptor_size, type;
	char name[8];
	u32 offers;
} note = { 7, 4, 2, "raddle", RADDLE_OFFERS };

#define PC __builtin_return_address(0)
#define FLATTEN __attribute__((always_inline)) static inline

// ---- Without raddle ----

static void nothing(void *address, void *pc)
{
	(void)address;
	(void)pc;
}

static void nothing_range(void *address, u64 size, void *pc)
{
	(void)address;
	(void)size;
	(void)pc;
}

static void nothing_to_enter(void *pc)
{
	(void)pc;
}

static void nothing_to_leave(void)
{
}

static void nothing_to_order(void *address)
{
	(void)address;
}

#define WORD(bits, type)                                                                           \
	static u64 alone_load##bits(void *a, int order, void *pc)                                        \
	{                                                                                          \
		(void)order, (void)pc;                                                             \
		return __atomic_load_n((type *)a, __ATOMIC_SEQ_CST);                               \
	}                                                                                          \
	static u64 alone_store##bits(void *a, u64 v, int order, void *pc)                                \
	{                                                                                          \
		(void)pc;                                                                          \
		if (order == __ATOMIC_SEQ_CST)                                                     \
			__atomic_store_n((type *)a, (type)v, __ATOMIC_SEQ_CST);                    \
		else                                                                               \
			__atomic_store_n((type *)a, (type)v, __ATOMIC_RELEASE);                    \
		return 0;                                                                          \
	}                                                                                          \
	MODIFY(bits, type, exchange, __atomic_exchange_n)                                          \
	MODIFY(bits, type, add, __atomic_fetch_add)                                                \
	MODIFY(bits, type, sub, __atomic_fetch_sub)                                                \
	MODIFY(bits, type, and, __atomic_fetch_and)                                                \
	MODIFY(bits, type, or, __atomic_fetch_or)                                                  \
	MODIFY(bits, type, xor, __atomic_fetch_xor)                                                \
	MODIFY(bits, type, nand, __atomic_fetch_nand)                                              \
	static int alone_compare##bits(void *a, void *expected, u64 v, int order, int failure, void *pc) \
	{                                                                                          \
		(void)order, (void)failure, (void)pc;                                              \
		return __atomic_compare_exchange_n((type *)a, (type *)expected, (type)v, 0,        \
						   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
	}

#define MODIFY(bits, type, name, builtin)                                                          \
	static u64 alone_##name##bits(void *a, u64 v, int order, void *pc)                                 \
	{                                                                                          \
		(void)order, (void)pc;                                                             \
		return builtin((type *)a, (type)v, __ATOMIC_SEQ_CST);                              \
	}

WORD(8, u8)
WORD(16, u16)
WORD(32, u32)
WORD(64, u64)

static u128 result_of(int operation, u128 old, u128 value)
{
	switch (operation) {
	case STORE:
	case EXCHANGE:
		return value;
	case ADD:
		return old + value;
	case SUB:
		return old - value;
	case AND:
		return old & value;
	case OR:
		return old | value;
	case XOR:
		return old ^ value;
	case NAND:
		return ~(old & value);
	default:
		return old;
	}
}

// All by compare-and-exchange, the one instruction that there is.
static int wide(int operation, u128 *address, u128 *value, u128 *expected, int order, void *pc)
{
	(void)order, (void)pc;
	if (operation == COMPARE) {
		u128 wanted = *expected;
		*expected = __sync_val_compare_and_swap(address, wanted, *value);
		return *expected == wanted;
	}
	u128 old = __sync_val_compare_and_swap(address, 0, 0);
	for (;;) {
		u128 seen = __sync_val_compare_and_swap(address, old, result_of(operation, old, *value));
		if (seen == old)
			break;
		old = seen;
	}
	*value = old;
	return 1;
}

static void fence(int order, void *pc)
{
	(void)order, (void)pc;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#define EVERY_SIZE(f) { f, f, f, f, f }
#define EVERY_WORD(f) { alone_##f##8, alone_##f##16, alone_##f##32, alone_##f##64 }

static struct hooks hooks = {
	.version = VERSION,
	.size = sizeof(struct hooks),
	.offers = RADDLE_OFFERS,
	.read = EVERY_SIZE(nothing),
	.write = EVERY_SIZE(nothing),
	.read_write = EVERY_SIZE(nothing),
	.volatile_read = EVERY_SIZE(nothing),
	.volatile_write = EVERY_SIZE(nothing),
	.range_read = nothing_range,
	.range_write = nothing_range,
	.load = EVERY_WORD(load),
	.modify = {
		EVERY_WORD(store),
		EVERY_WORD(exchange),
		EVERY_WORD(add),
		EVERY_WORD(sub),
		EVERY_WORD(and),
		EVERY_WORD(or),
		EVERY_WORD(xor),
		EVERY_WORD(nand),
	},
	.compare = EVERY_WORD(compare),
	.wide = wide,
	.fence = fence,
	.enter = nothing_to_enter,
	.leave = nothing_to_leave,
	.acquire = nothing_to_order,
	.release = nothing_to_order,
};

// The runtime, if it is loaded.
extern void raddle_runtime_connect(struct hooks *hooks) __attribute__((weak));

// Before the constructors of the program's own.
__attribute__((constructor(101))) static void connect(void)
{
	if (raddle_runtime_connect)
		raddle_runtime_connect(&hooks);
}

// ---- Accesses ----

#define ACCESS(name, slot)                                     \
	void __tsan_##name(void *a)                            \
	{                                                      \
		hooks.slot(a, PC);                             \
	}                                                      \
	void __tsan_##name##_pc(void *a, void *pc)             \
	{                                                      \
		hooks.slot(a, pc);                             \
	}

ACCESS(read1, read[0])
ACCESS(read2, read[1])
ACCESS(read4, read[2])
ACCESS(read8, read[3])
ACCESS(read16, read[4])
ACCESS(write1, write[0])
ACCESS(write2, write[1])
ACCESS(write4, write[2])
ACCESS(write8, write[3])
ACCESS(write16, write[4])
ACCESS(read_write1, read_write[0])
ACCESS(read_write2, read_write[1])
ACCESS(read_write4, read_write[2])
ACCESS(read_write8, read_write[3])
ACCESS(read_write16, read_write[4])
ACCESS(unaligned_read2, read[1])
ACCESS(unaligned_read4, read[2])
ACCESS(unaligned_read8, read[3])
ACCESS(unaligned_read16, read[4])
ACCESS(unaligned_write2, write[1])
ACCESS(unaligned_write4, write[2])
ACCESS(unaligned_write8, write[3])
ACCESS(unaligned_write16, write[4])
ACCESS(unaligned_read_write2, read_write[1])
ACCESS(unaligned_read_write4, read_write[2])
ACCESS(unaligned_read_write8, read_write[3])
ACCESS(unaligned_read_write16, read_write[4])
ACCESS(volatile_read1, volatile_read[0])
ACCESS(volatile_read2, volatile_read[1])
ACCESS(volatile_read4, volatile_read[2])
ACCESS(volatile_read8, volatile_read[3])
ACCESS(volatile_read16, volatile_read[4])
ACCESS(volatile_write1, volatile_write[0])
ACCESS(volatile_write2, volatile_write[1])
ACCESS(volatile_write4, volatile_write[2])
ACCESS(volatile_write8, volatile_write[3])
ACCESS(volatile_write16, volatile_write[4])
ACCESS(unaligned_volatile_read2, volatile_read[1])
ACCESS(unaligned_volatile_read4, volatile_read[2])
ACCESS(unaligned_volatile_read8, volatile_read[3])
ACCESS(unaligned_volatile_read16, volatile_read[4])
ACCESS(unaligned_volatile_write2, volatile_write[1])
ACCESS(unaligned_volatile_write4, volatile_write[2])
ACCESS(unaligned_volatile_write8, volatile_write[3])
ACCESS(unaligned_volatile_write16, volatile_write[4])

#define RANGE(name, slot)                                      \
	void __tsan_##name(void *a, u64 size)                  \
	{                                                      \
		hooks.slot(a, size, PC);                       \
	}                                                      \
	void __tsan_##name##_pc(void *a, u64 size, void *pc)   \
	{                                                      \
		hooks.slot(a, size, pc);                       \
	}

RANGE(read_range, range_read)
RANGE(write_range, range_write)

// An object's pointer to its virtual functions. Writing what is there already is what constructors and
// destructors of a class without heirs do, and harmless.
void __tsan_vptr_update(void **a, void *value)
{
	if (*a != value)
		hooks.write[3](a, PC);
}

void __tsan_vptr_read(void **a)
{
	hooks.read[3](a, PC);
}

// ---- Blocks of memory: clang calls the functions, for gcc the linker is asked to (--wrap) ----

extern void *memcpy(void *to, const void *from, u64 size);
extern void *memmove(void *to, const void *from, u64 size);
extern void *memset(void *to, int byte, u64 size);
extern void *mempcpy(void *to, const void *from, u64 size);
// What --wrap calls the functions of the real library; without that option, they are not there.
extern void *__real_memcpy(void *to, const void *from, u64 size) __attribute__((weak));
extern void *__real_memmove(void *to, const void *from, u64 size) __attribute__((weak));
extern void *__real_memset(void *to, int byte, u64 size) __attribute__((weak));
extern void *__real_mempcpy(void *to, const void *from, u64 size) __attribute__((weak));

FLATTEN void copied(void *to, const void *from, u64 size, void *pc)
{
	if (size) {
		hooks.range_read((void *)from, size, pc);
		hooks.range_write(to, size, pc);
	}
}

#define BLOCK(prefix, real)                                            \
	void *prefix##memcpy(void *to, const void *from, u64 size)     \
	{                                                              \
		copied(to, from, size, PC);                            \
		return real##memcpy(to, from, size);                   \
	}                                                              \
	void *prefix##memmove(void *to, const void *from, u64 size)    \
	{                                                              \
		copied(to, from, size, PC);                            \
		return real##memmove(to, from, size);                  \
	}                                                              \
	void *prefix##memset(void *to, int byte, u64 size)             \
	{                                                              \
		if (size)                                              \
			hooks.range_write(to, size, PC);               \
		return real##memset(to, byte, size);                   \
	}                                                              \
	void *prefix##mempcpy(void *to, const void *from, u64 size)    \
	{                                                              \
		copied(to, from, size, PC);                            \
		return real##mempcpy(to, from, size);                  \
	}

// Linked with --wrap, "memcpy" in here is the wrapper, which would look a second time.
#define WRAPPED_OR(name) (__real_##name ? __real_##name : name)
#define really_memcpy WRAPPED_OR(memcpy)
#define really_memmove WRAPPED_OR(memmove)
#define really_memset WRAPPED_OR(memset)
#define really_mempcpy WRAPPED_OR(mempcpy)
BLOCK(__tsan_, really_)
BLOCK(__wrap_, __real_)

// ---- Atomics ----

#define ATOMIC(bits, type, i)                                                                      \
	type __tsan_atomic##bits##_load(const volatile type *a, int order)                         \
	{                                                                                          \
		return (type)hooks.load[i]((void *)a, order, PC);                                  \
	}                                                                                          \
	void __tsan_atomic##bits##_store(volatile type *a, type v, int order)                      \
	{                                                                                          \
		hooks.modify[STORE][i]((void *)a, v, order, PC);                                   \
	}                                                                                          \
	FETCH(bits, type, i, exchange, EXCHANGE)                                                   \
	FETCH(bits, type, i, fetch_add, ADD)                                                       \
	FETCH(bits, type, i, fetch_sub, SUB)                                                       \
	FETCH(bits, type, i, fetch_and, AND)                                                       \
	FETCH(bits, type, i, fetch_or, OR)                                                         \
	FETCH(bits, type, i, fetch_xor, XOR)                                                       \
	FETCH(bits, type, i, fetch_nand, NAND)                                                     \
	int __tsan_atomic##bits##_compare_exchange_strong(volatile type *a, type *expected, type v, \
							  int order, int failure)                  \
	{                                                                                          \
		return hooks.compare[i]((void *)a, expected, v, order, failure, PC);               \
	}                                                                                          \
	int __tsan_atomic##bits##_compare_exchange_weak(volatile type *a, type *expected, type v,  \
							int order, int failure)                    \
	{                                                                                          \
		return hooks.compare[i]((void *)a, expected, v, order, failure, PC);               \
	}                                                                                          \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *a, type expected, type v,   \
							int order, int failure)                    \
	{                                                                                          \
		hooks.compare[i]((void *)a, &expected, v, order, failure, PC);                     \
		return expected;                                                                   \
	}

#define FETCH(bits, type, i, name, operation)                                                      \
	type __tsan_atomic##bits##_##name(volatile type *a, type v, int order)                     \
	{                                                                                          \
		return (type)hooks.modify[operation][i]((void *)a, v, order, PC);                  \
	}

ATOMIC(8, u8, 0)
ATOMIC(16, u16, 1)
ATOMIC(32, u32, 2)
ATOMIC(64, u64, 3)

u128 __tsan_atomic128_load(const volatile u128 *a, int order)
{
	u128 v = 0;
	hooks.wide(LOAD, (u128 *)a, &v, 0, order, PC);
	return v;
}

void __tsan_atomic128_store(volatile u128 *a, u128 v, int order)
{
	hooks.wide(STORE, (u128 *)a, &v, 0, order, PC);
}

#define WIDE_FETCH(name, operation)                                                  \
	u128 __tsan_atomic128_##name(volatile u128 *a, u128 v, int order)            \
	{                                                                            \
		hooks.wide(operation, (u128 *)a, &v, 0, order, PC);                  \
		return v;                                                            \
	}

WIDE_FETCH(exchange, EXCHANGE)
WIDE_FETCH(fetch_add, ADD)
WIDE_FETCH(fetch_sub, SUB)
WIDE_FETCH(fetch_and, AND)
WIDE_FETCH(fetch_or, OR)
WIDE_FETCH(fetch_xor, XOR)
WIDE_FETCH(fetch_nand, NAND)

int __tsan_atomic128_compare_exchange_strong(volatile u128 *a, u128 *expected, u128 v, int order, int failure)
{
	(void)failure;
	return hooks.wide(COMPARE, (u128 *)a, &v, expected, order, PC);
}

int __tsan_atomic128_compare_exchange_weak(volatile u128 *a, u128 *expected, u128 v, int order, int failure)
{
	(void)failure;
	return hooks.wide(COMPARE, (u128 *)a, &v, expected, order, PC);
}

u128 __tsan_atomic128_compare_exchange_val(volatile u128 *a, u128 expected, u128 v, int order, int failure)
{
	(void)failure;
	hooks.wide(COMPARE, (u128 *)a, &v, &expected, order, PC);
	return expected;
}

void __tsan_atomic_thread_fence(int order)
{
	hooks.fence(order, PC);
}

void __tsan_atomic_signal_fence(int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// ---- Functions ----

void __tsan_func_entry(void *pc)
{
	hooks.enter(pc);
}

void __tsan_func_exit(void)
{
	hooks.leave();
}

void __tsan_init(void)
{
}

// ---- What programs tell ThreadSanitizer themselves (sanitizer/tsan_interface.h, dynamic annotations) ----

void __tsan_acquire(void *a)
{
	hooks.acquire(a);
}

void __tsan_release(void *a)
{
	hooks.release(a);
}

void AnnotateHappensBefore(const char *file, int line, void *a)
{
	(void)file, (void)line;
	hooks.release(a);
}

void AnnotateHappensAfter(const char *file, int line, void *a)
{
	(void)file, (void)line;
	hooks.acquire(a);
}

// A lock that the program has made of atomics: its operations are seen as they are, these only add order.
void __tsan_mutex_create(void *a, u32 flags)
{
	(void)a, (void)flags;
}

void __tsan_mutex_destroy(void *a, u32 flags)
{
	(void)a, (void)flags;
}

void __tsan_mutex_pre_lock(void *a, u32 flags)
{
	(void)a, (void)flags;
}

void __tsan_mutex_post_lock(void *a, u32 flags, int recursion)
{
	(void)flags, (void)recursion;
	hooks.acquire(a);
}

int __tsan_mutex_pre_unlock(void *a, u32 flags)
{
	(void)flags;
	hooks.release(a);
	return 1;
}

void __tsan_mutex_post_unlock(void *a, u32 flags)
{
	(void)a, (void)flags;
}

void __tsan_mutex_pre_signal(void *a, u32 flags)
{
	(void)a, (void)flags;
}

void __tsan_mutex_post_signal(void *a, u32 flags)
{
	(void)a, (void)flags;
}

void __tsan_mutex_pre_divert(void *a, u32 flags)
{
	(void)a, (void)flags;
}

void __tsan_mutex_post_divert(void *a, u32 flags)
{
	(void)a, (void)flags;
}

// Coroutines: they run on the stack of the thread that resumes them, and count as that thread.
void *__tsan_get_current_fiber(void)
{
	return 0;
}

void *__tsan_create_fiber(u32 flags)
{
	(void)flags;
	return 0;
}

void __tsan_destroy_fiber(void *fiber)
{
	(void)fiber;
}

void __tsan_switch_to_fiber(void *fiber, u32 flags)
{
	(void)fiber, (void)flags;
}

void __tsan_set_fiber_name(void *fiber, const char *name)
{
	(void)fiber, (void)name;
}

void __tsan_ignore_thread_begin(void)
{
}

void __tsan_ignore_thread_end(void)
{
}

void __tsan_flush_memory(void)
{
}

void *__tsan_external_register_tag(const char *type)
{
	(void)type;
	return 0;
}

void __tsan_external_register_header(void *tag, const char *header)
{
	(void)tag, (void)header;
}

void __tsan_external_assign_tag(void *a, void *tag)
{
	(void)a, (void)tag;
}

void __tsan_external_read(void *a, void *pc, void *tag)
{
	(void)tag;
	hooks.read[0](a, pc);
}

void __tsan_external_write(void *a, void *pc, void *tag)
{
	(void)tag;
	hooks.write[0](a, pc);
}
