// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Device memory policy; see heddle_mem.h. */
#include "heddle_mem.h"

#include <linux/errno.h>
#include <linux/overflow.h>

#include "heddle_hw.h"

int heddle_mem_total(u64 card_bytes, u64 *total)
{
	if (card_bytes <= HEDDLE_DEVICE_RESERVE_BYTES || card_bytes > HEDDLE_DRAM_BYTES_MAX)
		return -ERANGE;
	*total = (card_bytes - HEDDLE_DEVICE_RESERVE_BYTES) & ~((u64)HEDDLE_PAGE_BYTES - 1);
	return 0;
}

u64 heddle_mem_available(const struct heddle_mem *mem)
{
	return mem->total > mem->used ? mem->total - mem->used : 0;
}

int heddle_mem_round(u64 size, u64 *rounded)
{
	u64 up;

	if (!size)
		return -EINVAL;
	if (check_add_overflow(size, (u64)HEDDLE_PAGE_BYTES - 1, &up))
		return -ENOSPC;
	*rounded = up & ~((u64)HEDDLE_PAGE_BYTES - 1);
	return 0;
}

static void link_after(struct heddle_mem *mem, struct heddle_mem_node *prev,
		       struct heddle_mem_node *node)
{
	node->prev = prev;
	node->next = prev ? prev->next : mem->first;
	if (node->next)
		node->next->prev = node;
	if (prev)
		prev->next = node;
	else
		mem->first = node;
}

static u64 end_of(const struct heddle_mem_node *node)
{
	return node ? node->offset + node->size : 0;
}

/* The end of the gap that begins at @start, with @next behind it. */
static u64 gap_end(const struct heddle_mem *mem, const struct heddle_mem_node *next)
{
	return next && next->offset < mem->total ? next->offset : mem->total;
}

/* Whether @bytes may be placed at @start, in the gap before @next. */
static bool may_place(const struct heddle_mem *mem, u64 start, u64 bytes,
		      const struct heddle_mem_node *next)
{
	u64 end = gap_end(mem, next);

	if (mem->compacting && start < mem->low && end > mem->low)
		end = mem->low;
	if (end < start || end - start < bytes)
		return false;
	if (!mem->compacting || start < mem->low)
		return true;
	return mem->next && start > mem->next->offset && bytes <= mem->spare;
}

/* The node below the first gap that takes @bytes. False: there is no such gap. */
static bool find_gap(struct heddle_mem *mem, u64 bytes, struct heddle_mem_node **below)
{
	struct heddle_mem_node *prev = mem->packed;
	struct heddle_mem_node *next = prev ? prev->next : mem->first;

	for (;;) {
		mem->visited++;
		if (may_place(mem, end_of(prev), bytes, next))
			break;
		if (!next)
			return false;
		if (mem->packed == prev && next->offset == end_of(prev))
			mem->packed = next;
		prev = next;
		next = next->next;
	}
	*below = prev;
	return true;
}

int heddle_mem_insert(struct heddle_mem *mem, struct heddle_mem_node *node, u64 size)
{
	struct heddle_mem_node *prev;
	u64 bytes;
	int err;

	err = heddle_mem_round(size, &bytes);
	if (err)
		return err;
	if (bytes > heddle_mem_available(mem))
		return -ENOSPC;
	if (!find_gap(mem, bytes, &prev))
		return -EAGAIN;
	node->offset = end_of(prev);
	node->size = bytes;
	link_after(mem, prev, node);
	mem->used += bytes;
	if (mem->compacting && node->offset >= mem->low)
		mem->spare -= bytes;
	return 0;
}

void heddle_mem_remove(struct heddle_mem *mem, struct heddle_mem_node *node)
{
	int i;

	if (!node->size)
		return;
	if (mem->packed && node->offset <= mem->packed->offset)
		mem->packed = node->prev;
	if (mem->next == node)
		mem->next = node->next;
	for (i = 0; i < mem->count; i++)
		if (mem->moves[i].node == node)
			mem->moves[i].node = NULL;
	if (node->prev)
		node->prev->next = node->next;
	else
		mem->first = node->next;
	if (node->next)
		node->next->prev = node->prev;
	mem->used -= node->size;
	*node = (struct heddle_mem_node){ .size = 0 };
}

/* Whether moves are needed for a gap of @need bytes; they begin above what is packed. */
static int begin(struct heddle_mem *mem, u64 need)
{
	struct heddle_mem_node *below;

	if (need > heddle_mem_available(mem))
		return -ENOSPC;
	if (find_gap(mem, need, &below))
		return 0;
	mem->compacting = true;
	mem->need = need;
	mem->cursor = end_of(mem->packed);
	mem->low = mem->cursor;
	mem->next = mem->packed ? mem->packed->next : mem->first;
	mem->spare = heddle_mem_available(mem) - need;
	return 1;
}

int heddle_mem_plan(struct heddle_mem *mem, u64 need, struct heddle_mem_move *moves, int max)
{
	int count = 0;

	if (!mem->compacting) {
		int err = begin(mem, need);

		if (err <= 0)
			return err;
	}
	while (mem->next && count < max) {
		struct heddle_mem_node *node = mem->next;
		u64 end = gap_end(mem, node);

		mem->visited++;
		if (end >= mem->cursor && end - mem->cursor >= mem->need)
			break;
		if (node->offset != mem->cursor) {
			moves[count++] = (struct heddle_mem_move){
				.node = node,
				.from = node->offset,
				.to = mem->cursor,
				.size = node->size,
			};
		}
		mem->cursor += node->size;
		mem->next = node->next;
	}
	mem->moves = moves;
	mem->count = count;
	if (!count)
		heddle_mem_settle(mem);
	return count;
}

void heddle_mem_apply(struct heddle_mem *mem)
{
	int i;

	for (i = 0; i < mem->count; i++)
		if (mem->moves[i].node)
			mem->moves[i].node->offset = mem->moves[i].to;
	mem->count = 0;
	mem->low = mem->cursor;
}

void heddle_mem_settle(struct heddle_mem *mem)
{
	mem->compacting = false;
	mem->next = NULL;
	mem->count = 0;
}
