// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Named cases of the validator; its main test is tests/validator (oracle). */
#include "heddle_validate.h"

#include <linux/errno.h>
#include <linux/kernel.h>

#include "heddle_cases.h"
#include "heddle_hw.h"

/* A field that is not at its default. */
struct set {
	const char *field;
	u32 value;
};

/* @name: NULL after the last command of a stream; the same for @sets. */
struct command {
	const char *name;
	struct set sets[7];
};

/**
 * struct stream - commands and what is said of them
 * @row: what it is about
 * @commands: all but the last
 * @open: no `end` is put behind them
 * @error: verdict
 * @at: number of the command that is refused, from 0
 */
struct stream {
	const char *row;
	struct command commands[4];
	bool open;
	enum heddle_validate_error error;
	u32 at;
};

#define WORDS_MAX (5 * HEDDLE_LONGEST_COMMAND_WORDS)

static bool same(const char *a, const char *b)
{
	for (; *a == *b; a++, b++)
		if (!*a)
			return true;
	return false;
}

static void put(u32 *words, const struct heddle_isa_field *f, u32 value)
{
	u32 mask = f->bits < 32 ? (1U << f->bits) - 1 : ~0U;

	words[f->word] = (words[f->word] & ~(mask << f->lsb)) | (value & mask) << f->lsb;
}

/* The smallest legal value that is not negative. */
static u32 least(const struct heddle_isa_field *f)
{
	u32 value = 0;

	if (f->kind == HEDDLE_KIND_ENUM) {
		while (value < 63 && !(f->legal >> value & 1))
			value++;
		return value;
	}
	if (f->kind != HEDDLE_KIND_F32 && f->min > 0)
		return f->min;
	return f->flags & HEDDLE_FIELD_NONZERO ? 1 : 0;
}

static const struct heddle_isa_field *find_field(const struct heddle_isa_command *info,
						 const char *name)
{
	u32 i;

	for (i = 0; i < info->num_fields; i++)
		if (same(info->fields[i].name, name))
			return &info->fields[i];
	return NULL;
}

/* The words of a command whose other fields are at their least; 0: there is none like it. */
static u32 encode(struct heddle_test *t, const struct command *command, u32 *words)
{
	const struct heddle_isa_command *info = NULL;
	u32 i;

	for (i = 0; i < HEDDLE_NUM_COMMANDS; i++)
		if (same(heddle_isa_commands[i].name, command->name))
			info = &heddle_isa_commands[i];
	if (!HEDDLE_EXPECT(t, info))
		return 0;
	for (i = 0; i < info->words; i++)
		words[i] = 0;
	for (i = 0; i < info->num_fields; i++)
		put(words, &info->fields[i], least(&info->fields[i]));
	for (i = 0; i < ARRAY_SIZE(command->sets) && command->sets[i].field; i++) {
		const struct heddle_isa_field *f = find_field(info, command->sets[i].field);

		if (!HEDDLE_EXPECT(t, f))
			return 0;
		put(words, f, command->sets[i].value);
	}
	return info->words;
}

static const struct heddle_config *config(void)
{
	return heddle_find_config(HEDDLE_CONFIG_H256);
}

/* All of a stream at once. */
static int check(const u32 *words, size_t bytes, struct heddle_validate_result *result)
{
	struct heddle_validation v;

	heddle_validate_begin(&v, config(), words, bytes, result);
	return heddle_validate_step(&v, ~0U);
}

/* In memory of its very size: who reads on is seen, where something looks (KASAN, ASan). */
static void judge(struct heddle_test *t, const u32 *words, u32 count,
		  struct heddle_validate_result *result)
{
	u32 *own = t->alloc(t, count * sizeof(*own));
	u32 i;

	result->error = HEDDLE_VALIDATE_OK;
	if (!HEDDLE_EXPECT(t, own))
		return;
	for (i = 0; i < count; i++)
		own[i] = words[i];
	i = check(own, count * sizeof(*own), result) == 0;
	HEDDLE_EXPECT_EQ(t, i, result->error == HEDDLE_VALIDATE_OK);
}

