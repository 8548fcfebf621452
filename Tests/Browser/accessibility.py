"""Whether everybody can use what is shown: axe-core's rules, and what it does not look at."""

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

import tools

LEAST_PIXELS = 44

# Every control that can be seen and used, as [name, rectangle], and what is wrong with it. Of a dialog's page the rest is inert.
CONTROLS = """
  const least = arguments[0], wrong = []
  const dialog = document.querySelector('dialog:modal')
  const isShown = element => element.checkVisibility({visibilityProperty: true, opacityProperty: true}) && element.getClientRects().length > 0
  const nameOf = element => (element.getAttribute('aria-label') ?? '').trim() || [...(element.labels ?? [])].map(label => label.textContent.trim()).join(' ')
    || (element.getAttribute('aria-labelledby') ?? '').split(' ').map(id => document.getElementById(id)?.textContent ?? '').join(' ').trim()
    || (element.matches('button, a, summary') ? element.textContent.trim() : '') || element.title
  const controls = [...document.querySelectorAll('button, a[href], input, select, textarea, summary, [role=button], [tabindex]')]
    .filter(element => isShown(element) && !element.closest('[inert]') && (!dialog || dialog.contains(element)) && element.tabIndex >= 0 && !element.disabled)
  const called = element => `${element.tagName.toLowerCase()}${element.id ? '#' + element.id : ''} (${nameOf(element)})`
  // What of it is not scrolled away.
  const seen = element => {
    let {left, top, right, bottom} = element.getBoundingClientRect()
    for (let around = element.parentElement; around; around = around.parentElement) {
      if (!/auto|scroll/.test(getComputedStyle(around).overflow)) continue
      const its = around.getBoundingClientRect()
      left = Math.max(left, its.left), top = Math.max(top, its.top), right = Math.min(right, its.right), bottom = Math.min(bottom, its.bottom)
    }
    return {left, top, right, bottom}
  }
  const boxes = controls.map(element => ({element, box: element.getBoundingClientRect(), part: seen(element)}))
  for (const {element, box} of boxes) {
    if (!nameOf(element)) wrong.push(`${called(element)} has no name`)
    // A canvas or a surface that takes the focus is no target.
    if (!element.matches('button, a, input, select, textarea, summary, [role=button]')) continue
    if (Math.min(box.width, box.height) < least - 0.01) wrong.push(`${called(element)} is ${box.width.toFixed(1)} by ${box.height.toFixed(1)} px`)
    // One that lies in a list which scrolls is reached by scrolling.
    let scroller = element.parentElement
    while (scroller && !(/auto|scroll/.test(getComputedStyle(scroller).overflow) && (scroller.scrollHeight > scroller.clientHeight || scroller.scrollWidth > scroller.clientWidth))) scroller = scroller.parentElement
    if (scroller) continue
    if (box.left < -0.5 || box.top < -0.5 || box.right > innerWidth + 0.5 || box.bottom > innerHeight + 0.5) wrong.push(`${called(element)} is not within the window`)
    else {
      const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)
      if (!element.contains(top) && !element.closest('label')?.contains(top)) wrong.push(`${called(element)} lies under ${top ? called(top) : 'nothing'}`)
    }
  }
  for (const [n, {element, part: box}] of boxes.entries()) for (const {element: other, part: its} of boxes.slice(n + 1)) {
    if (element.contains(other) || other.contains(element) || ![element, other].every(one => one.matches('button, a, input, select, textarea, summary'))) continue
    const across = Math.min(box.right, its.right) - Math.max(box.left, its.left), down = Math.min(box.bottom, its.bottom) - Math.max(box.top, its.top)
    if (across > 0.5 && down > 0.5) wrong.push(`${called(element)} and ${called(other)} overlap`)
  }
  const root = document.documentElement
  scrollTo(1000, 0)
  if (root.scrollWidth > innerWidth || scrollX !== 0) wrong.push(`the page scrolls sideways: ${root.scrollWidth} px in ${innerWidth}`)
  scrollTo(0, 0)
  return {controls: controls.length, wrong}
"""

AXE = """
  const done = arguments[0]
  axe.run(document, {resultTypes: ['violations']}).then(({violations, passes}) => done({
    rules: violations.length + passes.length,
    serious: violations.filter(({impact}) => impact === 'serious' || impact === 'critical')
      .map(({id, nodes}) => `${id}: ${nodes.slice(0, 3).map(({target}) => target.join(' ')).join(', ')}`),
  }), error => done({rules: 0, serious: [String(error)]}))
"""

# What the focused element looks like around its edge, with the focus and without it.
FOCUS = """
  const element = document.activeElement
  if (!element || element === document.body || element === document.documentElement) return null
  const look = one => { const style = getComputedStyle(one); return [style.outlineStyle === 'none' ? '' : style.outlineWidth + style.outlineColor, style.boxShadow, style.borderColor, style.backgroundColor].join() }
  const around = [element, element.parentElement].filter(Boolean)
  // Transitions end at once, so that what is compared is what stays.
  for (const one of around) one.style.transition = 'none'
  const focused = around.map(look).join()
  element.blur()
  const plain = around.map(look).join()
  element.focus({focusVisible: true})
  for (const one of around) one.style.transition = ''
  // A window that is not the active one shows no focus.
  return {id: element.id || element.getAttribute('aria-label') || element.tagName, isSeen: focused !== plain || !document.hasFocus()}
"""


def faults(page):
    """What is wrong with what the page shows now."""
    found = page.ask(CONTROLS, LEAST_PIXELS)
    wrong = list(found["wrong"])
    if found["controls"] == 0:
        wrong.append("no control was found: nothing is shown")
    if not page.ask("return typeof axe === 'object'"):
        page.ask(tools.axe_source())
    # Colours are judged where they have come to rest.
    page.ask("for (const motion of document.getAnimations()) { try { motion.finish() } catch {} }")
    axe = page.driver.execute_async_script(AXE)
    if axe["rules"] < 10:
        wrong.append(f"axe looked at {axe['rules']} rules only")
    return wrong + [f"axe: {violation}" for violation in axe["serious"]]


def focus_faults(page):
    """Goes through the page with the Tab key: each control gets the focus once, and shows it.

    WebKit's windows are never the active one, without a window manager; there it is only seen that each is reached.
    """
    wanted = page.ask(CONTROLS, LEAST_PIXELS)["controls"]
    page.ask("document.activeElement?.blur()")
    seen, wrong = [], []
    for _ in range(wanted + 3):
        ActionChains(page.driver, duration=0).send_keys(Keys.TAB).perform()
        found = page.ask(FOCUS)
        if found is None or found["id"] in seen[:1]:
            if seen:
                break
            continue
        seen.append(found["id"])
        if not found["isSeen"]:
            wrong.append(f"{found['id']} does not show that it has the focus")
    if len(seen) < wanted:
        wrong.append(f"the Tab key reaches {len(seen)} of {wanted} controls: {' '.join(seen)}")
    return wrong
