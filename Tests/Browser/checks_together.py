"""Being on a board together: following, being brought, hands, and who drew what."""

from selenium.webdriver.common.keys import Keys

import accessibility
from browser import until
from checks_drawing import line, two_with_a_line
from stage import check


RAISED = "return [...document.querySelectorAll('#people-list li:has(.hand)')].map(({textContent}) => textContent).join()"


def view(page):
    return page.ask("return window.whiteboard.view")


def press_beside(page, name, button):
    """A button of a person's row."""
    if not page.is_shown("#people-panel"):
        page.click("#people")
    page.click(f"#people-list {button}[aria-label*='{name}']")


def notices(page):
    return page.ask("return [...document.querySelectorAll('.toast')].map(({textContent}) => textContent).join(' | ')")


@check("who follows somebody sees what they see, until they move the view themselves; the other one is told")
def follow(stage):
    _, ada, ben = two_with_a_line(stage)
    press_beside(ben, "Ada", ".follow")
    until(lambda: ben.is_shown("#following") and "Ada" in ben.words("#following"), "it is shown")
    until(lambda: "Ben follows you" in notices(ada), "Ada is told")
    ada.show(-4_000, -3_000, 0.5)
    until(lambda: abs(view(ben)["x"] + 4_000) < 2 and abs(view(ben)["scale"] - 0.5) < 0.01, "Ben sees what Ada sees")
    stage.picture(ben, "following")
    wrong = accessibility.faults(ben)
    assert not wrong, "; ".join(wrong)
    ben.press(Keys.ESCAPE)
    ben.ask("document.activeElement.blur()")
    ben.press("0")
    until(lambda: not ben.is_shown("#following"), "an own zoom ends it")
    ada.show(0, 0)
    ada.draw(*line(150, 300))
    ben.must_have(2)
    assert view(ben)["scale"] == 1 and abs(view(ben)["x"]) > 100, f"{view(ben)}"


@check("a host brings everybody here; a hand is seen with its place, and the host lowers it")
def hands(stage):
    relay = stage.relay()
    host, ada, ben = stage.page(relay, "Host", key="host"), stage.page(relay, "Ada"), stage.page(relay, "Ben")
    host.show(-4_000, -3_000)
    host.click("#people")
    host.click("#bring")
    for page in (ada, ben):
        until(lambda: abs(view(page)["x"] + 4_000) < 2, f"{page.who} is brought")
        until(lambda: "Host has brought you here" in notices(page), f"{page.who} is told")
    for page in (ben, ada):
        page.click("#people")
        page.click("#hand")
        until(lambda: page.words("#hand") == "Lower your hand", "it is up")
        until(lambda: page.who in host.ask(RAISED), "the host sees it")
    until(lambda: host.ask("return document.querySelector('#people .hands')?.textContent") == "2", "two are up")
    order = host.ask("""return Object.fromEntries([...document.querySelectorAll('#people-list li:has(.hand)')]
        .map(row => [row.querySelector(':scope > b').textContent, row.querySelector('.hand').textContent]))""")
    assert order == {"Ben": "1", "Ada": "2"}, order
    stage.picture(host, "hands")
    wrong = [fault for page in (host, ada) for fault in accessibility.faults(page)]
    assert not wrong, "; ".join(wrong)
    press_beside(host, "Ben", ".hand")
    until(lambda: ben.words("#hand") == "Raise your hand", "Ben's is down")
    host.click("#hands-down")
    until(lambda: ada.words("#hand") == "Raise your hand" and not host.is_shown("#hands-down"), "all are down")
    host.resize(320, 640)
    stage.picture(host, "people-320")
    wrong = accessibility.faults(host)
    assert not wrong, "; ".join(wrong)


@check("a press that stays with the select tool tells who drew what lies there")
def who(stage):
    _, ada, ben = two_with_a_line(stage)
    ben.press("v")
    stroke = line(150, 150)
    hand = ben.pen("mouse")
    hand.down(*stroke[0])
    until(lambda: "By Ada" in notices(ben), "it is told")
    hand.up()
    stage.picture(ben, "who")