static void validate(struct heddle_test *t, const struct stream *stream,
		     struct heddle_validate_result *result)
{
	static const struct command end = { .name = "end" };
	u32 *words = t->alloc(t, WORDS_MAX * sizeof(*words));
	u32 starts[ARRAY_SIZE(stream->commands) + 1];
	u32 i, count = 0;

	if (!HEDDLE_EXPECT(t, words))
		return;
	for (i = 0; i < ARRAY_SIZE(stream->commands) && stream->commands[i].name; i++) {
		starts[i] = count * sizeof(*words);
		count += encode(t, &stream->commands[i], words + count);
	}
	starts[i] = count * sizeof(*words);
	if (!stream->open)
		count += encode(t, &end, words + count);
	judge(t, words, count, result);
	HEDDLE_EXPECT_EQ(t, result->error, stream->error);
	if (stream->error)
		HEDDLE_EXPECT_EQ(t, result->offset, starts[stream->at]);
	else
		HEDDLE_EXPECT_EQ(t, result->commands, i + !stream->open);
}

static void validate_all(struct heddle_test *t, const struct stream *streams, u32 count)
{
	struct heddle_validate_result result = { .offset = 0 };
	u32 i;

	for (i = 0; i < count; i++) {
		heddle_row(t, streams[i].row, i);
		validate(t, &streams[i], &result);
	}
}

static void accepts_the_shortest_stream(struct heddle_test *t)
{
	static const struct stream stream = { .row = "end" };
	struct heddle_validate_result result = { .used = 1, .written = 1, .end = { 1, 1 } };

	validate(t, &stream, &result);
	HEDDLE_EXPECT_EQ(t, result.end[0], 0);
	HEDDLE_EXPECT_EQ(t, result.end[1], 0);
	HEDDLE_EXPECT_EQ(t, result.commands, 1);
	HEDDLE_EXPECT_EQ(t, result.used, 0);
	HEDDLE_EXPECT_EQ(t, result.written, 0);
}

static void refuses_sizes_that_no_stream_has(struct heddle_test *t)
{
	static const size_t sizes[] = { 0, 4, 20, HEDDLE_STREAM_BYTES_MAX + 16 };
	static const u32 words[8] = { 0 };
	struct heddle_validate_result result;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		heddle_row(t, "bytes", sizes[i]);
		HEDDLE_EXPECT_EQ(t, check(words, sizes[i], &result), -ENOEXEC);
		HEDDLE_EXPECT_EQ(t, result.error, HEDDLE_VALIDATE_SIZE);
	}
}

/* The longest may be: it is refused for its commands only. */
static void judges_the_longest_stream_by_its_commands(struct heddle_test *t)
{
	struct heddle_validate_result result;
	u32 words[HEDDLE_HEADER_WORDS] = { 0 };

	/* Opcode 0 does not exist; nothing behind it is read. */
	HEDDLE_EXPECT_EQ(t, check(words, HEDDLE_STREAM_BYTES_MAX, &result),
			 -ENOEXEC);
	HEDDLE_EXPECT_EQ(t, result.error, HEDDLE_VALIDATE_OPCODE);
}

/* Commands looked at when a step returns, for any size of steps; the verdict stays. */
static void looks_at_no_more_than_it_is_told(struct heddle_test *t)
{
	static const struct command nop = { .name = "nop" }, end = { .name = "end" };
	struct heddle_validate_result result;
	struct heddle_validation v;
	u32 words[6 * HEDDLE_HEADER_WORDS];
	u32 step, i, seen, refused;

	for (i = 0; i < 5; i++)
		encode(t, &nop, words + i * HEDDLE_HEADER_WORDS);
	encode(t, &end, words + 5 * HEDDLE_HEADER_WORDS);
	for (refused = 0; refused < 2; refused++) {
		u32 commands = refused ? 3 : 6;
		int verdict = refused ? -ENOEXEC : 0;

		if (refused)
			words[3 * HEDDLE_HEADER_WORDS] = 0;
		for (step = 1; step <= 7; step++) {
			heddle_row(t, refused ? "refused" : "accepted", step);
			heddle_validate_begin(&v, config(), words, sizeof(words), &result);
			for (seen = step; seen < commands + refused; seen += step) {
				HEDDLE_EXPECT_EQ(t, heddle_validate_step(&v, step), -EAGAIN);
				HEDDLE_EXPECT_EQ(t, result.commands, seen);
			}
			for (i = 0; i < 2; i++) {
				HEDDLE_EXPECT_EQ(t, heddle_validate_step(&v, step), verdict);
				HEDDLE_EXPECT_EQ(t, result.commands, commands);
			}
		}
	}
}

