// Hyperscan's matching, for the proof.
#include <hs/hs_common.h>
#include <hs/hs_runtime.h>

#include "compiler/emit/regex.h"

namespace edge::compiler::emit {

struct RegexScanner::Impl {
  ~Impl() {
    hs_free_scratch(scratch);
    hs_free_database(database);
  }
  hs_database_t* database = nullptr;
  hs_scratch_t* scratch = nullptr;
};

std::string_view regex_engine_version() { return hs_version(); }

RegexScanner::RegexScanner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RegexScanner::RegexScanner(RegexScanner&&) noexcept = default;
RegexScanner& RegexScanner::operator=(RegexScanner&&) noexcept = default;
RegexScanner::~RegexScanner() = default;

Result<RegexScanner> RegexScanner::open(std::span<const std::byte> database) {
  auto impl = std::make_unique<Impl>();
  if (hs_deserialize_database(reinterpret_cast<const char*>(database.data()), database.size(), &impl->database) !=
          HS_SUCCESS ||
      hs_alloc_scratch(impl->database, &impl->scratch) != HS_SUCCESS) {
    return Error{ErrorCode::kDataLoss, "no database of this version of Hyperscan"};
  }
  return RegexScanner(std::move(impl));
}

Result<std::vector<bool>> RegexScanner::scan(std::size_t patterns, std::string_view subject) {
  std::vector<bool> hits(patterns);
  const auto hit = [](unsigned id, unsigned long long, unsigned long long, unsigned, void* context) {
    auto& found = *static_cast<std::vector<bool>*>(context);
    if (id < found.size()) found[id] = true;
    return 0;
  };
  const char* data = subject.data() == nullptr ? "" : subject.data();
  if (hs_scan(impl_->database, data, static_cast<unsigned>(subject.size()), 0, impl_->scratch, hit, &hits) !=
      HS_SUCCESS) {
    return Error{ErrorCode::kInternal, "Hyperscan cannot search"};
  }
  return hits;
}

}  // namespace edge::compiler::emit
