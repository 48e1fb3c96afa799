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
    if (std::filesystem::exists(path, error)) continue;
    return Error{ErrorCode::kNotFound, "--config " + path + ": no such file or directory"};
  }
  std::unique_ptr<Follower> follower(new Follower(std::move(paths), std::move(options), colour, std::move(follow)));
  auto watch = FileWatch::create();
  if (!watch) return watch.error();
  follower->watch_ = std::move(*watch);
  if (Status status = follower->watch_->watch(follower->paths_); !status) return status.error();
  return follower;
}

std::optional<Follower::Reading> Follower::read(std::string& fault) {
  // Watched first: a change while we read is then told by the next wait.
  const Status watched = watch_->watch(paths_);
  SourceMap sources;
  std::vector<compiler::yaml::UnreadableSource> unreadable;
  Status status = compiler::yaml::read_sources(paths_, sources, unreadable);
  // A path that is gone is among what cannot be read.
  if (status && unreadable.empty()) status = watched;
  if (!status) {
    fault = status.error().text;
    return std::nullopt;
  }
  Reading reading;
  for (std::uint32_t id = 0; id < sources.size(); ++id) reading.texts[sources[id].name()] = sources[id].text();
  for (const compiler::yaml::UnreadableSource& one : unreadable) reading.unreadable[one.path] = one.why.text;
  return reading;
}

std::optional<Update> Follower::next() {
  for (;;) {
    if (started_ && watch_->wait(kQuiet) == FileWatch::Event::kStopped) return std::nullopt;
    const bool first = !started_;
    started_ = true;
    const bool again = again_.exchange(false);
    std::string fault;
    auto reading = read(fault);
    if (!reading) {
      Update update;
      tell({.errors = {"the configuration cannot be read: " + fault + "\n"}, .remarks = {}}, update);
      unread_ = true;
      seen_.reset();
      if (first || !update.report.empty()) return update;
      continue;
    }
    if (reading == seen_ && !again) continue;
    sound_ = std::move(tentative_);
    const Texts& texts = reading->texts;
    std::erase_if(refused_, [&](const auto& refusal) {
      const auto now = texts.find(refusal.first);
      return again || !seen_ || now == texts.end() || !seen_->texts.contains(refusal.first) ||
             now->second != seen_->texts.at(refusal.first);
    });
    seen_ = std::move(reading);
    told_before_ = told_;
    faulty_before_ = faulty_;
    Update update = build(*seen_);
    const bool nothing = seen_->texts.empty() && seen_->unreadable.empty();
    if (unread_ && !nothing) update.mended.emplace_back("the configuration can be read again");
    unread_ = nothing;
    return update;
  }
}

Update Follower::refuse(const Refusals& refusals) {
  for (const auto& [file, places] : refusals) {
    std::vector<std::uint32_t>& known = refused_[file];
    known.insert(known.end(), places.begin(), places.end());
  }
  told_ = told_before_;
  faulty_ = faulty_before_;
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
  attempt.diagnostics.relocate([this](Span span) {
    return span.somewhere() ? documents_.position(workspace_.document(span.source), span) : span;
  });
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
    // One of a directory that cannot be read now is known as it last was.
    const auto now = texts.find(file);
    faulty.text = now == texts.end() ? attempt.sources[diagnostic.span.source].text() : now->second;
    if (!is_dangling(diagnostic)) faulty.errors.push_back(diagnostic.span.begin);
  }
  return update.at_fault.size() > known.size();
}

/// The last version of `path`, or of all that is below it, into `held`. \returns false: there is none.
bool Follower::hold_one(const std::string& path, Texts& held, bool& changed) const {
  bool any = false;
  const std::string below = path + "/";
  for (auto last = sound_.lower_bound(path); last != sound_.end() && last->first.starts_with(path); ++last) {
    if (last->first != path && !last->first.starts_with(below)) continue;
    any = true;
    const auto [now, fresh] = held.try_emplace(last->first, last->second);
    changed |= fresh || now->second != last->second;
    now->second = last->second;
  }
  return any;
}

