/** Whether the client under test is the one that the whiteboard loads, without its regions. */
export const isWhiteboard = process.env.RELAY_CLIENT === 'whiteboard'

/** Why a test of what stands in these regions is skipped there: `test(title, leftOut('locks'), …)`. */
export const leftOut = (...regions) => ({skip: isWhiteboard && `the whiteboard has no ${regions.join(', ')}`})
