"""Pages of several spaces of one relay, whose addresses differ by their path."""

from browser import until
from checks_drawing import line
from relay import Space
from stage import check


@check("[SE16] pages of two spaces of one relay draw on boards of one name, and neither sees the other, also after a reload")
def two_spaces(stage):
    relay = stage.relay("--spaces")
    north, south = Space(relay, "north"), Space(relay, "south")
    ada, ben, cy = stage.page(north, "Ada"), stage.page(north, "Ben"), stage.page(south, "Cy")
    ada.draw(*line(150, 150))
    ben.must_have(1)
    cy.draw(*line(150, 200))
    cy.draw(*line(150, 250))
    cy.must_have(2)
    stage.settle(ada, ben)
    ada.reload()
    ada.wait("connected")
    ada.must_have(1)
    cy.reload()
    cy.wait("connected")
    cy.must_have(2)
    assert [len(space.records("lesson")) for space in (north, south)] == [1, 2]


@check("[SE16] the key of one space does not open a board of another, and the page asks for another key")
def wrong_space(stage):
    relay = stage.relay("--spaces")
    north, south = Space(relay, "north"), Space(relay, "south")
    right, north.keys = north.keys, south.keys
    ada = stage.visitor(north, "Ada")
    ada.load()
    ada.introduce()
    until(lambda: ada.words("#key-dialog p").startswith("That key does not open this board"), "another key is asked for")
    assert ada.state()[0] != "connected", "it is connected with another space's key"
    ada.find("#key").send_keys(right["join"])
    ada.click("#key-enter")
    ada.wait("connected")
    north.keys = right
    ada.draw(*line(150, 150))
    stage.settle(ada)
