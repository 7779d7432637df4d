# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The schedulers of Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are Static Schedules so Bad?" (IPDPS 2016).

Written from the paper's text, as list simulations: tasks run for their estimated times, and nothing is transferred.
They share no code with granary. Where the text leaves a choice, a comment says which one was made.

Tasks that end at the same time are handled one after the other, in the order of their starts: what the text says of "a
task that is ready" and "a worker that is idle" holds for each of them. It matters: as one event, they make HP 8 % faster
with 16 tiles, and heft 0.6 %. Times are whole nanoseconds, so that equal times are equal.
"""
import bisect
import heapq
import json

CPU, GPU = 0, 1
KINDS = ("cpu", "gpu")


class Node:
    """The node of section II.B: CPU cores and GPUs, and how long each takes for each kernel."""

    def __init__(self, times, cpus=9, gpus=3):
        self.times = times  # of a kernel: (on a core, on a GPU)
        self.workers = (cpus, gpus)

    @classmethod
    def of_platform(cls, path):
        """The node that a platform file describes, with its times in single precision, and each kernel's operations."""
        with open(path) as file:
            platform = json.load(file)
        kernels = platform["kernels"]["s"]
        times = {name: tuple(round(kernels[name][kind][0][1] * 1e9) for kind in KINDS) for name in kernels}
        count = {kind: sum(w.get("count", 1) for w in platform["workers"] if w["model"] == kind) for kind in KINDS}
        return cls(times, count["cpu"], count["gpu"]), {name: kernels[name]["cpu"][0][0] for name in kernels}


class Graph:
    """Tasks in the order of submission: kernels, data, successors, and the number of predecessors."""

    def __init__(self):
        self.kernels, self.written, self.read, self.successors, self.predecessors = [], [], [], [], []
        self._writer, self._readers = {}, {}

    def add(self, kernel, written, read=()):
        """A task that updates data and reads others: it follows their last writers, and the readers of what it updates."""
        task = len(self.kernels)
        before = {self._writer[datum] for datum in (*written, *read) if datum in self._writer}
        for datum in written:
            before.update(self._readers.pop(datum, ()))
            self._writer[datum] = task
        for datum in read:
            self._readers.setdefault(datum, []).append(task)
        self.kernels.append(kernel)
        self.written.append(written)
        self.read.append(read)
        self.successors.append([])
        self.predecessors.append(len(before))
        for other in before:
            self.successors[other].append(task)

    def bottom_levels(self, node):
        """Section V: the longest path to the last task, with the least time of each task, its own included."""
        levels = [0] * len(self.kernels)
        for task in reversed(range(len(levels))):
            after = max((levels[other] for other in self.successors[task]), default=0)
            levels[task] = after + min(node.times[self.kernels[task]])
        return levels


def cholesky(n):
    """Algorithm 1, Tile Cholesky Factorization, with n x n tiles."""
    graph = Graph()
    for i in range(n):
        graph.add("potrf", [(i, i)])
        for j in range(i + 1, n):
            graph.add("trsm", [(j, i)], [(i, i)])
        for k in range(i + 1, n):
            graph.add("syrk", [(k, k)], [(k, i)])
            for j in range(k + 1, n):
                graph.add("gemm", [(j, k)], [(j, i), (k, i)])
    return graph


# Section V: task-centric schedulers.


class _Queue:
    """One queue, and the workers that serve it: one worker, or all of a kind."""

    def __init__(self, kind, workers):
        self.kind = kind
        self.workers = workers
        self.ends = []  # when its workers' running tasks end
        self.waiting = []  # pairs of order and task, sorted

    def copy(self):
        other = _Queue(self.kind, self.workers)
        other.ends, other.waiting = self.ends[:], self.waiting[:]
        return other

    def available(self, now, times):
        """The expected time at which a worker is available, after all tasks in the queue."""
        ends = self.ends + [now] * (self.workers - len(self.ends))
        if self.workers == 1:
            return ends[0] + sum(times[task][self.kind] for _, task in self.waiting)
        heapq.heapify(ends)
        for _, task in self.waiting:
            heapq.heapreplace(ends, ends[0] + times[task][self.kind])
        return ends[0]


