// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * State of the card when a job hangs, as text in /sys/class/devcoredump: registers,
 * jobs on the card, the steps of the hanging one, newest completion record, device
 * memory. No buffer contents: they belong to users.
 *
 * heddle_coredump_take() collects this before the job is aborted, without
 * allocating; heddle_coredump_write() formats it in a work item.
 */
#include <linux/devcoredump.h>
#include <linux/math64.h>
#include <linux/vmalloc.h>

#include <drm/drm_managed.h>

#include "heddle_drv.h"

#define HEDDLE_DUMP_BYTES	(64 * 1024)
/* Dumps and warnings that clients can cause. */
#define HEDDLE_LIMIT_TIME	(10 * 60 * HZ)
#define HEDDLE_LIMIT_COUNT	10

static const struct {
	const char *name;
	u32 offset;
} heddle_registers[] = {
#define NAMED(name) { #name, HEDDLE_REG_##name }
	NAMED(STATUS), NAMED(PROGRESS), NAMED(RUNNING_LO), NAMED(RUNNING_HI),
	NAMED(INT_STATUS), NAMED(INT_ENABLE), NAMED(DEVICE_ERROR), NAMED(COMPLETION_TAIL),
	{ "RING_HEAD", HEDDLE_REG_RING_HEAD(0) }, { "RING_TAIL", HEDDLE_REG_RING_TAIL(0) },
	NAMED(COUNTER_JOBS), NAMED(COUNTER_FAULTS), NAMED(COUNTER_RESETS),
};

struct heddle_snapshot {
	u64 time_ns;
	u32 registers[ARRAY_SIZE(heddle_registers)];
	u64 guilty;
	u32 num_jobs;
	struct heddle_run jobs[HEDDLE_RING_ENTRIES]; /* what their pointers name may be gone */
	struct heddle_step steps[HEDDLE_STEPS_MAX]; /* of the guilty one */
	u32 num_steps;
	struct heddle_completion_ring completions;
	struct heddle_ring ring;
	struct heddle_completion record; /* the newest */
};

static void heddle_dump_jobs(const struct heddle_snapshot *s, struct drm_printer *dump)
{
	u32 i;

	drm_printf(dump, "[jobs]\n");
	for (i = 0; i < s->num_jobs; i++) {
		const struct heddle_run *job = &s->jobs[i];

		drm_printf(dump,
			   "fence %llu%s, client %llu, seqno %llu, %u steps at %pad, %llu ms\n",
			   job->id, job->id == s->guilty ? " (guilty)" : "", job->client,
			   job->seqno, job->num_steps, &job->steps_dma,
			   div_u64(s->time_ns - job->start_ns, NSEC_PER_MSEC));
	}
	drm_printf(dump, "next completion = %u, ring head = %u, ring tail = %u\n",
		   s->completions.next, s->ring.head, s->ring.tail);
	drm_printf(dump, "[steps of the guilty job]\n");
	for (i = 0; i < s->num_steps; i++) {
		const struct heddle_step *step = &s->steps[i];

		drm_printf(dump,
			   "%u: type %u, device %#llx, destination %#llx, length %llu, ", i,
			   le32_to_cpu(step->type), le64_to_cpu(step->device_address),
			   le64_to_cpu(step->destination), le64_to_cpu(step->length));
		drm_printf(dump, "table %#llx, %u entries, fill %#x, flags %#x\n",
			   le64_to_cpu(step->table_iova), le32_to_cpu(step->sg_count),
			   le32_to_cpu(step->fill_value), le32_to_cpu(step->flags));
	}
}

static void heddle_dump_record(const struct heddle_completion *r, struct drm_printer *dump)
{
	drm_printf(dump, "[newest completion record]\n"
		   "sequence %u, fence %llu, status %u, step %u, offset %u, tag %u, ",
		   le32_to_cpu(r->sequence), le64_to_cpu(r->fence), le32_to_cpu(r->status),
		   le32_to_cpu(r->fault_step), le32_to_cpu(r->fault_offset),
		   le32_to_cpu(r->fault_tag));
	drm_printf(dump, "region %u, address %#llx\ncycles %llu, commands %llu, copied %llu\n",
		   le32_to_cpu(r->fault_region), le64_to_cpu(r->fault_address),
		   le64_to_cpu(r->cycles), le64_to_cpu(r->commands),
		   le64_to_cpu(r->bytes_copied));
}

