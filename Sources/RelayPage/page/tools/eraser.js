// The eraser hides what it goes over. When it is lifted, all of that goes at once, for everybody.

/** Ids of what erasers have gone over, until they are lifted. */
const erased = new Set()

export function begin(event, hands) {
  const {records, session, undo} = hands
  const found = new Set()
  let refused = false
  let last = event
  /** Also what lies between two events. */
  const hit = next => {
    for (const element of hands.along(last, next)) {
      if (session.mayChange(element)) found.add(element.id)
      else refused = true
    }
    last = next
    for (const id of found) erased.add(id)
    hands.conceal('eraser', erased)
  }
  const shown = () => {
    for (const id of found) erased.delete(id)
    hands.conceal('eraser', erased)
  }
  hit(event)
  return {
    move: hit,
    end: () => {
      const elements = [...found].map(id => records.elements.get(id)).filter(element => element && hands.mayEdit(element))
      undo.add(hands.remove(elements.flatMap(({records}) => records)))
      shown()
      if (refused && elements.length === 0) hands.refused()
    },
    cancel: shown,
  }
}
