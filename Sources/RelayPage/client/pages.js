// Lists that the relay gives a page at a time.
import {problem} from './errors.js'
import {channelKey} from './keys.js'

/** The answers, one behind the other, as many as it takes; each has the call's time. */
export async function* pages(client, type, body, call) {
  const place = next => typeof next === 'string' ? next : channelKey(next.kind, next.channel)
  for (let after; ;) {
    const page = await client.request(type, {...body, after}, call)
    yield page
    if (page.next === undefined) return
    // A relay that names a page again would be asked for ever.
    if (after !== undefined && place(page.next) <= place(after)) throw problem('relayFault', `the pages of ${type} do not go on`)
    after = page.next
  }
}

/** What all of them have in one field. */
export async function all(client, type, body, field, call) {
  const found = []
  for await (const page of pages(client, type, body, call)) found.push(...page[field])
  return found
}