static void knows_its_configurations(struct heddle_test *t)
{
	HEDDLE_EXPECT(t, config());
	HEDDLE_EXPECT(t, !heddle_find_config(0));
	HEDDLE_EXPECT(t, !heddle_find_config(99));
}

static void wants_one_end_at_the_end(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ "none", { { .name = "nop" } }, true, HEDDLE_VALIDATE_END, 0 },
		{ "two", { { .name = "end" } }, false, HEDDLE_VALIDATE_END, 1 },
		{ "in the middle", { { .name = "end" }, { .name = "nop" } }, true,
		  HEDDLE_VALIDATE_END, 1 },
	};

	validate_all(t, streams, ARRAY_SIZE(streams));
}

static void refuses_a_command_cut_by_the_end(struct heddle_test *t)
{
	static const struct command load = { .name = "load" };
	struct heddle_validate_result result;
	u32 words[HEDDLE_LONGEST_COMMAND_WORDS];
	u32 n, length = encode(t, &load, words);

	HEDDLE_EXPECT(t, length > HEDDLE_HEADER_WORDS);
	for (n = HEDDLE_HEADER_WORDS; n < length; n += HEDDLE_HEADER_WORDS) {
		heddle_row(t, "words", n);
		judge(t, words, n, &result);
		HEDDLE_EXPECT_EQ(t, result.error, HEDDLE_VALIDATE_TRUNCATED);
	}
}

static void knows_every_opcode_and_no_other(struct heddle_test *t)
{
	static const u8 known[] = {
		HEDDLE_OP_NOP, HEDDLE_OP_END, HEDDLE_OP_BARRIER, HEDDLE_OP_LOAD, HEDDLE_OP_FILL,
		HEDDLE_OP_LOAD_GATHER, HEDDLE_OP_SYNC_LOAD, HEDDLE_OP_STORE,
		HEDDLE_OP_STORE_SCATTER, HEDDLE_OP_SYNC_STORE, HEDDLE_OP_CONV,
		HEDDLE_OP_SYNC_MATRIX, HEDDLE_OP_VRUN, HEDDLE_OP_VMAC, HEDDLE_OP_SYNC_VECTOR,
	};
	static const struct command nop = { .name = "nop" }, end = { .name = "end" };
	struct heddle_validate_result result;
	u32 words[2 * HEDDLE_HEADER_WORDS];
	u32 op, i;

	HEDDLE_EXPECT_EQ(t, ARRAY_SIZE(known), HEDDLE_NUM_COMMANDS);
	HEDDLE_EXPECT_EQ(t, encode(t, &nop, words), HEDDLE_HEADER_WORDS);
	HEDDLE_EXPECT_EQ(t, encode(t, &end, words + HEDDLE_HEADER_WORDS), HEDDLE_HEADER_WORDS);
	for (op = 0; op < 256; op++) {
		bool found = false;

		for (i = 0; i < ARRAY_SIZE(known); i++)
			found = found || known[i] == op;
		words[0] = (words[0] & ~0xffU) | op;
		heddle_row(t, "opcode", op);
		judge(t, words, ARRAY_SIZE(words), &result);
		HEDDLE_EXPECT_EQ(t, result.error == HEDDLE_VALIDATE_OPCODE, !found);
	}
}

