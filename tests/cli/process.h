// Child processes for tests: their output line by line, a deadline on every wait, stopped when the test ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace edge::test {

/// Where this test and the programs under test are.
std::filesystem::path bin_dir();

/// A folder that goes away with the test.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  /// Replaces the file by rename, as careful editors do.
  void put(const std::string& name, const std::string& text) const;
  std::string get(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

/// What a finished command left.
struct Finished {
  int code = -1;  ///< exit code; 128 + number after a signal
  std::string out;
  std::string err;
};

/// Runs to the end with `input` on stdin, in `directory`; killed after a minute.
Finished run_command(const std::vector<std::string>& command, const std::string& input = {},
                     const std::filesystem::path& directory = ".");

class Process {
 public:
  explicit Process(const std::vector<std::string>& command);
  /// Kills what is still running.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Waits for a line of stdout (or stderr) that contains `text`, and gives that line. nullopt at end of file or when
  /// the time is up. Lines before it are passed over, lines after it stay for the next call.
  std::optional<std::string> wait_out(const std::string& text) { return wait_line(out_, text); }
  std::optional<std::string> wait_err(const std::string& text) { return wait_line(err_, text); }
  /// All that was read of stderr so far, for messages.
  const std::string& err_text() const { return err_.all; }

  pid_t pid() const { return pid_; }
  void send_signal(int number) const;
  /// The exit code, 128 + number after a signal, -1 when it does not end in time.
  int wait_exit();

 private:
  struct Stream {
    int fd = -1;
    std::string pending;
    std::string all;
  };
  std::optional<std::string> wait_line(Stream& stream, const std::string& text);

  pid_t pid_ = -1;
  Stream out_;
  Stream err_;
};

}  // namespace edge::test
