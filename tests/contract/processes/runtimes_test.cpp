// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runtimes of one program as several processes, for sanitizers.
#include "contract/processes/loop_network.hpp"
#include "contract/processes/runtime_cases.hpp"

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace granary::test {

using namespace detail;

namespace {

class Make {
 public:
  Make(LoopNetwork& network, std::uint32_t process) : m_network(network), m_process(process) {}
  Runtime operator()(RuntimeOptions const& options) const {
    auto& transport = m_network.transport(ProcessId(m_process));
    transport.start();
    return Runtime(options, std::shared_ptr<Processes>(&transport, [](Processes*) {}));
  }
  [[nodiscard]] bool is_last() const { return m_process + 1 == m_network.transport(ProcessId(0)).count(); }

 private:
  LoopNetwork& m_network;
  std::uint32_t m_process;
};

// Each process calls it with its Make.
template <class Case>
void play(Case const& one_process) {
  for (std::uint32_t const processes : {1U, 2U, 4U}) {
    LoopNetwork network(processes);
    std::vector<std::thread> all;
    for (std::uint32_t p = 0; p < processes; ++p) {
      all.emplace_back([&, p] { one_process(Make(network, p)); });
    }
    for (auto& thread : all) thread.join();
  }
}

TEST(SeveralRuntimes, ValuesGoToWhereTasksReadThem) {
  play([](Make const& make) { values_go_to_where_tasks_read_them(make); });
}
TEST(SeveralRuntimes, VaryingValuesGoInTheirSizes) {
  play([](Make const& make) { varying_values_go_in_their_sizes(make); });
}
TEST(SeveralRuntimes, TheOwnersViewHasTheFinalValue) {
  play([](Make const& make) { the_owners_view_has_the_final_value(make); });
}
TEST(SeveralRuntimes, PartsOfAMatrixAreDealtOverTheGrid) {
  play([](Make const& make) { parts_of_a_matrix_are_dealt_over_the_grid(make); });
}
TEST(SeveralRuntimes, AllThrowTheFirstFailure) {
  play([](Make const& make) { all_throw_the_first_failure(make); });
}
TEST(SeveralRuntimes, IfOneCannotBeginNoneDoes) {
  play([](Make const& make) { if_one_cannot_begin_none_does(make); });
}
TEST(SeveralRuntimes, AGridHasAllProcesses) {
  play([](Make const& make) { a_grid_has_all_processes(make); });
}
TEST(SeveralRuntimes, RefusesWhatNeedsOneProcess) {
  play([](Make const& make) { refuses_what_needs_one_process(make); });
}
TEST(SeveralRuntimes, AnExceptionBesideTasksReachesAll) {
  play([](Make const& make) {
    EXPECT_EQ(message_of<DataError>([&] { run_and_throw_in_the_last(make); }), "a bad input");
  });
}

}  // namespace
}  // namespace granary::test
