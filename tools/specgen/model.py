# SPDX-License-Identifier: Apache-2.0
"""The hardware description in memory: plain data, filled and checked by load.py.

Nothing here knows about TOML or about an output format.
"""

from dataclasses import dataclass, field

SCALARS = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}


class SpecErrors(Exception):
    """Every violation found in one run; str() is one line per violation."""

    def __init__(self, items):
        super().__init__("\n".join(items))
        self.items = items


def camel(name):
    """load_dma, LOAD_DMA and LoadDMA-like words -> LoadDma."""
    return "".join(p[:1].upper() + (p[1:].lower() if p.isupper() else p[1:]) for p in name.split("_"))


def const(name):
    """Name of a C++ constant."""
    return "k" + camel(name)


def upper(name):
    return name.upper()


@dataclass
class EnumValue:
    name: str
    value: int
    doc: str
    since: int = 0  # minor version of the contract that gave it its present meaning


@dataclass
class Enum:
    name: str
    doc: str
    bits: int
    values: list

    def mask(self):
        return sum(1 << v.value for v in self.values)


@dataclass
class Field:
    """One bit field.  `word` counts 32-bit words from the start of the command."""

    name: str
    word: int
    lsb: int
    bits: int
    type: str
    doc: str
    min: int = 0
    max: int = 0
    nonzero: bool = False
    default: object = 0
    enum: Enum = None
    group: str = ""  # instance name, when the field comes from a repeating group
    group_field: str = ""
    header: bool = False
    explicit_range: bool = False
    required: bool = False  # zero is not legal and there is no default
    since: int = 0  # minor version that gave a value other than zero its meaning

    @property
    def kind(self):
        return "enum" if self.enum else self.type

    @property
    def signed(self):
        return self.type == "int"

    @property
    def mask(self):
        return ((1 << self.bits) - 1) << self.lsb

    @property
    def position(self):
        """Bit of the command, counted from bit 0 of word 0."""
        return 32 * self.word + self.lsb

    @property
    def fixed(self):
        """True for a header field whose value the instruction itself fixes."""
        return self.header and self.name in ("opcode", "words")


@dataclass
class Group:
    name: str
    words: int
    doc: str
    fields: list


@dataclass
class GroupUse:
    name: str
    group: Group
    word: int
    doc: str = ""


@dataclass
class Instruction:
    name: str
    mnemonic: str
    opcode: int
    engine: str
    words: int
    summary: str
    semantics: str
    own: list  # fields of the instruction itself and of its groups
    groups: list
    since: int = 0
    fields: list = field(default_factory=list)  # header + own, in bit order

    def fixed_value(self, f):
        return {"opcode": self.opcode, "words": self.words}[f.name]

    def reserved_masks(self):
        masks = [0xFFFFFFFF] * self.words
        for f in self.fields:
            masks[f.word] &= ~f.mask
        return masks


@dataclass
class Header:
    words: int
    doc: str
    fields: list


@dataclass
class MicroOp:
    name: str
    opcode: int
    operands: list
    doc: str
    group: str = ""
    since: int = 0


@dataclass
class MicroInstruction:
    bits: int
    doc: str
    fields: list

    def selectors(self, f):
        """How operands can select field f (an immediate): pairs of operand field and enum value."""
        return [(o, v.value) for o in self.fields if o.enum for v in o.enum.values if v.name == f.name]


@dataclass
class Section:
    title: str
    text: str


@dataclass
class BitField:
    name: str
    lsb: int
    bits: int
    doc: str
    access: str = ""
    reset: int = 0
    enum: Enum = None
    since: int = 0  # minor version that a bit of a structure in memory comes with

    @property
    def mask(self):
        return ((1 << self.bits) - 1) << self.lsb


@dataclass
class Member:
    name: str
    offset: int
    type: str
    count: int  # 0 = not an array
    doc: str
    bits: list
    enum: Enum = None
    size: int = 0  # bytes, whole array
    align: int = 1
    struct: bool = False


@dataclass
class Struct:
    name: str
    size: int
    doc: str
    members: list
    align: int = 1

    def layout(self):
        """Members in order with the gaps filled: yields (member or None, offset, size)."""
        at = 0
        for m in sorted(self.members, key=lambda m: m.offset):
            if m.offset > at:
                yield None, at, m.offset - at
            yield m, m.offset, m.size
            at = m.offset + m.size
        if at < self.size:
            yield None, at, self.size - at


@dataclass
class Register:
    name: str
    offset: int
    access: str
    reset: int
    doc: str
    count: int  # 0 = a single register
    stride: int
    volatile: bool
    fields: list

    def mask(self, *access):
        """Bits whose access is one of `access` (all declared bits when none is given)."""
        if not self.fields:
            return 0xFFFFFFFF if not access or self.access in access else 0
        return sum(f.mask for f in self.fields if not access or f.access in access)


@dataclass
class Block:
    bar: int
    size: int
    doc: str


@dataclass
class Error:
    name: str
    code: int
    scope: str
    errno: str
    absl: str
    onnxifi: str
    text: str
    doc: str


@dataclass
class Config:
    name: str
    id: int
    values: dict


@dataclass
class Spec:
    limits: dict = field(default_factory=dict)
    limits_doc: dict = field(default_factory=dict)
    configs: list = field(default_factory=list)
    config_keys: list = field(default_factory=list)
    config_doc: dict = field(default_factory=dict)
    enums: dict = field(default_factory=dict)
    groups: dict = field(default_factory=dict)
    header: Header = None
    instructions: list = field(default_factory=list)
    micro_ops: list = field(default_factory=list)
    micro: MicroInstruction = None
    sections: list = field(default_factory=list)
    structs: list = field(default_factory=list)
    block: Block = None
    pci: dict = field(default_factory=dict)
    pci_doc: dict = field(default_factory=dict)
    registers: list = field(default_factory=list)
    errors: list = field(default_factory=list)

    def opcode_bits(self):
        return next(f.bits for f in self.header.fields if f.name == "opcode")

    def banner(self):
        """The same for every input: a file changes, and is compiled again, only with what it says."""
        return "generated from rtl/spec by tools/specgen; do not edit."
