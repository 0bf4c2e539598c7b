"""What the guards cost: a path, a file of a tree, a read, an edit, the start of a confined child.

Run with `make bench-guards`. Times are the smallest of many short runs, in processor time of the thread; starts of
children are wall clock, interleaved. Exit 1 over the limits.
"""

import gc
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import handrail
from handrail.core.admission import Admission
from handrail.fs import confined, ripgrep
from handrail.fs.host import HostFileSystem
from handrail.fs.protocol import Bounds
from handrail.guard.freshness import Ledger
from handrail.guard.policy import Policy, PolicySettings
from handrail.guard.resolve import Resolver
from handrail.guard.sift import Request, Sieve
from handrail.model.view import Tally

DIRECTORIES, FILES = 6000, 10
GLOBS = ("dir{n}/*.x{n}", "*.x{n}", "**/b{n}/c", "secret{n}", "*old{n}*")
LIMITS = {
    "a path, 1000 globs (us)": 3.0,
    "1000 globs, a name never seen, over none (us)": 4.0,
    "a warm tree over the backend's (ms)": 3.0,
    "a cold tree over the backend's (us a file)": 6.0,
    "a read (ms)": 0.3,
    "an edit (ms)": 1.0,
    "the start of a confined child (ms)": 0.3,
}
NOTING = ("saw", "wrote")
found: dict[str, float] = {}


def say(name: str, value: float) -> None:
    found[name] = value
    limit = LIMITS.get(name)
    print(f"{name:48} {value:8.2f}" + ("" if limit is None else f"   at most {limit:g}"), flush=True)


def least(act: Callable[[], object], runs: int, clock: Callable[[], float] = time.thread_time) -> float:
    best = float("inf")
    for _ in range(runs):
        began = clock()
        act()
        best = min(best, clock() - began)
    return best


class World:
    def __init__(self, base: str, globs: int) -> None:
        self.fs = HostFileSystem()
        self.resolver = Resolver(self.fs, home=base, cwd=base)
        deny = [GLOBS[n % len(GLOBS)].format(n=n) for n in range(globs)]
        settings = PolicySettings(roots=[base], home=base, deny=deny)
        self.policy = Policy.build(settings, fs=self.fs, resolver=self.resolver)


def plant(base: str) -> list[str]:
    places = [f"{base}/package{n // 60}/module{n % 60}" for n in range(DIRECTORIES)]
    for place in places:
        os.makedirs(place)
        for n in range(FILES):
            Path(place, f"file_{n}.py").touch()
    return places


def paths(base: str, places: list[str]) -> None:
    names = [f"{place}/file_{n}.py" for place in places[:100] for n in range(FILES)]
    for globs in (0, 10, 1000):
        world = World(base, globs)
        look = world.policy.look()

        def judge(world: World = world, look: object = look) -> None:
            for name in names:
                world.policy.visibility(name, look=look)  # type: ignore[arg-type]

        judge()
        say(f"a path, {globs} globs (us)", least(judge, 60) / len(names) * 1e6)
        firsts = [judged_first(world, place) for place in places[100:200]]
        say(f"a path, {globs} globs, a name never seen (us)", min(firsts) * 1e6)
    new = "a path, {} globs, a name never seen (us)"
    say("1000 globs, a name never seen, over none (us)", found[new.format(1000)] - found[new.format(0)])


def judged_first(world: World, place: str) -> float:
    """Seconds a path whose name was in no directory before; the directory itself was."""
    look = world.policy.look()
    world.policy.visibility(f"{place}/x", look=look)
    names = [f"{place}/{time.monotonic_ns()}_{n}.py" for n in range(100)]
    began = time.thread_time()
    for name in names:
        world.policy.visibility(name, look=look)
    return (time.thread_time() - began) / len(names)


