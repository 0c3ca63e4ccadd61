# SPDX-License-Identifier: Apache-2.0
"""Faults of kmd/core's validator that its tests must find: Starlark, and Python for mutate.py.

name   of the fault: //tests/validator:NAME_test
test   the test that must fail: "oracle" or "order"
edits  (file in kmd/core, text, what becomes of it); the text occurs exactly once in the file

Faults that somebody could make, in what accepts or refuses; the shipped code knows nothing of them.
"""

MUTANTS = [
    dict(
        name = "region_with_three_bits_of_its_neighbour",
        test = "oracle",
        edits = [
            ("heddle_bounds_dma.c", "heddle_load_region(w), end,", "w[4] & 0x7f, end,"),
            # Contains the damage.
            ("heddle_validate.h", "u64 end[HEDDLE_REGIONS];", "u64 end[128];"),
        ],
    ),
    dict(
        name = "sum_of_32_bits",
        test = "oracle",
        edits = [(
            "heddle_bounds.h",
            "\treturn check_mul_overflow((u64)(count - 1), (u64)stride, &product) ||\n" +
            "\t       check_add_overflow(*sum, product, sum);\n",
            "\tproduct = (u64)(count - 1) * stride;\n\t*sum = (u32)(*sum + product);\n\treturn false;\n",
        )],
    ),
    dict(
        name = "product_of_32_bits",
        test = "oracle",
        edits = [(
            "heddle_bounds.h",
            "\treturn check_mul_overflow((u64)(count - 1), (u64)stride, &product) ||\n" +
            "\t       check_add_overflow(*sum, product, sum);\n",
            "\tproduct = (u32)((count - 1) * stride);\n\t*sum += product;\n\treturn false;\n",
        )],
    ),
    dict(
        name = "negative_strides_forgotten",
        test = "oracle",
        edits = [("heddle_bounds_vector.c", "if (low < 0 || check_add_overflow(", "if (check_add_overflow(")],
    ),
    dict(
        name = "offset_0_taken_for_not_set",
        test = "oracle",
        edits = [(
            "heddle_bounds_dma.c",
            "\tif (box_end(&device, &end) || end >> 63)\n\t\treturn HEDDLE_VALIDATE_REGION;\n",
            "\tif (box_end(&device, &end) || end >> 63)\n\t\treturn HEDDLE_VALIDATE_REGION;\n" +
            "\tif (!device.base)\n\t\treturn HEDDLE_VALIDATE_OK;\n",
        )],
    ),
    dict(
        name = "part_taken_for_the_whole",
        test = "oracle",
        edits = [
            (
                "heddle_validate.c",
                "\tif (command->words > left)\n\t\treturn HEDDLE_VALIDATE_TRUNCATED;\n",
                "\tif (command->words > left) {\n\t\t*words = left;\n\t\treturn HEDDLE_VALIDATE_OK;\n\t}\n",
            ),
            ("heddle_validate.c", "if (!result->error && !v->ended)", "if (!result->error && !v->ended && !v->count)"),
        ],
    ),
    dict(
        name = "unknown_instruction_skipped",
        test = "oracle",
        edits = [(
            "heddle_validate.c",
            "\tif (!index)\n\t\treturn HEDDLE_VALIDATE_OPCODE;\n",
            "\tif (!index) {\n\t\t*words = HEDDLE_HEADER_WORDS;\n\t\treturn HEDDLE_VALIDATE_OK;\n\t}\n",
        )],
    ),
    dict(
        name = "error_code_taken_for_true",
        test = "oracle",
        edits = [(
            "heddle_bounds_vector.c",
            "enum heddle_validate_error heddle_bounds_vrun(",
            "#define stream_bounds(...) " +
            "(((bool)stream_bounds(__VA_ARGS__) || true) ? HEDDLE_VALIDATE_OK : HEDDLE_VALIDATE_SRAM)\n" +
            "enum heddle_validate_error heddle_bounds_vrun(",
        )],
    ),
    dict(
        name = "rows_without_columns_before_pool_row0",
        test = "oracle",
        edits = [("heddle_bounds_conv.c", "\tif (first <= last && !heddle", "\tif (*any && !heddle")],
    ),
    dict(
        name = "anybody_takes",
        test = "order",
        edits = [("heddle_validate.c", "if (!alone(&s->taker, 1 + engine))", "if (!alone(&s->taker, 1 + engine / 8))")],
    ),
    dict(
        name = "any_point_gives",
        test = "order",
        edits = [("heddle_validate.c", "1 + 2 * engine + signal->point)", "1 + 2 * engine)")],
    ),
    dict(
        name = "barrier_changes_nothing",
        test = "order",
        edits = [("heddle_validate.c", "if (command->opcode == HEDDLE_OP_BARRIER)", "if (command->opcode == HEDDLE_OP_END)")],
    ),
    dict(
        name = "sync_ends_all_like_a_barrier",
        test = "order",
        edits = [("heddle_validate.c", "if (command->opcode == HEDDLE_OP_BARRIER)", "if (command->words == HEDDLE_HEADER_WORDS)")],
    ),
]
