// SPDX-License-Identifier: Apache-2.0
#include "docket/docket.hpp"

#include "docket/places.hpp"

#include "base/error.hpp"
#include "model/answer.hpp"
#include "search/fingerprint.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace cudal1::docket {

namespace {

constexpr std::size_t largest_answer = std::size_t{1} << 20;
constexpr auto look_again = std::chrono::milliseconds(200);

std::string pending_key(const std::string& case_key, Mode mode) { return fmt::format("{}:{}", case_key, name(mode)); }

// Of what a right answer runs; of any other no key that is in use.
std::string code_key(const Ruling& ruling) { return ruling.right() && !ruling.judgement->code.empty() ? ruling.task_key + ':' + ruling.judgement->code : std::string(); }

Ruling ruling_for(const std::string& id, const std::string& group, Mode mode) {
  Ruling ruling;
  ruling.id = id;
  ruling.group = group;
  ruling.mode = mode;
  return ruling;
}

}  // namespace

Docket::Docket(Opener opener, Limits limits, Exemplars exemplars) : opener_(std::move(opener)), limits_(limits), exemplars_(std::move(exemplars)) {
  for (std::size_t place = 0; place < limits_.places; ++place) places_.push_back(std::make_unique<Place>());
  for (std::size_t place = 0; place < limits_.places; ++place)
    for (int i = 0; i < limits_.threads; ++i) threads_.emplace_back([this, place](const std::stop_token& stop) { run(place, stop); });
  threads_.emplace_back([this](const std::stop_token& stop) { watch_deadlines(stop); });
}

Docket::~Docket() {
  close();
  for (std::jthread& thread : threads_) thread.request_stop();
}

bool Docket::submit(Request request, Answered answered) {
  Ruling ruling = ruling_for(request.id, request.group, request.mode);
  Waiter waiter{request.id, request.group, request.mode, request.deadline_seconds, request.reward, request.shown, std::move(answered), base::now()};
  auto task = text_of(request.task);
  auto parsed = request.mode == Mode::warm ? model::Answer{} : model::parse_answer(request.answer);
  std::unique_lock lock(mutex_);
  ++outstanding_;
  if (!task) {
    ruling.fault = Fault::task;
    ruling.reason = task.error();
    tell(waiter, std::move(ruling), lock);
    return true;
  }
  ruling.task_sha256 = task->sha256;
  ruling.task_key = task->key;
  if (request.reward) scores_.begin(task->key, request.group);
  if (!parsed || request.answer.size() > largest_answer) {
    ruling.readable = false;
    ruling.reason = parsed ? fmt::format("the answer has more than {} bytes", largest_answer) : parsed.error();
    tell(waiter, std::move(ruling), lock);
    return true;
  }
  const Queue& queue = *queues_.at(task->key);
  ruling.task = queue.name;
  ruling.device = queue.device;
  if (request.mode != Mode::warm) ruling.fingerprint = search::fingerprint(parsed->source);
  request.answer.clear();
  const auto work = std::make_shared<Work>();
  work->source = std::move(parsed->source);
  work->analysis = std::move(parsed->analysis);
  work->design = std::move(parsed->design);
  work->techniques = std::move(parsed->techniques);
  work->ruling = std::move(ruling);
  const bool taken = take(work, std::move(waiter), lock);
  if (!taken) --outstanding_;
  return taken;
}

// A request that can be judged: answered by what is known, joined to equal work, or queued.
bool Docket::take(const WorkPointer& work, Waiter waiter, std::unique_lock<std::mutex>& lock) {
  Ruling& ruling = work->ruling;
  work->key = ruling.task_key + ':' + ruling.fingerprint;
  work->mode = waiter.mode;
  const auto known = waiter.mode == Mode::warm ? std::nullopt : cases_.find(work->key, waiter.mode);
  if (known || (waiter.mode == Mode::warm && warm_.contains(ruling.task_key))) {
    ruling.cached = true;
    if (known) ruling.same_as = known->first, ruling.judgement = known->judgement;
    ruling.compiled = known && !known->judgement;
    tell(waiter, std::move(ruling), lock);
    return true;
  }
  if (closed_) {
    ruling.fault = Fault::closed;
    ruling.reason = "the judge is ending and takes nothing more";
    tell(waiter, std::move(ruling), lock);
    return true;
  }
  for (const Mode mode : {Mode::compile, Mode::verify, Mode::screen, Mode::final_, Mode::warm}) {
    const auto same = pending_.find(pending_key(work->key, mode));
    if (mode < waiter.mode || same == pending_.end()) continue;
    if (waiter.deadline) timed_.notify_all();
    same->second->waiters.push_back(std::move(waiter));
    return true;
  }
  if (waiting_ >= limits_.queue) return false;
  work->queued = waiter.submitted;
  work->waiters.push_back(std::move(waiter));
  queues_.at(ruling.task_key)->works.push_back(work);
  pending_[pending_key(work->key, work->mode)] = work;
  ++waiting_;
  changed_.notify_all();
  return true;
}

