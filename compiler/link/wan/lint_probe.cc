#include "compiler/link/wan/lint_probe.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "compiler/link/defaults.h"
#include "compiler/link/wan/steering.h"

namespace edge::compiler::link {
namespace {

using std::chrono::nanoseconds;

/// Of `maxLoss`.
constexpr double kOfPercents = 100'000;
/// Agents decide by a sequential test, which ends at this sum of log-likelihood ratios (agent/wan/change_detector.h).
constexpr double kNeededEvidence = 17;
constexpr nanoseconds kTooLate = std::chrono::minutes(30);

/// Probes until a loss of twice the limit is told from one at the limit, on average.
double probes_needed(double limit) {
  const double twice = 2 * limit / (1 + limit);
  const double a_probe = twice * std::log(twice / limit) + (1 - twice) * std::log((1 - twice) / (1 - limit));
  return kNeededEvidence / a_probe;
}

std::string percent(double share) {
  std::string text = std::to_string(std::round(share * 10'000) / 100);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

nanoseconds rounded(double seconds) {
  return std::chrono::round<std::chrono::minutes>(std::chrono::duration<double>(seconds));
}

/// How a link is probed.
struct Probing {
  nanoseconds interval{};
  nanoseconds timeout{};
  std::int64_t window = 0;
};

/// What a probe cannot tell, and the field of `probe` that it is due to.
struct Doubt {
  enum class Field : std::uint8_t { kWindow, kInterval, kTimeout } field;
  std::string message;
  std::string fix;
};

std::vector<Doubt> doubts_of_loss(const Probing& probing, double limit, const std::string& name) {
  std::vector<Doubt> doubts;
  if (limit <= 0 || limit >= 1) return doubts;
  if (static_cast<double>(probing.window) * limit < 1) {
    doubts.push_back({Doubt::Field::kWindow,
                      "one lost probe of " + std::to_string(probing.window) + " is a loss of " +
                          percent(1 / static_cast<double>(probing.window)) + ", more than the " + name + " of " +
                          percent(limit),
                      "give `probe.window` at least " + std::to_string(static_cast<int>(std::ceil(1 / limit)))});
  }
  const double seconds = probes_needed(limit) * std::chrono::duration<double>(probing.interval).count();
  if (seconds < std::chrono::duration<double>(kTooLate).count()) return doubts;
  doubts.push_back({Doubt::Field::kInterval,
                    "with a probe every " + duration_text(probing.interval) + " it takes some " +
                        duration_text(rounded(seconds)) + " to tell a loss of " + percent(2 * limit) + " from the " +
                        name + " of " + percent(limit),
                    "probe more often, or allow more loss"});
  return doubts;
}

std::optional<Doubt> doubt_of_latency(const Probing& probing, nanoseconds limit) {
  if (limit < probing.timeout) return std::nullopt;
  return Doubt{Doubt::Field::kTimeout,
               "an answer after `probe.timeout` (" + duration_text(probing.timeout) +
                   ") counts as lost: no latency is ever beyond " + duration_text(limit),
               "give `probe.timeout` more than `maxLatency`"};
}

Diagnostic finding(const std::string& resource, std::string field, Span span, const Doubt& doubt) {
  return {.code = DiagnosticCode::kCoarseProbe,
          .severity = Severity::kWarning,
          .resource = resource,
          .field = std::move(field),
          .span = span,
          .message = doubt.message,
          .fix = doubt.fix};
}

}  // namespace

void lint_probe(const model::WanLink& link, Diagnostics& diagnostics) {
  const auto& bounds = link.thresholds;
  const auto& probe = link.probe;
  const Probing probing{probe.interval ? probe.interval->value : kDefaults.link_probe_interval,
                        probe.timeout ? probe.timeout->value : kDefaults.link_probe_timeout,
                        probe.window ? probe.window->value : std::int64_t{kDefaults.link_probe_window}};
  if (bounds.max_loss) {
    const double limit = static_cast<double>(bounds.max_loss->value) / kOfPercents;
    for (const Doubt& doubt : doubts_of_loss(probing, limit, "`maxLoss`")) {
      const bool window = doubt.field == Doubt::Field::kWindow;
      const auto span = window ? (probe.window ? probe.window->span : bounds.max_loss->span)
                               : (probe.interval ? probe.interval->span : bounds.max_loss->span);
      diagnostics.add(finding(link.metadata.text(), window ? "spec.probe.window" : "spec.probe.interval", span, doubt));
    }
  }
  if (!bounds.max_latency) return;
  if (const auto doubt = doubt_of_latency(probing, bounds.max_latency->value)) {
    diagnostics.add(finding(link.metadata.text(), "spec.thresholds.maxLatency", bounds.max_latency->span, *doubt));
  }
}

void lint_policy_probes(const LinkedWan& wan, Diagnostics& diagnostics) {
  const SteeringTable table = make_steering(wan);
  for (std::uint32_t index = 0; index < wan.policies.size(); ++index) {
    const LinkedWanPolicy& policy = wan.policies[index];
    // One finding of each kind: links are often probed alike.
    std::set<Doubt::Field> told;
    const auto tell = [&](const LinkedWanLink& link, const char* field, Span span, const Doubt& doubt) {
      if (!told.insert(doubt.field).second) return;
      Diagnostic found = finding(policy.id.text(), field, span, doubt);
      found.labels = {{link.id.span, "probed so"}};
      found.notes = {"the link is " + link.id.text()};
      diagnostics.add(std::move(found));
    };
    for (const std::uint32_t site : policy.sites) {
      for (const std::uint32_t position : allowed_links(wan, table, site, index)) {
        const LinkedWanLink& link = wan.links[position];
        const Probing probing{link.interval, link.timeout, link.window};
        if (policy.limits.loss) {
          for (const Doubt& doubt : doubts_of_loss(probing, *policy.limits.loss / kOfPercents, "`sla.maxLoss`")) {
            tell(link, "spec.sla.maxLoss", policy.limits.loss_span, doubt);
          }
        }
        if (!policy.limits.latency) continue;
        if (const auto doubt = doubt_of_latency(probing, *policy.limits.latency)) {
          tell(link, "spec.sla.maxLatency", policy.limits.latency_span, *doubt);
        }
      }
    }
  }
}

}  // namespace edge::compiler::link
