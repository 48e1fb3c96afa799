// Program reader, dump and interpreter on hostile bytes. Input is either a program as it is, or (first byte `M`) a list
// of changes to a good one, hashed again afterwards, so that the checks behind the hashes are reached.
#include <cstring>

#include "compiler/sample_config.h"
#include "program/dump/dump.h"
#include "program/evaluate/evaluate.h"
#include "program/test_program.h"

namespace {

using namespace edge;
using Bytes = std::vector<std::byte>;

Bytes program_from(const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] != 'M') {
    const auto* first = reinterpret_cast<const std::byte*>(data);
    return {first, first + size};
  }
  static const Bytes good = compiler::sample::tables_only(compiler::sample::one_of_everything());
  Bytes bytes = good;
  for (std::size_t i = 1; i + 6 <= size; i += 6) {
    std::uint16_t position = 0;
    std::memcpy(&position, data + i, sizeof position);
    const std::size_t at = position % (bytes.size() - 3);
    std::memcpy(bytes.data() + at, data + i + 2, 4);
  }
  program::sample::reseal(bytes);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto program = program::read(std::make_shared<const Bytes>(program_from(data, size)));
  if (!program) return 0;
  program::dump_routes(*program);
  program::dump_routes_json(*program);
  program::dump_sections(*program);
  const auto regex = [](std::string_view, std::string_view subject) { return subject.size() % 2 == 0; };
  const program::SectionView& listeners = program->listeners().view;
  const auto binds = listeners.array(listeners.header<program::ListenersHeader>().binds);
  const Field headers[] = {{"x-env", "prod"}, {"accept", "json"}, {"a", "c"}};
  for (std::uint32_t bind = 0; bind < binds.size(); ++bind) {
    for (const char* host : {"", "api.example.com", "x.y.example.com"}) {
      for (const char* path : {"*", "/api/health", "/v1/x", "/old"})
        program::evaluate(*program, bind, {"POST", host, path, "debug=1", headers, {}}, regex);
    }
  }
  return 0;
}