int heddle_coredump_init(struct heddle_device *dev)
{
	ratelimit_state_init(&dev->dumps, HEDDLE_LIMIT_TIME, HEDDLE_LIMIT_COUNT);
	ratelimit_set_flags(&dev->dumps, RATELIMIT_MSG_ON_RELEASE);
	ratelimit_state_init(&dev->warnings, HEDDLE_LIMIT_TIME, HEDDLE_LIMIT_COUNT);
	dev->snapshot = drmm_kzalloc(&dev->drm, sizeof(*dev->snapshot), GFP_KERNEL);
	return dev->snapshot ? 0 : -ENOMEM;
}

/* dev->guilty hangs. Only the watchdog calls this. */
void heddle_coredump_take(struct heddle_device *dev)
{
	struct heddle_snapshot *s = dev->snapshot;
	struct heddle_run *run;
	u32 i;

	/* The writer has read what the next look overwrites. */
	if (smp_load_acquire(&dev->snapshot_taken) || !__ratelimit(&dev->dumps))
		return;
	memset(s, 0, sizeof(*s));
	for (i = 0; i < ARRAY_SIZE(heddle_registers); i++)
		s->registers[i] = heddle_read(dev, heddle_registers[i].offset);
	s->time_ns = ktime_get_ns();
	scoped_guard(heddle_lock, &dev->lock) {
		list_for_each_entry(run, &dev->in_flight, link) {
			if (run == dev->guilty) {
				s->guilty = run->id;
				s->num_steps = run->num_steps;
				memcpy(s->steps, run->steps, run->num_steps * sizeof(*s->steps));
			}
			s->jobs[s->num_jobs++] = *run;
		}
		s->completions = dev->completions;
		s->ring = dev->ring;
		s->record = dev->rings->records[(dev->completions.next - 2) % HEDDLE_RECORDS];
	}
	/* The writer sees all of it. */
	smp_store_release(&dev->snapshot_taken, true);
}

void heddle_coredump_write(struct heddle_device *dev)
{
	const struct heddle_snapshot *s = dev->snapshot;
	struct drm_print_iterator text = { .remain = HEDDLE_DUMP_BYTES };
	struct drm_printer dump;
	u32 i;

	/* Pairs with the end of heddle_coredump_take(). */
	if (!smp_load_acquire(&dev->snapshot_taken))
		return;
	text.data = vzalloc(HEDDLE_DUMP_BYTES);
	if (!text.data)
		goto free;
	dump = drm_coredump_printer(&text);
	drm_printf(&dump, "heddle coredump 1\nreason = hang\nserial = %llu\nconfig = %s\n"
		   "hw_version = %#x\ncore_kind = %u\n", dev->info.unique, dev->config->name,
		   dev->info.hw_version, dev->info.core_kind);
	drm_printf(&dump, "[registers]\n");
	for (i = 0; i < ARRAY_SIZE(heddle_registers); i++)
		drm_printf(&dump, "%s = %#x\n", heddle_registers[i].name, s->registers[i]);
	heddle_dump_jobs(s, &dump);
	heddle_dump_record(&s->record, &dump);
	scoped_guard(mutex, &dev->mem_lock)
		drm_printf(&dump, "[memory]\ntotal = %llu\nused = %llu\ngeneration = %llu\n",
			   dev->mem.total, dev->mem.used, dev->mem_generation);
	dev_coredumpv(dev->drm.dev, text.data, text.offset, GFP_KERNEL); /* takes the text */
free:
	/* Pairs with the beginning of heddle_coredump_take(). */
	smp_store_release(&dev->snapshot_taken, false);
}
