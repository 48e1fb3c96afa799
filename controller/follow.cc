#include "controller/follow.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "compiler/yaml/read.h"

namespace edge::controller {
namespace {

/// Long enough for an editor to finish its rename, short enough not to be waited for.
constexpr auto kQuiet = std::chrono::milliseconds(50);
constexpr std::size_t kMaxReported = 100;
/// Codes of references (diagnostic_codes.def).
constexpr int kFirstReference = 200;
constexpr int kLastReference = 299;

/// Of what others have, among the documents of the workspace. No file's name begins so.
const std::string kOthers = "\nothers\n";

bool is_dangling(const Diagnostic& diagnostic) {
  const auto code = static_cast<int>(diagnostic.code);
  return diagnostic.severity == Severity::kError && code >= kFirstReference && code <= kLastReference;
}

}  // namespace

struct Follower::Attempt {
  SourceMap sources;
  Diagnostics diagnostics;
  program::EndpointSet endpoints;
  program::SecretSet secrets;
  std::optional<compiler::Artifact> artifact;
};

Follower::Follower(std::vector<std::string> paths, compiler::CompileOptions options, Colour colour,
                   FollowOptions follow)
    : paths_(std::move(paths)), colour_(colour), follow_(std::move(follow)), workspace_(std::move(options)) {}

Result<std::unique_ptr<Follower>> Follower::create(std::vector<std::string> paths, compiler::CompileOptions options,
                                                   Colour colour, FollowOptions follow) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) return Error{ErrorCode::kNotFound, path + ": no such file or directory"};
  }
  std::unique_ptr<Follower> follower(new Follower(std::move(paths), std::move(options), colour, std::move(follow)));
  auto watch = FileWatch::create();
  if (!watch) return watch.error();
  follower->watch_ = std::move(*watch);
  if (Status status = follower->watch_->watch(follower->paths_); !status) return status.error();
  return follower;
}

std::optional<Texts> Follower::read(std::string& fault) {
  // Watched first: a change while we read is then told by the next wait.
  Status status = watch_->watch(paths_);
  SourceMap sources;
  if (status) status = compiler::yaml::read_sources(paths_, sources);
  if (!status) {
    fault = status.error().text;
    return std::nullopt;
  }
  Texts texts;
  for (std::uint32_t id = 0; id < sources.size(); ++id) texts[sources[id].name()] = sources[id].text();
  return texts;
}

std::optional<Update> Follower::next() {
  for (;;) {
    if (started_ && watch_->wait(kQuiet) == FileWatch::Event::kStopped) return std::nullopt;
    const bool first = !started_;
    started_ = true;
    const bool again = again_.exchange(false);
    std::string fault;
    auto texts = read(fault);
    if (!texts) {
      Update update;
      update.report = report_once("the configuration cannot be read: " + fault + "\n");
      seen_.reset();
      if (first || !update.report.empty()) return update;
      continue;
    }
    if (texts == seen_ && !again) continue;
    sound_ = std::move(tentative_);
    std::erase_if(refused_, [&](const auto& refusal) {
      const auto now = texts->find(refusal.first);
      return again || !seen_ || now == texts->end() || !seen_->contains(refusal.first) ||
             now->second != seen_->at(refusal.first);
    });
    seen_ = std::move(texts);
    told_before_ = told_;
    return build(*seen_);
  }
}

Update Follower::refuse(const Refusals& refusals) {
  for (const auto& [file, places] : refusals) {
    std::vector<std::uint32_t>& known = refused_[file];
    known.insert(known.end(), places.begin(), places.end());
  }
  told_ = told_before_;
  return build(*seen_);
}

void Follower::look_again() {
  again_ = true;
  watch_->touch();
}

Follower::Attempt Follower::compile(const Texts& texts) {
  Attempt attempt;
  for (const auto& [name, text] : texts) attempt.sources.add(name, text);
  std::vector<compiler::DocumentEdit> edits = documents_.become(texts);
  // What the cluster has may have changed, and may be in the files by now.
  if (!others_.empty()) change_others(texts, edits);
  run(edits, attempt);
  const bool dangling = std::ranges::any_of(attempt.diagnostics.all(),
                                            [this](const Diagnostic& d) { return is_dangling(d) && !is_others(d); });
  if (!dangling || !others_.empty() || !follow_.others) return attempt;
  edits.clear();
  change_others(texts, edits);
  if (!edits.empty()) run(edits, attempt);
  return attempt;
}

