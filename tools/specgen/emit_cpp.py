# SPDX-License-Identifier: Apache-2.0
"""C++: isa.h and isa.cc (namespace heddle::isa)."""

import cpp_text
from model import camel, const

TYPES = {"uint": "uint32_t", "int": "int32_t", "bool": "bool", "f32": "float"}
KINDS = {
    "uint": "kUint",
    "int": "kInt",
    "bool": "kBool",
    "f32": "kF32",
    "enum": "kEnum",
    "sem": "kSem",
    "region": "kRegion",
    "sram_word": "kSramWord",
    "sram_byte": "kSramByte",
    "dram_offset": "kDramOffset",
}


def quote(text):
    """A C string literal."""
    out = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{out}"'


def comment(text, indent=""):
    """Text as // lines of at most 98 columns."""
    lines, line = [], ""
    for word in text.split():
        if line and len(indent) + 3 + len(line) + 1 + len(word) > 98:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
    return "".join(f"{indent}// {x}\n" for x in lines + [line])


def number(value):
    """An unsigned constant with the smallest of uint32_t and uint64_t that holds it."""
    return ("uint32_t", f"{value}u") if value < 1 << 32 else ("uint64_t", f"{value}ull")


def signed(value):
    return f"{value}ll"


def ctype(f):
    return camel(f.enum.name) if f.enum else TYPES.get(f.type, "uint32_t")


def initial(f):
    """Default member initialiser."""
    if f.enum:
        hit = [v for v in f.enum.values if v.value == f.default]
        # Zero may be no legal value of an enum: the first one, then.
        return f"{camel(f.enum.name)}::{const((hit or f.enum.values)[0].name)}"
    if f.type == "bool":
        return "true" if f.default else "false"
    if f.type == "f32":
        return float(f.default).hex() + "f" if f.default else "0"
    return str(f.default) if f.signed else f"{f.default}u" if f.default else "0"


def default_bits(f):
    import struct

    if f.type == "f32":
        return struct.unpack("<I", struct.pack("<f", float(f.default)))[0]
    if f.enum and not any(v.value == f.default for v in f.enum.values):
        return f.enum.values[0].value
    return f.default & ((1 << f.bits) - 1)


def limits(spec):
    out = "// Limits that hold for every configuration.\n"
    for name, value in spec.limits.items():
        t, v = number(value)
        out += comment(spec.limits_doc[name])
        out += f"inline constexpr {t} {const(name)} = {v};\n"
    return out + "\n"


def configs(spec):
    out = "// One configuration of the accelerator.\nstruct Config {\n  const char* name;\n"
    out += "  // Value of the CONFIG register.\n  uint32_t id;\n"
    for key in spec.config_keys:
        out += comment(spec.config_doc[key], "  ") + f"  uint32_t {key};\n"
    out += f"}};\n\ninline constexpr size_t kNumConfigs = {len(spec.configs)};\n"
    out += "inline constexpr Config kConfigs[kNumConfigs] = {\n"
    for c in spec.configs:
        values = ", ".join(str(c.values[k]) for k in spec.config_keys)
        out += f"    {{{quote(c.name)}, {c.id}, {values}}},\n"
    out += "};\n"
    for n, c in enumerate(spec.configs):
        out += f"inline constexpr const Config& {const(c.name)} = kConfigs[{n}];\n"
    return (
        out
        + """
// The configuration of that name or id; nullptr when there is none.
const Config* FindConfig(absl::string_view name);
const Config* FindConfigById(uint32_t id);

"""
    )


def enum_decl(e):
    out = comment(e.doc) + f"enum class {camel(e.name)} : uint32_t {{\n"
    for v in e.values:
        out += comment(v.doc, "  ") + f"  {const(v.name)} = {v.value},\n"
    n = camel(e.name)
    return (
        out
        + f"""}};
inline constexpr int k{n}Bits = {e.bits};
inline constexpr size_t kNum{n}Values = {len(e.values)};
// Name as in the assembler; "?" for a value that does not exist.
const char* ToString({n} value);
extern const EnumInfo k{n}Info;

"""
    )


def field_names(fields):
    return [f for f in fields if not f.header]


