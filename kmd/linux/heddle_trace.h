/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Tracepoints: the life of a job, and events of a card. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM heddle

#if !defined(HEDDLE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define HEDDLE_TRACE_H

#include <linux/tracepoint.h>

#include "heddle_drv.h"

DECLARE_EVENT_CLASS(heddle_run,
	TP_PROTO(struct heddle_device *dev, struct heddle_run *run),
	TP_ARGS(dev, run),
	TP_STRUCT__entry(
		__field(u64, serial)
		__field(u64, client)
		__field(u32, context)
		__field(u64, seqno)
		__field(u64, fence)
		__field(u32, steps)
		__field(u32, status)
	),
	TP_fast_assign(
		__entry->serial = dev->info.unique;
		__entry->client = run->client;
		__entry->context = run->outcome->context ? run->outcome->context->id : 0;
		__entry->seqno = run->seqno;
		__entry->fence = run->id;
		__entry->steps = run->num_steps;
		__entry->status = run->outcome->result.status;
	),
	TP_printk("serial=%llu client=%llu context=%u seqno=%llu fence=%llu steps=%u status=%u",
		  __entry->serial, __entry->client, __entry->context, __entry->seqno,
		  __entry->fence, __entry->steps, __entry->status)
);

#define DEFINE_HEDDLE_RUN_EVENT(name)						\
	DEFINE_EVENT(heddle_run, name,						\
		     TP_PROTO(struct heddle_device *dev, struct heddle_run *run), \
		     TP_ARGS(dev, run))

DEFINE_HEDDLE_RUN_EVENT(heddle_submit); /* fence: none yet */
DEFINE_HEDDLE_RUN_EVENT(heddle_start);
DEFINE_HEDDLE_RUN_EVENT(heddle_end);

DECLARE_EVENT_CLASS(heddle_card,
	TP_PROTO(struct heddle_device *dev, u64 value),
	TP_ARGS(dev, value),
	TP_STRUCT__entry(
		__field(u64, serial)
		__field(u64, value)
	),
	TP_fast_assign(
		__entry->serial = dev->info.unique;
		__entry->value = value;
	),
	TP_printk("serial=%llu value=%llu", __entry->serial, __entry->value)
);

#define DEFINE_HEDDLE_CARD_EVENT(name)						\
	DEFINE_EVENT(heddle_card, name,						\
		     TP_PROTO(struct heddle_device *dev, u64 value),		\
		     TP_ARGS(dev, value))

DEFINE_HEDDLE_CARD_EVENT(heddle_reset); /* value: bits of RESET */
DEFINE_HEDDLE_CARD_EVENT(heddle_compact); /* value: bytes of the gap that is wanted */
DEFINE_HEDDLE_CARD_EVENT(heddle_lost); /* value: jobs that were with the card or had been */

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE heddle_trace
#include <trace/define_trace.h>
