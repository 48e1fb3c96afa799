#include "controller/publish/groups.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/labels.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "/groups/";

/// Names the group in each line, where it is not the only one that most have.
Logger logger_of(const Logger& log, const std::string& group) {
  if (group == kDefaultGroup) return log;
  return Logger([log, group](LogLevel level, std::string text, LogFields fields) {
    fields.push_back({"group", group});
    log.write(level, std::move(text), std::move(fields));
  });
}

/// What a group is given of it: where gateways name the group, a program of its own.
ReconcileResult of_group(const ReconcileResult& result, const std::string& group) {
  ReconcileResult own = result;
  const auto found = result.group_programs.find(group);
  if (found != result.group_programs.end()) {
    own.program = found->second.bytes;
    own.hash = found->second.hash;
  }
  return own;
}

/// The name of a folder, too.
bool is_group_name(const std::string& name) { return !name.empty() && is_label_value(name); }

}  // namespace

Groups::Group::Group(DataDir kept_in, std::unique_ptr<History> past, const std::function<void(Published)>& publish,
                     const Logger& log, const std::string& name)
    : data(std::move(kept_in)),
      history(std::move(past)),
      publisher(
          data, *history,
          [publish, name](Published published) {
            published.group = name;
            publish(std::move(published));
          },
          logger_of(log, name)) {}

Groups::~Groups() = default;

std::string Groups::directory(const std::string& group) const {
  return group == kDefaultGroup ? data_dir_ : data_dir_ + kFolder + group;
}

Status Groups::open() {
  const std::lock_guard lock(mutex_);
  return open_locked(std::string(kDefaultGroup));
}

Status Groups::open_locked(const std::string& group) {
  const std::string path = directory(group);
  auto data = DataDir::open(path);
  if (!data) return data.error();
  auto history = History::open(path + "/history", History::kKept, log_);
  if (!history) return history.error();
  all_.emplace(group, std::make_unique<Group>(std::move(*data), std::move(*history), publish_, log_, group));
  return {};
}

void Groups::restore() {
  const std::lock_guard lock(mutex_);
  std::error_code error;
  for (fs::directory_iterator folder(data_dir_ + kFolder, error), end; !error && folder != end;
       folder.increment(error)) {
    const std::string name = folder->path().filename().string();
    if (!is_group_name(name) || all_.contains(name) || all_.size() >= kMostGroups) continue;
    if (Status status = open_locked(name); !status) {
      log_.error("the stored state of a group of agents cannot be read: " + status.error().text, {{"group", name}});
    } else if (all_.at(name)->history->pinned().empty()) {
      all_.erase(name);  // read when an agent of it comes
    }
  }
  for (const auto& [name, group] : all_) group->publisher.restore();
}

void Groups::give_out_last() {
  const std::lock_guard lock(mutex_);
  gave_out_last_ = true;
  for (const auto& [name, group] : all_) group->publisher.give_out_last();
}

void Groups::take(const ReconcileResult& result) {
  const std::lock_guard lock(mutex_);
  if (result.program != nullptr) {
    last_ = result;
  } else if (last_) {
    last_->values = result.values;
  }
  for (const auto& [name, group] : all_) group->publisher.take(of_group(result, name));
}

void Groups::came(const std::string& group) {
  const auto found = find_or_open(group);
  if (!found) log_.error("agents of a group are sent no program: " + found.error().text, {{"group", group}});
}

/// It catches up with what the others were given.
Result<Groups::Group*> Groups::find_or_open(const std::string& group) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(group);
  if (found != all_.end()) return found->second.get();
  if (!is_group_name(group)) return Error{ErrorCode::kInvalidArgument, "no group of agents has such a name"};
  if (all_.size() >= kMostGroups) {
    return Error{ErrorCode::kResourceExhausted,
                 "there are " + std::to_string(kMostGroups) + " groups of agents already"};
  }
  if (Status status = open_locked(group); !status) return status.error();
  Publisher& publisher = all_.at(group)->publisher;
  publisher.restore();
  if (last_) {
    publisher.take(of_group(*last_, group));
  } else if (gave_out_last_) {
    publisher.give_out_last();
  }
  return all_.at(group).get();
}

Result<Groups::Group*> Groups::find(const std::string& group) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = all_.find(group); found != all_.end()) return found->second.get();
  }
  std::error_code error;
  if (is_group_name(group) && fs::is_directory(directory(group), error)) return find_or_open(group);
  return Error{ErrorCode::kNotFound, "no agent of a group `" + group + "` has come"};
}

std::vector<std::pair<std::string, Groups::Group*>> Groups::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, Group*>> all;
  for (const auto& [name, group] : all_) all.emplace_back(name, group.get());
  return all;
}

Result<std::vector<HistoryEntry>> Groups::list(const std::string& group) {
  const auto found = find(group);
  if (!found) return found.error();
  return (*found)->publisher.list();
}

Status Groups::rollback(const std::string& group, const std::string& program) {
  const auto found = find(group);
  if (!found) return found.error();
  Status status = (*found)->publisher.rollback(program);
  if (status || status.error().code != ErrorCode::kNotFound) return status;
  for (const auto& [name, other] : all()) {
    if (other == *found) continue;
    const auto entry = other->history->entry(program);
    if (!entry) continue;
    const auto past = other->history->find(entry->program);
    if (!past) return past.error();
    if (Status added = (*found)->history->add(*entry, *past); !added) return added;
    return (*found)->publisher.rollback(entry->program);
  }
  return status;
}

Status Groups::release(const std::string& group) {
  const auto found = find(group);
  if (!found) return found.error();
  return (*found)->publisher.release();
}

std::shared_ptr<const std::vector<std::byte>> Groups::bytes(const std::string& program) const {
  for (const auto& [name, group] : all()) {
    if (auto bytes = group->publisher.bytes(program)) return bytes;
  }
  return nullptr;
}

std::uint64_t Groups::number(const std::string& program) const {
  std::uint64_t number = 0;
  for (const auto& [name, group] : all()) number = std::max(number, group->publisher.number(program));
  return number;
}

std::vector<PinnedGroup> Groups::pinned() const {
  std::vector<PinnedGroup> pinned;
  for (const auto& [name, group] : all()) {
    std::string program = group->publisher.pinned();
    if (!program.empty()) pinned.push_back({name, std::move(program)});
  }
  return pinned;
}

bool Groups::has_program() const {
  const std::lock_guard lock(mutex_);
  return default_group().publisher.has_program();
}

bool Groups::last_listens() const {
  const std::lock_guard lock(mutex_);
  return default_group().publisher.last_listens();
}

std::string pinned_words(const std::vector<PinnedGroup>& pinned) {
  std::string words;
  for (const PinnedGroup& one : pinned) {
    words += words.empty() ? "" : " and ";
    words += one.group == kDefaultGroup ? "agents" : "agents of the group " + one.group;
    words += " to the program " + one.program;
  }
  return words;
}

}  // namespace edge::controller