void Docket::run(std::size_t place, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    // What is open elsewhere is taken over after a while, so time alone changes the choice.
    Queue* queue = choose(place);
    if (queue != nullptr) judge_next(place, *queue, lock);
    else changed_.wait_for(lock, stop, look_again, [&] { return choose(place) != nullptr; });
  }
}

void Docket::judge_next(std::size_t place, Queue& queue, std::unique_lock<std::mutex>& lock) {
  const WorkPointer work = queue.works.front();
  queue.works.pop_front();
  --waiting_;
  answered_.notify_all();
  if (const auto known = work->mode == Mode::warm ? std::nullopt : cases_.find(work->key, work->mode)) {   // by a work of another mode
    Ruling ruling = work->ruling;
    ruling.cached = true;
    ruling.same_as = known->first;
    ruling.judgement = known->judgement;
    ruling.compiled = !known->judgement;
    return answer(work, std::move(ruling), lock);
  }
  if (!work->began) work->began = base::now();
  ++counts_.working;
  for (const Waiter& waiter : work->waiters)
    if (waiter.deadline) timed_.notify_all();
  Failure failure;
  const auto open = enter(place, queue, failure, lock);
  if (open) {
    Ruling ruling = work->ruling;
    ruling.task = queue.name;
    ruling.device = queue.device;
    const auto screened = cases_.screened(work->key);
    double leap = HUGE_VAL;
    for (const Waiter& waiter : work->waiters)
      if (waiter.reward) leap = std::min(leap, reward::jump_limit(scores_.standing(ruling.task_key, ruling.fingerprint, waiter.group)));
    lock.unlock();
    failure = judge(*work, *open->session, screened, leap, ruling);
    lock.lock();
    leave(*open);
    if (failure.fault == Fault::none) {
      --counts_.working;
      remember(queue.task, *work, ruling);
      if (const auto same = codes_.find(code_key(ruling)); same != codes_.end() && same->second.first != ruling.fingerprint) ruling.same_as = same->second.second;
      return answer(work, std::move(ruling), lock);
    }
    if (++work->tries > 1) drop(place, queue.task.key, open);
  } else {
    ++work->tries;
  }
  --counts_.working;
  fail(queue, work, failure, lock);
}

std::string Docket::first_of(const Ruling& ruling) const {
  const auto same = codes_.find(code_key(ruling));
  return same == codes_.end() ? ruling.fingerprint : same->second.first;
}

std::string Docket::first_of(const std::string& task_key, const std::string& fingerprint) const {
  const auto other = firsts_.find(task_key + ':' + fingerprint);
  return other == firsts_.end() ? fingerprint : other->second;
}

void Docket::remember(const TaskText& task, const Work& work, const Ruling& ruling) {
  if (work.mode == Mode::warm) {
    warm_[task.key] = work.warm;
    return;
  }
  const bool confirmed = ruling.judgement && ruling.judgement->level == outcome::Level::final_;
  cases_.remember(work.key, confirmed ? Mode::final_ : work.mode, ruling.id, ruling.judgement);
  if (!ruling.right()) return;
  if (const std::string first = first_of(ruling); first != ruling.fingerprint) firsts_[work.key] = first;
  if (!ruling.judgement->speedup) return;
  // Other words for the same machine code are no second answer: neither to a task's mean nor among its exemplars.
  if (!ruling.judgement->code.empty()) codes_.try_emplace(code_key(ruling), ruling.fingerprint, ruling.id);
  if (first_of(ruling) != ruling.fingerprint) {
    if (confirmed) confirm_first(task, ruling);
    return;
  }
  scores_.note(task.key, ruling.fingerprint, ruling.judgement->score(), confirmed);
  search::Variant variant;
  variant.id = ruling.fingerprint;
  variant.source = work.source;
  variant.analysis = work.analysis;
  variant.design = work.design;
  variant.techniques = work.techniques;
  variant.judgement = *ruling.judgement;
  exemplars_.add(task, variant);
}

