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

void heddle_mem_init(struct heddle_mem *mem, u64 total)
{
	mem->total = total;
	mem->used = 0;
	mem->first = NULL;
}

void heddle_mem_resize(struct heddle_mem *mem, u64 total)
{
	mem->total = total;
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

int heddle_mem_insert(struct heddle_mem *mem, struct heddle_mem_node *node, u64 size)
{
	struct heddle_mem_node *prev = NULL, *next = mem->first;
	u64 cursor = 0, bytes;
	int err;

	err = heddle_mem_round(size, &bytes);
	if (err)
		return err;
	if (bytes > heddle_mem_available(mem))
		return -ENOSPC;
	for (;;) {
		u64 limit = next && next->offset < mem->total ? next->offset : mem->total;

		if (limit >= cursor && limit - cursor >= bytes)
			break;
		if (!next)
			return -EAGAIN;
		cursor = next->offset + next->size;
		prev = next;
		next = next->next;
	}
	node->offset = cursor;
	node->size = bytes;
	link_after(mem, prev, node);
	mem->used += bytes;
	return 0;
}

void heddle_mem_remove(struct heddle_mem *mem, struct heddle_mem_node *node)
{
	if (!node->size)
		return;
	if (node->prev)
		node->prev->next = node->next;
	else
		mem->first = node->next;
	if (node->next)
		node->next->prev = node->prev;
	mem->used -= node->size;
	node->size = 0;
	node->prev = NULL;
	node->next = NULL;
}

int heddle_mem_plan(const struct heddle_mem *mem, u64 need, struct heddle_mem_move *moves, int max)
{
	struct heddle_mem_node *node;
	u64 cursor = 0;
	int count = 0;

	if (need > heddle_mem_available(mem))
		return -ENOSPC;
	/* A gap that is there already needs no move at all. */
	for (node = mem->first; ; node = node->next) {
		u64 limit = node && node->offset < mem->total ? node->offset : mem->total;

		if (limit >= cursor && limit - cursor >= need)
			return 0;
		if (!node)
			break;
		cursor = node->offset + node->size;
	}
	cursor = 0;
	for (node = mem->first; node && count < max; node = node->next) {
		if (node->offset >= cursor && node->offset - cursor >= need &&
		    cursor + need <= mem->total)
			break;
		if (node->offset != cursor) {
			moves[count].node = node;
			moves[count].from = node->offset;
			moves[count].to = cursor;
			moves[count].size = node->size;
			count++;
		}
		cursor += node->size;
	}
	return count;
}

void heddle_mem_apply(const struct heddle_mem_move *moves, int count)
{
	int i;

	for (i = 0; i < count; i++)
		moves[i].node->offset = moves[i].to;
}
