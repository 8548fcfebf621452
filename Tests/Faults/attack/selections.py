"""H3a: readers select 64 users in topic after topic of channel after channel.

The users do not exist, and need not. Each was remembered in 170 bytes of which none counted.
"""

from raw import request
from stage import told_codes

USERS, TOPICS, CHANNELS = 64, 48, 8  # of one request, of a channel, of a reader with its burst of requests
STAGE = {"bounds_memory": True}


def attack(stage):
    links = stage.links(240 if stage.is_long else 40)
    users = [f"{number:02} {'u' * 57}" for number in range(USERS)]
    frames = [request("join", 2 + number, channel=f"c{number}", features=[]) for number in range(CHANNELS)]
    for number in range(CHANNELS):
        frames += [request("subscribeTopic", 2 + len(frames) + topic, channel=f"c{number}", topic=f"t{topic}", users=users)
                   for topic in range(TOPICS)]
    with stage.window():
        for link in links:
            link.write(*frames)
            link.answered(len(frames))
        stage.watch.look()
    told_codes(stage, [link.codes for link in links])
    stage.figures["users selected"] = (len(links) * len(frames) - sum(link.codes.total() for link in links)) * USERS
    for link in links:
        link.close()
    stage.grown_in_account()
