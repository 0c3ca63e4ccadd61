# SPDX-License-Identifier: Apache-2.0
"""Faults of the driver that its test kit must find: {name: the case that is meant for it}.

NAME.patch beside this file makes the fault; its first line says what is wrong. Choose faults that somebody could
make, and that nothing but a test sees: the module must still be built without a warning, and load.
"""

MUTANTS = {
    "bounce_not_copied_back": "bounce.memory.ScatteredTest.IsCopiedInAndOut",
    "bus_left_to_the_card": "loss.loss.LossTest.NothingIsWrittenAfterRemoval",
    "card_reset_forgotten": "faults.faults.Kmd/FaultTest.IsAsDocumented/stuck_card",
    "contexts_stay_charged": "uapi.uapi.LimitsTest.BoundsTheContextsOfAFile",
    "cycles_unlimited": "rtl.limit.TimedTest.AJobEndsWithItsCycles",
    "fdinfo_in_microseconds": "driver.fdinfo",
    "generation_stays": "uapi.uapi.EventsTest.TellsOfAChangeOfMemory",
    "hang_too_many": "uapi.uapi.LimitsTest.BansWhoHangsTheCardAgainAndAgain",
    "high_priority_is_low": "uapi.uapi.OrderTest.AHighPriorityOvertakes",
    "imports_stay_mapped": "bounce.memory.ImportTest.ARemovedCardHasNoMappings",
    "long_jobs_do_not_rest": "attack.attack.AttackTest.LongJobs",
    "loss_told_as_reset": "faults.faults.Kmd/FaultTest.IsAsDocumented/link_down",
    "lost_interrupt": "faults.faults.Kmd/FaultTest.IsAsDocumented/lost_interrupt",
    "memory_not_cleared": "uapi.uapi.MemoryTest.IsZeroAfterSomebodyElse",
    "module_goes_in_use": "driver.unload",
    "no_32_bit_calls": "driver.compat",
    "no_dump": "faults.faults.Kmd/FaultTest.IsAsDocumented/stuck_engine",
    "pad_ignored": "uapi.uapi.ContextTest.RefusesToDestroyWithPad",
    "parameter_writable": "driver.parameters",
    "pinned_limit_doubled": "machine.memory.KernelMemoryTest.AFilePinsSoManyBytes",
    "priority_without_right": "uapi.uapi.ContextTest.WantsTheRightToTheHighestPriority",
    "refused_without_a_word": "driver.refusals",
    "reserved_field_taken": "fuzz.fuzz",
    "sleep_forgets_a_piece": "machine.sleep.SleepTest.ContentsSurviveThatTheCardHasNoPower",
    "sram_of_the_client_before": "uapi.uapi.MemoryTest.SramIsZeroAfterSomebodyElse",
    "whose_hang_it_was": "uapi.uapi.EventsTest.TellsOfAReset",
}
