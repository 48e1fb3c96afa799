#include "controller/operator/rollout/rollout.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;
using Canary = RolloutRecord::Canary;

/// How often the requests of a canary are compared.
constexpr std::chrono::seconds kAskAgain{5};

constexpr std::string_view kCanaries[] = {"none", "started", "passed", "failed"};

bool is_old(const AgentPod& pod, const RolloutView& view) {
  return !pod.leaving && pod.template_hash != view.wanted_hash;
}

std::string short_hash(const std::string& hash) { return hash.substr(0, 12); }

/// A pod that serves nobody is exchanged first, then by node.
std::vector<const AgentPod*> old_pods(const RolloutView& view) {
  std::vector<const AgentPod*> pods;
  for (const AgentPod& pod : view.pods) {
    if (is_old(pod, view)) pods.push_back(&pod);
  }
  std::ranges::sort(pods, {}, [](const AgentPod* pod) { return std::tie(pod->ready, pod->node, pod->name); });
  return pods;
}

std::int64_t ready_pods(const RolloutView& view) {
  return std::ranges::count_if(view.pods, [](const AgentPod& pod) { return pod.ready && !pod.leaving; });
}

RolloutStep start_canary(const RolloutView& view, const std::vector<const AgentPod*>& old,
                         const RolloutOptions& options, RolloutStep step) {
  const AgentPod& first = *old.front();
  if (first.ready && view.wanted_count - ready_pods(view) >= view.max_unavailable) {
    step.text = "waits with the first agent of the new template until others are ready";
    return step;
  }
  step.kind = RolloutStep::Kind::kReplace;
  step.pods = {first.name};
  step.text = "agent on " + first.node + " gets template " + short_hash(view.wanted_hash) + " first";
  // One that was chosen a moment ago, and whose pod is still there, keeps its time.
  const bool chosen = step.record.canary == Canary::kStarted && step.record.canary_hash == view.wanted_hash &&
                      step.record.canary_node == first.node;
  if (chosen && view.now - step.record.since < options.patience / 2) return step;
  step.record.canary = Canary::kStarted;
  step.record.canary_hash = view.wanted_hash;
  step.record.canary_node = first.node;
  step.record.before.clear();
  step.record.reason.clear();
  step.record.since = view.now;
  return step;
}

/// Whether the record says that a canary is tried, and no pod has been deleted for it: an operator ended in between, or
/// its node is gone.
bool is_still_to_begin(const RolloutView& view) {
  const auto begun = [&](const AgentPod& pod) { return pod.leaving || pod.template_hash == view.wanted_hash; };
  return std::ranges::none_of(view.pods, begun) && static_cast<std::int64_t>(view.pods.size()) >= view.wanted_count;
}

void go_back(const RolloutView& view, std::string reason, RolloutStep& step) {
  step.kind = RolloutStep::Kind::kGoBack;
  step.record.canary = Canary::kFailed;
  step.record.since = view.now;
  step.text = "template " + short_hash(view.wanted_hash) + ": " + reason;
  step.record.reason = std::move(reason);
}

/// \returns whether the canary is through; else `step` is what is to be done.
bool watch_canary(const RolloutView& view, const RolloutOptions& options, RolloutStep& step) {
  const WallTime end = step.record.since + std::chrono::duration_cast<WallTime::duration>(options.patience);
  step.until = end;
  step.text = "waits for the first agent of template " + short_hash(view.wanted_hash);
  const AgentPod* const pod = watched_canary(view, step.record);
  if (pod != nullptr && view.comparison.result == Comparison::Result::kWorse) {
    go_back(view, view.comparison.text, step);
    return false;
  }
  if (pod != nullptr) {
    // Clocks differ: what a kubelet says counts from when the canary began at the earliest.
    const WallTime held =
        std::max(pod->ready_since, step.record.since) + std::chrono::duration_cast<WallTime::duration>(options.hold);
    const bool compared = view.comparison.result != Comparison::Result::kNone;
    if (held <= view.now && compared) {
      step.record.canary = Canary::kPassed;
      step.record.since = view.now;
      return true;
    }
    step.until = std::min({end, held > view.now ? held : end, view.now + kAskAgain});
    if (!compared && !view.comparison.text.empty()) step.text += ": " + view.comparison.text;
  }
  if (end > view.now) return false;
  const std::string why =
      pod == nullptr ? "the first agent was not ready in time"
                     : "the requests of the first agent could not be compared in time: " + view.comparison.text;
  go_back(view, why, step);
  return false;
}