def members(fields):
    out = ""
    for f in fields:
        text = f.doc
        if f.explicit_range and not f.enum:
            text += f" [{f.min} .. {f.max}]"
        if f.nonzero:
            text += " [not 0]"
        out += comment(text, "  ") + f"  {ctype(f)} {f.name} = {initial(f)};\n"
    return out


def group_decl(g):
    n = camel(g.name)
    return (
        comment(g.doc)
        + f"struct {n} {{\n  static constexpr size_t kWords = {g.words};\n\n"
        + members(g.fields)
        + "};\n\n"
    )


def header_decl(spec):
    h = spec.header
    names = [f.name for f in h.fields if f.name in ("opcode", "words")]
    args = ", ".join(f"uint32_t {n}_value" for n in names)
    sets = "".join(f"    h.{n} = {n}_value;\n" for n in names)
    return (
        comment(h.doc)
        + f"struct Header {{\n  static constexpr size_t kWords = {h.words};\n\n"
        + members(h.fields)
        + f"\n  // A header without waits and signals. Encoders write the fixed fields whatever they hold.\n"
        f"  static constexpr Header For({args}) {{\n    Header h;\n{sets}"
        "    return h;\n  }\n};\n\n"
    )


def instruction_decl(i):
    n = camel(i.name)
    fixed = ", ".join(f"{i.fixed_value(f):#x}" for f in i.fields if f.fixed)
    out = comment(f"{i.mnemonic}: {i.summary}") + f"struct {n} {{\n"
    out += f"""  static constexpr Opcode kOpcode = Opcode::{const(i.name)};
  static constexpr Engine kEngine = Engine::{const(i.engine)};
  static constexpr size_t kWords = {i.words};
  static constexpr const char* kMnemonic = {quote(i.mnemonic)};

  Header header = Header::For({fixed});
"""
    out += members(field_names(i.fields))
    if i.groups:
        out += "\n  // The repeating groups as structs of their own.\n"
    for g in i.groups:
        t = camel(g.group.name)
        out += f"  {t} Get{camel(g.name)}() const;\n  void Set{camel(g.name)}(const {t}& value);\n"
    return (
        out
        + f"""
  // Writes kWords words. A value wider than its field is cut: Check() tells.
  void Encode(uint32_t* words) const;
  // INVALID_ARGUMENT when a field is out of its range.
  absl::Status Check() const;
  // Exact length, opcode, ranges, enumerations and reserved bits are all checked.
  static absl::StatusOr<{n}> Decode(const uint32_t* words, size_t n);
  // One line of assembler: the mnemonic and every field that differs from its default.
  std::string ToString() const;
}};
bool operator==(const {n}& a, const {n}& b);

"""
    )


def micro_decl(spec):
    if not spec.micro:
        return ""
    m = spec.micro
    word = f"uint{m.bits}_t"
    out = "// Operations of a micro-instruction.\nenum class MicroOp : uint32_t {\n"
    for o in spec.micro_ops:
        out += comment(o.doc, "  ") + f"  {const(o.name)} = {o.opcode:#x},\n"
    out += f"}};\ninline constexpr size_t kNumMicroOps = {len(spec.micro_ops)};\n"
    out += comment(m.doc or "One micro-instruction of the vector engine.")
    out += "struct MicroInstruction {\n"
    first = spec.micro_ops[0].name
    for f in m.fields:
        if f.name == "op":
            out += comment(f.doc, "  ") + f"  MicroOp op = MicroOp::{const(first)};\n"
        else:
            out += members([f])
    out += f"""
  {word} Encode() const;
  // INVALID_ARGUMENT: unknown operation, value out of range, reserved bit set, or an operand that
  // the operation does not have (or an immediate that no operand names) is not zero.
  static absl::StatusOr<MicroInstruction> Decode({word} word);
  std::string ToString() const;
}};

// One operation: its name and, in order, the operands it has as indices into kMicroFields.
struct MicroOpInfo {{
  MicroOp op;
  const char* name;
  uint8_t num_operands;
  uint8_t operands[{max(1, max((len(o.operands) for o in spec.micro_ops), default=1))}];
  uint32_t since;  // minor version of VERSION that gave it its present meaning
}};
inline constexpr size_t kNumMicroFields = {len(m.fields)};
// Fields of a micro-instruction; bit 0 of `word` 1 is bit 32 of the {m.bits}-bit micro-instruction.
extern const FieldInfo kMicroFields[kNumMicroFields];
extern const MicroOpInfo kMicroOps[kNumMicroOps];
const MicroOpInfo* FindMicroOp(uint32_t op);
const MicroOpInfo* FindMicroOpByName(absl::string_view name);
const char* ToString(MicroOp op);

"""
    return out


