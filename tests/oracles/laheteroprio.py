# Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Heteroprio and LAHeteroprio, of Bramas, "Impact study of data locality on task-based applications through the
Heteroprio scheduler" (PeerJ Computer Science 5:e190, 2019), whose page numbers stand below.

Written from the paper's text, as a list simulation in which tasks run for their estimated times and transfers take none.
It shares no code with granary. Where the text leaves a choice, a comment says which one was made.
"""

# Affinity formulas, page 9. `node` is the set of data that it hosts, `size` has the bytes of each datum. A task's data
# are those that it reads and those that it writes, which are disjoint (equation 5). The node with the highest score wins.


def ls_sdh(node, read, written, size):
    """Equation 6."""
    return sum(size[d] for d in (*read, *written) if d in node)


def ls_sdh2(node, read, written, size):
    """Equation 7."""
    return sum(size[d] for d in read if d in node) + sum(size[d] ** 2 for d in written if d in node)


def ls_sdhb(node, read, written, size, theta=1000):
    """Equation 8, with theta as in the paper."""
    here = [size[d] for d in written if d in node]
    return sum(size[d] for d in read if d in node) + theta * len(here) * sum(here)


def lc_smwb(node, read, written, size):
    """Equation 9 is a cost; this is its negative. Multiplied by the number of data, it does not round."""
    data = len(read) + len(written)
    weight = 2 * data - len(written)
    return -(data * sum(size[d] for d in read if d not in node) + weight * sum(size[d] for d in written if d not in node))


FORMULAS = {"LS_SDH": ls_sdh, "LS_SDH2": ls_sdh2, "LS_SDHB": ls_sdhb, "LC_SMWB": lc_smwb}


def best_nodes(formula, nodes, read, written, size):
    """The numbers of the nodes with the highest score: several if they tie."""
    scores = [formula(node, read, written, size) for node in nodes]
    return [m for m, score in enumerate(scores) if score == max(scores)]


def access_order(own, buckets, nearest_first, s, l):
    """The lists (bucket, node) in the order in which a worker searches them: page 12, Memory node subgroups.

    `buckets` are those that the worker uses, in its order, and `nearest_first` are the other nodes. The worker looks at l
    buckets of its own node and at the same ones of the s nearest nodes, until it has seen all of these nodes; then it
    looks at the others. Parts A, C and D of Table 3 are so. Part B, whose worker has two near nodes, alternates between
    these with each bucket, while l is "the number of consecutive buckets that are queried before going to the next memory
    node"; both are the same for l = 1.
    """
    near, far = nearest_first[:s], nearest_first[s:]
    turns = [buckets[first:first + l] for first in range(0, len(buckets), l)]
    order = [(b, m) for turn in turns for m in (own, *near) for b in turn]
    return order + [(b, m) for b in buckets for m in far]


class Heteroprio:
    """Pages 5 and 6. A node 0 with cores, and GPUs, which are the next nodes and have one worker each.

    `times` has, for each task, the times on a core and on a GPU; `cpu_buckets` and `gpu_buckets` are kernels in the order
    in which the workers of each kind search their buckets. Data are at first on node 0.
    """

    def __init__(self, graph, size, times, cpus, gpus, cpu_buckets, gpu_buckets, speedup=None):
        self.graph, self.size, self.times, self.speedup = graph, size, times, speedup
        self.gpus = gpus
        self.hosts = [set(size), *(set() for _ in range(gpus))]
        self.worker_nodes = [*range(1, gpus + 1), *[0] * cpus]
        self.lists = {(b, m): [] for b in cpu_buckets for m in range(gpus + 1)}
        self.orders = [[(b, 0) for b in (gpu_buckets if m else cpu_buckets)] for m in range(gpus + 1)]
        self.last_writer = {datum: task for task, written in enumerate(graph.written) for datum in written}
        self.now, self.bytes = 0, 0
        self.pushed = []  # tasks in the order in which they became ready
        self.running = {}  # of a busy worker: (task, end), in the order of the starts

    def push(self, task, _releasing_node):
        """Page 5: all lists of a bucket are one, and first in, first out (page 4, push_back)."""
        self.pushed.append(task)
        self.lists[self.graph.kernels[task], 0].append(task)

    def allowed(self, node, bucket):
        """Page 6, Speedup factors: a core takes a task if there are S times as many tasks as GPU workers.

        The text says "more than", its example "six or more", for 2 x 3. Here GPUs are the fastest for all buckets.
        """
        if self.speedup is None or node != 0:
            return True
        available = sum(len(tasks) for (b, _), tasks in self.lists.items() if b == bucket)
        return available >= self.speedup[bucket] * self.gpus

    def pop(self, node):
        for bucket, m in self.orders[node]:
            if self.lists[bucket, m] and self.allowed(node, bucket):
                return self.lists[bucket, m].pop(0)
        return None

    def start(self, worker, task):
        node, written = self.worker_nodes[worker], self.graph.written[task]
        for datum in (*written, *self.graph.read[task]):
            if datum not in self.hosts[node]:
                self.bytes += self.size[datum]
                self.hosts[node].add(datum)
        for m, host in enumerate(self.hosts):
            if m != node:
                host.difference_update(written)
        self.running[worker] = task, self.now + self.times[task][min(node, 1)]

    def serve(self):
        """Idle workers ask for tasks, GPUs first: they are the first in the list of workers."""
        for worker, node in enumerate(self.worker_nodes):
            if worker not in self.running:
                task = self.pop(node)
                if task is not None:
                    self.start(worker, task)

    def bring_home(self, task):
        """Final values return to node 0. The paper does not say when; here it is at once."""
        for datum in self.graph.written[task]:
            if self.last_writer[datum] == task and datum not in self.hosts[0]:
                self.hosts[0].add(datum)
                self.bytes += self.size[datum]

    def makespan(self):
        missing = self.graph.predecessors[:]
        for task, count in enumerate(missing):
            if count == 0:  # tasks are submitted one after the other to workers that wait
                self.push(task, None)
                self.serve()
        while self.running:
            worker, (task, self.now) = min(self.running.items(), key=lambda item: item[1][1])
            del self.running[worker]
            for other in self.graph.successors[task]:
                missing[other] -= 1
                if missing[other] == 0:
                    self.push(other, self.worker_nodes[worker])
            self.serve()
            self.bring_home(task)
        return self.now


class Laheteroprio(Heteroprio):
    """Pages 7 to 13: each bucket has a list for each memory node. `formula` is a key of FORMULAS, LaRU or auto."""

    def __init__(self, formula, *graph_and_machine, l_cpu=1, l_gpu=1, **options):
        super().__init__(*graph_and_machine, **options)
        cpu_buckets, gpu_buckets = ([b for b, _ in order] for order in self.orders[:2])
        nodes = range(self.gpus + 1)
        self.formula = "LS_SDHB" if formula == "auto" else formula  # the paper does not say which one is the first
        self.automatic = formula == "auto"
        # Page 12: "the closest memory node to any GPU was always the CPU". S is as in Table 3.
        self.orders = [access_order(0, cpu_buckets, nodes[1:], self.gpus, l_cpu)]
        self.orders += [access_order(own, gpu_buckets, [m for m in nodes if m != own], 1, l_gpu) for own in nodes[1:]]
        self.nodes_of = {}  # of a task in a list: the nodes that the formulas chose
        self.bmd = dict.fromkeys(FORMULAS if self.automatic else [formula], 0)

    def best(self, formula, task, asking_node):
        if formula == "LaRU":  # page 8, Last recently used; for a task that no worker released any node is as good
            return range(self.gpus + 1) if asking_node is None else [asking_node]
        return best_nodes(FORMULAS[formula], self.hosts, self.graph.read[task], self.graph.written[task], self.size)

    def push(self, task, releasing_node):
        """Page 7, Task insertion: into the list of the best memory node."""
        def tasks_in_lists_of(node):
            return sum(len(tasks) for (_, m), tasks in self.lists.items() if m == node)
        self.nodes_of[task] = {}
        for formula in self.bmd:
            nodes = self.best(formula, task, releasing_node)
            # The paper does not say which of several nodes. Here it is LaRU's, else the one with the fewest tasks.
            self.nodes_of[task][formula] = releasing_node if releasing_node in nodes else min(nodes, key=tasks_in_lists_of)
        self.pushed.append(task)
        self.lists[self.graph.kernels[task], self.nodes_of[task][self.formula]].append(task)

    def start(self, worker, task):
        """Page 10: BMD, the number of tasks for which a formula returns another node than when they were pushed."""
        for formula, node in self.nodes_of.pop(task).items():
            # A node that ties with the best is not another one.
            self.bmd[formula] += node not in self.best(formula, task, self.worker_nodes[worker])
        if self.automatic:
            # The formula with the lowest BMD. The paper does not say which of several: here the present one, or the first.
            lowest = min(self.bmd, key=self.bmd.get)
            if self.bmd[lowest] < self.bmd[self.formula]:
                self.formula = lowest
        super().start(worker, task)
