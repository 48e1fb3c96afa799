#include "controller/remote/spoke_questions.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/resource_id.h"
#include "base/text/times.h"

namespace edge::controller::remote {
namespace {

/// Whether a cluster is connected, and if not since when.
Status reach(const RemoteViews& clusters, const std::string& name) {
  const std::string end = "/" + name;
  const auto found = std::ranges::find_if(clusters, [&](const auto& one) { return one.first.ends_with(end); });
  if (found == clusters.end()) {
    return Error{ErrorCode::kNotFound,
                 "this cluster is no hub of a cluster `" + name + "`: there is no EdgeRemoteCluster"};
  }
  const RemoteView& view = found->second;
  const Phase phase = view.phase.phase;
  if (phase == Phase::kConnected || phase == Phase::kDegraded || phase == Phase::kConnecting) return {};
  const std::string since = view.heard == WallTime{} ? "has never been heard by this controller"
                                                     : "is away; it was last heard at " +
                                                           rfc3339(std::chrono::system_clock::to_time_t(view.heard));
  return Error{ErrorCode::kUnavailable,
               "cluster `" + name + "` " + since + (view.phase.message.empty() ? "" : " (" + view.phase.message + ")")};
}

}  // namespace

void SpokeQuestions::enter(const std::string& name, std::shared_ptr<AskedStream> stream) {
  std::shared_ptr<AskedStream> before;
  {
    const std::lock_guard lock(mutex_);
    before = std::exchange(streams_[name], std::move(stream));
  }
  if (before) before->end({ErrorCode::kAborted, "the cluster has connected anew"});
}

void SpokeQuestions::left(const std::string& name, const AskedStream& stream) {
  std::shared_ptr<AskedStream> last;  // goes without the lock
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(name);
  if (found == streams_.end() || found->second.get() != &stream) return;
  last = std::move(found->second);
  streams_.erase(found);
}

void SpokeQuestions::end(const std::string& name) {
  std::shared_ptr<AskedStream> stream;
  {
    const std::lock_guard lock(mutex_);
    const auto found = streams_.find(name);
    if (found == streams_.end()) return;
    stream = found->second;
  }
  stream->end({ErrorCode::kUnavailable, "the link of the cluster is over"});
}

void SpokeQuestions::ask(const RemoteViews& clusters, const AgentQuestion& question, const TakeAnswer& take) const {
  const std::string_view rest =
      std::string_view(question.target).substr(std::min(kClusterPages.size(), question.target.size()));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  const std::string name(rest.substr(0, slash));
  if (!is_cluster_name(name) || slash == rest.size()) {
    return take(Error{ErrorCode::kInvalidArgument, "the target names no cluster and page"});
  }
  if (Status status = reach(clusters, name); !status) return take(status.error());
  std::shared_ptr<AskedStream> stream;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = streams_.find(name); found != streams_.end()) stream = found->second;
  }
  if (stream == nullptr) {
    return take(Error{ErrorCode::kUnimplemented, "cluster `" + name +
                                                     "` does not let its hub read it: its controller is older, has "
                                                     "--hub-reads none, or has connected just now"});
  }
  stream->ask({question.method, std::string(rest.substr(slash))}, take);
}

}  // namespace edge::controller::remote