// The first answer with this machine code was screened alone, and other words for it have a final verdict: the times are the first's, too.
// What refers to its text stays.
void Docket::confirm_first(const TaskText& task, const Ruling& ruling) {
  const std::string first = first_of(ruling);
  const auto& known = exemplars_.of(task.key);
  const auto found = std::find_if(known.begin(), known.end(), [&](const search::Variant& each) { return each.id == first; });
  if (found == known.end() || found->judgement.level == outcome::Level::final_) return;
  search::Variant variant = *found;
  variant.judgement.level = outcome::Level::final_;
  variant.judgement.verdict = ruling.judgement->verdict;
  variant.judgement.labels = ruling.judgement->labels;
  variant.judgement.message = ruling.judgement->message;
  variant.judgement.speedup = ruling.judgement->speedup;
  variant.judgement.workloads = ruling.judgement->workloads;
  variant.judgement.baselines = ruling.judgement->baselines;
  scores_.note(task.key, first, variant.judgement.score(), true);
  exemplars_.add(task, variant);
}

Docket::Failure Docket::judge(Work& work, Session& session, const std::optional<outcome::Judgement>& screened, double leap, Ruling& ruling) {
  const std::string name = "answer.cu";   // one name for all: the compiler's cache knows code by it, too
  try {
    switch (work.mode) {
      case Mode::warm: work.warm = session.warm(); break;
      case Mode::compile:
        ruling.judgement = session.compile(work.source, name);
        ruling.compiled = !ruling.judgement;
        break;
      case Mode::verify: ruling.judgement = session.verify(work.source, name); break;
      case Mode::screen:
        ruling.judgement = session.screen(work.source, name);
        if (ruling.right() && ruling.judgement->score() > leap) ruling.judgement = session.confirm(work.source, name, ruling.judgement->tunables);
        break;
      case Mode::final_:
        ruling.judgement = screened ? *screened : session.screen(work.source, name);
        if (ruling.right()) ruling.judgement = session.confirm(work.source, name, ruling.judgement->tunables);
        break;
    }
    // A time that somebody else's work may have changed is no reward. What is wrong is wrong without one.
    if (!ruling.right() || !ruling.judgement->speedup || !ruling.judgement->labels.contains(outcome::Label::tenant_suspect)) return {};
    return {Fault::busy, "something else used the GPU while this answer was timed"};
  } catch (const base::Error& error) {
    return failure_of(error);
  } catch (const std::exception& error) {
    return {Fault::worker, error.what()};
  }
}

void Docket::fail(Queue& queue, const WorkPointer& work, const Failure& failure, std::unique_lock<std::mutex>& lock) {
  if ((failure.fault == Fault::worker || failure.fault == Fault::busy) && work->tries < 2 && !closed_) {
    ++counts_.retries;
    queue.works.push_front(work);
    ++waiting_;
    changed_.notify_all();
    return;
  }
  std::vector<WorkPointer> all = {work};
  if (failure.fault == Fault::task) {   // it is no better for the others that wait
    all.insert(all.end(), queue.works.begin(), queue.works.end());
    waiting_ -= queue.works.size();
    queue.works.clear();
    answered_.notify_all();
  }
  for (const WorkPointer& each : all) {
    Ruling ruling = each->ruling;
    ruling.fault = failure.fault;
    ruling.reason = failure.reason;
    answer(each, std::move(ruling), lock);
  }
}

