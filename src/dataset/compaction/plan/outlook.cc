#include "dataset/compaction/plan/outlook.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

namespace glaive::dataset {
namespace {

std::vector<SourceFragment> SourcesOf(std::span<const SourceFragment> fragments,
                                      const TaskMembers& task) {
  std::vector<SourceFragment> sources;
  for (const size_t member : task) sources.push_back(fragments[member]);
  return sources;
}

// The indices that go on answering for the rows of a task, as table::Rewrite has it.
std::vector<bool> FollowingIndices(std::span<const SourceFragment> sources) {
  std::vector<bool> following = sources.front().followed;
  for (const SourceFragment& source : sources) {
    for (size_t i = 0; i < following.size(); ++i) {
      if (!source.followed[i]) following[i] = false;
    }
  }
  return following;
}

// The table once the tasks are done.
struct Outlook {
  std::vector<SourceFragment> fragments;
  // Of each: its task, or behind all of these, its place in the table of now.
  std::vector<size_t> origins;
};

// Of the new fragments, `written` says how large they are.
Outlook OutlookOf(std::span<const SourceFragment> fragments, const std::vector<TaskMembers>& tasks,
                  const std::vector<std::vector<SourceFragment>>& written) {
  std::vector<bool> is_replaced(fragments.size());
  for (const TaskMembers& task : tasks) {
    for (const size_t member : task) is_replaced[member] = true;
  }
  Outlook outlook;
  for (size_t i = 0; i < fragments.size(); ++i) {
    if (is_replaced[i]) continue;
    outlook.fragments.push_back(fragments[i]);
    outlook.origins.push_back(tasks.size() + i);
  }
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::vector<bool> following = FollowingIndices(SourcesOf(fragments, tasks[i]));
    for (SourceFragment made : written[i]) {
      made.coverage = made.followed = following;
      outlook.fragments.push_back(std::move(made));
      outlook.origins.push_back(i);
    }
  }
  return outlook;
}

// What tasks will write, as far as it can be told.
std::vector<std::vector<SourceFragment>> Foresee(std::span<const SourceFragment> fragments,
                                                 const std::vector<TaskMembers>& tasks,
                                                 const CompactionOptions& options) {
  std::vector<std::vector<SourceFragment>> foreseen;
  for (const TaskMembers& task : tasks) {
    std::vector<SourceFragment>& of_task = foreseen.emplace_back();
    for (const Amount& file : PlanFiles(SourcesOf(fragments, task), options)) {
      of_task.push_back({.physical_rows = file.rows,
                         .live_rows = file.rows,
                         .bytes = static_cast<uint64_t>(std::llround(file.bytes))});
    }
  }
  return foreseen;
}

// The tasks, with those joined whose results a second run would join. One that is joined takes the
// place of the last of them, since its rows would come to lie there.
std::vector<TaskMembers> Join(const std::vector<TaskMembers>& tasks, const Outlook& outlook,
                              const std::vector<TaskRange>& again) {
  std::vector<TaskMembers> joined = tasks;
  for (const TaskRange& range : again) {
    std::vector<size_t> origins(outlook.origins.begin() + static_cast<ptrdiff_t>(range.begin),
                                outlook.origins.begin() + static_cast<ptrdiff_t>(range.end));
    std::ranges::sort(origins);
    origins.erase(std::unique(origins.begin(), origins.end()), origins.end());
    if (origins.size() == 1) continue;
    TaskMembers members;
    size_t place = joined.size();
    for (const size_t origin : origins) {
      if (origin >= tasks.size()) {
        members.push_back(origin - tasks.size());
        continue;
      }
      std::ranges::copy(std::exchange(joined[origin], {}), std::back_inserter(members));
      place = origin;
    }
    std::ranges::sort(members);
    if (place == joined.size()) joined.emplace_back();
    joined[place] = std::move(members);
  }
  std::erase_if(joined, [](const TaskMembers& task) { return task.empty(); });
  return joined;
}

std::vector<TaskMembers> MembersOf(const std::vector<TaskRange>& tasks) {
  std::vector<TaskMembers> members;
  for (const TaskRange& task : tasks) {
    TaskMembers& of_task = members.emplace_back(task.size());
    std::iota(of_task.begin(), of_task.end(), task.begin);
  }
  return members;
}

}  // namespace

std::vector<TaskMembers> LookAhead(std::span<const SourceFragment> fragments,
                                   const std::vector<TaskRange>& tasks,
                                   const CompactionOptions& options) {
  std::vector<TaskMembers> settled = MembersOf(tasks);
  // Each time there are fewer tasks, or fewer fragments that stay.
  while (true) {
    auto joined = LookBack(fragments, settled, Foresee(fragments, settled, options), options);
    if (joined == settled) return settled;
    settled = std::move(joined);
  }
}

std::vector<TaskMembers> LookBack(std::span<const SourceFragment> fragments,
                                  const std::vector<TaskMembers>& tasks,
                                  const std::vector<std::vector<SourceFragment>>& written,
                                  const CompactionOptions& options) {
  if (tasks.empty()) return {};
  const Outlook outlook = OutlookOf(fragments, tasks, written);
  return Join(tasks, outlook, ChooseTasks(outlook.fragments, options));
}

std::vector<TaskMembers> PlanTasks(std::span<const SourceFragment> fragments,
                                   const CompactionOptions& options) {
  const std::vector<TaskRange> tasks = ChooseTasks(fragments, options);
  const std::vector<TaskRange> limited = LimitTasks(fragments, tasks, options);
  if (!options.look_ahead || limited != tasks) return MembersOf(limited);
  std::vector<TaskMembers> settled = LookAhead(fragments, tasks, options);
  std::vector<SourceFragment> sources;
  for (const TaskMembers& task : settled) {
    std::ranges::copy(SourcesOf(fragments, task), std::back_inserter(sources));
  }
  return AreWithinLimits(sources, options) ? settled : MembersOf(limited);
}

}  // namespace glaive::dataset