/// The files as they are to be in force: each at fault as it last was sound.
bool Follower::hold(Update& update, Texts& held, Report& report) const {
  bool changed = false;
  for (auto& [file, faulty] : update.at_fault) {
    if (std::exchange(faulty.seen, true)) continue;
    if (hold_one(file, held, changed)) {
      faulty.held = true;
    } else if (follow_.kept && follow_.kept(file)) {
      faulty.held = true;
      changed |= held.erase(file) > 0;
    } else {
      report.errors.push_back("what is at fault in " + file + " is left out\n");
      continue;
    }
    report.errors.push_back("the last version of " + file + " without errors stays in force\n");
  }
  return changed;
}

Update Follower::build(const Reading& reading) {
  const Texts& texts = reading.texts;
  Update update;
  Report report;
  if (texts.empty() && reading.unreadable.empty()) {
    report.errors.emplace_back("there is no *.yaml, *.yml or *.json in the configuration\n");
  }
  for (const auto& [path, why] : reading.unreadable) {
    report.errors.push_back("error: cannot read " + why + "\n");
    // Of a text that nobody has, nobody knows what it was to protect: the error is in none of its documents.
    update.at_fault[path].errors.push_back(0);
  }
  Texts held = texts;
  // Before anything is compiled: what is in such a file is not gone.
  hold(update, held, report);
  Attempt attempt = compile(held);
  add_faults(attempt, report);
  update.clean = attempt.artifact.has_value() && report.errors.empty();
  find_faults(attempt, texts, update);
  for (const auto& [file, places] : refused_) {
    update.clean = false;
    FaultyFile& faulty = update.at_fault[file];
    const auto now = texts.find(file);
    if (now != texts.end()) faulty.text = now->second;
    faulty.errors.insert(faulty.errors.end(), places.begin(), places.end());
  }
  // What one file lacks for another one's being held makes it one at fault, too.
  while (hold(update, held, report)) {
    attempt = compile(held);
    if (find_faults(attempt, texts, update)) add_faults(attempt, report);
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
    report.errors.emplace_back("no program could be compiled\n");
  }
  update.texts = std::move(held);
  tell(std::move(report), update);
  tell_mended(reading, update);
  return update;
}

void Follower::add_faults(const Attempt& attempt, Report& report) const {
  std::size_t reported = 0;
  for (const Severity severity : {Severity::kError, Severity::kWarning}) {
    std::vector<std::string>& items = severity == Severity::kError ? report.errors : report.remarks;
    for (const Diagnostic& diagnostic : attempt.diagnostics.all()) {
      if (diagnostic.severity != severity || is_others(diagnostic)) continue;
      const bool last = ++reported > kMaxReported;
      items.push_back(last ? "(more is told by edgectl validate)\n"
                           : render(diagnostic, attempt.sources, colour_) + "\n");
      if (last) return;
    }
  }
}

/// Errors first: they are what a user has to act on.
void Follower::tell(Report report, Update& update) {
  std::set<std::string> now;
  for (const auto* items : {&report.errors, &report.remarks}) {
    for (const std::string& item : *items) {
      if (!now.insert(item).second || told_.contains(item)) continue;
      update.report += item;
      update.report_of_errors |= items == &report.errors;
    }
  }
  told_ = std::move(now);
}

void Follower::tell_mended(const Reading& reading, Update& update) {
  // Where there is nothing, nothing is known to be mended.
  if (reading.texts.empty() && reading.unreadable.empty()) return;
  for (const std::string& path : faulty_) {
    if (update.at_fault.contains(path)) continue;
    const bool there = reading.texts.contains(path);
    update.mended.push_back(path + (there ? " is mended: it is in force as it is now" : " is at fault no longer"));
  }
  faulty_.clear();
  for (const auto& [path, faulty] : update.at_fault) faulty_.insert(path);
}

}  // namespace edge::controller
