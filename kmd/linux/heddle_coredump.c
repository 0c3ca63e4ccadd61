// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * What is known when a job hangs, as text in /sys/class/devcoredump: registers,
 * jobs with the card and their steps, newest completion record, device memory.
 * No buffer contents: they belong to users.
 */
#include <linux/devcoredump.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "heddle_drv.h"

#define HEDDLE_DUMP_BYTES (64 * 1024)

struct heddle_dump {
	char *text;
	size_t used;
};

static __printf(2, 3) void heddle_dump(struct heddle_dump *dump, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	dump->used += vscnprintf(dump->text + dump->used, HEDDLE_DUMP_BYTES - dump->used, format,
				 args);
	va_end(args);
}

static void heddle_dump_registers(struct heddle_device *dev, struct heddle_dump *dump)
{
	static const struct {
		const char *name;
		u32 offset;
	} registers[] = {
		{ "STATUS", HEDDLE_REG_STATUS },
		{ "PROGRESS", HEDDLE_REG_PROGRESS },
		{ "RUNNING_LO", HEDDLE_REG_RUNNING_LO },
		{ "RUNNING_HI", HEDDLE_REG_RUNNING_HI },
		{ "INT_STATUS", HEDDLE_REG_INT_STATUS },
		{ "INT_ENABLE", HEDDLE_REG_INT_ENABLE },
		{ "DEVICE_ERROR", HEDDLE_REG_DEVICE_ERROR },
		{ "COMPLETION_TAIL", HEDDLE_REG_COMPLETION_TAIL },
		{ "RING_HEAD", HEDDLE_REG_RING_HEAD(0) },
		{ "RING_TAIL", HEDDLE_REG_RING_TAIL(0) },
		{ "COUNTER_JOBS", HEDDLE_REG_COUNTER_JOBS },
		{ "COUNTER_FAULTS", HEDDLE_REG_COUNTER_FAULTS },
		{ "COUNTER_RESETS", HEDDLE_REG_COUNTER_RESETS },
	};
	int i;

	heddle_dump(dump, "[registers]\n");
	for (i = 0; i < ARRAY_SIZE(registers); i++)
		heddle_dump(dump, "%s = %#x\n", registers[i].name,
			    heddle_read(dev, registers[i].offset));
}

static void heddle_dump_jobs(struct heddle_device *dev, struct heddle_dump *dump)
{
	struct heddle_run *run;
	unsigned long flags;

	heddle_dump(dump, "[jobs]\n");
	spin_lock_irqsave(&dev->lock, flags);
	list_for_each_entry(run, &dev->in_flight, link)
		heddle_dump(dump,
			    "fence %llu%s, client %llu, seqno %llu, %u steps at %pad, %llu ms\n",
			    run->id, run == dev->guilty ? " (guilty)" : "", run->client,
			    run->seqno, run->num_steps, &run->steps_dma,
			    div_u64(ktime_get_ns() - run->start_ns, NSEC_PER_MSEC));
	heddle_dump(dump, "next completion = %u, ring head = %u, ring tail = %u\n",
		    dev->completions.next, dev->ring.head, dev->ring.tail);
	spin_unlock_irqrestore(&dev->lock, flags);
}

void heddle_coredump(struct heddle_device *dev, const char *why)
{
	struct heddle_dump dump = { .text = vzalloc(HEDDLE_DUMP_BYTES) };

	if (!dump.text)
		return;
	heddle_dump(&dump, "heddle coredump 1\nreason = %s\ncard = %llx\nconfig = %s\n"
		    "hw_version = %#x\ncore_kind = %u\n", why, dev->info.unique, dev->config->name,
		    dev->info.hw_version, dev->info.core_kind);
	heddle_dump_registers(dev, &dump);
	heddle_dump_jobs(dev, &dump);
	heddle_dump(&dump, "[memory]\ntotal = %llu\nused = %llu\ngeneration = %llu\n",
		    dev->mem.total, dev->mem.used, dev->mem_generation);
	dev_coredumpv(dev->drm.dev, dump.text, dump.used, GFP_KERNEL); /* takes the text */
}