static void refuses_wrong_lengths_and_reserved_bits(struct heddle_test *t)
{
	static const struct stream length = {
		"words", { { "nop", { { "words", 5 } } } }, false, HEDDLE_VALIDATE_LENGTH, 0,
	};
	static const struct command end = { .name = "end" };
	struct heddle_validate_result result = { .offset = 0 };
	u32 words[HEDDLE_HEADER_WORDS];
	u32 i;

	validate(t, &length, &result);
	HEDDLE_EXPECT_EQ(t, encode(t, &end, words), ARRAY_SIZE(words));
	for (i = 0; i < 3; i++) {
		heddle_row(t, "word", i);
		words[i] |= 1U << 31;
		judge(t, words, ARRAY_SIZE(words), &result);
		HEDDLE_EXPECT_EQ(t, result.error, HEDDLE_VALIDATE_RESERVED);
		words[i] &= ~(1U << 31);
	}
	judge(t, words, ARRAY_SIZE(words), &result);
	HEDDLE_EXPECT_EQ(t, result.error, HEDDLE_VALIDATE_OK);
}

static void computes_extents_of_transfers(struct heddle_test *t)
{
	static const struct stream stream = {
		.row = "load, store",
		.commands = {
			{ "load", { { "region", 3 }, { "dram_offset", 100 }, { "n0", 10 },
				    { "s0", 1000 }, { "t0", 1 } } },
			{ "store", { { "region", 15 }, { "n3", 65535 }, { "s3", ~0U } } },
		},
	};
	struct heddle_validate_result result = { .offset = 0 };

	validate(t, &stream, &result);
	HEDDLE_EXPECT_EQ(t, result.used, 1U << 3 | 1U << 15);
	HEDDLE_EXPECT_EQ(t, result.written, 1U << 15);
	HEDDLE_EXPECT_EQ(t, result.end[3], 100 + 9 * 1000 + 1);
	HEDDLE_EXPECT_EQ(t, result.end[15], 65534ULL * 0xffffffff + 1);
}

static void a_region_is_not_its_neighbours_bits(struct heddle_test *t)
{
	static const struct stream stream = {
		.row = "load",
		.commands = { { "load", { { "region", 3 }, { "elem_log2", 1 } } } },
	};
	struct heddle_validate_result result = { .offset = 0 };

	validate(t, &stream, &result);
	HEDDLE_EXPECT_EQ(t, result.used, 1U << 3);
	HEDDLE_EXPECT_EQ(t, result.end[3], 2);
}

static void gathers_reach_every_row_below_the_bound(struct heddle_test *t)
{
	static const struct stream good = {
		"rows of 64 bytes",
		{ { "load.gather", { { "region", 2 }, { "bound", 1000 }, { "s1", 64 },
				     { "n0", 64 }, { "t1", 64 } } } },
		false, HEDDLE_VALIDATE_OK, 0,
	};
	static const struct stream bad[] = {
		{ "2^64 does not fit",
		  { { "load.gather", { { "region", 2 }, { "bound", ~0U }, { "s1", ~0U },
				       { "n0", 64 }, { "t1", 64 } } } },
		  false, HEDDLE_VALIDATE_REGION, 0 },
		{ "an index that is not aligned",
		  { { "load.gather", { { "region", 2 }, { "bound", 1 }, { "s1", ~0U },
				       { "n0", 64 }, { "t1", 64 }, { "index_addr", 2 } } } },
		  false, HEDDLE_VALIDATE_RULE, 0 },
	};
	struct heddle_validate_result result = { .offset = 0 };

	validate(t, &good, &result);
	HEDDLE_EXPECT_EQ(t, result.end[2], 1000 * 64);
	validate_all(t, bad, ARRAY_SIZE(bad));
}

