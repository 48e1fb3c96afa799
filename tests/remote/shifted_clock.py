"""Wall clocks of processes that tests move: tests/control/shifted_clock.cc, preloaded."""
import os

import clusters_test

MINUTE, HOUR, DAY = 60, 3600, 24 * 3600


class ShiftedClock:
    """The clock of the processes that are started with `words` before their commands: ahead by `seconds`, at least 0,
    from now on. A clock that is set back is one that was ahead."""

    def __init__(self, path, seconds=0):
        self.path = path
        self.set(seconds)

    def set(self, seconds):
        # Renamed: a process reads it whenever it looks at its clock.
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(f"{int(seconds)}\n")
        os.rename(self.path + ".new", self.path)
        self.seconds = seconds

    def pass_by(self, seconds):
        self.set(self.seconds + seconds)

    def words(self):
        library = os.path.abspath(os.path.join(clusters_test.BIN, "libshifted_clock.so"))
        return ["env", "LD_PRELOAD=" + library, "EDGE_SHIFTED_CLOCK=" + self.path]
