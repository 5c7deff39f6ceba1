#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""leases.py [MEMBERS PARTITIONS SECONDS SEEDS]: simulates how members would share
partitions by leases in a bucket of keys and values (docs/nats_further.md): members
join, crash and stand still, clocks differ, and messages take their time. Fails if
two members act on one partition at a time, if a partition is without one for too
long behind a crash, or if those that stay do not come to share evenly."""
import heapq
import random
import sys

TTL = 10.0  # a life acts so long after it has sent a renewal that was good
RENEW = TTL / 4
DRIFT = 0.01  # a clock is at most so much too fast or too slow
WAIT = TTL * (1 + 3 * DRIFT)  # so long a life is silent before others end it
LATENCY = 0.002, 0.2  # of a request, an answer, a notice
BATCH = 64  # requests for partitions that a member has under way
# from a crash: the silence, a look, ending it, a look, taking it
LONGEST = WAIT * (1 + DRIFT) + RENEW + 2 * 1.6 + 8 * LATENCY[1]


class World:
    """The bucket, whose entries are values with revisions, and time."""

    def __init__(self, seed, n_partitions):
        self.random = random.Random(seed)
        self.now, self.order, self.due = 0.0, 0, []
        self.bucket = {("owner", p): (None, 0) for p in range(n_partitions)}
        self.n_partitions = n_partitions
        self.members, self.n_lives = [], 0
        self.acting = {}  # partition: the member that has entered it
        self.without = {}  # partition: since when its member has been dead
        self.writes = self.moves = 0
        self.longest = 0.0

    def at(self, delay, call, *args):
        self.order += 1
        heapq.heappush(self.due, (self.now + delay, self.order, call, args))

    def latency(self):
        return self.random.uniform(*LATENCY)

    def run(self, seconds):
        until = self.now + seconds
        while self.due[0][0] <= until:
            self.now, _, call, args = heapq.heappop(self.due)
            call(*args)
        self.now = until

    def put(self, key, value, revision, answer):
        """Good if the entry has that revision: a message that expects the last
        sequence of its subject."""
        self.at(self.latency(), self.arrives, key, value, revision, answer)

    def arrives(self, key, value, revision, answer):
        good = self.bucket.get(key, (None, 0))[1] == revision
        if good:
            self.writes += 1
            self.bucket[key] = (value, revision + 1)
            for member in self.members:
                self.at(self.latency(), member.do, member.notice, key,
                        (value, revision + 1))
        self.at(self.latency(), *answer, good)

    def join(self):
        self.n_lives += 1
        self.members.append(Member(self, f"m{self.n_lives}"))


class Member:
    def __init__(self, world, name):
        self.world, self.name = world, name
        self.rate = 1 + world.random.uniform(-DRIFT, DRIFT)
        self.dead, self.still_until = False, 0.0
        self.revision, self.acts_until = 0, 0.0
        self.view = dict(world.bucket)  # what it has seen of the bucket
        self.heard = {k[1]: self.clock() for k in self.view if k[0] == "life"}
        self.mine, self.asked = set(), set()
        self.renew()
        self.later(1, self.look)

    def clock(self):
        return self.world.now * self.rate

    def later(self, delay, call, *args):
        self.world.at(delay / self.rate, self.do, call, *args)

    def do(self, call, *args):
        """What comes while it stands still is done behind that."""
        if self.dead:
            return
        if self.world.now < self.still_until:
            self.world.at(self.still_until - self.world.now, self.do, call, *args)
        else:
            call(*args)

    def acts(self):
        """Asked before each pull, acknowledgement and publication."""
        return not self.dead and self.clock() < self.acts_until

    def notice(self, key, entry):
        if entry[1] > self.view.get(key, (None, 0))[1]:
            self.view[key] = entry
            if key[0] == "life":
                self.heard[key[1]] = self.clock()

    # Its life

    def renew(self):
        self.world.put(("life", self.name), "lives", self.revision,
                       (self.do, self.renewed, self.clock()))

    def renewed(self, sent, good):
        if not good:  # somebody has ended this life
            self.crash()
            self.world.join()
            return
        self.revision += 1
        self.acts_until = sent + TTL
        self.later(RENEW, self.renew)

    def crash(self):
        self.dead = True
        self.world.members.remove(self)
        for partition in self.mine:
            if self.world.acting.get(partition) is self:
                self.world.without[partition] = self.world.now

    # Partitions

    def look(self):
        self.later(self.world.random.uniform(0.5, 1.5), self.look)
        if not self.acts():
            return
        lives = [n for n in self.heard if self.view["life", n][0] == "lives"]
        for name in lives:
            if name != self.name and self.clock() - self.heard[name] > WAIT:
                self.world.put(("life", name), "ended", self.view["life", name][1],
                               (lambda good: None,))
        share = -(-self.world.n_partitions // max(1, len(lives)))
        for partition in sorted(self.mine)[share:]:
            self.leave(partition)
            self.world.put(("owner", partition), None,
                           self.view["owner", partition][1], (lambda good: None,))
        room = min(share - len(self.mine), BATCH) - len(self.asked)
        if room > 0:
            free = [p for p in range(self.world.n_partitions) if self.is_free(p)]
            for partition in self.world.random.sample(free, min(room, len(free))):
                self.asked.add(partition)
                self.world.put(("owner", partition), self.name,
                               self.view["owner", partition][1],
                               (self.do, self.taken, partition))

    def is_free(self, partition):
        owner = self.view["owner", partition][0]
        return partition not in self.asked and (
            owner is None or self.view["life", owner][0] == "ended")

    def taken(self, partition, good):
        self.asked.discard(partition)
        if not good or not self.acts():
            return
        world, before = self.world, self.world.acting.get(partition)
        assert before is None or before is self or not before.acts(), (
            f"at {world.now:.3f} {before.name} and {self.name} act on {partition}")
        world.acting[partition] = self
        world.moves += 1
        self.mine.add(partition)
        if partition in world.without:
            gap = world.now - world.without.pop(partition)
            world.longest = max(world.longest, gap)

    def leave(self, partition):
        self.mine.discard(partition)
        if self.world.acting.get(partition) is self:
            del self.world.acting[partition]


def disturb(world, n_members, end):
    """So often that each member crashes, or stands still, once in 200 seconds."""
    if world.now > end:
        return
    member = world.random.choice(world.members)
    if world.random.random() < 0.5:
        member.crash()
        world.at(world.random.uniform(0, 30), world.join)
    else:
        member.still_until = world.now + world.random.uniform(0, 3 * TTL)
    world.at(world.random.expovariate(n_members / 200), disturb, world, n_members,
             end)


def simulate(seed, n_members, n_partitions, seconds):
    world = World(seed, n_partitions)
    for _ in range(n_members):
        world.at(world.random.uniform(0, 5), world.join)
    world.run(60)
    even(world, n_partitions)
    before = world.writes, world.moves
    world.run(TTL)
    quiet = (world.writes - before[0]) / TTL
    assert world.moves == before[1], "partitions move while nobody comes or goes"
    disturb(world, n_members, world.now + seconds)
    world.run(seconds + 30 + 10 * TTL)
    even(world, n_partitions)
    assert world.longest < LONGEST, f"{world.longest:.1f} s without a member"
    return quiet, world.moves, world.longest, world.n_lives


def even(world, n_partitions):
    share = -(-n_partitions // len(world.members))
    held = [len(m.mine) for m in world.members]
    assert sum(held) == n_partitions, f"{sum(held)} of {n_partitions} are held"
    assert max(held) <= share, f"a member has {max(held)} and not {share}"


def main():
    arguments = [int(a) for a in sys.argv[1:]] or [12, 96, 300, 4]
    members, partitions, seconds, seeds = arguments
    for seed in range(1, seeds + 1):
        try:
            quiet, moves, longest, lives = simulate(seed, members, partitions,
                                                    seconds)
        except AssertionError as error:
            sys.exit(f"leases.py: seed {seed}: {error}")
        print(f"seed {seed}: {lives} lives, {moves} moves, {quiet:.1f} writes/s at "
              f"rest, at most {longest:.1f} s without a member")


if __name__ == "__main__":
    main()
