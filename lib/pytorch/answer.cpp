// SPDX-License-Identifier: Apache-2.0
#include "pytorch/answer.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "pytorch/answer_gate.hpp"
#include "pytorch/python_process.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>

#include <stdlib.h>

#include <fmt/format.h>

namespace cudal1::pytorch {

namespace {

using json = nlohmann::json;

constexpr base::Seconds build_limit{900};   // extensions are compiled when they are loaded, some when they are first called
constexpr base::Seconds call_limit{120};
constexpr base::Seconds for_others{1};      // after which others have a turn
// How long a call may take to be queued. One that waits for the GPU in between cannot be queued as a whole; after a few of
// these nobody waits for long.
constexpr base::Seconds queue_limit{0.3}, queue_limit_later{0.03};
constexpr int later_since = 3;
constexpr base::Seconds still_limit{0.5};   // for which a process stands still while its queue is worked off
constexpr std::uint64_t usual_weights = 42;
constexpr std::size_t most_notes = 20, longest_note = 300, longest_reason = 2000;

// How a process is confined. Which of them CUDA starts in, and opens another process's memory in, differs from driver to
// driver; a handle of that memory is of use in the same namespace of processes only.
struct Cell {
  bool namespaces, own_processes, shared_memory, reads_everything;
};
constexpr Cell for_cpu[] = {{true, true, false, false}};
constexpr Cell for_gpu[] = {{true, false, false, false}, {false, false, true, false}, {false, false, true, true}};
std::atomic<std::size_t> first_cell = 0;   // of for_gpu: those before it did not work on this machine

// A claim, for a line of a table.
std::string claim(const std::string& text, std::size_t longest = longest_note) {
  std::string result = base::printable(text.substr(0, longest));
  std::replace_if(result.begin(), result.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return text.size() > longest ? result + "…" : result;
}

}  // namespace

struct Answer::State {
  std::unique_ptr<PythonProcess> started;
  PythonProcess& process() { return *started; }
  std::string means, lacking;
  bool unconfined = false;
  base::Seconds idle_limit{0};
  std::vector<std::string> notes;
  std::string tampered;
  bool elsewhere = false;

  AnswerGate gate;
  std::uint32_t number = 0;
  int never_queued = 0;
  bool stands_still = false;   // while it is not asked
  bool stream_waits = false;

  struct Reply {
    std::string wrong;
    double ms = 0;
    bool takes_weights = false;
  };

  // Lets the process run for as long as this lives.
  class Awake {
   public:
    explicit Awake(State& state) : state_(state) { to(true); }
    ~Awake() { to(false); }
    void to(bool awake) {
      if (state_.stands_still && awake != awake_) state_.process().pause_group(!awake);
      awake_ = awake;
    }

   private:
    State& state_;
    bool awake_ = false;
  };

  // Of a process that has read the answer: whatever fails there, and whatever it says, is the answer's doing.
  Reply ask(const json& request, base::Seconds limit, const std::function<void()>& others = {}) {
    const Awake awake(*this);
    base::Seconds began = base::now(), looked = began, used{-1}, since = began, turn = began;
    const auto waiting = [&]() -> std::string {
      const base::Seconds now = base::now();
      if (now - began > limit) return fmt::format("gave no answer in {:.0f} s", limit.count());
      if (now - looked > idle_limit / 12) {
        looked = now;
        if (const base::Seconds is = process().used(); is != used) used = is, since = now;
        if (now - since > idle_limit) return fmt::format("did nothing for {:.0f} s, and gave no answer", idle_limit.count());
      }
      if (others && now - turn > for_others) {
        process().pause_group(true);
        others();
        process().pause_group(false);
        const base::Seconds away = base::now() - now;
        for (base::Seconds* each : {&began, &looked, &since}) *each += away;
        turn = base::now();
      }
      return "";
    };
    return claimed([&] {
      process().send(request);
      return process().receive(base::Seconds{86400}, {}, waiting);
    });
  }