class Heft:
    """heft, and with priorities heftp. A queue for each worker, as in the paper, or for all workers of a kind.

    The expected available time of a resource is when it has run everything in its queue.
    """

    def __init__(self, graph, node, with_priorities, queue_per_worker, look=None):
        self.graph = graph
        self.times = [node.times[kernel] for kernel in graph.kernels]
        levels = graph.bottom_levels(node)
        # heft takes tasks in the order in which they became ready. Equal priorities: the order of submission.
        self.order = [(-level, task) for task, level in enumerate(levels)] if with_priorities else None
        self.look = look
        self.now, self.missing = 0, graph.predecessors[:]
        self.arrivals = self.starts = 0
        self.running = []  # heap of (end, number of the start, queue, task)
        self.finished = {}
        self.queues = [_Queue(kind, 1 if queue_per_worker else count) for kind, count in enumerate(node.workers)
                       for _ in range(count if queue_per_worker else 1)]

    def copy(self):
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.look = None  # what is simulated is heftp
        other.missing, other.running, other.finished = self.missing[:], self.running[:], {}
        other.queues = [queue.copy() for queue in self.queues]
        return other

    def expected_end(self, task, kind=None):
        """The earliest expected completion, among queues of that kind, and the queue."""
        return min((queue.available(self.now, self.times) + self.times[task][queue.kind], index)
                   for index, queue in enumerate(self.queues) if kind in (None, queue.kind))

    def enqueue(self, task, index):
        self.arrivals += 1
        bisect.insort(self.queues[index].waiting, (self.order[task] if self.order else self.arrivals, task))

    def place(self, ready):
        """Puts tasks that became ready at the same time into queues, the most urgent one first."""
        ready = sorted(ready, key=lambda task: self.order[task] if self.order else task)
        for position, task in enumerate(ready):
            choose = self.look or (lambda self, task, others: self.expected_end(task)[1])
            self.enqueue(task, choose(self, task, ready[position + 1:]))

    def start(self):
        for index, queue in enumerate(self.queues):
            while queue.waiting and len(queue.ends) < queue.workers:
                _, task = queue.waiting.pop(0)
                end = self.now + self.times[task][queue.kind]
                queue.ends.append(end)
                self.starts += 1
                heapq.heappush(self.running, (end, self.starts, index, task))

    def finish(self):
        """Goes on to the end of the next task, and returns the tasks that become ready."""
        self.now, _, index, task = heapq.heappop(self.running)
        self.queues[index].ends.remove(self.now)
        self.finished[task] = self.now
        for other in self.graph.successors[task]:
            self.missing[other] -= 1
        return [other for other in self.graph.successors[task] if self.missing[other] == 0]

    def run(self, until=lambda self: False):
        self.start()
        while self.running and not until(self):
            self.place(self.finish())
            self.start()
        return self.now

    def makespan(self):
        self.place([task for task, count in enumerate(self.missing) if count == 0])
        return self.run()

    def simulation(self, task, index, others):
        """heftp from now on, with the task in that queue; the others become ready at the same time."""
        ahead = self.copy()
        ahead.enqueue(task, index)
        ahead.place(others)
        return ahead


def heft(graph, node, queue_per_worker=False):
    """Section V: the queue of the resource that is expected to complete the task first; first come, first served."""
    return Heft(graph, node, False, queue_per_worker).makespan()


def heftp(graph, node, queue_per_worker=False):
    """Section V: heft with priorities, by which ready tasks are queued and workers choose."""
    return Heft(graph, node, True, queue_per_worker).makespan()


def heftp_let(graph, node, queue_per_worker=False):
    """Section V.A.1, Local Execution Time."""
    def look(run, task, others):
        cpu_end, cpu = run.expected_end(task, CPU)
        _, heftp_choice = run.expected_end(task)
        ahead = run.simulation(task, heftp_choice, others)
        ahead.run(lambda ahead: task in ahead.finished)
        return cpu if cpu_end <= ahead.finished[task] else heftp_choice
    return Heft(graph, node, True, queue_per_worker, look).makespan()


def heftp_gb(graph, node, queue_per_worker=False, always=True):
    """Section V.A.2, GPU Busy. The paper's "always tries" a core; otherwise only where heftp would not use one anyway."""
    def look(run, task, others):
        idle = False

        def task_ended_or_gpu_idle(ahead):
            nonlocal idle
            if task in ahead.finished:
                return True
            # What ends at this same instant may release tasks for the GPU.
            idle = ahead.running[0][0] > ahead.now and any(
                len(queue.ends) < queue.workers for queue in ahead.queues if queue.kind == GPU)
            return idle
        cpu = run.expected_end(task, CPU)[1]
        if not always and run.expected_end(task)[1] == cpu:
            return cpu
        run.simulation(task, cpu, others).run(task_ended_or_gpu_idle)
        return run.expected_end(task, GPU)[1] if idle else cpu
    return Heft(graph, node, True, queue_per_worker, look).makespan()


def heftp_mms(graph, node, queue_per_worker=False):
    """Section V.A.3, Min Makespan."""
    def look(run, task, others):
        cpu, heftp_choice = run.expected_end(task, CPU)[1], run.expected_end(task)[1]
        if cpu == heftp_choice:
            return cpu
        forced, free = (run.simulation(task, queue, others).run() for queue in (cpu, heftp_choice))
        return cpu if forced < free else heftp_choice
    return Heft(graph, node, True, queue_per_worker, look).makespan()


# Section VI: resource-centric schedulers.


