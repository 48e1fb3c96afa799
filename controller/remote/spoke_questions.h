// What administrators of a hub ask of its spokes: each spoke that may be read has a stream of questions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/distribute/questions.h"
#include "controller/remote/remote_clusters.h"

namespace edge::controller::remote {

/// Begins the targets of questions to spokes: `/clusters/NAME/...`.
inline constexpr std::string_view kClusterPages = "/clusters/";

/// The stream of one spoke.
class AskedStream {
 public:
  virtual ~AskedStream() = default;
  virtual void ask(const AgentQuestion& question, TakeAnswer take) = 0;
  virtual void end(const Error& why) = 0;
};

/// Thread-safe. By the names of the EdgeRemoteClusters.
class SpokeQuestions {
 public:
  /// Unanswered questions to one spoke, the bytes of an answer, and how long one is waited for.
  static constexpr std::size_t kMostOpen = 16;
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;
  static constexpr std::chrono::seconds kPatience{30};

  /// A newer stream of a spoke ends the older.
  void enter(const std::string& name, std::shared_ptr<AskedStream> stream);
  void left(const std::string& name, const AskedStream& stream);
  /// The link that the spoke's stream goes with is over.
  void end(const std::string& name);
  /// Asks the spoke that the target names, with the rest of the target. What is away is never answered for:
  /// kUnavailable says since when. kNotFound: there is no such cluster; kUnimplemented: it does not let itself be read.
  void ask(const RemoteViews& clusters, const AgentQuestion& question, const TakeAnswer& take) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<AskedStream>> streams_;
};

}  // namespace edge::controller::remote