def errors_decl(spec):
    out = "// Status codes of the card.\nenum class Error : uint32_t {\n"
    for e in spec.errors:
        out += comment(e.doc, "  ") + f"  {const(e.name)} = {e.code},\n"
    return (
        out
        + f"""}};
enum class ErrorScope : uint8_t {{ kCommand, kJob, kDevice }};

// What a status code means to each layer. `text` is the sentence for the user; words in braces
// stand for values that the reporter knows.
struct ErrorInfo {{
  Error code;
  const char* name;
  ErrorScope scope;
  int errno_value;
  absl::StatusCode absl_code;
  const char* onnxifi;
  const char* text;
}};
inline constexpr size_t kNumErrors = {len(spec.errors)};
extern const ErrorInfo kErrors[kNumErrors];
// nullptr for a code that does not exist (the value comes from the device).
const ErrorInfo* FindError(uint32_t code);
const char* ToString(Error code);

"""
    )


def header(spec):
    out = cpp_text.HEADER_TOP.format(banner=spec.banner())
    out += limits(spec) + configs(spec) + cpp_text.INFO_TYPES
    for e in spec.enums.values():
        out += enum_decl(e)
    out += "enum class Opcode : uint32_t {\n"
    for i in spec.instructions:
        out += f"  {const(i.name)} = {i.opcode:#x},\n"
    out += "};\nconst char* ToString(Opcode opcode);\n\n"
    out += header_decl(spec)
    for g in spec.groups.values():
        out += group_decl(g)
    for i in spec.instructions:
        out += instruction_decl(i)
    out += "// Any command.\nusing Command = std::variant<"
    out += ", ".join(camel(i.name) for i in spec.instructions) + ">;\n"
    out += cpp_text.COMMAND_API.format(num=len(spec.instructions), longest=max(i.words for i in spec.instructions))
    out += micro_decl(spec) + errors_decl(spec)
    return out + "}  // namespace heddle::isa\n\n#endif  // RTL_SPEC_GENERATED_ISA_H_\n"


# -- isa.cc -------------------------------------------------------------------------------------


def field_info(f, i=None):
    low = high = i.fixed_value(f) if f.fixed else None
    low, high = (f.min, f.max) if low is None else (low, high)
    default = default_bits(f) if not f.fixed else low
    enum = f"&k{camel(f.enum.name)}Info" if f.enum else "nullptr"
    flags = ", ".join("true" if b else "false" for b in (f.header, f.fixed, f.nonzero, f.required))
    return (
        f"    {{{quote(f.name)}, {f.word}, {f.lsb}, {f.bits}, FieldType::{KINDS[f.kind]}, "
        f"{flags}, {signed(low)}, {signed(high)}, {default:#x}u, {enum}, {f.since}}},\n"
    )


def put(f, value, word="words"):
    mask = (1 << f.bits) - 1
    if f.type == "f32":
        return f"  {word}[{f.word}] = FloatBits({value});\n"
    if f.enum or f.signed or f.type == "bool":
        value = f"static_cast<uint32_t>({value})"
    part = value if f.bits == 32 else f"({value} & {mask:#x}u)"
    return f"  {word}[{f.word}] |= {part}{f' << {f.lsb}' if f.lsb else ''};\n"


def get(f, word="words"):
    raw = f"{word}[{f.word}]"
    if f.type == "f32":
        return f"BitsFloat({raw})"
    if f.lsb:
        raw = f"{raw} >> {f.lsb}"
    if f.signed:
        return f"SignExtend({raw}, {f.bits})"
    if f.bits < 32:
        raw = f"({raw}) & {(1 << f.bits) - 1:#x}u" if f.lsb else f"{raw} & {(1 << f.bits) - 1:#x}u"
    if f.enum:
        return f"static_cast<{camel(f.enum.name)}>({raw})"
    if f.type == "bool":
        return f"({raw}) != 0"
    return raw


