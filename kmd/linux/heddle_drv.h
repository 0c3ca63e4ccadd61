/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Internal types of the kernel driver, and the functions that each source file exports.
 *
 * Decisions (argument checks, validation, memory policy, state tables) are in
 * kmd/core; the files here take the locks, ask core, and do what it says.
 *
 * Locks, outermost first:
 *   heddle_device.files_lock  the list of files, their tables of contexts
 *   heddle_context.lock   order of submission, the table of outcomes
 *   heddle_device.mem_lock   device memory: nodes, their addresses, who waits for room
 *   heddle_device.map_lock   making HOST buffers reachable for the card
 *   heddle_device.host_lock  the lists of what the card can reach in system memory
 *   heddle_device.lock    (irq-safe) the card: rings, jobs in flight, state, counters
 *   heddle_file.lock      a file's queue of events, what it uses
 *
 * What signals fences (heddle_signal_wq, the scheduler's callbacks, interrupts) takes
 * no mutex and allocates nothing: memory may become free only by what waits for it.
 * The debug kernel's lockdep checks that, by dma_fence_begin_signalling(). What may
 * allocate and sleep (dumps, events, freeing jobs) is work of heddle_report_wq.
 */
#ifndef HEDDLE_DRV_H
#define HEDDLE_DRV_H

#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/kfifo.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pm_runtime.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <drm/drm_device.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/gpu_scheduler.h>
#include <drm/heddle_drm.h>

#include "heddle_compat.h"
#include "heddle_cycles.h"
#include "heddle_fair.h"
#include "heddle_hw.h"
#include "heddle_isa_fields.h"
#include "heddle_job.h"
#include "heddle_limits.h"
#include "heddle_mem.h"
#include "heddle_refuse.h"
#include "heddle_ring.h"
#include "heddle_sched.h"
#include "heddle_state.h"
#include "heddle_validate.h"

#define HEDDLE_RING_ENTRIES	16
#define HEDDLE_RECORDS		64
#define HEDDLE_EVENTS_KEPT	256
#define HEDDLE_RESULTS_KEPT	1024
#define HEDDLE_JOBS_QUEUED_MAX	256
#define HEDDLE_REPORTS_KEPT	16
#define HEDDLE_BUSY_MS		50

struct heddle_device;

/* One interrupt vector: all of a card with MSI-X, the only one otherwise. */
struct heddle_vector {
	struct heddle_device *dev;
	u32 bits; /* of INT_STATUS; 0 = ask the card */
	int irq;
};

/*
 * The scheduler, apart from the card: DRM's fences point to it, and user space may
 * keep them (as a sync_file) when the card has long been removed.
 */
struct heddle_scheduler {
	struct kref ref;
	struct drm_gpu_scheduler base;
};

/* Something to be told to all files. */
struct heddle_report {
	u32 type; /* enum drm_heddle_event_type */
	u32 context;
	u64 client;
	u64 value;
};

/* Memory of the driver's and the card's, as long as the driver is bound. */
struct heddle_rings {
	struct heddle_completion records[HEDDLE_RECORDS];
	struct heddle_job_descriptor descriptors[HEDDLE_RING_ENTRIES];
};

/* What a run of the driver's own needs: room for its steps and lists, and how it ends. */
struct heddle_own {
	struct heddle_area *area;
	struct heddle_outcome *outcome;
};

/* A card, from probe to the last reference to its DRM device. */
struct heddle_device {
	struct drm_device drm;
	void __iomem *regs; /* NULL: null_hw, there is no card */
	const struct heddle_config *config;
	struct drm_heddle_device_info info;
	u64 timeout_ns;
	struct drm_heddle_limits limits;

	struct heddle_vector vectors[HEDDLE_INTERRUPT_VECTORS];
	u32 num_vectors;
	bool vectors_lost; /* the card's reset cleared them; memory_work restores them */

	struct heddle_scheduler *sched;
	struct drm_sched_entity own; /* jobs that make memory ready for use */
	atomic_t entities;	     /* of contexts, not yet finished */
	struct mutex own_lock;	     /* order of the driver's own jobs */
	bool own_closed;	     /* under own_lock: no more of them */
	struct heddle_job *stands_in; /* of own: see heddle_replace_last() */
	atomic_t started;	     /* jobs that run_job() saw and free_job() did not */
	atomic64_t ended;	     /* jobs whose fences have signalled, and */
	atomic64_t freed;	     /* those of them that are freed */

	struct mutex mem_lock;
	struct heddle_mem mem;
	u64 mem_generation;
	struct list_head waiters; /* for room, under mem_lock */
	struct delayed_work compact_work;
	bool asleep; /* from the system's going to sleep until it is awake; then also: */
	struct heddle_own sleep_own;
	struct list_head saved;

	struct mutex map_lock;
	struct mutex host_lock;
	struct list_head mapped; /* HOST buffers with DMA addresses */
	struct list_head areas;
	bool host_closed; /* nothing may be mapped for the card any more */

	spinlock_t lock;
	enum heddle_device_state state;
	bool hold; /* compaction, sleep: no job may start */
	struct heddle_rings *rings;
	dma_addr_t rings_dma;
	struct heddle_ring ring;
	struct heddle_completion_ring completions;
	struct list_head in_flight; /* heddle_run.link, in the order given */
	u64 next_fence;
	u64 sram_owner; /* see heddle_sram_take() */
	struct heddle_fair fair;
	struct list_head active;  /* files that want the card, or may soon: heddle_file.active */
	struct list_head resting; /* files with jobs that wait for their share */
	struct hrtimer rest_timer;
	struct heddle_watch watch;
	u64 watched_fence; /* since the card's cycles were watched_cycles */
	u64 watched_cycles;
	struct heddle_run *guilty; /* only compared while a job is being ended */
	bool guilty_ended;
	enum heddle_job_event guilty_event; /* HANG or CANCEL */
	bool card_reset; /* the engine's reset did not help */
	u64 deadline_ns;
	bool ready_seen;
	struct heddle_report guilty_report;
	struct drm_heddle_counters counters;
	u64 last_end_ns;

	wait_queue_head_t idle; /* in_flight, hold, state, entities, started or freed */
	struct delayed_work watch_work; /* of heddle_signal_wq; the others of heddle_report_wq */
	struct work_struct memory_work;
	struct work_struct report_work;
	DECLARE_KFIFO(reports, struct heddle_report, HEDDLE_REPORTS_KEPT);
	struct heddle_snapshot *snapshot; /* of a hang, for the dump */
	bool snapshot_taken; /* the report has not used it yet */
	struct ratelimit_state dumps;
	struct ratelimit_state warnings; /* of what clients can cause */

	struct mutex files_lock;
	struct list_head files;
	bool told_gone; /* every file has the event */
};

static inline struct heddle_device *to_heddle(struct drm_device *drm)
{
	return container_of(drm, struct heddle_device, drm);
}

/*
 * guard(heddle_lock)(&dev->lock): the kernel's guard(spinlock_irqsave), but sparse, which
 * does not see that a guard gives the lock back, is told that it is not held.
 */
DEFINE_LOCK_GUARD_1(heddle_lock, spinlock_t,
		    ({
			spin_lock_irqsave(_T->lock, _T->flags);
			__release(_T->lock);
		    }),
		    ({
			__acquire(_T->lock);
			spin_unlock_irqrestore(_T->lock, _T->flags);
		    }),
		    unsigned long flags)

/* guard(heddle_signalling)(): fences wait for the rest of the block. */
DEFINE_LOCK_GUARD_0(heddle_signalling, _T->cookie = dma_fence_begin_signalling(),
		    dma_fence_end_signalling(_T->cookie), bool cookie)

/* drm_dev_enter(), or -ENODEV. */
static inline int heddle_enter(struct heddle_device *dev)
{
	int idx;

	return drm_dev_enter(&dev->drm, &idx) ? idx : -ENODEV;
}

/*
 * CLASS(heddle_presence, present)(dev): what of the card is taken back at its removal stays
 * until the end of the block. present < 0: it has been.
 */
DEFINE_CLASS(heddle_presence, int, _T < 0 ? (void)0 : drm_dev_exit(_T), heddle_enter(dev),
	     struct heddle_device *dev)

/* Registers are read and written through these three. */
static inline u32 heddle_read(struct heddle_device *dev, u32 reg)
{
	return readl(dev->regs + reg);
}

/* A value that the card may change between the reads; ~0 if it never stands still. */
static inline u64 heddle_read64(struct heddle_device *dev, u32 lo, u32 hi)
{
	u32 high = heddle_read(dev, hi);
	int tries;

	for (tries = 0; tries < 8; tries++) {
		u32 low = heddle_read(dev, lo);
		u32 again = heddle_read(dev, hi);

		if (again == high)
			return low | (u64)high << 32;
		high = again;
	}
	return ~0ULL;
}

static inline void heddle_write(struct heddle_device *dev, u32 reg, u32 value)
{
	writel(value, dev->regs + reg);
}

static inline bool heddle_gone(struct heddle_device *dev)
{
	return heddle_device_gone(READ_ONCE(dev->state));
}

/* Moves the state on, as kmd/core has it. Holds dev->lock; others look without it. */
static inline int heddle_step(struct heddle_device *dev, enum heddle_device_event event)
{
	enum heddle_device_state state = dev->state;
	int err = heddle_device_step(&state, event);

	lockdep_assert_held(&dev->lock);
	WRITE_ONCE(dev->state, state);
	return err;
}

/*
 * A piece of device memory: a DEVICE buffer's or a stream's. Jobs that use it
 * keep it alive. The first of them has it made ready: zero, or the stream.
 */
struct heddle_alloc {
	struct kref ref;
	struct heddle_device *dev;
	struct heddle_mem_node node;
	struct heddle_bo *staging; /* a stream's words, until they are on the card */
	u32 staged_bytes;
	struct dma_fence *ready; /* under own_lock: signals when it has been tried */
	bool prepared;
};

/* Memory that the card reads, a piece of some pages: steps, tables and lists. */
struct heddle_area {
	struct heddle_area *next; /* of the same job */
	struct list_head link;
	void *cpu; /* NULL: taken back at removal */
	dma_addr_t dma;
	size_t size;
	size_t used;
};

/* A GEM object. HOST uses all of @shmem, DEVICE only shmem.base. */
struct heddle_bo {
	struct drm_gem_shmem_object shmem;
	u32 placement;
	struct heddle_alloc *alloc;  /* DEVICE */
	struct list_head mapped;     /* HOST: in heddle_device.mapped */
	struct sg_table *sgt;	     /* HOST: the card's addresses, or NULL */
	bool pinned;
	struct heddle_file *pinned_by; /* HOST: whose limit its pages count for, or NULL */
	bool needs_sync; /* card and processor do not see each other's writes by themselves */
};

static inline struct heddle_bo *to_heddle_bo(struct drm_gem_object *obj)
{
	return container_of(to_drm_gem_shmem_obj(obj), struct heddle_bo, shmem);
}

static inline void heddle_bo_put(struct heddle_bo *bo)
{
	if (bo)
		drm_gem_object_put(&bo->shmem.base);
}
DEFINE_FREE(heddle_bo, struct heddle_bo *, heddle_bo_put(_T))

struct heddle_stream {
	struct kref ref;
	struct heddle_alloc *alloc;
	u32 bytes;
	struct heddle_validate_result facts;
};

struct heddle_file {
	struct heddle_device *dev;
	struct list_head link; /* in heddle_device.files */
	u64 client;
	struct xarray contexts;
	struct xarray streams;
	u32 next_context;
	u32 next_stream;
	atomic64_t host_bytes;
	atomic64_t busy_ns;
	struct drm_heddle_counters counters; /* under heddle_device.lock: of its own jobs */
	struct kref ref; /* contexts keep it for the sums above */

	struct heddle_fair_client fair; /* this and the next four under heddle_device.lock */
	bool rival;		 /* it was one when they were counted last */
	struct list_head active; /* in heddle_device.active */
	struct list_head rests;  /* heddle_fence.rest, the longest waiting first */
	struct list_head resting; /* in heddle_device.resting */

	spinlock_t lock;
	struct heddle_usage usage;
	wait_queue_head_t wq;
	DECLARE_KFIFO_PTR(events, struct drm_heddle_event);
	u32 lost_events;
};

static inline u64 heddle_file_used(const struct heddle_file *file, enum heddle_resource what)
{
	return READ_ONCE(file->usage.used[what]);
}

struct heddle_context {
	struct kref ref;
	struct rcu_head rcu;
	struct heddle_file *file;
	u32 id;
	struct drm_sched_entity entity;
	spinlock_t settle_lock;
	struct heddle_job *stands_in; /* see heddle_replace_last() */
	bool settled; /* under settle_lock: dead, and it waits for no fence that signals */
	bool dead; /* under lock and heddle_device.lock: takes no jobs, its entity is finished */
	u64 run_cycles; /* of jobs submitted from now on */
	u32 hangs;	/* under heddle_device.lock */
	struct mutex lock;
	struct xarray outcomes; /* by seqno */
	u64 next_seqno;
	u64 oldest;
	atomic_t unfinished;
	wait_queue_head_t wq;
};

/* Commands of a job, in memory of the driver's that the card writes: heddle_cmdtrace.c. */
struct heddle_cmdtrace {
	struct heddle_area *area;
	struct heddle_file *file; /* whose limit its bytes count for, or NULL */
	u32 entries;
	u32 count; /* as the card says: with those for which there was no room */
	u8 step_of[HEDDLE_STEPS_MAX];
};

/* How a job ended; outlives the job, because WAIT asks for it. */
struct heddle_outcome {
	struct kref ref;
	bool ended; /* by heddle_outcome_end(): the result stands */
	bool wants; /* under heddle_device.lock: counted in its file's fair share */
	enum heddle_job_state state;
	struct drm_heddle_result result;
	struct dma_fence *finished; /* the scheduler's */
	struct dma_fence_cb cb;
	struct heddle_device *dev;
	struct heddle_context *context; /* until finished; NULL: the driver's own */
	u32 cause; /* why it never ran, a status code */
	struct heddle_cmdtrace *trace; /* NULL: none is wanted */
};

static inline bool heddle_outcome_ended(const struct heddle_outcome *outcome)
{
	/* Pairs with heddle_finished(): the result is read afterwards. */
	return smp_load_acquire(&outcome->ended);
}

/*
 * Outlives job and card: whoever holds the scheduler's fence of a job holds this, too.
 * Of a run, or what a job waits for whose file leaves the card to others.
 */
struct heddle_fence {
	struct dma_fence base;
	spinlock_t lock; /* of base */
	struct heddle_scheduler *sched;
	struct module *module;
	struct list_head rest; /* in heddle_file.rests, with a reference */
	struct heddle_context *context;
};

/* What the card is given: one descriptor. */
struct heddle_run {
	struct list_head link;
	struct heddle_fence *fence; /* signals when the card is done with it, or: */
	struct completion *done;
	bool cancelled; /* under heddle_device.lock: its context is gone, it shall end */
	u64 id;
	u64 client;
	dma_addr_t steps_dma;
	struct heddle_step *steps;
	u32 num_steps;
	bool uses_sram;
	u64 timeout_ns;
	u64 run_cycles; /* its limit */
	u64 start_ns;
	u64 seqno;
	struct heddle_outcome *outcome;
	struct heddle_alloc *prepares; /* becomes usable by this run */
	u32 num_patches;
	struct heddle_patch *patches;
	const u8 *step_of;	       /* see heddle_job; NULL: as they are */
};

/* An address that is known only when the job starts: objects may move before. */
struct heddle_patch {
	__le64 *where;
	struct heddle_alloc *alloc;
	u64 offset;
};

/* What a job copies from or to a HOST buffer, which it keeps alive. */
struct heddle_host_range {
	struct heddle_bo *bo;
	u64 offset;
	u64 length;
	bool out; /* the card writes it */
};

/* One step with what it names; references are held. */
struct heddle_bound_step {
	struct drm_heddle_step in;
	struct heddle_bo *src;
	struct heddle_bo *dst;
	struct heddle_host_range host; /* one of the two, of a copy from or to the host */
	struct heddle_stream *stream;
	u32 regions;
	struct heddle_bound_region {
		struct drm_heddle_region in;
		struct heddle_bo *bo;
	} region[HEDDLE_REGIONS];
};

struct heddle_job {
	struct drm_sched_job base;
	struct heddle_device *dev;
	struct heddle_context *context; /* NULL: the driver's own */
	struct heddle_area *area;
	struct heddle_run run;
	struct work_struct free_work;
	struct dma_fence *last; /* see heddle_replace_last() */
	struct dma_fence_cb last_cb;
	bool counted; /* in heddle_device.started */
	bool waits;   /* when it is queued: for a fence of user space */
	u32 num_hosts;
	struct heddle_host_range *hosts;
	u32 num_fences; /* to wait for; heddle_dependency() hands them out one by one */
	u32 next_fence;
	struct dma_fence **fences;
	u8 step_of[HEDDLE_STEPS_MAX]; /* the card's steps, as the submission counts them */
};

/* heddle_drv.c */
struct heddle_device *heddle_device_create(struct device *parent);
int heddle_device_register(struct heddle_device *dev);
extern bool heddle_null_submission;
extern uint heddle_timeout_ms;
extern unsigned long long heddle_run_cycles;
extern struct workqueue_struct *heddle_signal_wq;
extern struct workqueue_struct *heddle_report_wq;

/* heddle_device.c: set-up and end of a card */
int heddle_device_init(struct heddle_device *dev);
void heddle_device_fini(struct heddle_device *dev);
int heddle_card_start(struct heddle_device *dev);

/* heddle_engine.c: rings, completion records, jobs in flight */
int heddle_engine_init(struct heddle_device *dev);
void heddle_engine_rings(struct heddle_device *dev);
struct heddle_fence *heddle_fence_alloc(struct heddle_scheduler *sched, bool users, gfp_t gfp);
int heddle_engine_start(struct heddle_device *dev, struct heddle_run *run);
void heddle_engine_reap(struct heddle_device *dev);
void heddle_engine_end_all(struct heddle_device *dev, enum heddle_job_event event);
void heddle_engine_cancel(struct heddle_device *dev, const struct heddle_context *context);
struct heddle_outcome *heddle_outcome_alloc(struct heddle_device *dev);
void heddle_outcome_put(struct heddle_outcome *outcome);
DEFINE_FREE(heddle_outcome, struct heddle_outcome *, heddle_outcome_put(_T))

/* heddle_irq.c */
int heddle_irq_init(struct heddle_device *dev);
void heddle_irq_fini(struct heddle_device *dev);

/* heddle_reset.c: hangs, resets, a card that is gone */
bool heddle_card_lost(struct heddle_device *dev);
void heddle_quiet(struct heddle_device *dev);
void heddle_mark_lost(struct heddle_device *dev, const char *why);
void heddle_watch(struct work_struct *work);
void heddle_schedule_watch(struct heddle_device *dev);
void heddle_queue_watch(struct heddle_device *dev, unsigned int ms);

/* heddle_dram.c: device memory */
void heddle_dram_init(struct heddle_device *dev);
int heddle_hold(struct heddle_device *dev, bool (*wanted)(struct heddle_device *dev),
		long timeout);
void heddle_release(struct heddle_device *dev);
int heddle_own_init(struct heddle_device *dev, struct heddle_own *own, size_t bytes);
void heddle_own_fini(struct heddle_device *dev, struct heddle_own *own);
int heddle_own_run(struct heddle_device *dev, struct heddle_own *own, u32 steps);
int heddle_alloc_create(struct heddle_device *dev, u64 size, struct heddle_alloc **alloc);
void heddle_alloc_put(struct heddle_alloc *alloc);
void heddle_alloc_unstage(struct heddle_alloc *alloc);
u64 heddle_dram_available(struct heddle_device *dev);

/* heddle_pm.c: sleep, errors of the bus */
extern const struct dev_pm_ops heddle_pm_ops;
extern const struct pci_error_handlers heddle_error_handlers;

/* heddle_gem.c: buffers */
struct drm_gem_object *heddle_gem_create_object(struct drm_device *drm, size_t size);
struct drm_gem_object *heddle_gem_import(struct drm_device *drm, struct dma_buf *dma_buf);
int heddle_gem_host_create(struct heddle_device *dev, size_t size, struct heddle_bo **bo);
int heddle_gem_find(struct drm_file *file, u32 handle, u32 placement, u64 offset, u64 length,
		    struct heddle_bo **bo);
int heddle_gem_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int heddle_gem_info_ioctl(struct drm_device *drm, void *data, struct drm_file *file);

/* heddle_host.c: what the card can reach in system memory */
int heddle_host_map(struct heddle_bo *bo, struct heddle_file *file);
int heddle_host_add(struct heddle_device *dev, struct heddle_bo *bo, struct sg_table *sgt);
void heddle_host_unmap(struct heddle_bo *bo);
u32 heddle_host_entries(struct heddle_bo *bo, u64 offset, u64 *length,
			struct heddle_sg_entry *entries, u32 max);
void heddle_host_sync(struct heddle_job *job, bool for_card);
struct heddle_area *heddle_area_alloc(struct heddle_device *dev, size_t size);
void *heddle_area_carve(struct heddle_device *dev, struct heddle_area **area, size_t size,
			dma_addr_t *dma);
void heddle_area_free(struct heddle_device *dev, struct heddle_area *area);
void heddle_host_close(struct heddle_device *dev);

/* heddle_stream.c: command streams */
int heddle_stream_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int heddle_stream_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void heddle_stream_put(struct heddle_stream *stream);
DEFINE_FREE(heddle_stream, struct heddle_stream *, heddle_stream_put(_T))

/* heddle_context.c: contexts and files */
int heddle_open(struct drm_device *drm, struct drm_file *file);
void heddle_postclose(struct drm_device *drm, struct drm_file *file);
void heddle_file_put(struct heddle_file *file);
int heddle_file_charge(struct heddle_file *file, enum heddle_resource what, u64 amount);
void heddle_file_uncharge(struct heddle_file *file, enum heddle_resource what, u64 amount);
int heddle_file_charge_object(struct heddle_file *file, enum heddle_resource what, u64 bytes);
void heddle_file_uncharge_object(struct heddle_file *file, enum heddle_resource what, u64 bytes);
int heddle_file_check_banned(struct heddle_file *file);
int heddle_context_control_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
bool heddle_context_stopped(const struct heddle_context *context);
int heddle_context_create_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int heddle_context_destroy_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void *heddle_find(struct xarray *objects, u32 id);
void heddle_context_put(struct heddle_context *context);
DEFINE_FREE(heddle_context, struct heddle_context *, heddle_context_put(_T))
void heddle_contexts_kill(struct heddle_device *dev);
void heddle_contexts_wake(struct heddle_device *dev);
void heddle_contexts_drain(void);

/* heddle_rest.c: fair shares of the card among files */
void heddle_rest_init(struct heddle_device *dev);
void heddle_rest_open(struct heddle_file *file);
void heddle_rest_close(struct heddle_file *file);
void heddle_rest_queue(struct heddle_device *dev, struct heddle_outcome *outcome);
struct dma_fence *heddle_rest(struct heddle_device *dev, struct heddle_outcome *outcome);
void heddle_rest_end(struct heddle_outcome *outcome, bool started, u64 held_ns, u64 now_ns);
void heddle_rest_check(struct heddle_device *dev);
u64 heddle_rest_compact_at(struct heddle_device *dev, u64 now);

/* heddle_exec.c: the scheduler's side of a job */
int heddle_exec_init(struct heddle_device *dev);
void heddle_exec_settle(struct heddle_context *context);
void heddle_exec_taken_back(struct heddle_job *job);
void heddle_exec_fini(struct heddle_device *dev);
void heddle_scheduler_put(struct heddle_scheduler *sched);
struct heddle_job *heddle_job_alloc(struct heddle_device *dev, struct heddle_context *context,
				    u32 num_patches, u32 num_hosts, u32 num_syncs);
void heddle_job_free(struct heddle_job *job);
void heddle_job_push(struct heddle_job *job);
int heddle_exec_prepare(struct heddle_alloc *alloc, struct dma_fence **ready);

/* heddle_steps.c: how a job is written down for the card */
u32 heddle_list_entries(const u32 *entries, u32 steps, u32 *total);
int heddle_steps_alloc(struct heddle_job *job, u32 steps);
int heddle_write_copy(struct heddle_job *job, u32 index, const struct heddle_host_range *host,
		      struct heddle_alloc *alloc, u64 offset, u32 most);
void heddle_write_fill(struct heddle_job *job, u32 index, struct heddle_alloc *alloc,
		       const struct drm_heddle_step *in);
int heddle_write_step(struct heddle_job *job, u32 index, const struct heddle_bound_step *step,
		      u32 most);

/* heddle_cmdtrace.c: when a job's commands began and ended */
int heddle_cmdtrace_alloc(struct heddle_job *job, u32 entries);
void heddle_cmdtrace_free(struct heddle_device *dev, struct heddle_cmdtrace *trace);
int heddle_cmdtrace_fill(const struct heddle_outcome *outcome, struct drm_heddle_wait *args);

/* heddle_submit.c, heddle_wait.c, heddle_event.c, heddle_query.c */
int heddle_fill_element(const struct drm_heddle_array *array, u32 index, const void *from,
			size_t size);
int heddle_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int heddle_wait_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int heddle_events_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
int heddle_query_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
ktime_t heddle_time_left(u64 deadline_ns);
/* Sleeps for @condition until an absolute time, as struct drm_heddle_wait has it. */
#define heddle_wait_until(wq, condition, deadline_ns) ({				\
	ktime_t time_left = heddle_time_left(deadline_ns);				\
	time_left ? wait_event_interruptible_hrtimeout(wq, condition, time_left) :	\
		    (condition) ? 0 : -ETIME;						\
})
void heddle_report(struct heddle_device *dev, const struct heddle_report *report);
void heddle_report_work(struct work_struct *work);
__poll_t heddle_poll(struct file *filp, struct poll_table_struct *wait);
void heddle_show_fdinfo(struct seq_file *m, struct file *file);

/* heddle_debugfs.c, heddle_coredump.c, heddle_null.c */
void heddle_debugfs_init(struct drm_minor *minor);
int heddle_coredump_init(struct heddle_device *dev);
void heddle_coredump_take(struct heddle_device *dev);
void heddle_coredump_write(struct heddle_device *dev);
int heddle_null_init(uint cards);
void heddle_null_fini(void);

#endif