void Follower::run(const std::vector<compiler::DocumentEdit>& edits, Attempt& attempt) {
  attempt.artifact = workspace_.apply(edits);
  attempt.diagnostics = workspace_.diagnostics();
  attempt.diagnostics.relocate(
      [this](Span span) { return span.somewhere() ? documents_.place(workspace_.document(span.source), span) : span; });
  attempt.diagnostics.finish(attempt.sources);
  attempt.endpoints = workspace_.endpoints();
  attempt.secrets = workspace_.secrets();
}

void Follower::change_others(const Texts& texts, std::vector<compiler::DocumentEdit>& edits) {
  OtherDocuments others = follow_.others(texts);
  for (const auto& [name, text] : others_) {
    if (!others.contains(name)) edits.push_back({kOthers + name, std::nullopt});
  }
  for (const auto& [name, text] : others) {
    const auto known = others_.find(name);
    if (known == others_.end() || known->second != text) edits.push_back({kOthers + name, text});
  }
  others_ = std::move(others);
}

bool Follower::is_others(const Diagnostic& diagnostic) const { return others_.contains(diagnostic.resource); }

/// The files that faults point into, and where. \returns whether there are more of them than were known.
bool Follower::find_faults(const Attempt& attempt, const Texts& texts, Update& update) const {
  std::set<std::string> known;
  for (const auto& [file, faulty] : update.at_fault) known.insert(file);
  for (const Diagnostic& diagnostic : attempt.diagnostics.all()) {
    if (diagnostic.severity != Severity::kError || is_others(diagnostic)) continue;
    update.clean = false;
    update.dangling |= is_dangling(diagnostic);
    if (!diagnostic.span.somewhere()) continue;
    const std::string& file = attempt.sources[diagnostic.span.source].name();
    // One that is held is told by what is wrong with it now, not by what that does to its last version.
    if (known.contains(file)) continue;
    FaultyFile& faulty = update.at_fault[file];
    faulty.text = texts.at(file);
    if (!is_dangling(diagnostic)) faulty.errors.push_back(diagnostic.span.begin);
  }
  return update.at_fault.size() > known.size();
}

/// The files as they are to be in force: each at fault as it last was sound.
bool Follower::hold(Update& update, Texts& held, std::string& report) const {
  bool changed = false;
  for (auto& [file, faulty] : update.at_fault) {
    if (std::exchange(faulty.seen, true)) continue;
    const auto last = sound_.find(file);
    if (last != sound_.end()) {
      faulty.held = true;
      if (last->second == held.at(file)) continue;
      held[file] = last->second;
    } else if (follow_.kept && follow_.kept(file)) {
      faulty.held = true;
      held.erase(file);
    } else {
      report += "what is at fault in " + file + " is left out\n";
      continue;
    }
    changed = true;
    report += "the last version of " + file + " without errors stays in force\n";
  }
  return changed;
}

Update Follower::build(const Texts& texts) {
  Attempt attempt = compile(texts);
  Update update;
  std::string report = texts.empty() ? "there is no *.yaml, *.yml or *.json in the configuration\n" : "";
  report += report_of(attempt);
  update.clean = attempt.artifact.has_value();
  find_faults(attempt, texts, update);
  for (const auto& [file, places] : refused_) {
    update.clean = false;
    FaultyFile& faulty = update.at_fault[file];
    faulty.text = texts.at(file);
    faulty.errors.insert(faulty.errors.end(), places.begin(), places.end());
  }
  Texts held = texts;
  // What one file lacks for another one's being held makes it one at fault, too.
  while (hold(update, held, report)) {
    attempt = compile(held);
    if (find_faults(attempt, texts, update)) report += report_of(attempt);
  }
  tentative_.clear();
  for (const auto& [file, text] : held) {
    const auto faulty = update.at_fault.find(file);
    if (faulty == update.at_fault.end() || faulty->second.held) tentative_.emplace(file, text);
  }
  if (attempt.artifact) {
    update.program = attempt.artifact->bytes;
    update.endpoints = std::move(attempt.endpoints);
    update.secrets = std::move(attempt.secrets);
  } else {
    report += "no program could be compiled\n";
  }
  update.texts = std::move(held);
  update.report = report_once(std::move(report));
  return update;
}

/// Errors first: they are what a user has to act on.
std::string Follower::report_of(const Attempt& attempt) const {
  std::string text;
  std::size_t told = 0;
  for (const Severity severity : {Severity::kError, Severity::kWarning}) {
    for (const Diagnostic& diagnostic : attempt.diagnostics.all()) {
      if (diagnostic.severity != severity || is_others(diagnostic)) continue;
      if (++told > kMaxReported) return text + "(more is told by edgectl validate)\n";
      text += render(diagnostic, attempt.sources, colour_) + "\n";
    }
  }
  return text;
}

std::string Follower::report_once(std::string report) {
  if (report == told_) return {};
  told_ = report;
  return report;
}

}  // namespace edge::controller