static void keeps_transfers_in_sram(struct heddle_test *t)
{
	static const struct {
		const char *row;
		bool behind;
		u32 below;
		u32 count;
		enum heddle_validate_error error;
	} rows[] = {
		{ "last byte", true, 1, 1, HEDDLE_VALIDATE_OK },
		{ "one further", true, 0, 1, HEDDLE_VALIDATE_SRAM },
		{ "second of two", false, 0, 2, HEDDLE_VALIDATE_SRAM },
	};
	const u32 top = config()->sram_bytes;
	struct heddle_validate_result result;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct stream stream = {
			.commands = { { "fill", { { "sram_addr", 0 }, { "n0", rows[i].count },
						  { "t0", top } } } },
			.error = rows[i].error,
		};

		if (rows[i].behind)
			stream.commands[0].sets[0].value = top - rows[i].below;
		heddle_row(t, rows[i].row, i);
		validate(t, &stream, &result);
	}
}

static void checks_fields_and_rules_of_transfers(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ "an address that is not aligned",
		  { { "fill", { { "elem_log2", 2 }, { "sram_addr", 2 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "elements of 8 bytes", { { "fill", { { "elem_log2", 3 } } } }, false,
		  HEDDLE_VALIDATE_FIELD, 0 },
		{ "no element", { { "fill", { { "n0", 0 } } } }, false,
		  HEDDLE_VALIDATE_FIELD, 0 },
	};

	validate_all(t, streams, ARRAY_SIZE(streams));
}

#define GIVE(n) \
	{ "fill", { { "signal0_enable", 1 }, { "signal0_sem", 31 }, { "signal0_count", n } } }
#define TAKE(n) \
	{ "fill", { { "wait1_enable", 1 }, { "wait1_sem", 31 }, { "wait1_count", n } } }
/* The same by the other half of the header. */
#define GIVE_1(n) \
	{ "fill", { { "signal1_enable", 1 }, { "signal1_sem", 31 }, { "signal1_count", n } } }
#define TAKE_0(n) \
	{ "fill", { { "wait0_enable", 1 }, { "wait0_sem", 31 }, { "wait0_count", n } } }

static void follows_semaphores_in_program_order(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ "give, take", { GIVE(2), TAKE(2) }, false, HEDDLE_VALIDATE_OK, 0 },
		{ "take, give", { TAKE(1), GIVE(1) }, false, HEDDLE_VALIDATE_WAIT, 0 },
		{ "take too much", { GIVE(2), TAKE(2), TAKE(1) }, false,
		  HEDDLE_VALIDATE_WAIT, 2 },
		{ "give all", { GIVE(255) }, false, HEDDLE_VALIDATE_OK, 0 },
		{ "give one more", { GIVE(255), GIVE(1) }, false,
		  HEDDLE_VALIDATE_SIGNAL, 1 },
		{ "give all, signal 1", { GIVE_1(255), TAKE_0(255) }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "give one more, signal 1", { GIVE_1(255), GIVE_1(1) }, false,
		  HEDDLE_VALIDATE_SIGNAL, 1 },
		{ "take too much, wait 0", { GIVE_1(1), TAKE_0(2) }, false,
		  HEDDLE_VALIDATE_WAIT, 1 },
		{ "no wait, a count all the same", { { "fill", { { "wait0_count", 1 } } } }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "no signal from a full one", { GIVE(255), { "fill", { { "signal1_sem", 31 } } } },
		  false, HEDDLE_VALIDATE_OK, 0 },
		{ "give all again", { GIVE(255), TAKE(255), GIVE(255) }, false,
		  HEDDLE_VALIDATE_OK, 0 },
	};

	validate_all(t, streams, ARRAY_SIZE(streams));
}

