"""M1: connects that say nothing take all descriptors of the relay.

Its files, the control socket, health checks and whoever has a key are served all the same, and what is drawn is stored.
"""

import resource
import socket
import time

from stage import CALM_SECONDS, serves_others

DESCRIPTORS = 512  # of the relay; it was found with 1,024


def limit():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


STAGE = {"preexec_fn": limit}


def attack(stage):
    links = []
    with stage.window():
        for _ in range(3 * DESCRIPTORS // 2):
            link = socket.socket()
            link.setblocking(False)  # whom the system lets wait waits in vain
            link.connect_ex(("127.0.0.1", stage.relay.port))
            links.append(link)
        time.sleep(CALM_SECONDS)  # the pairs write on
        serves_others(stage)
    status = stage.watch.look()
    stage.figures["connections"] = status["census"]["connections"]
    stage.exactly("failures of the journal", status["journal"]["failures"] + status["census"]["counters"]["storageFailures"], 0)
    for link in links:
        link.close()
