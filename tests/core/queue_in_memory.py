"""An approval queue in memory, for tests of what waits on one."""

import threading
from dataclasses import replace


class QueueInMemory:
    def __init__(self):
        self.requests = {}
        self.answers = {}
        self.kept = []
        self.present = {}
        self.writes = 0
        self.looks = 0
        self.lock = threading.Lock()

    def ask(self, request):
        with self.lock:
            self.requests[request.id] = request
            self.writes += 1

    def pending(self):
        return [r for r in self.requests.values() if r.id not in self.answers]

    def answer(self, request, answered):
        with self.lock:
            if request in self.answers or request not in self.requests:
                return False
            self.answers[request] = answered
            self.writes += 1
            return True

    def answered(self, request):
        return self.answers.get(request)

    def changed(self):
        self.looks += 1
        return self.writes

    def watch(self, watcher, now):
        self.present[watcher] = now
        self.writes += 1

    def watchers(self, since):
        return [name for name, at in self.present.items() if at >= since]

    def unwatch(self, watcher):
        self.present.pop(watcher, None)

    def remember(self, rule):
        with self.lock:
            self.kept.append(replace(rule, id=len(self.kept) + 1))
            self.writes += 1
            return len(self.kept)

    def rules(self):
        return list(self.kept)

    def forget(self, rule):
        before = len(self.kept)
        self.kept = [r for r in self.kept if r.id != rule]
        return len(self.kept) < before