void Docket::answer(const WorkPointer& work, Ruling ruling, std::unique_lock<std::mutex>& lock) {
  pending_.erase(pending_key(work->key, work->mode));
  const std::vector<Waiter> waiters = std::exchange(work->waiters, {});
  const double work_seconds = work->began ? (base::now() - *work->began).count() : 0;
  bool first = !ruling.cached;
  for (const Waiter& waiter : waiters) {
    Ruling mine = ruling;
    mine.id = waiter.id;
    mine.group = waiter.group;
    mine.mode = waiter.mode;
    mine.compiled = waiter.mode == Mode::compile && ruling.fault == Fault::none && !(ruling.judgement && by_compiling(*ruling.judgement));
    if (mine.compiled) mine.judgement.reset();   // it asked for no more
    mine.cached = !first;
    if (!first && mine.fault == Fault::none && mine.same_as.empty()) mine.same_as = ruling.id;
    mine.work_seconds = first ? work_seconds : 0;
    mine.queue_seconds = work->began ? std::max(0.0, (*work->began - waiter.submitted).count()) : (base::now() - waiter.submitted).count();
    first = false;
    tell(waiter, std::move(mine), lock);
  }
}

void Docket::tell(const Waiter& waiter, Ruling ruling, std::unique_lock<std::mutex>& lock) {
  // That the simulator lacks something is nothing that a variant did.
  if (ruling.judgement && ruling.judgement->verdict == outcome::Verdict::unsupported) {
    ruling.fault = Fault::unsupported;
    ruling.reason = ruling.judgement->message;
    ruling.judgement.reset();
  }
  const std::string first = first_of(ruling);
  ruling.duplicate =
      std::any_of(waiter.shown.begin(), waiter.shown.end(), [&](const std::string& shown) { return shown == ruling.fingerprint || first_of(ruling.task_key, shown) == first; });
  ruling.rewarded = waiter.reward;
  if (waiter.reward && ruling.fault == Fault::none && !ruling.compiled)
    ruling.reward = reward::value(*waiter.reward, ruling.result(), scores_.standing(ruling.task_key, first, waiter.group));
  if (ruling.mode != Mode::warm) count(ruling);
  lock.unlock();
  waiter.answered(ruling);
  lock.lock();
  --outstanding_;
  answered_.notify_all();
}

void Docket::count(const Ruling& ruling) {
  ++counts_.answered;
  counts_.cached += ruling.cached ? 1 : 0;
  counts_.right += ruling.right() ? 1 : 0;
  counts_.cheats += ruling.cheat() ? 1 : 0;
  counts_.unreadable += ruling.readable ? 0 : 1;
  counts_.work_seconds += ruling.work_seconds;
  counts_.queue_seconds += ruling.queue_seconds;
  if (ruling.fault == Fault::none) ++counts_.verdicts[ruling.verdict()];
  else ++counts_.faults[std::string(name(ruling.fault))];
}

bool Docket::room_for(std::size_t answers) const {
  const std::lock_guard lock(mutex_);
  return waiting_ + answers <= limits_.queue;
}

std::shared_ptr<const Warm> Docket::warm(const std::string& task_key) const {
  const std::lock_guard lock(mutex_);
  const auto warm = warm_.find(task_key);
  return warm == warm_.end() ? nullptr : warm->second;
}

std::vector<search::Variant> Docket::exemplars(const std::string& task_key) const {
  const std::lock_guard lock(mutex_);
  return exemplars_.of(task_key);
}

void Docket::wait_for_room() {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [this] { return closed_ || waiting_ < limits_.queue; });
}

void Docket::finish() {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [this] { return outstanding_ == 0; });
}

void Docket::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  std::vector<WorkPointer> works;
  for (const auto& [_, queue] : queues_) works.insert(works.end(), queue->works.begin(), queue->works.end());
  for (const auto& [_, queue] : queues_) queue->works.clear();
  waiting_ = 0;
  for (const WorkPointer& work : works) {
    Ruling ruling = work->ruling;
    ruling.fault = Fault::closed;
    ruling.reason = "the judge ended before this answer's turn";
    answer(work, std::move(ruling), lock);
  }
  answered_.notify_all();
}

Counts Docket::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts = counts_;
  counts.waiting = waiting_;
  for (const auto& place : places_) counts.sessions += place->open.size();
  return counts;
}

}  // namespace cudal1::docket