  Reply claimed(const std::function<json()>& said) try {
    const json reply = said();
    elsewhere = elsewhere || reply.value("elsewhere", false);
    if (tampered.empty()) tampered = claim(reply.value("tampered", ""));
    // Never copied as a whole: it may be nested so deeply that a copy overflows the stack.
    if (const auto list = reply.find("notes"); list != reply.end())
      for (const json& each : *list) {
        const std::string note = claim(each.get_ref<const std::string&>());
        if (notes.size() < most_notes && std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
      }
    return {claim(reply.value("wrong", "")), reply.value("ms", 0.0), reply.value("takes_weights", false)};
  } catch (const base::Error& error) {
    throw base::Error(base::Fault::bad_input, claim(error.what(), longest_reason));
  } catch (const json::exception&) {
    throw base::Error(base::Fault::bad_input, "the process that runs the answer sent something unreadable");
  }
};

namespace {

// Files of another process's memory are opened before the answer's process is confined, and reach it as descriptors.
void take_path(json& place, std::vector<std::string>& paths) {
  constexpr int first_descriptor = 5;
  if (!place.contains("path")) return;
  const std::string path = place.at("path");
  const auto known = std::find(paths.begin(), paths.end(), path);
  place["descriptor"] = first_descriptor + (known - paths.begin());
  if (known == paths.end()) paths.push_back(path);
  place.erase("path");
}

void take_paths(json& places, std::vector<std::string>& paths) {
  for (json& place : places) take_path(place, paths);
}

}  // namespace

Answer::Answer(const Options& options, const std::filesystem::path& task, const std::map<std::string, std::int64_t>& overrides,
               const std::string& offered, const std::filesystem::path& folder)
    : state_(std::make_unique<State>()) {
  state_->unconfined = options.unconfined;
  state_->idle_limit = options.idle_limit;
  constexpr std::size_t most = std::size_t{16} << 20;
  json request = json::parse(offered);
  request["do"] = "task";
  request["path"] = task.string();
  request["source"] = base::read_file(task, most);
  request["set"] = overrides;
  request["afresh"] = options.afresh;
  std::vector<std::string> memory = {state_->gate.path()};
  take_paths(request["places"], memory);
  for (json& each : request["state"]) take_path(each["place"], memory);
  // A working folder of its own, so that a process starts from nothing that an earlier one left; libraries alone are shared.
  const std::filesystem::path built = folder / "built";
  std::filesystem::create_directories(built);
  std::string own = (folder / "XXXXXX").string();
  if (::mkdtemp(own.data()) == nullptr) throw base::Error(base::Fault::internal, "cannot create a folder in " + folder.string());
  const auto start = [&](const Cell& cell) {
    state_->started = std::make_unique<PythonProcess>(options.worker, "the process that runs the answer");
    const json told = state_->process().exchange({{"python", options.python}, {"program", PythonProcess::path("answer_host.py").string()},
                                                  {"folder", own}, {"built", built.string()}, {"counted", folder.string()}, {"task", std::filesystem::absolute(task).string()}, {"answer", std::filesystem::absolute(options.file).string()},
                                                  {"memory", memory},
                                                  {"namespaces", cell.namespaces}, {"own_processes", cell.own_processes},
                                                  {"shared_memory", cell.shared_memory}, {"reads_everything", cell.reads_everything},
                                                  {"other_sockets", cell.shared_memory}, {"local_sockets", options.device != "cpu"},
                                                  {"unconfined", options.unconfined}}, build_limit);
    state_->means = told.at("means");
    state_->lacking = told.at("lacking");
    if (cell.reads_everything) state_->lacking += (state_->lacking.empty() ? "" : ", ") + std::string("files that it cannot read");
    state_->process().exchange({{"do", "hello"}, {"device", options.device}, {"folder", own}}, build_limit);
    state_->process().exchange(request, build_limit);
  };
  if (options.device == "cpu") {
    start(for_cpu[0]);
    return;
  }
  for (std::size_t i = first_cell;; ++i) {
    try {
      start(for_gpu[i]);
      first_cell = i;
      return;
    } catch (const base::Error&) {
      if (i + 1 == std::size(for_gpu)) throw;
    }
  }
}

Answer::~Answer() = default;

void Answer::load(const std::filesystem::path& answer, const std::string& source) {
  state_->ask({{"do", "load"}, {"path", std::filesystem::absolute(answer).string()}, {"source", source}, {"unconfined", state_->unconfined}}, build_limit);
}

std::string Answer::run(std::optional<std::uint64_t> weights, bool given, double numbers, const std::function<void()>& others) {
  return state_->ask({{"do", "run"}, {"weights", weights.value_or(usual_weights)}, {"given", given}, {"numbers", numbers}}, build_limit, others).wrong;
}

bool Answer::takes_weights(std::optional<std::uint64_t> weights) {
  return state_->ask({{"do", "takes_weights"}, {"weights", weights.value_or(usual_weights)}}, build_limit).takes_weights;
}

void Answer::prepare() {
  state_->stream_waits = state_->process().exchange({{"do", "prepare"}}, build_limit).at("waits") == "the stream";
  state_->stands_still = true;
  state_->process().pause_group(true);
}

void Answer::start(std::optional<std::uint64_t> weights) {
  state_->ask({{"do", "start"}, {"weights", weights.value_or(usual_weights)}}, build_limit);
}

Answer::Sample Answer::sample(const std::function<void()>& show, const std::function<void()>& take, bool empty) {
  State& state = *state_;
  const std::uint32_t number = ++state.number;
  const auto ended = [&] { return state.process().ended(); };
  State::Awake awake(state);
  state.process().send({{"do", "sample"}, {"number", number}, {"empty", empty}});
  const bool queued = state.gate.wait_queued(number, state.never_queued > later_since ? queue_limit_later : queue_limit, ended);
  state.never_queued = queued ? 0 : state.never_queued + 1;
  awake.to(false);
  const base::Seconds began = base::now();
  show();
  state.gate.open(number);
  const bool still = state.stream_waits && queued;
  if (!still) awake.to(true);
  bool done = state.gate.wait_done(number, still ? still_limit : call_limit, ended);
  if (!done && still) {
    awake.to(true);
    done = state.gate.wait_done(number, call_limit, ended);
  }
  // What it says to be done must be there now: nothing may be computed between this and its reply.
  awake.to(false);
  take();
  Sample sample;
  sample.own_ms = 1e3 * (base::now() - began).count();
  awake.to(true);
  const auto reply = state.claimed([&] { return state.process().receive(done ? call_limit : base::Seconds{5}); });
  if (!std::isfinite(reply.ms) || reply.ms <= 0) throw base::Error(base::Fault::bad_input, "the process that runs the answer told a time that is none");
  sample.claimed_ms = reply.ms;
  sample.wrong = reply.wrong;
  return sample;
}

double Answer::doubt_ms() const {
  constexpr double of_a_stream = 0.05, of_a_processor = 10;   // a busy machine lets a process wait for some milliseconds
  return state_->stream_waits ? of_a_stream : of_a_processor;
}

void Answer::look_for_streams() { state_->ask({{"do", "streams"}}, call_limit); }

const std::string& Answer::means() const { return state_->means; }
const std::string& Answer::lacking() const { return state_->lacking; }
bool Answer::elsewhere() const { return state_->elsewhere; }
const std::string& Answer::tampered() const { return state_->tampered; }
const std::vector<std::string>& Answer::notes() const { return state_->notes; }

}  // namespace cudal1::pytorch
