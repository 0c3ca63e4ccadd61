// SPDX-License-Identifier: Apache-2.0
#include "compiler/cache/build_id.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace heddle::compiler {
namespace {

struct Search {
  ElfW(Addr) address = 0;  // in the module
  std::string id;
};

size_t Aligned(size_t size, size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

std::string IdIn(const char* notes, size_t size, size_t alignment) {
  if (alignment != 8) alignment = 4;
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const size_t name = sizeof(note);
    const size_t value = name + Aligned(note.n_namesz, alignment);
    const size_t end = value + Aligned(note.n_descsz, alignment);
    if (end > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      return std::string(notes + value, note.n_descsz);
    }
    notes += end;
    size -= end;
  }
  return "";
}

int Visit(dl_phdr_info* module, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  bool here = false;
  for (int i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    const ElfW(Addr) begin = module->dlpi_addr + part.p_vaddr;
    here |= part.p_type == PT_LOAD && search->address >= begin &&
            search->address - begin < part.p_memsz;
  }
  if (!here) return 0;
  for (int i = 0; i < module->dlpi_phnum && search->id.empty(); ++i) {
    const ElfW(Phdr)& part = module->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    search->id =
        IdIn(reinterpret_cast<const char*>(module->dlpi_addr + part.p_vaddr),
             part.p_memsz, part.p_align);
  }
  return 1;
}

}  // namespace

std::string BuildId() {
  Search search;
  search.address = reinterpret_cast<ElfW(Addr)>(&BuildId);
  dl_iterate_phdr(&Visit, &search);
  return search.id;
}

}  // namespace heddle::compiler