def enum_def(e):
    n = camel(e.name)
    out = f"static const EnumValueInfo k{n}Values[] = {{\n"
    for v in e.values:
        out += f"    {{{quote(v.name)}, {v.value}, {v.since}}},\n"
    return (
        out
        + f"""}};
const EnumInfo k{n}Info = {{{quote(e.name)}, k{n}Values, {len(e.values)}}};
const char* ToString({n} value) {{ return NameOf(k{n}Info, static_cast<uint32_t>(value)); }}

"""
    )


def instruction_def(i):
    n = camel(i.name)
    own = field_names(i.fields)
    out = f"static const FieldInfo k{n}Fields[] = {{\n" + "".join(field_info(f, i) for f in i.fields) + "};\n"
    masks = ", ".join(f"{m:#x}u" for m in i.reserved_masks())
    out += f"static const uint32_t k{n}Reserved[] = {{{masks}}};\n\n"
    out += f"void {n}::Encode(uint32_t* words) const {{\n"
    out += f"  for (size_t i = 0; i < kWords; ++i) words[i] = 0;\n"
    for f in i.fields:
        value = f"{i.fixed_value(f):#x}u" if f.fixed else f"header.{f.name}" if f.header else f.name
        out += put(f, value)
    out += f"}}\n\nabsl::StatusOr<{n}> {n}::Decode(const uint32_t* words, size_t n) {{\n"
    out += f"  absl::Status status = CheckExactly(words, n, kCommands[{{index}}]);\n"
    out += f"  if (!status.ok()) return status;\n  {n} r;\n"
    for f in i.fields:
        if not f.fixed:
            out += f"  r.{'header.' if f.header else ''}{f.name} = {get(f)};\n"
    out += f"""  return r;
}}

absl::Status {n}::Check() const {{
  uint32_t words[kWords];
  Encode(words);
"""
    # Encode cuts values: compare the members that the cut can change.
    for f in i.fields:
        if f.fixed or f.type in ("f32", "bool") or (f.bits == 32 and not f.enum):
            continue
        value = f"header.{f.name}" if f.header else f.name
        out += f"  if ({value} != ({get(f)})) return DoesNotFit({quote(i.mnemonic)}, {quote(f.name)});\n"
    out += f"""  return CheckCommand(words, kWords);
}}

std::string {n}::ToString() const {{
  uint32_t words[kWords];
  Encode(words);
  return FormatWords(words, kCommands[{{index}}]);
}}

bool operator==(const {n}& a, const {n}& b) {{
  uint32_t wa[{n}::kWords], wb[{n}::kWords];
  a.Encode(wa);
  b.Encode(wb);
  return std::memcmp(wa, wb, sizeof(wa)) == 0;
}}

"""
    for g in i.groups:
        t, m = camel(g.group.name), camel(g.name)
        out += f"{t} {n}::Get{m}() const {{\n  {t} r;\n"
        out += "".join(f"  r.{f.group_field} = {f.name};\n" for f in own if f.group == g.name)
        out += f"  return r;\n}}\n\nvoid {n}::Set{m}(const {t}& value) {{\n"
        out += "".join(f"  {f.name} = value.{f.group_field};\n" for f in own if f.group == g.name)
        out += "}\n\n"
    return out