static void checks_who_may_use_semaphores(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ "the front end", { { "barrier", { { "signal0_enable", 1 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "the front end, signal 1", { { "barrier", { { "signal1_enable", 1 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "the front end waits", { { "barrier", { { "wait0_enable", 1 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "the front end waits, 1", { { "barrier", { { "wait1_enable", 1 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "two semaphores", { { "sync.load", { { "signal0_enable", 1 },
						       { "signal1_enable", 1 },
						       { "signal1_sem", 1 } } } }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "waits for one semaphore twice",
		  { { "sync.load", { { "wait0_enable", 1 }, { "wait1_enable", 1 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "waits for two",
		  { { "sync.load", { { "wait0_enable", 1 }, { "wait1_enable", 1 },
				     { "wait1_sem", 1 } } } }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "an engine", { { "sync.load", { { "signal0_enable", 1 } } } }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "one semaphore twice",
		  { { "sync.load", { { "signal0_enable", 1 }, { "signal1_enable", 1 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
	};

	validate_all(t, streams, ARRAY_SIZE(streams));
}

#define LOAD_GIVES(n) { "sync.load", { { "signal0_enable", 1 }, { "signal0_count", n } } }
#define LOAD_GIVES_LATER { "sync.load", { { "signal0_enable", 1 }, { "signal0_count", 1 }, \
					  { "signal0_point", 1 } } }
#define STORE_GIVES { "sync.store", { { "signal1_enable", 1 }, { "signal1_count", 1 } } }
#define MATRIX_TAKES { "sync.matrix", { { "wait0_enable", 1 }, { "wait0_count", 1 } } }
#define VECTOR_TAKES { "sync.vector", { { "wait1_enable", 1 }, { "wait1_count", 1 } } }
#define VECTOR_OF_NONE { "sync.vector", { { "wait1_enable", 1 }, { "signal1_enable", 1 } } }
#define BARRIER { .name = "barrier" }

static void wants_one_giver_and_one_taker(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ "two units, one taker", { LOAD_GIVES(2), MATRIX_TAKES, MATRIX_TAKES }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "two takers", { LOAD_GIVES(2), MATRIX_TAKES, VECTOR_TAKES }, false,
		  HEDDLE_VALIDATE_SEMAPHORE, 2 },
		{ "one after the other",
		  { LOAD_GIVES(1), MATRIX_TAKES, LOAD_GIVES(1), VECTOR_TAKES }, false,
		  HEDDLE_VALIDATE_SEMAPHORE, 3 },
		{ "behind a barrier", { LOAD_GIVES(2), MATRIX_TAKES, BARRIER, VECTOR_TAKES },
		  false, HEDDLE_VALIDATE_OK, 0 },
		{ "two givers", { LOAD_GIVES(1), STORE_GIVES }, false,
		  HEDDLE_VALIDATE_SEMAPHORE, 1 },
		{ "two points", { LOAD_GIVES(1), LOAD_GIVES_LATER }, false,
		  HEDDLE_VALIDATE_SEMAPHORE, 1 },
		{ "another giver behind a barrier",
		  { LOAD_GIVES(1), MATRIX_TAKES, BARRIER, STORE_GIVES }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "no units", { LOAD_GIVES(1), VECTOR_OF_NONE, MATRIX_TAKES }, false,
		  HEDDLE_VALIDATE_OK, 0 },
	};

	validate_all(t, streams, ARRAY_SIZE(streams));
}

/* Each command adds to the bound; what no u64 holds is no small number. */
static void bounds_the_time_of_a_stream(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ .row = "nothing" },
		{ .row = "a byte", .commands = { { .name = "load" } } },
		{ .row = "64 KiB",
		  .commands = { { "load", { { "elem_log2", 4 }, { "n0", 4096 }, { "s0", 16 },
					    { "t0", 16 } } } } },
		{ .row = "a million micro-instructions",
		  .commands = { { "vrun", { { "body", 16 }, { "n_o1", 65535 } } } } },
		{ .row = "the longest loops",
		  .commands = { { "vrun", { { "body", 16 }, { "n_o1", 65535 },
					    { "n_o2", 65535 }, { "n_o3", 65535 },
					    { "n_r1", 65535 }, { "n_r2", 65535 } } } } },
	};
	static const u64 least[] = { 0, 1, 64 * 1024 / 16, 16 * 65535ULL, ~0ULL };
	struct heddle_validate_result result = { .offset = 0 };
	u64 before = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(streams); i++) {
		heddle_row(t, streams[i].row, i);
		validate(t, &streams[i], &result);
		HEDDLE_EXPECT(t, result.max_cycles > before);
		HEDDLE_EXPECT(t, result.max_cycles >= least[i]);
		before = result.max_cycles;
	}
	validate(t, &streams[1], &result);
	HEDDLE_EXPECT(t, result.max_cycles < 10000);
}

static void sees_negative_strides(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ "bytes -3 to 0",
		  { { "vrun", { { "enable_a", 1 }, { "lanes", 4 },
				{ "a_lane_stride", 0xffffff } } } }, false,
		  HEDDLE_VALIDATE_SRAM, 0 },
		{ "bytes 0 to 3",
		  { { "vrun", { { "enable_a", 1 }, { "lanes", 4 },
				{ "a_lane_stride", 0xffffff }, { "a_base", 3 } } } }, false,
		  HEDDLE_VALIDATE_OK, 0 },
	};

	validate_all(t, streams, ARRAY_SIZE(streams));
}

static void picks_reach_every_place_below_the_bound(struct heddle_test *t)
{
	static const struct stream streams[] = {
		{ "1 MiB of words",
		  { { "vrun", { { "enable_a", 1 }, { "pick_a", 1 }, { "a_type", 6 },
				{ "index_stride", 4 }, { "index_bound", 1 << 18 } } } }, false,
		  HEDDLE_VALIDATE_SRAM, 0 },
		{ "256 KiB of words",
		  { { "vrun", { { "enable_a", 1 }, { "pick_a", 1 }, { "a_type", 6 },
				{ "index_stride", 4 }, { "index_bound", 1 << 16 } } } }, false,
		  HEDDLE_VALIDATE_OK, 0 },
		{ "places that are not aligned",
		  { { "vrun", { { "enable_a", 1 }, { "pick_a", 1 }, { "a_type", 6 },
				{ "index_stride", 2 }, { "index_bound", 4 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "from nothing",
		  { { "vrun", { { "pick_a", 1 } } } }, false, HEDDLE_VALIDATE_RULE, 0 },
		{ "by two indices",
		  { { "vrun", { { "enable_a", 1 }, { "enable_c", 1 }, { "pick_a", 1 },
				{ "gather_a", 1 }, { "c_type", 3 } } } }, false,
		  HEDDLE_VALIDATE_RULE, 0 },
		{ "with a bound of 0 from nowhere",
		  { { "vrun", { { "enable_a", 1 }, { "pick_a", 1 },
				{ "a_base", 0xffffff } } } }, false, HEDDLE_VALIDATE_OK, 0 },
	};

	validate_all(t, streams, ARRAY_SIZE(streams));
}

static void compares_with_what_is_bound(struct heddle_test *t)
{
	static const struct {
		const char *row;
		u32 region;
		bool used;
		bool written;
		u64 size;
		u32 writable;
		int want;
	} rows[] = {
		{ "nothing is used", 5, false, false, 0, 0, 0 },
		{ "not bound", 5, true, false, 0, 0, -ERANGE },
		{ "too small", 5, true, false, 99, 0, -ERANGE },
		{ "large enough", 5, true, false, 100, 0, 0 },
		{ "another may be written", 5, true, true, 100, 1U << 4, -ERANGE },
		{ "may be written", 5, true, true, 100, 1U << 5, 0 },
		{ "the first, too small", 0, true, false, 99, 0, -ERANGE },
		{ "the last, too small", HEDDLE_REGIONS - 1, true, false, 99, 0, -ERANGE },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const u32 region = rows[i].region;
		struct heddle_validate_result result = { .offset = 0 };
		u64 sizes[HEDDLE_REGIONS] = { 0 };

		result.used = (u32)rows[i].used << region;
		result.written = (u32)rows[i].written << region;
		result.end[region] = 100;
		sizes[region] = rows[i].size;
		heddle_row(t, rows[i].row, i);
		HEDDLE_EXPECT_EQ(t, heddle_validate_binding(&result, sizes, rows[i].writable),
				 rows[i].want);
	}
}

static const struct heddle_isa_command *command_of(u32 opcode)
{
	return &heddle_isa_commands[heddle_isa_by_opcode[opcode] - 1];
}

/* Bounds and cycles are computed from the accessors of the first, for both. */
static void reads_two_instructions_with_the_same_fields(struct heddle_test *t)
{
	static const struct {
		const char *row;
		u32 one;
		u32 other;
		bool loops; /* only those are compared */
	} rows[] = {
		{ "load and store", HEDDLE_OP_LOAD, HEDDLE_OP_STORE, false },
		{ "load_gather and store_scatter", HEDDLE_OP_LOAD_GATHER,
		  HEDDLE_OP_STORE_SCATTER, false },
		{ "vrun and vmac: the loops", HEDDLE_OP_VRUN, HEDDLE_OP_VMAC, true },
	};
	u32 i, f, g;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct heddle_isa_command *one = command_of(rows[i].one);
		const struct heddle_isa_command *other = command_of(rows[i].other);
		u32 found = 0;

		heddle_row(t, rows[i].row, i);
		for (f = 0; f < one->num_fields; f++) {
			const struct heddle_isa_field *a = &one->fields[f];
			bool loop = same(a->name, "lanes") ||
				    (a->name[0] == 'n' && a->name[1] == '_');

			if (rows[i].loops && !loop)
				continue;
			found++;
			for (g = 0; g < other->num_fields; g++)
				if (same(a->name, other->fields[g].name))
					break;
			if (!HEDDLE_EXPECT(t, g < other->num_fields))
				return;
			HEDDLE_EXPECT_EQ(t, a->word, other->fields[g].word);
			HEDDLE_EXPECT_EQ(t, a->lsb, other->fields[g].lsb);
			HEDDLE_EXPECT_EQ(t, a->bits, other->fields[g].bits);
		}
		HEDDLE_EXPECT_EQ(t, found, rows[i].loops ? 7 : other->num_fields);
	}
}

const struct heddle_case heddle_validate_cases[] = {
	{ "accepts_the_shortest_stream", accepts_the_shortest_stream },
	{ "refuses_sizes_that_no_stream_has", refuses_sizes_that_no_stream_has },
	{ "judges_the_longest_stream_by_its_commands", judges_the_longest_stream_by_its_commands },
	{ "looks_at_no_more_than_it_is_told", looks_at_no_more_than_it_is_told },
	{ "knows_its_configurations", knows_its_configurations },
	{ "wants_one_end_at_the_end", wants_one_end_at_the_end },
	{ "refuses_a_command_cut_by_the_end", refuses_a_command_cut_by_the_end },
	{ "knows_every_opcode_and_no_other", knows_every_opcode_and_no_other },
	{ "refuses_wrong_lengths_and_reserved_bits", refuses_wrong_lengths_and_reserved_bits },
	{ "computes_extents_of_transfers", computes_extents_of_transfers },
	{ "a_region_is_not_its_neighbours_bits", a_region_is_not_its_neighbours_bits },
	{ "gathers_reach_every_row_below_the_bound", gathers_reach_every_row_below_the_bound },
	{ "picks_reach_every_place_below_the_bound", picks_reach_every_place_below_the_bound },
	{ "keeps_transfers_in_sram", keeps_transfers_in_sram },
	{ "checks_fields_and_rules_of_transfers", checks_fields_and_rules_of_transfers },
	{ "follows_semaphores_in_program_order", follows_semaphores_in_program_order },
	{ "checks_who_may_use_semaphores", checks_who_may_use_semaphores },
	{ "wants_one_giver_and_one_taker", wants_one_giver_and_one_taker },
	{ "bounds_the_time_of_a_stream", bounds_the_time_of_a_stream },
	{ "sees_negative_strides", sees_negative_strides },
	{ "compares_with_what_is_bound", compares_with_what_is_bound },
	{ "reads_two_instructions_with_the_same_fields",
	  reads_two_instructions_with_the_same_fields },
	{ }
};