RolloutStep replace_rest(const RolloutView& view, const std::vector<const AgentPod*>& old, RolloutStep step) {
  std::int64_t room = view.max_unavailable - (view.wanted_count - ready_pods(view));
  for (const AgentPod* pod : old) {
    if (pod->ready && room-- <= 0) break;
    step.pods.push_back(pod->name);
  }
  step.kind = step.pods.empty() ? RolloutStep::Kind::kWait : RolloutStep::Kind::kReplace;
  step.until = WallTime::max();
  step.text = std::to_string(old.size()) + " agents still have another template than " + short_hash(view.wanted_hash);
  return step;
}

}  // namespace

const AgentPod* watched_canary(const RolloutView& view, const RolloutRecord& record) {
  if (record.canary != Canary::kStarted || record.canary_hash != view.wanted_hash) return nullptr;
  for (const AgentPod& pod : view.pods) {
    if (!pod.leaving && pod.template_hash == view.wanted_hash && pod.ready) return &pod;
  }
  return nullptr;
}

RolloutStep next_step(const RolloutView& view, const RolloutRecord& record, const RolloutOptions& options) {
  RolloutStep step{.record = record};
  const auto old = old_pods(view);
  // The first of all, and what has run everywhere before, needs no trial.
  const bool trusted = record.sound_hash.empty() || record.sound_hash == view.wanted_hash;
  const bool about_it = record.canary_hash == view.wanted_hash;
  const bool passed = trusted || (about_it && record.canary == Canary::kPassed);
  if (view.by_hand && !old.empty()) {
    step.text = std::to_string(old.size()) + " agents have another template and are replaced by hand";
    return step;
  }
  if (!passed && about_it && record.canary == Canary::kStarted && !(is_still_to_begin(view) && !old.empty())) {
    if (!watch_canary(view, options, step)) return step;
  } else if (!passed && !old.empty()) {
    return start_canary(view, old, options, std::move(step));
  }
  if (!old.empty()) return replace_rest(view, old, std::move(step));
  const std::int64_t ready = ready_pods(view);
  step.text = std::to_string(ready) + " of " + std::to_string(view.wanted_count) + " agents are ready";
  step.until = WallTime::max();
  const bool leaving = std::ranges::any_of(view.pods, &AgentPod::leaving);
  step.kind = ready >= view.wanted_count && !leaving ? RolloutStep::Kind::kDone : RolloutStep::Kind::kWait;
  return step;
}

json write_record(const RolloutRecord& record) {
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(record.since.time_since_epoch()).count();
  return {{"soundHash", record.sound_hash},   {"soundObject", record.sound_object},
          {"canaryHash", record.canary_hash}, {"canary", kCanaries[static_cast<std::size_t>(record.canary)]},
          {"since", std::to_string(since)},   {"canaryNode", record.canary_node},
          {"before", record.before},          {"reason", record.reason}};
}

RolloutRecord read_record(const json& data) {
  RolloutRecord record;
  record.sound_hash = text_in(data, "soundHash");
  record.sound_object = text_in(data, "soundObject");
  record.canary_hash = text_in(data, "canaryHash");
  const auto* const found = std::ranges::find(kCanaries, std::string_view(text_in(data, "canary")));
  if (found != std::end(kCanaries)) record.canary = static_cast<Canary>(found - std::begin(kCanaries));
  record.canary_node = text_in(data, "canaryNode");
  record.before = text_in(data, "before");
  record.reason = text_in(data, "reason");
  const std::string& since = text_in(data, "since");
  std::int64_t milliseconds = 0;
  std::from_chars(since.data(), since.data() + since.size(), milliseconds);
  // Far beyond any clock's reach the arithmetic of times would overflow.
  record.since = WallTime(std::chrono::milliseconds(std::clamp<std::int64_t>(milliseconds, 0, 4'000'000'000'000)));
  if (record.sound_hash.empty() || record.sound_object.empty()) record.sound_hash = record.sound_object = {};
  return record;
}

std::int64_t unavailable_of(const json& max_unavailable, std::int64_t total) {
  if (max_unavailable.is_number_integer()) {
    return std::clamp<std::int64_t>(max_unavailable.get<std::int64_t>(), 1, 100'000);
  }
  const std::string& text = text_value(max_unavailable);
  std::int64_t percent = 0;
  std::from_chars(text.data(), text.data() + text.size(), percent);
  return std::max<std::int64_t>(1, (std::clamp<std::int64_t>(percent, 0, 100) * total + 99) / 100);
}

}  // namespace edge::cluster_operator
