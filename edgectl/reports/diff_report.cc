#include "edgectl/reports/diff_report.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;
namespace analyze = compiler::analyze;

/// Hosts that are named; of more, the number is told.
constexpr std::size_t kMaxHosts = 5;

std::string counted(std::size_t count, const std::string& one, const std::string& many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string hosts_text(const std::vector<std::string>& hosts) {
  std::string text;
  for (std::size_t i = 0; i < hosts.size() && i < kMaxHosts; ++i) text += (i == 0 ? "" : ", ") + hosts[i];
  return hosts.size() > kMaxHosts ? text + " and " + std::to_string(hosts.size() - kMaxHosts) + " more" : text;
}

/// Where requests go, and what is not the same on the other side.
std::string side_text(const std::string& rule, const std::vector<std::string>& own,
                      const std::vector<std::string>& other) {
  std::string text = rule.empty() ? "" : rule + ": ";
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i > 0 && std::ranges::find(other, own[i]) != other.end()) continue;
    text += (i == 0 ? "" : "; ") + own[i];
  }
  return text;
}

std::string setting_text(const analyze::SettingChange& change) {
  const auto shown = [](const std::string& value) { return value.empty() ? std::string("none") : value; };
  return "setting  " + change.what + ": " + shown(change.before) + " -> " + shown(change.after) + "\n";
}

}  // namespace

std::string diff_text(const analyze::Diff& diff, const DiffTraffic* traffic) {
  std::string out;
  for (std::size_t i = 0; i < diff.classes.size(); ++i) {
    const analyze::DiffClass& changed = diff.classes[i];
    out += "changed  " + hosts_text(changed.hosts) + ": " + changed.where + "\n";
    out += "  before   " + side_text(changed.rule_before, changed.before, changed.after) + "\n";
    out += "  after    " + side_text(changed.rule_after, changed.after, changed.before) + "\n";
    out += "  request  " + analyze::witness_text(changed.request) + "\n";
    if (traffic != nullptr) {
      out += "  seen     " + std::to_string(traffic->seen[i]) + " of " +
             counted(traffic->requests, "request", "requests") + "\n";
    }
  }
  for (const analyze::SettingChange& change : diff.settings) out += setting_text(change);
  for (const std::string& question : diff.undecided) out += "not decided: " + question + "\n";
  if (diff.equal()) {
    out += "equal: no request is treated otherwise\n";
  } else {
    out += counted(diff.classes.size(), "class of requests changes", "classes of requests change") + ", " +
           counted(diff.settings.size(), "setting changes", "settings change");
    if (!diff.undecided.empty()) {
      out += ", " + counted(diff.undecided.size(), "question is not decided", "questions are not decided");
    }
    out += "\n";
  }
  if (traffic == nullptr) return out;
  std::size_t seen = 0;
  for (const std::size_t count : traffic->seen) seen += count;
  out += "of " + counted(traffic->requests, "logged request", "logged requests") + " " + std::to_string(seen) +
         (seen == 1 ? " changes" : " change");
  if (traffic->unread > 0) out += "; " + counted(traffic->unread, "line", "lines") + " could not be read";
  return out + "\n";
}

std::string diff_json(const analyze::Diff& diff, const DiffTraffic* traffic) {
  OrderedJson classes = OrderedJson::array();
  for (std::size_t i = 0; i < diff.classes.size(); ++i) {
    const analyze::DiffClass& changed = diff.classes[i];
    OrderedJson entry = {{"hosts", changed.hosts},
                         {"where", changed.where},
                         {"before", {{"rule", changed.rule_before}, {"treatment", changed.before}}},
                         {"after", {{"rule", changed.rule_after}, {"treatment", changed.after}}},
                         {"request", analyze::witness_text(changed.request)}};
    if (traffic != nullptr) entry["seen"] = traffic->seen[i];
    classes.push_back(std::move(entry));
  }
  OrderedJson settings = OrderedJson::array();
  for (const analyze::SettingChange& change : diff.settings) {
    settings.push_back({{"setting", change.what}, {"before", change.before}, {"after", change.after}});
  }
  OrderedJson document = {
      {"equal", diff.equal()}, {"classes", classes}, {"settings", settings}, {"undecided", diff.undecided}};
  if (traffic != nullptr) document["accessLog"] = {{"requests", traffic->requests}, {"unread", traffic->unread}};
  return indented_json(document);
}

}  // namespace edge::edgectl
