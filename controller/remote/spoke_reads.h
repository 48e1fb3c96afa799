// What a spoke lets its hub read: objects of this project's kinds as the spoke's API has them, events about them, and
// the program that its agents are given. Nothing else: no Secret, no other kind, no change, no watch.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controller/distribute/agent_answer.h"
#include "controller/kube/blocking_client.h"

namespace edge::controller::remote {

/// Whether a target, path and query of the Kubernetes API, only reads what a hub may read. kPermissionDenied, or
/// kInvalidArgument, with a sentence.
Status check_read(std::string_view target);

struct SpokeReadsOptions {
  kube::Config config;  ///< of the own API
  /// Bytes of the program that is published to the group `default`; null: none.
  std::function<std::shared_ptr<const std::vector<std::byte>>()> program{};
  /// Answers `GET /traces/api/traces/ID`; null: traces are not read.
  std::function<AgentAnswer(const AgentQuestion&)> traces{};
};

/// Thread-safe. Blocks for seconds at most.
class SpokeReads {
 public:
  static constexpr std::size_t kMostObjects = 500;  ///< of a list: more continue, as in the API
  static constexpr std::size_t kMostBytes = std::size_t{31} << 20;

  explicit SpokeReads(SpokeReadsOptions options) : options_(std::move(options)) {}

  /// `GET /program`; `GET /traces/api/traces/ID`; or `GET /api/...` and `GET /apis/...`, as the API answers them.
  AgentAnswer answer(const AgentQuestion& question);

 private:
  AgentAnswer answer_program() const;
  AgentAnswer answer_api(const std::string& target);

  const SpokeReadsOptions options_;
  std::mutex mutex_;
  std::unique_ptr<kube::BlockingClient> api_;  ///< guarded by the mutex; made by the first question
};

}  // namespace edge::controller::remote
