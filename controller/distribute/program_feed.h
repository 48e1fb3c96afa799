// Splits a program into messages for one agent: the section table first, then the bytes that the agent lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "controller/distribute/publication.h"

namespace edge::agent::v1 {
class ProgramPart;
}

namespace edge::controller {

/// Made for one publication, which it pins until the end.
class ProgramFeed {
 public:
  /// Approximate bytes of one message. An agent that reads slowly costs one message of memory.
  static constexpr std::size_t kPartBytes = 256 << 10;

  /// For an agent that runs `base`; null: one that runs nothing, or whose sections are given by `change` alone.
  ProgramFeed(std::shared_ptr<const Publication> publication, std::shared_ptr<const Outline> base,
              std::shared_ptr<const Difference> change);

  bool at_end() const { return ended_; }
  /// Writes the next message into an empty `part`.
  void next(agent::v1::ProgramPart& part);
  const Publication& publication() const { return *publication_; }

 private:
  std::shared_ptr<const Publication> publication_;
  std::shared_ptr<const Outline> base_;
  std::shared_ptr<const Difference> change_;
  std::size_t removed_ = 0;  ///< of change_, already sent
  std::size_t entries_ = 0;
  std::size_t sent_ = 0;
  std::uint64_t offset_ = 0;  ///< into the section being sent
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace edge::controller
