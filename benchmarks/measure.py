#!/usr/bin/env python3
"""measure.py [--runs N] [--name NAME] [--cpu-limit S] [--memory-limit MB] -- COMMAND...

Runs a command N times and prints one line: processor time (user + system, with its children), wall time and peak resident memory of the largest process,
each as median (smallest … largest); with limits, how much of each is used. Exits with 1 when a median is above its limit, 2 when the command fails.
With --json FILE the medians are also written there.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def run_once(command):
    """(processor seconds, wall seconds, peak MB) of one run."""
    with tempfile.TemporaryFile() as errors:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            print(f"{' '.join(command)} ended with {process.returncode}:\n{errors.read().decode(errors='replace')[-2000:]}", file=sys.stderr)
            sys.exit(2)
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024 / 1e6


def spread(values, unit, digits):
    values = sorted(values)
    return f"{values[len(values) // 2]:.{digits}f} {unit} ({values[0]:.{digits}f} … {values[-1]:.{digits}f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--name", default="")
    parser.add_argument("--cpu-limit", type=float)
    parser.add_argument("--memory-limit", type=float)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    runs = [run_once(options.command) for _ in range(options.runs)]
    cpu, wall, memory = zip(*runs)
    medians = {"cpu_s": sorted(cpu)[len(cpu) // 2], "wall_s": sorted(wall)[len(wall) // 2], "memory_mb": sorted(memory)[len(memory) // 2], "runs": len(runs)}
    line = f"{options.name or options.command[0]}: CPU {spread(cpu, 's', 2)}, wall {spread(wall, 's', 2)}, memory {spread(memory, 'MB', 0)}, {len(runs)} runs"
    over = False
    for what, limit, unit in (("cpu_s", options.cpu_limit, "s of CPU"), ("memory_mb", options.memory_limit, "MB")):
        if limit:
            line += f"; {medians[what] / limit:.2f} of the limit of {limit:g} {unit}"
            over = over or medians[what] > limit
    print(line)
    if options.json:
        options.json.write_text(json.dumps(medians))
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
