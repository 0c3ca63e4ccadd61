# SPDX-License-Identifier: Apache-2.0
"""Reads rtl/spec/*.toml into a checked model.Spec.

load(folder) returns a Spec, or raises SpecErrors with every violation found, each one
as "file: item: reason".
"""

import ast
import pathlib
import re
import tomllib

from model import (
    Block,
    BitField,
    Config,
    Enum,
    EnumValue,
    Error,
    Field,
    Group,
    GroupUse,
    Header,
    Instruction,
    Member,
    MicroInstruction,
    MicroOp,
    Register,
    SCALARS,
    Section,
    Spec,
    SpecErrors,
    Struct,
    camel,
)

FILES = ("config.toml", "isa.toml", "descriptors.toml", "registers.toml", "errors.toml")

FIELD_TYPES = ("uint", "int", "bool", "f32", "sem", "region", "sram_word", "sram_byte", "dram_offset", "reserved")
ACCESS = ("ro", "rw", "wo", "w1c", "w1s")
SCOPES = ("command", "job", "device")
NAME = re.compile(r"^[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*$")

# Member names go out unchanged to C and C++ (emit_sv.py escapes the words of SystemVerilog).
C_WORDS = frozenset(
    """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept
const constexpr const_cast continue co_await co_return co_yield decltype default delete do double
dynamic_cast else enum explicit export extern false float for friend goto if inline int long
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
register reinterpret_cast requires restrict return short signed sizeof static static_assert
static_cast struct switch template this thread_local throw true try typedef typeid typename union
unsigned using virtual void volatile wchar_t while xor xor_eq
""".split()
)
ABSL = (
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
ERRNO = frozenset(
    """EPERM ENOENT EINTR EIO ENXIO E2BIG EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY
EEXIST ENODEV EINVAL ENFILE EMFILE ENOSPC EPIPE EDOM ERANGE EDEADLK ENOSYS ENODATA ETIME EPROTO
EBADMSG EOVERFLOW EILSEQ EOPNOTSUPP ETIMEDOUT ECANCELED EHWPOISON EREMOTEIO ESHUTDOWN ECONNRESET
EALREADY EINPROGRESS ESTALE ENOBUFS EUCLEAN ENODATA EMSGSIZE""".split()
)


class Loader:
    """Turns the raw TOML tables into a Spec; collects complaints instead of stopping."""

    def __init__(self):
        self.problems = []
        self.file = ""
        self.newest = (0, "")  # the largest 'since', and where it is
        self.spec = Spec()

    # -- complaints and typed access ------------------------------------------------------

    def bad(self, item, why):
        self.problems.append(f"{self.file}: {item}: {why}")

    def take(self, table, item, keys, optional=()):
        """Checks the keys of a table; returns False when a required one is missing."""
        ok = True
        for k in keys:
            if k not in table:
                self.bad(item, f"key '{k}' is missing")
                ok = False
            elif k in ("doc", "summary", "text") and not str(table[k]).strip():
                self.bad(item, f"'{k}' is empty: everything is documented")
        for k in table:
            if k not in keys and k not in optional:
                self.bad(item, f"unknown key '{k}'")
        return ok

    def integer(self, value, item, what):
        """An integer, or an expression over the limits such as "regions - 1"."""
        if isinstance(value, bool):
            self.bad(item, f"'{what}' is a boolean, an integer is needed")
            return 0
        if isinstance(value, int):
            return value
        if isinstance(value, str):
            try:
                return self.evaluate(ast.parse(value, mode="eval").body)
            except (SyntaxError, ValueError) as e:
                self.bad(item, f"'{what}' = \"{value}\": {e}")
                return 0
        self.bad(item, f"'{what}' is not an integer")
        return 0

    def evaluate(self, node):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            if node.id not in self.spec.limits:
                raise ValueError(f"there is no limit named '{node.id}' in config.toml")
            return self.spec.limits[node.id]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.evaluate(node.operand)
        if isinstance(node, ast.BinOp):
            a, b = self.evaluate(node.left), self.evaluate(node.right)
            if isinstance(node.op, ast.Add):
                return a + b
            if isinstance(node.op, ast.Sub):
                return a - b
            if isinstance(node.op, ast.Mult):
                return a * b
        raise ValueError("only limits, integers, + - and * are understood")

    def name_ok(self, name, item, reserved=frozenset()):
        if not isinstance(name, str) or not NAME.match(name):
            self.bad(item, f"name '{name}' is not words of letters and digits joined by '_'")
            return False
        if name in reserved:
            self.bad(item, f"name '{name}' is a reserved word in C or C++")
            return False
        return True

    def since(self, raw, item):
        """The minor version of the contract that the item belongs to; 0 when none is given."""
        value = self.integer(raw.get("since", 0), item, "since")
        if not 0 <= value < 256:
            self.bad(item, f"'since' = {value}: a minor version, 0 to 255, is needed")
            return 0
        self.newest = max(self.newest, (value, f"{self.file}: {item}"))
        return value

    def unique(self, things, what, of):
        seen = {}
        for t in things:
            key = of(t)
            key = key.lower() if isinstance(key, str) else key
            if key in seen:
                shown = f"{key:#x}" if isinstance(key, int) else key
                self.bad(t.name, f"{what} {shown} is already used by '{seen[key]}'")
            seen.setdefault(key, t.name)

    # -- bit fields -----------------------------------------------------------------------

    def overlap(self, fields, item, base=lambda f: 32 * f.word):
        last_end, last = 0, None
        for f in sorted(fields, key=lambda f: (base(f) + f.lsb, f.bits)):
            start = base(f) + f.lsb
            if last and start < last_end:
                self.bad(f"{item}.{f.name}", f"overlaps '{last.name}' at bit {start % 32} of word {start // 32}")
            if start + f.bits > last_end:
                last_end, last = start + f.bits, f

    def field(self, raw, item, words, reserved):
        where = f"{item}.{raw.get('name', '?')}"
        keys = ("name", "word", "lsb", "bits", "type", "doc")
        if not self.take(raw, where, keys, ("min", "max", "nonzero", "default", "since")):
            return None
        if not self.name_ok(raw["name"], where, reserved):
            return None
        f = Field(
            raw["name"],
            self.integer(raw["word"], where, "word"),
            self.integer(raw["lsb"], where, "lsb"),
            self.integer(raw["bits"], where, "bits"),
            raw["type"],
            str(raw["doc"]).strip(),
        )
        if f.bits < 1 or f.bits > 32:
            self.bad(where, f"{f.bits} bits: a field has 1 to 32")
            return None
        if f.lsb < 0 or f.lsb + f.bits > 32:
            self.bad(where, f"bits {f.lsb}..{f.lsb + f.bits - 1} cross the end of a 32-bit word")
            return None
        if f.word < 0 or f.word >= words:
            self.bad(where, f"word {f.word} is beyond the length of {words} words")
            return None
        full = (1 << f.bits) - 1
        low, high = 0, full
        if isinstance(f.type, str) and f.type.startswith("enum:"):
            f.enum = self.spec.enums.get(f.type[5:])
            if f.enum is None:
                self.bad(where, f"unknown enum '{f.type[5:]}'")
                return None
            if any(v.value > full for v in f.enum.values):
                self.bad(where, f"a value of enum '{f.enum.name}' does not fit {f.bits} bits")
            if any(v.value > 63 for v in f.enum.values):
                self.bad(
                    where,
                    f"enum '{f.enum.name}' has a value above 63, which the command "
                    "tables (a 64-bit mask of legal values) cannot express",
                )
                return None
            high = max(v.value for v in f.enum.values)
        elif f.type not in FIELD_TYPES:
            self.bad(where, f"unknown type '{f.type}'")
            return None
        elif f.type == "int":
            low, high = -(1 << (f.bits - 1)), (1 << (f.bits - 1)) - 1
        elif f.type == "bool" and f.bits != 1:
            self.bad(where, f"a bool has 1 bit, not {f.bits}")
        elif f.type == "f32" and f.bits != 32:
            self.bad(where, f"an f32 has 32 bits, not {f.bits}")
        elif f.type == "reserved":
            high = 0
        f.min, f.max = low, high
        if ("min" in raw or "max" in raw) and f.kind in ("enum", "f32", "bool", "reserved"):
            self.bad(where, f"min and max have no meaning for type '{f.type}'")
        else:
            f.explicit_range = "min" in raw or "max" in raw
            f.min = self.integer(raw.get("min", low), where, "min")
            f.max = self.integer(raw.get("max", high), where, "max")
            if f.min < low or f.max > high or f.min > f.max:
                self.bad(where, f"range {f.min}..{f.max} does not fit {f.bits} bits ({low}..{high})")
        f.nonzero = bool(raw.get("nonzero", False))
        f.since = self.since(raw, where)
        zero_ok = f.min <= 0 <= f.max and not f.nonzero
        if f.enum:
            zero_ok = any(v.value == 0 for v in f.enum.values)
        default = raw.get("default")
        if default is None:
            f.default = 0
            f.required = not zero_ok
        elif f.enum and isinstance(default, str):
            hit = [v.value for v in f.enum.values if v.name == default]
            if not hit:
                self.bad(where, f"default '{default}' is not a value of enum '{f.enum.name}'")
            f.default = hit[0] if hit else 0
        elif f.type == "f32":
            f.default = float(default)
        elif f.type == "bool":
            f.default = int(bool(default))
        else:
            f.default = self.integer(default, where, "default")
            legal = f.min <= f.default <= f.max and not (f.nonzero and f.default == 0)
            if f.enum:
                legal = any(v.value == f.default for v in f.enum.values)
            if not legal:
                self.bad(where, f"default {f.default} is not a legal value")
        return f

    def fields(self, raws, item, words, reserved=C_WORDS):
        out = [f for f in (self.field(r, item, words, reserved) for r in raws) if f]
        # Several unnamed gaps may all be called "reserved": undeclared bits are reserved anyway.
        named = [f for f in out if f.type != "reserved"]
        self.unique(named, "name", lambda f: f.name)
        self.overlap(out, item)
        return named

    # -- the five files -------------------------------------------------------------------

    def config(self, t):
        self.take(t, "top level", ("limits", "config"), ("limits_doc", "config_doc"))
        s = self.spec
        for name, value in t.get("limits", {}).items():
            if self.name_ok(name, f"limits.{name}"):
                s.limits[name] = self.integer(value, f"limits.{name}", name)
                if not 0 <= s.limits[name] < 1 << 64:
                    self.bad(f"limits.{name}", "does not fit 64 bits")
        s.limits_doc = t.get("limits_doc", {})
        s.config_doc = t.get("config_doc", {})
        for name in s.limits:
            if not str(s.limits_doc.get(name, "")).strip():
                self.bad(f"limits.{name}", "has no text in [limits_doc]")
        for name in s.limits_doc:
            if name not in s.limits:
                self.bad(f"limits_doc.{name}", "there is no such limit")
        for raw in t.get("config", []):
            item = f"config {raw.get('name', '?')}"
            if not {"name", "id"} <= raw.keys() or not self.name_ok(raw["name"], item):
                self.bad(item, "name and id are needed")
                continue
            values = {k: self.integer(v, item, k) for k, v in raw.items() if k not in ("name", "id")}
            s.configs.append(Config(raw["name"], self.integer(raw["id"], item, "id"), values))
            if not s.config_keys:
                s.config_keys = list(values)
            for k in values.keys() ^ set(s.config_keys):
                self.bad(item, f"key '{k}' is not in every configuration")
            for k, v in values.items():
                self.name_ok(k, item, C_WORDS)
                if not 0 <= v < 1 << 32:
                    self.bad(item, f"'{k}' = {v} does not fit 32 bits")
        for k in s.config_keys:
            if not str(s.config_doc.get(k, "")).strip():
                self.bad(f"config key {k}", "has no text in [config_doc]")
        self.unique(s.configs, "name", lambda c: c.name)
        self.unique(s.configs, "id", lambda c: c.id)

    def enum(self, raw):
        item = f"enum {raw.get('name', '?')}"
        if not self.take(raw, item, ("name", "doc", "bits", "values")):
            return
        if not self.name_ok(raw["name"], item):
            return
        bits = self.integer(raw["bits"], item, "bits")
        values = []
        for v in raw["values"]:
            where = f"{item}.{v.get('name', '?')}"
            keys = ("name", "value", "doc")
            if self.take(v, where, keys, ("since",)) and self.name_ok(v["name"], where):
                n = self.integer(v["value"], where, "value")
                if not 0 <= n < 1 << bits:
                    self.bad(where, f"value {n} does not fit {bits} bits")
                else:
                    values.append(EnumValue(v["name"], n, str(v["doc"]).strip(), self.since(v, where)))
        if not values:
            self.bad(item, "has no values")
            return
        self.unique(values, "name", lambda v: v.name)
        self.unique(values, "value", lambda v: v.value)
        if raw["name"] in self.spec.enums:
            self.bad(item, "is defined twice")
        self.spec.enums[raw["name"]] = Enum(raw["name"], raw["doc"].strip(), bits, values)

    def instruction(self, raw):
        s = self.spec
        item = f"instruction {raw.get('name', '?')}"
        keys = ("name", "mnemonic", "opcode", "engine", "words", "summary", "semantics", "fields")
        optional = ("groups", "since")
        if not self.take(raw, item, keys, optional) or not self.name_ok(raw["name"], item):
            return
        if raw["name"] != raw["name"].lower():
            self.bad(item, "an instruction's name is snake_case")
        if not re.match(r"^[a-z][a-z0-9_.]*$", raw["mnemonic"]):
            self.bad(item, f"mnemonic '{raw['mnemonic']}' is not lower-case letters, digits, _ and .")
        words = self.integer(raw["words"], item, "words")
        if words < s.header.words or words % 4 or words > 252:
            self.bad(
                item,
                f"{words} words: a multiple of 4, at least the header's "
                f"{s.header.words} and at most 252 are needed",
            )
            return
        opcode = self.integer(raw["opcode"], item, "opcode")
        if not 0 <= opcode < 1 << s.opcode_bits():
            self.bad(item, f"opcode {opcode:#x} does not fit the header's {s.opcode_bits()} bits")
            return
        engines = s.enums.get("engine")
        if not engines or raw["engine"] not in [v.name for v in engines.values]:
            self.bad(item, f"'{raw['engine']}' is not a value of enum 'engine'")
        own = self.fields(raw["fields"], item, words)
        uses = []
        for g in raw.get("groups", []):
            where = f"{item} group {g.get('name', '?')}"
            if not self.take(g, where, ("name", "group", "word"), ("doc",)):
                continue
            if not self.name_ok(g["name"], where, C_WORDS):
                continue
            group = s.groups.get(g["group"])
            if not group:
                self.bad(where, f"unknown group '{g['group']}'")
                continue
            word = self.integer(g["word"], where, "word")
            if word < 0 or word + group.words > words:
                self.bad(where, f"words {word}..{word + group.words - 1} are beyond the length of {words} words")
                continue
            use = GroupUse(g["name"], group, word, g.get("doc", ""))
            uses.append(use)
            for f in group.fields:
                self.name_ok(f"{use.name}_{f.name}", where, C_WORDS)
                own.append(
                    Field(
                        **{
                            **f.__dict__,
                            "name": f"{use.name}_{f.name}",
                            "word": f.word + word,
                            "group": use.name,
                            "group_field": f.name,
                        }
                    )
                )
        i = Instruction(
            raw["name"],
            raw["mnemonic"],
            opcode,
            raw["engine"],
            words,
            raw["summary"].strip(),
            raw["semantics"].strip(),
            own,
            uses,
            self.since(raw, item),
        )
        head = [Field(**{**f.__dict__, "header": True}) for f in s.header.fields]
        i.fields = sorted(head + own, key=lambda f: (f.word, f.lsb))
        self.unique(i.fields, "field name", lambda f: f.name)
        self.overlap(i.fields, item)
        s.instructions.append(i)

    def isa(self, t):
        s = self.spec
        self.take(
            t, "top level", ("enum", "header", "instruction"), ("group", "micro_op", "micro_instruction", "section")
        )
        for raw in t.get("enum", []):
            self.enum(raw)
        h = t.get("header", {})
        if not self.take(h, "header", ("words", "doc", "fields")):
            return
        words = self.integer(h["words"], "header", "words")
        s.header = Header(words, h["doc"].strip(), self.fields(h["fields"], "header", words))
        op = [f for f in s.header.fields if f.name == "opcode"]
        if not op or op[0].type != "uint" or op[0].bits > 8 or op[0].word != 0:
            self.bad("header", "needs a field 'opcode' of type uint in word 0 with at most 8 bits")
            return
        if any(f.name == "words" and f.bits < 8 for f in s.header.fields):
            self.bad("header.words", "needs 8 bits to hold every length")
        for raw in t.get("group", []):
            item = f"group {raw.get('name', '?')}"
            if not self.take(raw, item, ("name", "words", "doc", "fields")):
                continue
            if not self.name_ok(raw["name"], item):
                continue
            words = self.integer(raw["words"], item, "words")
            if raw["name"] in s.groups:
                self.bad(item, "is defined twice")
            s.groups[raw["name"]] = Group(
                raw["name"], words, raw["doc"].strip(), self.fields(raw["fields"], item, words, C_WORDS)
            )
        for raw in t.get("instruction", []):
            self.instruction(raw)
        self.unique(s.instructions, "name", lambda i: i.name)
        self.unique(s.instructions, "mnemonic", lambda i: i.mnemonic)
        self.unique(s.instructions, "opcode", lambda i: i.opcode)
        self.micro(t)
        for raw in t.get("section", []):
            if self.take(raw, f"section {raw.get('title', '?')}", ("title", "text")):
                s.sections.append(Section(raw["title"].strip(), raw["text"].strip()))
        self.identifiers()

    def micro(self, t):
        s = self.spec
        mi = t.get("micro_instruction")
        ops = t.get("micro_op", [])
        if mi is None:
            if ops:
                self.bad("micro_op", "there are micro operations but no [micro_instruction]")
            return
        if not self.take(mi, "micro_instruction", ("bits", "fields"), ("doc",)):
            return
        bits = self.integer(mi["bits"], "micro_instruction", "bits")
        if bits not in (32, 64):
            self.bad("micro_instruction", f"{bits} bits: 32 or 64 are needed")
            return
        s.micro = MicroInstruction(
            bits, mi.get("doc", "").strip(), self.fields(mi["fields"], "micro_instruction", bits // 32)
        )
        names = {f.name: f for f in s.micro.fields}
        if "op" not in names:
            self.bad("micro_instruction", "needs a field 'op' for the micro operation")
            return
        for raw in ops:
            item = f"micro_op {raw.get('name', '?')}"
            keys = ("name", "opcode", "operands", "doc")
            if not self.take(raw, item, keys, ("group", "since")):
                continue
            if not self.name_ok(raw["name"], item):
                continue
            code = self.integer(raw["opcode"], item, "opcode")
            if not 0 <= code < 1 << names["op"].bits:
                self.bad(item, f"opcode {code} does not fit {names['op'].bits} bits")
            operands = [o.strip() for o in raw["operands"].split(",") if o.strip()]
            for o in operands:
                if o not in names or o == "op":
                    self.bad(item, f"operand '{o}' is not a field of [micro_instruction]")
            s.micro_ops.append(
                MicroOp(raw["name"], code, operands, raw["doc"].strip(), raw.get("group", ""), self.since(raw, item))
            )
        used = {o for op in s.micro_ops for o in op.operands}
        for f in s.micro.fields:
            if f.name not in used and f.name != "op" and not s.micro.selectors(f):
                self.bad(
                    f"micro_instruction.{f.name}",
                    "is not an operand of any micro operation, nor the name of a value of an operand's enum",
                )
        self.unique(s.micro_ops, "name", lambda o: o.name)
        self.unique(s.micro_ops, "opcode", lambda o: o.opcode)

    def identifiers(self):
        """Type names of the C++ header must not collide after conversion to CamelCase."""
        s = self.spec
        taken = {
            n: "the generated header"
            for n in (
                "Header",
                "Opcode",
                "Config",
                "ConfigId",
                "FieldInfo",
                "FieldType",
                "CommandInfo",
                "Command",
                "ErrorInfo",
                "Error",
                "ErrorScope",
                "EnumInfo",
                "EnumValueInfo",
                "MicroOp",
                "MicroInstruction",
                "MicroOpInfo",
                "GroupInfo",
            )
        }
        for what, names in (("enum", s.enums), ("group", s.groups), ("instruction", [i.name for i in s.instructions])):
            for n in names:
                c = camel(n)
                if c in taken:
                    self.bad(f"{what} {n}", f"its C++ type name {c} is already used by {taken[c]}")
                taken[c] = f"{what} {n}"

    def bits(self, raws, item, width, reg_access=None):
        out = []
        for raw in raws:
            where = f"{item}.{raw.get('name', '?')}"
            optional = ("enum", "since") if reg_access is None else ("enum", "access", "reset")
            if not self.take(raw, where, ("name", "lsb", "bits", "doc"), optional):
                continue
            if not self.name_ok(raw["name"], where):
                continue
            b = BitField(
                raw["name"],
                self.integer(raw["lsb"], where, "lsb"),
                self.integer(raw["bits"], where, "bits"),
                str(raw["doc"]).strip(),
                raw.get("access", reg_access or ""),
                self.integer(raw.get("reset", 0), where, "reset"),
            )
            b.since = self.since(raw, where)
            if b.bits < 1 or b.lsb < 0 or b.lsb + b.bits > width:
                self.bad(where, f"bits {b.lsb}..{b.lsb + b.bits - 1} do not fit {width} bits")
                continue
            if reg_access is not None and b.access not in ACCESS:
                self.bad(where, f"unknown access '{b.access}' (one of {', '.join(ACCESS)})")
            if not 0 <= b.reset < 1 << b.bits:
                self.bad(where, f"reset {b.reset:#x} does not fit {b.bits} bits")
            if "enum" in raw:
                b.enum = self.enum_of(raw["enum"], where, b.bits)
            out.append(b)
        self.unique(out, "name", lambda b: b.name)
        self.overlap(out, item, base=lambda b: 0)
        return out

    def enum_of(self, name, where, bits):
        e = self.spec.enums.get(name)
        if e is None:
            self.bad(where, f"unknown enum '{name}'")
        elif any(v.value >> bits for v in e.values):
            self.bad(where, f"a value of enum '{name}' does not fit {bits} bits")
        return e

    def descriptors(self, t):
        self.take(t, "top level", ("struct",))
        known = {}
        for raw in t.get("struct", []):
            item = f"struct {raw.get('name', '?')}"
            if not self.take(raw, item, ("name", "size", "doc", "fields")):
                continue
            if not self.name_ok(raw["name"], item):
                continue
            st = Struct(raw["name"], self.integer(raw["size"], item, "size"), raw["doc"].strip(), [])
            for f in raw["fields"]:
                m = self.member(f, item, st, known)
                if m:
                    st.members.append(m)
            self.unique(st.members, "name", lambda m: m.name)
            end, last = 0, None
            for m in sorted(st.members, key=lambda m: m.offset):
                if m.offset < end:
                    self.bad(f"{item}.{m.name}", f"overlaps '{last}' at offset {m.offset:#x}")
                end, last = max(end, m.offset + m.size), m.name
                st.align = max(st.align, m.align)
            if st.size % st.align:
                self.bad(item, f"size {st.size} is not a multiple of its alignment {st.align}")
            known[st.name] = st
            self.spec.structs.append(st)
        self.unique(self.spec.structs, "name", lambda st: st.name)

    def member(self, raw, item, st, known):
        where = f"{item}.{raw.get('name', '?')}"
        if not self.take(raw, where, ("name", "offset", "type", "doc"), ("count", "bits", "enum")):
            return None
        if not self.name_ok(raw["name"], where, C_WORDS):
            return None
        m = Member(
            raw["name"],
            self.integer(raw["offset"], where, "offset"),
            raw["type"],
            self.integer(raw.get("count", 0), where, "count"),
            str(raw["doc"]).strip(),
            [],
        )
        if m.type in SCALARS:
            unit = m.align = SCALARS[m.type]
        elif m.type in known:
            unit, m.align, m.struct = known[m.type].size, known[m.type].align, True
        else:
            self.bad(where, f"unknown type '{m.type}' (u8, u16, u32, u64 or an earlier struct)")
            return None
        m.size = unit * max(m.count, 1)
        if m.offset % m.align:
            self.bad(where, f"offset {m.offset:#x} is not aligned to {m.align}")
        if m.offset < 0 or m.offset + m.size > st.size:
            self.bad(where, f"ends at {m.offset + m.size}, beyond the size {st.size}")
        m.bits = self.bits(raw.get("bits", []), where, 8 * unit)
        if "enum" in raw:
            m.enum = self.enum_of(raw["enum"], where, 8 * unit)
        return m

    def regs(self, t):
        s = self.spec
        self.take(t, "top level", ("block", "register"), ("pci", "pci_doc"))
        s.pci_doc = t.get("pci_doc", {})
        for name, value in t.get("pci", {}).items():
            if self.name_ok(name, f"pci.{name}"):
                s.pci[name] = self.integer(value, f"pci.{name}", name)
            if not str(s.pci_doc.get(name, "")).strip():
                self.bad(f"pci.{name}", "has no text in [pci_doc]")
        for name in s.pci_doc.keys() - s.pci.keys():
            self.bad(f"pci_doc.{name}", "there is no such key in [pci]")
        b = t.get("block", {})
        if self.take(b, "block", ("bar", "size", "doc")):
            s.block = Block(b["bar"], self.integer(b["size"], "block", "size"), b["doc"].strip())
        spans = []
        for raw in t.get("register", []):
            item = f"register {raw.get('name', '?')}"
            optional = ("count", "stride", "fields", "volatile", "reset")
            if not self.take(raw, item, ("name", "offset", "access", "doc"), optional):
                continue
            if not self.name_ok(raw["name"], item):
                continue
            if raw["access"] not in ACCESS:
                self.bad(item, f"unknown access '{raw['access']}' (one of {', '.join(ACCESS)})")
            r = Register(
                raw["name"],
                self.integer(raw["offset"], item, "offset"),
                raw["access"],
                0,
                raw["doc"].strip(),
                self.integer(raw.get("count", 0), item, "count"),
                self.integer(raw.get("stride", 4), item, "stride"),
                bool(raw.get("volatile", False)),
                self.bits(raw.get("fields", []), item, 32, raw["access"]),
            )
            from_fields = sum(f.reset << f.lsb for f in r.fields)
            r.reset = self.integer(raw.get("reset", from_fields), item, "reset")
            if not 0 <= r.reset < 1 << 32:
                self.bad(item, f"reset {r.reset:#x} does not fit 32 bits")
            elif r.fields and any("reset" in f for f in raw["fields"]) and r.reset != from_fields:
                self.bad(item, f"reset {r.reset:#x} differs from its fields' {from_fields:#x}")
            elif r.reset & ~r.mask():
                self.bad(item, f"reset {r.reset:#x} sets bits that no field declares")
            for f in r.fields:
                f.reset = (r.reset & f.mask) >> f.lsb
            if r.offset % 4 or r.stride % 4 or (r.count > 1 and r.stride < 4):
                self.bad(item, "offset and stride are multiples of 4")
                continue
            for i in range(max(r.count, 1)):
                spans.append((r.offset + i * r.stride, r.name))
            s.registers.append(r)
        self.unique(s.registers, "name", lambda r: r.name)
        minor = sum(f.reset for r in s.registers if r.name == "VERSION" for f in r.fields if f.name == "minor")
        if self.newest[0] > minor:
            self.bad("register VERSION", f"its minor number is {minor}, but {self.newest[1]} is since {self.newest[0]}")
        where = {}
        for offset, name in spans:
            if offset in where:
                self.bad(f"register {name}", f"offset {offset:#x} is already used by '{where[offset]}'")
            where[offset] = name
            if s.block and not 0 <= offset <= s.block.size - 4:
                self.bad(f"register {name}", f"offset {offset:#x} is outside the block's {s.block.size:#x} bytes")

    def errs(self, t):
        self.take(t, "top level", ("error",))
        for raw in t.get("error", []):
            item = f"error {raw.get('name', '?')}"
            keys = ("name", "code", "scope", "errno", "absl", "onnxifi", "text", "doc")
            if not self.take(raw, item, keys) or not self.name_ok(raw["name"], item):
                continue
            e = Error(**{k: raw[k] for k in keys})
            e.code = self.integer(e.code, item, "code")
            e.text, e.doc = e.text.strip(), e.doc.strip()
            if e.scope not in SCOPES:
                self.bad(item, f"unknown scope '{e.scope}' (one of {', '.join(SCOPES)})")
            if e.errno not in ERRNO and e.errno != "0":
                self.bad(item, f"unknown errno '{e.errno}'")
            if e.absl not in ABSL:
                self.bad(item, f"unknown absl code '{e.absl}'")
            if not re.match(r"^[A-Z][A-Z0-9_]*$", e.onnxifi):
                self.bad(item, f"'{e.onnxifi}' is not the name of an ONNXIFI status")
            if not 0 <= e.code < 1 << 16:
                self.bad(item, f"code {e.code} does not fit 16 bits")
            self.spec.errors.append(e)
        self.unique(self.spec.errors, "name", lambda e: e.name)
        self.unique(self.spec.errors, "code", lambda e: e.code)


def merge(into, table, loader):
    """Adds the lists and tables of a part of a description to the whole."""
    for key, value in table.items():
        if key not in into:
            into[key] = value
        elif isinstance(value, list) and isinstance(into[key], list):
            into[key] += value
        else:
            loader.bad(key, "is already given by another file")


def load(folder):
    """Reads the description in `folder` into a checked Spec.

    The five files, and after each NAME.toml its parts NAME_*.toml in the order of their names.
    """
    folder = pathlib.Path(folder)
    loader = Loader()
    raw = {}
    for whole in FILES:
        raw[whole] = {}
        stem = whole.removesuffix(".toml")
        for name in [whole] + sorted(p.name for p in folder.glob(f"{stem}_*.toml")):
            loader.file = name
            try:
                data = (folder / name).read_bytes()
            except OSError as e:
                loader.bad("file", f"cannot be read: {e.strerror}")
                raw.pop(whole, None)
                break
            try:
                merge(raw[whole], tomllib.loads(data.decode()), loader)
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
                loader.bad("syntax", str(e))
                raw.pop(whole, None)
                break
    parts = (loader.config, loader.isa, loader.descriptors, loader.regs, loader.errs)
    for name, part in zip(FILES, parts):
        if name in raw:
            loader.file = name
            part(raw[name])
    if loader.problems:
        raise SpecErrors(loader.problems)
    return loader.spec
