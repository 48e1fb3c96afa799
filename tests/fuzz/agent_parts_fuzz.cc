// Any messages as the parts of programs and of values: what comes out has the hash that was announced, is bounded, and
// whatever came before, a sound program is taken afterwards.
//
// Input: a byte (even: programs, odd: values), then messages, each after its size in two bytes, little-endian.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "agent/received/received_program.h"
#include "agent/received/received_values.h"
#include "program/read.h"
#include "program/sha256.h"
#include "program/test_program.h"
#include "schemas/agent.pb.h"
#include "tests/fuzz/require.h"

using namespace edge;

namespace {

/// What runs meanwhile.
const agent::ProgramBytes& running() {
  static const agent::ProgramBytes kProgram =
      std::make_shared<const std::vector<std::byte>>(program::sample::program_of({}));
  return kProgram;
}

template <typename Message, typename Take>
void for_each(std::string_view bytes, Take take) {
  while (bytes.size() >= 2) {
    const std::size_t size = static_cast<std::uint8_t>(bytes[0]) | static_cast<std::size_t>(bytes[1] & 0xff) << 8;
    bytes.remove_prefix(2);
    const std::string_view one = bytes.substr(0, size);
    bytes.remove_prefix(one.size());
    Message message;
    if (message.ParseFromArray(one.data(), static_cast<int>(one.size()))) take(message);
  }
}

void programs(std::string_view bytes) {
  agent::ProgramAssembly assembly;
  for_each<agent::v1::ProgramPart>(bytes, [&](const agent::v1::ProgramPart& part) {
    // A program of a gigabyte is allowed, and would only take the fuzzer's memory.
    if (part.has_begin() && part.begin().header().size() == sizeof(program::FileHeader)) {
      program::FileHeader header;
      std::memcpy(&header, part.begin().header().data(), sizeof header);
      if (header.file_size > 1 << 20 && header.file_size <= program::kMaxProgramBytes) return;
    }
    const auto taken = assembly.take(part, running());
    if (!taken || !*taken) return;
    const auto& bytes_of = *(*taken)->bytes;
    const auto view = program::read((*taken)->bytes);
    require(!view || view->hash() == (*taken)->hash);
    require(bytes_of.size() <= 1 << 20);
  });
}

void values(std::string_view bytes) {
  agent::ValuesAssembly assembly;
  for_each<agent::v1::ValuesPart>(bytes, [&](const agent::v1::ValuesPart& part) {
    const auto taken = assembly.take(part);
    if (!taken || !*taken) return;
    // What is promised to those who search them.
    std::uint64_t before = 0;
    for (const program::BackendEndpoints& backend : (*taken)->endpoints.backends) {
      require(backend.backend_id >= before && !backend.name.empty());
      before = backend.backend_id;
    }
    for (const program::NamedSecret& secret : (*taken)->secrets.secrets) require(!secret.name.empty());
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  data[0] % 2 == 0 ? programs(bytes) : values(bytes);
  return 0;
}
