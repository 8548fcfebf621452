// What is done once, however often it is wanted, and is tried again where it has failed: a broken link may keep modules away.

/** A function that does `run` at its first call, and after a failure at the next one. */
export function once(run) {
  let done
  return () => done ??= run().catch(error => {
    done = undefined
    throw error
  })
}

/** Begins all of some functions, and waits for none. What fails is begun again by whoever calls it next. */
export function beginAll(all) {
  for (const begin of all) begin().catch(() => {})
}
