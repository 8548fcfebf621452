"""Plays to the client in Python where its own records stand: what a reading, a reset and a restart make of them. [BL3 BL5]

    python3 -B Tests/Scenarios/own_records.py
"""

import collections
import unittest
from unittest import mock

import client
from peer.constants import RETAIN

EPOCH, NEXT = {"start": 1000, "incarnation": 1}, {"start": 1001, "incarnation": 1}


class Deliver(dict):
    flags = RETAIN


class OwnRecords(unittest.TestCase):
    fault = None

    def setUp(self):
        for name in ("selectors.DefaultSelector", "os.set_blocking", "say"):
            patch = mock.patch.object(*self.place(name))
            patch.start()
            self.addCleanup(patch.stop)
        self.client = client.Client(self.fault)

    @staticmethod
    def place(name):
        *module, name = name.split(".")
        return (getattr(client, module[0]) if module else client), name

    def follow(self, since):
        self.channel = self.client.channels["lesson"] = client.Channel("lesson", since, lambda *_, **__: None, self.fault)

    def stand(self, head, after=None, epoch=None, is_restored=False):
        self.channel.stand({"epoch": epoch or EPOCH, "head": head, "after": after}, is_restored)

    def write(self, *keys):
        for key in keys:
            self.client.do_publish({"id": key, "channel": "lesson", "key": key, "payload": "b3du"})
        self.client.outbox.flush()

    def told(self, what, number, offset):
        getattr(self.client, f"on_{what}")({"number": number, "offset": offset})

    def deliver(self, key, offset, payload):
        self.channel.deliver("bob", Deliver(key=key, offset=offset, payload=payload, part=None))

    @property
    def board(self):
        return {record["key"]: record["offset"] for record in self.channel.board()}

    def test_answered_behind_the_reading_that_it_is_missing_from(self):
        """It was accepted at 5 and removed by somebody else while the link was gone: neither comes."""
        for has_more in (True, False):
            with self.subTest(has_more=has_more):
                self.setUp()
                self.follow("beginning")
                self.stand(4, after=0)
                self.write("gone", "new")
                self.stand(9, after=4 if has_more else None, is_restored=True)
                if has_more:
                    self.channel.on_caught_up(9)
                for number, offset in ((1, 5), (2, 10)):
                    self.told("accepted", number, offset)
                    self.told("stored", number, offset)
                self.assertEqual(self.board, {"new": 10})

    def test_answered_while_it_reads_is_held(self):
        self.follow("beginning")
        self.stand(4, after=0)
        self.write("gone", "new")
        self.told("stored", 1, 5)
        self.told("stored", 2, 10)
        self.assertEqual(self.board, {})
        self.channel.on_caught_up(9)
        self.assertEqual(self.board, {"new": 10})

    def test_a_reset_forgets_both(self):
        self.follow("beginning")
        self.stand(4, after=0)
        self.write("held", "late")
        self.told("stored", 1, 10)
        self.channel.on_reset({"epoch": NEXT})
        self.channel.on_caught_up(2)
        self.told("stored", 2, 3)
        self.assertEqual(self.board, {"late": 3})

    def test_an_offset_that_was_only_accepted_is_anothers_after_a_restart(self):
        """It catches up from 50, and 90 is durable: 50 is good in the next epoch, and 91 is given again."""
        self.follow("beginning")
        self.stand(0, after=0)
        self.channel.on_caught_up(50)
        self.stand(99, after=50, is_restored=True)
        self.write("k")
        self.told("accepted", 1, 100)
        self.stand(90, after=50, epoch=NEXT, is_restored=True)
        self.channel.on_caught_up(90)
        self.deliver("k", 95, "theirs")
        self.told("accepted", 1, 91)
        self.told("stored", 1, 91)
        self.assertEqual(self.board, {"k": 95})


def failures(fault=None):
    """How many of these a fault of the client fails."""
    tests = unittest.defaultTestLoader.loadTestsFromTestCase(type("Faulty", (OwnRecords,), {"fault": fault}))
    result = unittest.TestResult()
    tests.run(result)
    return collections.Counter(test.id().rpartition(".")[2] for test, _ in result.failures + result.errors)


if __name__ == "__main__":
    unittest.main()
