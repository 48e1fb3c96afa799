// The engines of one program side by side: `program::evaluate` on the tables, with RE2, and the runtime's `decide`,
// with native code and Hyperscan where the program has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/evaluate/evaluate.h"
#include "program/read.h"
#include "runtime/match/decide.h"
#include "tests/reference/request.h"

namespace edge::reference {

/// What an engine chose, by name: views into the program. Empty route: nothing matched.
struct EngineResult {
  std::uint32_t listener = program::kNone;  ///< index of the ListenerRecord
  std::string_view host;                    ///< pattern of the host section
  std::string_view name_space;
  std::string_view route;
  std::uint16_t rule = 0;
  std::uint16_t match = 0;

  bool found() const { return !route.empty(); }
  friend bool operator==(const EngineResult&, const EngineResult&) = default;
};

class Engines {
 public:
  /// Reads and loads; no signature is asked for.
  static Result<Engines> open(std::shared_ptr<const std::vector<std::byte>> bytes);

  const program::ProgramView& view() const { return loaded_->view(); }
  std::span<const program::BindRecord> binds() const { return loaded_->binds(); }
  /// The bind that a request comes in on by its port and destination; an exact address before `every address`.
  std::optional<std::uint32_t> bind_of(const OwnedRequest& request) const;

  EngineResult evaluate(std::uint32_t bind, const program::RequestView& request) const;
  EngineResult decide(std::uint32_t bind, const program::RequestView& request);
  /// What becomes of it (treatment.h), by `program::evaluate`; empty where nothing matches.
  std::string treatment(std::uint32_t bind, const program::RequestView& request) const;

 private:
  std::shared_ptr<const runtime::LoadedProgram> loaded_;
  runtime::MatchScratch scratch_;
  program::RegexMatcher regex_;
};

}  // namespace edge::reference
