// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The card's description of a job: its steps, region tables and scatter lists, in
 * memory of its own. Device addresses are filled in when the job starts, because
 * they are not known before.
 *
 * A list is contiguous, but the pages of a buffer seldom are. So a copy with a long
 * list is split into several steps: as a rule no list is longer than a page.
 */
#include "heddle_drv.h"

#define HEDDLE_LIST_ENTRIES ((u32)(PAGE_SIZE / sizeof(struct heddle_sg_entry)))

/* Entries of the longest list, so that all of the job's @steps copies fit in one job. */
u32 heddle_list_entries(const u32 *entries, u32 steps, u32 *total)
{
	u32 most = HEDDLE_LIST_ENTRIES;
	u32 i;

	for (;; most *= 2) {
		*total = 0;
		for (i = 0; i < steps; i++)
			*total += max(DIV_ROUND_UP(entries[i], most), 1U);
		if (*total <= HEDDLE_STEPS_MAX)
			return most;
	}
}

/* Room for the steps. */
int heddle_steps_alloc(struct heddle_job *job, u32 steps)
{
	struct heddle_run *run = &job->run;

	run->step_of = job->step_of;
	run->steps = heddle_area_carve(job->dev, &job->area, steps * sizeof(*run->steps),
				       &run->steps_dma);
	return PTR_ERR_OR_ZERO(run->steps);
}

static void heddle_add_patch(struct heddle_job *job, __le64 *where, struct heddle_alloc *alloc,
			     u64 offset)
{
	struct heddle_patch *patch = &job->run.patches[job->run.num_patches++];

	patch->where = where;
	patch->alloc = alloc;
	patch->offset = offset;
	kref_get(&alloc->ref);
}

/* The next step, which belongs to step @index of the submission. */
static struct heddle_step *heddle_add_step(struct heddle_job *job, u32 index, u32 type,
					   struct heddle_alloc *alloc, u64 offset, u64 length)
{
	struct heddle_step *hw = &job->run.steps[job->run.num_steps];

	job->step_of[job->run.num_steps++] = index;
	hw->type = cpu_to_le32(type);
	hw->length = cpu_to_le64(length);
	heddle_add_patch(job, &hw->device_address, alloc, offset);
	return hw;
}

static int heddle_add_list(struct heddle_job *job, struct heddle_step *hw, struct heddle_bo *host,
			   u64 offset, u64 *length, u32 most)
{
	struct heddle_sg_entry *list;
	dma_addr_t dma;
	u32 count;

	count = heddle_host_entries(host, offset, length, NULL, most);
	list = heddle_area_carve(job->dev, &job->area, count * sizeof(*list), &dma);
	if (IS_ERR(list))
		return PTR_ERR(list);
	heddle_host_entries(host, offset, length, list, most);
	hw->sg_count = cpu_to_le32(count);
	hw->table_iova = cpu_to_le64(dma);
	hw->length = cpu_to_le64(*length);
	return 0;
}

/* Step @index of the submission: a copy between @host and @alloc, in lists of @most entries. */
int heddle_write_copy(struct heddle_job *job, u32 index, const struct heddle_host_range *host,
		      struct heddle_alloc *alloc, u64 offset, u32 most)
{
	u32 type = host->out ? HEDDLE_STEP_TYPE_COPY_OUT : HEDDLE_STEP_TYPE_COPY_IN;
	u64 done = 0;
	u64 length;
	int err;

	job->hosts[job->num_hosts++] = *host;
	drm_gem_object_get(&host->bo->shmem.base);
	for (; done < host->length; done += length) {
		length = host->length - done;
		err = heddle_add_list(job, heddle_add_step(job, index, type, alloc, offset + done,
							   length),
				      host->bo, host->offset + done, &length, most);
		if (err)
			return err;
		cond_resched();
	}
	return 0;
}

/* Step @index of the submission: @in fills a part of @alloc. */
void heddle_write_fill(struct heddle_job *job, u32 index, struct heddle_alloc *alloc,
		       const struct drm_heddle_step *in)
{
	heddle_add_step(job, index, HEDDLE_STEP_TYPE_FILL, alloc, in->dst_offset,
			in->length)->fill_value = cpu_to_le32(in->fill_value);
}

static int heddle_write_run(struct heddle_job *job, u32 index,
			    const struct heddle_bound_step *step)
{
	struct heddle_stream *stream = step->stream;
	struct heddle_step *hw = heddle_add_step(job, index, HEDDLE_STEP_TYPE_RUN, stream->alloc,
						 0, stream->bytes);
	struct heddle_region *table, *region;
	dma_addr_t dma;
	u32 i;

	table = heddle_area_carve(job->dev, &job->area, HEDDLE_REGIONS * sizeof(*table), &dma);
	if (IS_ERR(table))
		return PTR_ERR(table);
	hw->table_iova = cpu_to_le64(dma);
	job->run.uses_sram = true;
	for (i = 0; i < step->regions; i++) {
		const struct drm_heddle_region *in = &step->region[i].in;

		region = &table[in->index];
		region->size = cpu_to_le64(in->size);
		if (in->flags & DRM_HEDDLE_REGION_WRITE)
			region->flags = cpu_to_le32(HEDDLE_REGION_FLAGS_WRITABLE_MASK);
		heddle_add_patch(job, &region->base, step->region[i].bo->alloc, in->offset);
	}
	return 0;
}

/* Step @index of the submission, its copies from and to the host in lists of @most entries. */
int heddle_write_step(struct heddle_job *job, u32 index, const struct heddle_bound_step *step,
		      u32 most)
{
	const struct drm_heddle_step *in = &step->in;
	struct heddle_step *hw;

	if (in->type == DRM_HEDDLE_RUN)
		return heddle_write_run(job, index, step);
	if (step->host.bo)
		return heddle_write_copy(job, index, &step->host,
					 (step->host.out ? step->src : step->dst)->alloc,
					 step->host.out ? in->src_offset : in->dst_offset, most);
	if (in->type == DRM_HEDDLE_FILL) {
		heddle_write_fill(job, index, step->dst->alloc, in);
		return 0;
	}
	hw = heddle_add_step(job, index, HEDDLE_STEP_TYPE_COPY, step->src->alloc, in->src_offset,
			     in->length);
	heddle_add_patch(job, &hw->destination, step->dst->alloc, in->dst_offset);
	return 0;
}
