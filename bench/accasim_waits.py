"""Runs a trace in the Standard Workload Format through accasim and prints every job's wait, for sharing_bench.py.

    PEER_PYTHON bench/accasim_waits.py TRACE NODES CORES fcfs|easy
"""

import collections
import collections.abc
import json
import sys
import tempfile
from pathlib import Path

for moved in ("Mapping", "MutableMapping", "Iterable", "Callable"):  # where Python 3.9 and before had them
    setattr(collections, moved, getattr(collections.abc, moved))

from accasim.base.allocator_class import BestFit  # noqa: E402
from accasim.base.scheduler_class import EASYBackfilling, FirstInFirstOut  # noqa: E402
from accasim.base.simulator_class import Simulator  # noqa: E402
from accasim.utils.reader_class import Tweaker  # noqa: E402


class OneNode(Tweaker):
    """A job takes its processors from one node, as it does with Atoll and the yardsticks."""

    def tweak_function(self, job):
        cores = job["total_processors"]
        job["core"] = cores
        job["requested_nodes"] = 1
        job["requested_resources"] = {"core": cores}
        job.pop("mem", None)
        job["queue"] = job.pop("queue_number")
        return job


def main():
    trace, nodes, cores, method = sys.argv[1:5]
    with tempfile.TemporaryDirectory() as folder:
        system = Path(folder, "system.json")
        system.write_text(json.dumps({
            "groups": {"g0": {"core": int(cores)}}, "resources": {"g0": int(nodes)}, "start_time": 0}))
        dispatcher = {"fcfs": FirstInFirstOut, "easy": EASYBackfilling}[method](BestFit())
        simulator = Simulator(trace, str(system), dispatcher, tweak_function=OneNode(), show_statistics=False, LOG_LEVEL="ERROR",
                              statistics_output=False, RESULTS_FOLDER_PATH=folder,
                              SCHEDULE_OUTPUT={"format": "{job_id};{queued};{start}",
                                               "attributes": {"job_id": ("id", "str"), "queued": ("queued_time", "int"),
                                                              "start": ("start_time", "int")}})
        simulator.start_simulation()
        rows = [line.split(";") for file in Path(folder).glob("sched*") for line in file.read_text().splitlines()]
    print(json.dumps({int(row[0]): int(row[2]) - int(row[1]) for row in rows if len(row) == 3}))


main()
