#include "compiler/analyze/explain/treatment.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>

#include "base/units.h"
#include "compiler/analyze/explain/explain_words.h"
#include "program/dump/policy_type_text.h"
#include "program/dump/route_tree.h"
#include "program/filter_table.h"
#include "program/filters.h"
#include "program/format/records.h"
#include "program/mirror_share.h"

namespace edge::compiler::analyze {
namespace {

using program::kNone;

constexpr std::string_view kDenied = "503, a policy cannot be enforced";

std::string duration(std::uint64_t nanoseconds) {
  return duration_text(std::chrono::nanoseconds(static_cast<std::int64_t>(nanoseconds)));
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

/// With what a rewritten prefix replaces, which the words of a filter leave out.
std::vector<std::string> exact_filters(const program::SectionView& host, const program::TreatmentRecord& treatment) {
  std::vector<std::string> out;
  for (const program::FilterRecord& filter : host.array(treatment.filters)) {
    std::string& text = out.emplace_back(filter_text(host, filter));
    if (row_of(filter.op).detail == program::Detail::kPrefix)
      text += " (its first " + std::to_string(filter.detail) + " bytes)";
  }
  return out;
}

}  // namespace

std::vector<std::string> filter_texts(const program::SectionView& host, const program::TreatmentRecord& treatment) {
  std::vector<std::string> out;
  for (const program::FilterRecord& filter : host.array(treatment.filters)) out.push_back(filter_text(host, filter));
  return out;
}

std::vector<std::string> policy_texts(const program::ProgramView& program, std::span<const std::uint64_t> policies) {
  const program::SectionView& view = program.policies().view;
  std::vector<std::string> out;
  for (const std::uint64_t id : policies) {
    const program::PolicyRecord* const policy = program::find_policy(view, id);
    if (policy == nullptr) continue;
    out.push_back(std::string(program::policy_type_text(policy->type)) + " " +
                  std::string(view.string(policy->name_space)) + "/" + std::string(view.string(policy->name)));
  }
  return out;
}

std::vector<std::string> parts_without_route(const program::ProgramView& program, std::uint32_t listener) {
  const program::SectionView& view = program.policies().view;
  const program::NoRouteRecord* const none = program::find_no_route(view, listener);
  if (none == nullptr) return {};
  if (none->denied != 0) return {std::string(kDenied)};
  std::vector<std::string> out = policy_texts(program, view.array(none->policies));
  for (std::string& policy : out) policy.insert(0, "policy ");
  return out;
}

std::vector<std::string> limit_texts(const program::ProgramView& program, const program::SectionView& host,
                                     const program::TreatmentRecord& treatment, std::uint64_t usual_body) {
  std::vector<std::string> out;
  if (treatment.max_request_body != usual_body) {
    const bool bounded = treatment.max_request_body != 0;
    out.push_back(bounded ? "request body at most " + std::to_string(treatment.max_request_body)
                          : "request body unbounded");
  }
  const std::string bound =
      treatment.max_buffer == 0 ? "" : " up to " + std::to_string(treatment.max_buffer) + " bytes";
  if ((treatment.flags & program::kBufferRequest) != 0) out.push_back("buffer request" + bound);
  if ((treatment.flags & program::kBufferResponse) != 0) out.push_back("buffer response" + bound);
  if (treatment.request_timeout_ns != 0) out.push_back("request timeout " + duration(treatment.request_timeout_ns));
  if (treatment.idle_timeout_ns != 0) out.push_back("idle timeout " + duration(treatment.idle_timeout_ns));
  if (treatment.min_grpc_timeout_ns != 0)
    out.push_back("least grpc-timeout " + duration(treatment.min_grpc_timeout_ns));
  if (treatment.max_retries != program::kRetriesOfBackend) {
    out.push_back("retry at most " + std::to_string(treatment.max_retries) + " times on " +
                  joined(program::retry_names(treatment.retry_on), " "));
  }
  for (const program::MirrorRecord& mirror : host.array(treatment.mirrors)) {
    const std::string_view name = program::host_of_copies(host, mirror);
    out.push_back("mirror " + program::share_text(program::share_of(host, mirror)) + " to " +
                  backend_name(program, mirror.backend_id) +
                  (name.empty() ? std::string() : ", host " + std::string(name)));
  }
  return out;
}

std::string rule_name(const program::SectionView& host, std::uint32_t action) {
  const auto& header = host.header<program::HostHeader>();
  const program::ActionRecord& record = host.array(header.actions)[action];
  const program::RouteRecord& route = host.array(header.routes)[record.route];
  return std::string(program::name_space_of(host, route)) + "/" + std::string(host.string(route.name)) + " rules[" +
         std::to_string(record.rule) + "].matches[" + std::to_string(record.match) + "]";
}

// Rule D3: shares by weight, and who takes X-Canary.
std::string Treatments::destination(const program::SectionView& host, std::uint32_t action) const {
  const auto& header = host.header<program::HostHeader>();
  const program::ActionRecord& record = host.array(header.actions)[action];
  const program::Split split = program::split_of(host, record);
  const program::TreatmentRecord& usual = program::treatment_record_of(host, record, split, kNone);
  std::map<std::string, std::uint32_t> shares;
  std::uint32_t divisor = 0;
  std::string canary;
  for (std::uint32_t i = 0; i < split.backends.size(); ++i) {
    const program::BackendRefRecord& backend = split.backends[i];
    std::string name = backend_name(program_, backend.backend_id());
    name += clusters_text(program_, backend.backend_id());
    if (name.empty()) name = "500 (unresolved)";
    const program::TreatmentRecord& there = program::treatment_record_of(host, record, split, i);
    if (&there != &usual) name += " (" + joined(exact_filters(host, there), ", ") + ")";
    if (i == split.canary) canary = name;
    if (backend.weight == 0) continue;
    shares[name] += backend.weight;
  }
  for (const auto& [name, weight] : shares) divisor = std::gcd(divisor, weight);
  std::vector<std::string> out;
  for (const auto& [name, weight] : shares) {
    out.push_back(shares.size() == 1 ? name : name + " " + std::to_string(weight / divisor));
  }
  if (shares.empty()) out.emplace_back("500, no backend");
  const bool canary_alone = shares.size() == 1 && shares.begin()->first == canary;
  if (!canary.empty() && !canary_alone) out.push_back("X-Canary to " + canary);
  return joined(out, ", ");
}

std::vector<std::string> Treatments::parts(const program::SectionView& host, std::uint32_t action) const {
  const auto& header = host.header<program::HostHeader>();
  const program::ActionRecord& record = host.array(header.actions)[action];
  const program::TreatmentRecord& treatment = host.array(header.treatments)[record.treatment];
  std::vector<std::string> out;
  if ((treatment.flags & program::kDenied) != 0) return {std::string(kDenied)};
  const bool answers = program::answer_of(host.array(treatment.filters)) != nullptr;
  if (!answers) out.push_back(destination(host, action));
  for (const std::string& policy : policy_texts(program_, host.array(treatment.policies)))
    out.push_back("policy " + policy);
  for (std::string& filter : exact_filters(host, treatment)) out.push_back(std::move(filter));
  // A size limit of 0 is none.
  for (std::string& limit : limit_texts(program_, host, treatment, /*usual_body=*/0)) out.push_back(std::move(limit));
  return out;
}

const std::string& Treatments::text(const program::Section& host, std::uint32_t action) {
  auto& kept = texts_[&host];
  if (const auto found = kept.find(action); found != kept.end()) return found->second;
  return kept.emplace(action, joined(parts(host.view, action), "; ")).first->second;
}

}  // namespace edge::compiler::analyze
