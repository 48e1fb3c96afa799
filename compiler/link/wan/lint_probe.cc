#include "compiler/link/wan/lint_probe.h"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "base/units.h"
#include "compiler/link/defaults.h"

namespace edge::compiler::link {
namespace {

using model::WanLink;
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

class ProbeLinter {
 public:
  explicit ProbeLinter(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void lint(const WanLink& link) {
    const auto& bounds = link.thresholds;
    const nanoseconds interval = link.probe.interval ? link.probe.interval->value : kDefaults.link_probe_interval;
    const nanoseconds timeout = link.probe.timeout ? link.probe.timeout->value : kDefaults.link_probe_timeout;
    const auto window =
        link.probe.window ? link.probe.window->value : static_cast<std::int64_t>(kDefaults.link_probe_window);
    if (bounds.max_loss && bounds.max_loss->value > 0) loss(link, interval, window);
    if (!bounds.max_latency || bounds.max_latency->value < timeout) return;
    add(link, bounds.max_latency->span, "spec.thresholds.maxLatency",
        "an answer after `probe.timeout` (" + duration_text(timeout) + ") counts as lost: no latency is ever beyond " +
            duration_text(bounds.max_latency->value),
        "give `probe.timeout` more than `maxLatency`");
  }

 private:
  void add(const WanLink& link, Span span, std::string field, std::string message, std::string fix) {
    diagnostics_.add({.code = DiagnosticCode::kCoarseProbe,
                      .severity = Severity::kWarning,
                      .resource = link.metadata.text(),
                      .field = std::move(field),
                      .span = span,
                      .message = std::move(message),
                      .fix = std::move(fix)});
  }

  void loss(const WanLink& link, nanoseconds interval, std::int64_t window) {
    const auto& bound = *link.thresholds.max_loss;
    const double limit = static_cast<double>(bound.value) / kOfPercents;
    if (limit >= 1) return;
    if (static_cast<double>(window) * limit < 1) {
      add(link, link.probe.window ? link.probe.window->span : bound.span, "spec.probe.window",
          "one lost probe of " + std::to_string(window) + " is a loss of " + percent(1 / static_cast<double>(window)) +
              ", more than the `maxLoss` of " + percent(limit),
          "give `probe.window` at least " + std::to_string(static_cast<int>(std::ceil(1 / limit))));
    }
    const double probes = probes_needed(limit);
    const double seconds = probes * std::chrono::duration<double>(interval).count();
    if (seconds < std::chrono::duration<double>(kTooLate).count()) return;
    add(link, link.probe.interval ? link.probe.interval->span : bound.span, "spec.probe.interval",
        "with a probe every " + duration_text(interval) + " it takes some " + duration_text(rounded(seconds)) +
            " to tell a loss of " + percent(2 * limit) + " from the `maxLoss` of " + percent(limit),
        "probe more often, or allow more loss");
  }

  Diagnostics& diagnostics_;
};

}  // namespace

void lint_probe(const model::WanLink& link, Diagnostics& diagnostics) { ProbeLinter(diagnostics).lint(link); }

}  // namespace edge::compiler::link