def trees(base: str) -> None:
    world = World(base, 10)
    root = world.resolver.directory(base)
    fs, request = world.fs, Request(root, Bounds(inside=[base], seconds=600))
    fs.tree(root, request.bounds, Tally({}))
    time.sleep(2.1)  # a directory that was made just now isn't remembered

    def plain() -> object:
        return fs.tree(root, request.bounds, Tally({}))

    plain()
    sieve = Sieve(world.policy, world.resolver)
    sieve.tree(fs, request, Tally({}))
    bare = [least(plain, 1) for _ in range(9)]
    warm = [least(lambda: sieve.tree(fs, request, Tally({})), 1) for _ in range(9)]
    cold = [least(lambda: Sieve(world.policy, world.resolver).tree(fs, request, Tally({})), 1) for _ in range(5)]
    say("a tree of the backend, warm (ms)", min(bare) * 1e3)
    say("a warm tree over the backend's (ms)", (min(warm) - min(bare)) * 1e3)
    say("a cold tree over the backend's (us a file)", (min(cold) - min(bare)) / DIRECTORIES / FILES * 1e6)


def shares(base: str) -> None:
    """The guards' own time in whole calls, each guard measured where the road calls it."""
    spent: dict[str, float] = defaultdict(float)
    each: dict[str, list[float]] = defaultdict(list)
    depth = [0]

    def watch(owner: type, name: str) -> None:
        plain = getattr(owner, name)

        def timed(*given: object, **more: object) -> object:
            depth[0] += 1
            began = time.thread_time()
            try:
                return plain(*given, **more)
            finally:
                depth[0] -= 1
                if not depth[0]:
                    kind = "noting" if name in NOTING else "guards"
                    spent[kind] += time.thread_time() - began
                    each[owner.__name__ + "." + name].append(time.thread_time() - began)

        setattr(owner, name, timed)

    guards = [(Admission, "admit"), (Admission, "secrets"), (Policy, "judge"), (Policy, "visibility")]
    for owner, name in (*guards, (Ledger, "require"), (Ledger, "check"), (Ledger, "saw"), (Ledger, "wrote")):
        watch(owner, name)
    root = os.path.join(base, "few")
    os.makedirs(root)
    text = "".join(f"row {n} of a text that is read and edited\n" for n in range(400))
    Path(root, "a.txt").write_text(text)
    deny = [GLOBS[n % len(GLOBS)].format(n=n) for n in range(1000)]
    settings = {"tools": {"fs": {"deny_paths": deny}}}
    hand = handrail.open(root=root, approve="auto", data_dir=os.path.join(base, "data"), settings=settings)
    with hand:
        for what, calls in (("a read", 60), ("an edit", 60)):
            whole, guard, noting = [], [], []
            each.clear()
            for n in range(calls):
                old = "row 7 of" if n % 2 == 0 else "row seven of"
                new = "row seven of" if n % 2 == 0 else "row 7 of"
                arguments = {"file_path": f"{root}/a.txt"}
                spent.clear()
                began = time.perf_counter()
                if what == "a read":
                    result = hand.call("Read", arguments)
                else:
                    result = hand.call("Edit", arguments | {"old_string": old, "new_string": new})
                whole.append(time.perf_counter() - began)
                guard.append(spent["guards"])
                noting.append(spent["noting"])
                assert result.ok, result
            say(f"{what} (ms)", min(guard) * 1e3)
            parts = ", ".join(f"{name} {min(took) * 1e3:.3f}" for name, took in each.items())
            print(f"    of {min(whole) * 1e3:.2f} ms, and {min(noting) * 1e3:.2f} to note what is known now: {parts}")


def children(base: str) -> None:
    program = ripgrep.binary()
    inside, free = confined.Places([base]), confined.ANYWHERE
    if not confined.confines(program):
        print("this machine can't confine a child")
        return

    def begin(places: confined.Places) -> float:
        began = time.perf_counter()
        with open(os.devnull, "r+b", buffering=0) as nothing:
            child = confined.start(
                program, places, lambda: subprocess.Popen([program, "-V"], stdin=nothing, stdout=nothing)
            )
        took = time.perf_counter() - began
        child.wait()
        return took

    begin(inside)
    pairs = [(begin(free), begin(inside)) for _ in range(200)]
    say("the start of a confined child (ms)", (min(b for _, b in pairs) - min(a for a, _ in pairs)) * 1e3)


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        base = os.path.realpath(place)
        places = plant(os.path.join(base, "root"))
        gc.disable()
        paths(os.path.join(base, "root"), places)
        trees(os.path.join(base, "root"))
        gc.enable()
        children(base)
        shares(base)
    over = [name for name, limit in LIMITS.items() if found.get(name, 0.0) > limit]
    for name in over:
        print(f"over its limit: {name}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