class HeteroPrio:
    """Section VI.A, and the corrections of section VI.B that the flags name."""

    POLLED_BY_CPU = ("potrf", "trsm", "syrk", "gemm")

    def __init__(self, graph, node, spoliation=False, combined_view=False, preemption=False, constraint=None):
        self.graph, self.node = graph, node
        self.levels = graph.bottom_levels(node)
        self.spoliation, self.preemption = spoliation, preemption
        self.constraint = constraint  # None, or the kernels to which the priority constraint does not apply
        self.polled_by_gpu = ((("gemm", "syrk", "trsm"), ("potrf",)) if combined_view else
                              tuple((kernel,) for kernel in reversed(self.POLLED_BY_CPU)))
        self.now = 0
        self.ready = {kernel: [] for kernel in self.POLLED_BY_CPU}  # sorted by priority, lowest first
        self.running = {}  # of a busy worker: (task, end)
        self.idle = [list(range(count)) for count in node.workers]

    def priority(self, task):
        # Of equal ones, the task that was submitted first is the more urgent.
        return self.levels[task], -task

    def release(self, task):
        bisect.insort(self.ready[self.graph.kernels[task]], (self.priority(task), task))

    def start(self, task, kind, worker):
        self.running[kind, worker] = task, self.now + self.node.times[self.graph.kernels[task]][kind]

    def on_cpus(self, except_kernels=()):
        """The tasks that run on cores and their workers, lowest priority first."""
        return sorted((self.priority(task), task, worker) for (kind, worker), (task, _) in self.running.items()
                      if kind == CPU and self.graph.kernels[task] not in except_kernels)

    def abort(self, worker):
        task, _ = self.running.pop((CPU, worker))
        self.idle[CPU].append(worker)
        return task

    def task_for_gpu(self):
        """The first in the order of polling that the priority constraint does not forbid."""
        constraining = [] if self.constraint is None else self.on_cpus(self.constraint)
        for kernels in self.polled_by_gpu:
            queue = max((self.ready[kernel] for kernel in kernels), key=lambda queue: queue[-1:])
            if queue and not (constraining and constraining[-1][0] > queue[-1][0]):
                return queue.pop()[1]
        return None

    def task_for_cpu(self):
        queue = next((self.ready[kernel] for kernel in self.POLLED_BY_CPU if self.ready[kernel]), None)
        return queue.pop(0)[1] if queue else None

    def serve(self):
        """Idle workers poll, GPUs first: while they are starved, more is lost."""
        for kind, choose in ((GPU, self.task_for_gpu), (CPU, self.task_for_cpu)):
            while self.idle[kind]:
                task = choose()
                if task is None:
                    break
                self.start(task, kind, self.idle[kind].pop(0))

    def spoliate(self):
        """A GPU that is still idle has no task that it may take, so it takes the most urgent one from a core."""
        while self.spoliation and self.idle[GPU]:
            forbidden = self.constraint is not None and any(self.ready.values())
            executing = self.on_cpus(self.constraint if forbidden else ())
            if not executing:
                return
            _, task, worker = executing[-1]
            self.abort(worker)
            self.start(task, GPU, self.idle[GPU].pop(0))
            self.serve()

    def preempt(self):
        if self.preemption and self.ready["potrf"] and not self.idle[CPU] and not self.idle[GPU]:
            _, task, worker = self.on_cpus()[0]
            self.abort(worker)
            self.release(task)
            self.start(self.ready["potrf"].pop()[1], CPU, self.idle[CPU].pop())

    def makespan(self):
        missing = self.graph.predecessors[:]
        for task, count in enumerate(missing):
            if count == 0:
                self.release(task)
        self.serve()
        while self.running:
            # self.running is in the order in which tasks started.
            (kind, worker), (task, self.now) = min(self.running.items(), key=lambda item: item[1][1])
            del self.running[kind, worker]
            bisect.insort(self.idle[kind], worker)
            for other in self.graph.successors[task]:
                missing[other] -= 1
                if missing[other] == 0:
                    self.release(other)
            self.serve()
            # No worker is "starving", nor are all "busy", while other tasks still end at this instant.
            if all(end > self.now for _, end in self.running.values()):
                self.spoliate()
                self.preempt()
        return self.now


def hp(graph, node):
    """Section VI.A: a queue for each type of task; cores take the lowest, GPUs the highest priority of a queue."""
    return HeteroPrio(graph, node).makespan()


def hp_sp(graph, node):
    """Section VI.B.1: a GPU without a task takes the most urgent one from a core."""
    return HeteroPrio(graph, node, spoliation=True).makespan()


def hp_cgv(graph, node):
    """Section VI.B.2: GPUs see the queues of GEMM, SYRK and TRSM as one."""
    return HeteroPrio(graph, node, spoliation=True, combined_view=True).makespan()


def hp_pp(graph, node):
    """Section VI.B.3: a POTRF that finds all workers busy takes the place of the least urgent task on a core."""
    return HeteroPrio(graph, node, spoliation=True, combined_view=True, preemption=True).makespan()


def _constrained(graph, node, but_for):
    return HeteroPrio(graph, node, spoliation=True, combined_view=True, preemption=True, constraint=but_for).makespan()


def hp_pc(graph, node):
    """Section VI.B.4: a GPU starts no task that is less urgent than one on a core, which it takes instead."""
    return _constrained(graph, node, ())


def hp_pcep(graph, node):
    """Section VI.B.5: the same except for POTRF."""
    return _constrained(graph, node, ("potrf",))


def hp_pcept(graph, node):
    """Section VI.B.6: the same except for POTRF and TRSM."""
    return _constrained(graph, node, ("potrf", "trsm"))