def micro_def(spec):
    if not spec.micro:
        return ""
    m = spec.micro
    word = f"uint{m.bits}_t"
    out = f"static absl::Status CheckMicro({word} word);\n\n"
    out += "const FieldInfo kMicroFields[kNumMicroFields] = {\n"
    out += "".join(map(field_info, m.fields)) + "};\n\n"
    index = {f.name: n for n, f in enumerate(m.fields)}
    out += "const MicroOpInfo kMicroOps[kNumMicroOps] = {\n"
    for o in spec.micro_ops:
        ops = ", ".join(str(index[p]) for p in o.operands) or "0"
        out += f"    {{MicroOp::{const(o.name)}, {quote(o.name)}, {len(o.operands)}, {{{ops}}}, {o.since}}},\n"
    out += f"}};\n\n{word} MicroInstruction::Encode() const {{\n  {word} w = 0;\n"
    for f in m.fields:
        bits = f"FloatBits({f.name})" if f.type == "f32" else f"static_cast<uint32_t>({f.name})"
        out += f"  w |= static_cast<{word}>({bits} & {(1 << f.bits) - 1:#x}u) << {f.position};\n"
    out += f"  return w;\n}}\n\nabsl::StatusOr<MicroInstruction> MicroInstruction::Decode({word} word) {{\n"
    out += "  absl::Status status = CheckMicro(word);\n  if (!status.ok()) return status;\n"
    out += "  MicroInstruction r;\n"
    for f in m.fields:
        raw = f"static_cast<uint32_t>(word >> {f.position}) & {(1 << f.bits) - 1:#x}u"
        if f.name == "op":
            raw = f"static_cast<MicroOp>({raw})"
        elif f.type == "f32":
            raw = f"BitsFloat({raw})"
        elif f.signed:
            raw = f"SignExtend({raw}, {f.bits})"
        elif f.enum:
            raw = f"static_cast<{camel(f.enum.name)}>({raw})"
        elif f.type == "bool":
            raw = f"({raw}) != 0"
        out += f"  r.{f.name} = {raw};\n"
    out += "  return r;\n}\n\n"
    used = sum(f.mask << (32 * f.word) for f in m.fields)
    free = ((1 << m.bits) - 1) & ~used
    selects = ""
    for f in m.fields:
        for o, value in m.selectors(f):
            selects += (
                f"      has |= i == {index[f.name]} && info->operands[k] == {index[o.name]} && "
                f"MicroBits(kMicroFields[{index[o.name]}], word) == {value};\n"
            )
    return out + cpp_text.MICRO_CC % {"word": word, "free": f"{free:#x}ull", "op": index["op"], "selects": selects}


def errors_def(spec):
    out = "const ErrorInfo kErrors[kNumErrors] = {\n"
    for e in spec.errors:
        parts = [w.capitalize() for w in e.absl.split("_")]
        absl = "kOk" if e.absl == "OK" else "k" + "".join(parts)
        out += (
            f"    {{Error::{const(e.name)}, {quote(e.name)}, ErrorScope::{const(e.scope)}, "
            f"{e.errno}, absl::StatusCode::{absl}, {quote(e.onnxifi)},\n     {quote(e.text)}}},\n"
        )
    return out + "};\n\n" + cpp_text.ERRORS_CC


def source(spec):
    out = cpp_text.SOURCE_TOP.format(banner=spec.banner())
    for e in spec.enums.values():
        out += enum_def(e)
    body = "".join(instruction_def(i).replace("{index}", str(n)) for n, i in enumerate(spec.instructions))
    # The field tables come first (kCommands points to them), then kCommands, then the code.
    tables, code, keep = "", "", False
    for line in body.splitlines(keepends=True):
        starts = line.startswith(("static const FieldInfo", "static const uint32_t"))
        keep = keep or starts
        if keep:
            tables += line
            if line.rstrip().endswith("};"):
                keep = False
        else:
            code += line
    out += tables + "\nconst CommandInfo kCommands[kNumCommands] = {\n"
    for i in spec.instructions:
        n = camel(i.name)
        out += (
            f"    {{Opcode::{const(i.name)}, {quote(i.name)}, {quote(i.mnemonic)}, "
            f"Engine::{const(i.engine)}, {i.words},\n     k{n}Fields, {len(i.fields)}, "
            f"k{n}Reserved, {quote(i.summary)}, {i.since}}},\n"
        )
    op = next(f for f in spec.header.fields if f.name == "opcode")
    out += (
        "};\n\n"
        + cpp_text.COMMON_CC.replace("%(opcode_of)s", get(op, "first_word").replace("first_word[0]", "first_word"))
        + code
    )
    out += cpp_text.DECODE_ANY_TOP
    for i in spec.instructions:
        n = camel(i.name)
        out += f"    case {i.opcode:#x}: return Wrap({n}::Decode(words, {n}::kWords));\n"
    out += cpp_text.DECODE_ANY_END
    return out + micro_def(spec) + errors_def(spec) + "}  // namespace heddle::isa\n"
