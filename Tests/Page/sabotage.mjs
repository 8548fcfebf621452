// Breaks the client, and the page, in one place after the other, and wants the tests that need no relay to see each of them.
//
//     node Tests/Page/sabotage.mjs
import {spawnSync} from 'node:child_process'
import {cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [client, page] = ['Sources/RelayPage/client', 'Sources/RelayPage/page']
const files = [client, page].flatMap(folder => readdirSync(join(root, folder), {recursive: true}).filter(name => name.endsWith('.js')).map(name =>
    ({folder, path: join(folder, name), text: readFileSync(join(root, folder, name), 'utf8')})))

/** What is broken, what stands once in a module of either, what is put in its place. */
const sabotages = [
  ['what was sent is forgotten after a break', 'this.machine.queue.items.unshift(...again)', ''],
  ['sent again under new numbers', 'const number = message.number ?? this.machine.sent.lastNumber + 1', 'const number = this.machine.sent.lastNumber + 1'],
  ['sent again behind what is new', 'this.machine.queue.items.unshift(...again)', 'this.machine.queue.items.push(...again)'],
  ['a message that is not kept is sent again to a relay that has forgotten', '(isTooLate || !message.isRetained)', 'isTooLate'],
  ['a record is sent again after 10 minutes', '(isTooLate || !message.isRetained)', '!message.isRetained'],
  ['what was sent is not told at a login', 'lastNumber: this.sent.lastNumber || undefined,', ''],
  ['accepted is taken for stored', 'this.addUnstored(number, message)\n  }\n\n  /** `stored`', 'this.settle(message, {value: offset})\n  }\n\n  /** `stored`'],
  ['stored before accepted is forgotten', 'this.takeUnstored(number) ?? this.publishes.get(number)?.message\n', 'this.takeUnstored(number)\n'],
  ['a rate a tenth too fast', 'static spanMs = 1_005', 'static spanMs = 900'],
  ['one more than the credit leaves', 'window.unanswered + kept < window.credit', 'window.unanswered + kept <= window.credit'],
  ['a client goes on before all is answered', "if (!stop || this.windows.get(channel)?.unanswered !== 0) return", 'if (!stop) return'],
  ['what was refused behind a refusal is sent behind what is new', 'queue.items.splice(queue.numbered(() => true).length, 0, ...items)', 'queue.items.push(...items)'],
  ['packets pass a message that waits', "case 'request': return true", "case 'request': case 'packet': return true"],
  ['too many unanswered', 'if (this.machine.sent.publishes.size >= this.unansweredMax) return false', ''],
  ['numbers run away from what is not stored', 'number === undefined && (!sent.numbersMayGoOn ||', 'number === undefined && (false ||'],
  ['a position is not told', 'undefined : {token, seen}', 'undefined : {token}'],
  ['a board that is read is not told so', 'own: readings.has(channel)', 'own: false'],
  ['a subscription that was heard begins a second time', 'body: {...asked.request.body, since: undefined}', 'body: asked.request.body'],
  ['a question is not asked again', "'subscribedUsers', 'who',", "'subscribedUsers',"],
  ['what was missed is told twice', 'if (to <= told) return', ''],
  ['own messages count as seen too early', '!messages.isCatchingUp(message.channel)', 'true'],
  ['a lost range is forgotten', 'if (last >= flow.next) flow.told.push([first, last])', ''],
  ['what was told lost early is forgotten', 'this.lostEarly.push({handle, reason, first, last})', ''],
  ['the gap behind a break is one short', 'if (missing <= next - 1)', 'if (missing < next - 1)'],
  ['flows that are gone are not told', "this.tellLost('linkBroken', [lostEntry(handle, flow, flow.next, undefined)])", 'true'],
  ['a direct message is acknowledged over another link', 'if (attempt === this.attempt && this.state', 'if (this.state'],
  ['a direct message is sent again', "direct.settle({error: outcomeUnknown(`message ${number}`)})", ''],
  ['3xx is come back from', 'reason.code < 300', 'reason.code < 400'],
  ['pauses do not grow', 'this.failures++', 'this.failures = 1'],
  ['a relay that is silent is waited for', "if (now - lastHeard - intervalMs * 2 <= Limits.latenessToleratedMs) return", 'if (false) return'],
  ['a host that slept judges at once', '<= Limits.latenessToleratedMs) return', '<= 1e9) return'],
  ['batches are not cut', 'this.batch.messages.length >= Limits.batchMessagesMax', 'false'],
  ['parts of two publishers are mixed', 'drawing.sender === part.sender && drawing.key === part.key', 'drawing.key === part.key'],
  ['a record counts as seen with its first part', 'this.see(isRetained && part < of ? offset - Math.min(1, offset) : offset, channel)', 'this.see(offset, channel)'],
  ['a key does not wait for its drawing', '!sent.numbersMayGoOn || waits()', '!sent.numbersMayGoOn'],
  ['a drawing takes the whole credit', 'creditKeptDivisor: 4', 'creditKeptDivisor: Infinity'],
  ['a drawing begins anew for ever', 'this.round >= Limits.drawingRoundsMax || ', ''],
  ['the outbox forgets numbers', 'kept.number = number', ''],
  ['the outbox keeps what is stored', 'if (message.isRetained) this.machine.outbox?.remove(message)', ''],
  ['a copy of the outbox uses the same numbers', ' + 2 ** 20 + Math.floor(this.machine.settings.random() * 2 ** 40)', ''],
  ['outbox: what another client object keeps is forgotten', "own.has(id) || this.storage.getItem(this.prefix + id)", 'own.has(id)'],
  ['outbox: what is over stays in the list', 'own.has(id) || this.storage.getItem(this.prefix + id)', 'true'],
  ["outbox: numbers of another instance are this one's", 'isOther && number ? -1 : number', 'number'],
  ['outbox: a copy draws numbers below those of another', 'if (!isOther && head.last > this.head.last) this.head.last = head.last', ''],
  ['drawings: more at once than a relay stages', '>= Limits.drawingsMax) break', '>= 1e9) break'],
  ['drawings: they wait without a bound', 'this.machine.drawings.list.length >= Limits.drawingsMax && actual > limit', 'false'],
  ['a clock that was set back is believed', 'head.ageMs >= 0 ? now - head.ageMs : -Infinity', 'now - head.ageMs'],
  ['flags that are not known are passed over', 'if (flags & ~layout.allowed) {', 'if (false) {'],
  ['an extension that must be known is passed over', 'if (number & 0x8000) throw', 'if (false) throw'],
  ['a key that stands twice is taken', 'if (keys.has(key)) throw', 'if (false) throw'],
  ['bodies are not looked at', 'if (bodyShapes[type]) holds(bodyShapes[type], body, type)', ''],
  ['a body that is too large leaves', 'if (bytes > Limits.jsonBodyBytesMax - 2) throw', 'if (false) throw'],
  ['states of before are not set again', "each(states, (key, values) =>", "each(new Map(), (key, values) =>"],
  ['what a moderator has changed is told and does not count', 'this.machine.access = new Access(access)', ''],
  ['a freeze of meanwhile is not told', 'this.machine.channels.stands(body)', ''],
  ['a channel that was left stays frozen', 'this.machine.channels.modes.delete(key)', ''],
  ['a ban for a time that is no number is one for good', "if (typeof part === 'number' && !Number.isSafeInteger(part)) {", 'if (false) {'],
  ["a drawing on another's record is sent for ever", 'if (begins) this.beginAnew', 'if (true) this.beginAnew'],
  ['a board that is reset is read without own records', 'this.readings.set(channel, {after: 0, head})', ''],
  ['a code is sent again when it was used', 'secret, code: undefined}', 'secret}'],
  ['a login with a code brings a token, too', '{code, key: this.credential?.key}', '{code, ...this.credential}'],
  ['what another device of the user sends is not missed', ' || device !== own', ''],
  ['a tab is another device after a reload', 'device = sessionStorage.getItem(key)', ''],
  ['another relay gets what waits', 'acceptsRelay?.(body.relay) === false', 'acceptsRelay?.(body.relay) === 0'],
  ['another relay is tried again and again', "return this.machine.finish({kind: 'otherRelay', relay: body.relay})", "return this.machine.end({kind: 'otherRelay', relay: body.relay}, now)"],
  ['a device sends what another has kept', "const own = device === undefined ? '' : `.${device}`", "const own = ''"],
  ['metadata of another set is mixed in', 'if (!owner || (user !== undefined', 'if (!owner || (false'],
  ['page: a pen waits for a palm', 'acts.push(...this.#palms(pointer, at))', ''],
  ['page: a palm that was lifted has drawn', 'this.#held.push({', '[].push({'],
  ['page: a palm beside a pen moves the view', 'const isPalm = isTouch && at - this.#penAt < palmMs', 'const isPalm = false'],
  ['page: a pinch begins however late', "(state.isStart && at - state.at <= pinchMs)", 'state.isStart'],
  ['page: a pinch begins however far', 'state.isStart &&= Math.hypot', 'state.isStart ||= Math.hypot'],
  ['page: of a pinch the finger that stays draws', "this.#begin({is: 'one', does: 'view', first: pointer, at, ids}", "this.#begin({is: 'one', does: 'tool', first: pointer, at, ids}"],
  ['page: what a palm drew stays with others', 'if (sent > 0) session.takeBack(stroke.id)', ''],
  ['page: what a palm erased goes', 'cancel: shown,', 'cancel() {},'],
  ['page: an eraser sends each stroke by itself', 'undo.add(hands.remove(elements.flatMap(({records}) => records)))', 'undo.add(elements.flatMap(({records}) => hands.remove(records)))'],
  ['page: what an edit remembers is copied', '(before.at(-1)?.befores ?? new Set()).add(', 'new Set(before.at(-1)?.befores).add('],
  ['page: what changed together waits one by one', 'setTimeout(() => this.writeAgain(own)', 'setTimeout(() => own.forEach(one => this.writeAgain([one]))'],
  ['page: a long stroke goes by itself', 'encoder.encode(record.payload + ', '3 * encoder.encode(record.payload + '],
  ['page: what an old client tells is believed', 'if (!this.isOwn(change)) return', ''],
  ['page: an arrow that is resized has the head of before', "if (shape === 'arrow') return pointsOf(", 'if (false) return pointsOf('],
  ['page: a shape in the making leaves its traces', '(shape && first === 0 ? undefined : ', '('],
  ['page: a palm beside a pen makes squares', "(event.pointerType === 'touch' && [", '(['],
  ['page: what a palm began of a shape stays with others', 'if (isSent) session.takeBack', 'if (false) session.takeBack'],
  ['page: a shape of wrong points is drawn', 'parts === 1 && line.xy.length === 2 * shapes[line.shape]', 'true'],
  ['page: what is seen of a line trails behind the pen', '[...this.curve(this.pen), ...this.ahead]', '[...this.ahead]'],
  ['page: a line stays where the browser only expected the pen', '    stroke.ahead = []\n', ''],
  ['page: a line does not arrive at a pen that rests', '        stroke.arrive()\n', ''],
  ['page: a ban is not asked for twice', "!== 'ban-yes') return", "=== '') return"],
  ['page: a pause cannot be ended', "session.isFrozen ? 'unfreeze' : 'freeze'", "'freeze'"],
  ['page: a guest has the bar of hosts', "$('host').hidden = !mayModerate", "$('host').hidden = false"],
  ['page: each pen overrules who has chosen', 'if (this.isKnown) return', ''],
  ['page: a key is used with whichever relay answers', 'kept.relay !== undefined && kept.relay !== relay', 'false'],
  ['page: nobody asks which relay it is', 'acceptsRelay: relay => isOwnRelay(relay, this.credential)', 'acceptsRelay: () => true'],
  ['page: a key is kept for one tab', '...credential?.key && {credential}})\n  // What', '})\n  // What'],
  ['page: a key is kept for all tabs before a relay has taken it', "write(tab, 'whiteboard.credential', credential)", 'write(local, personPlace, {...person(), credential})'],
  ['page: each tab is another person', 'if (kept.user && kept.user !== lost) return kept.user', ''],
  ['page: two tabs are one device', 'if (device !== mine?.device || claim < mine.claim) taken.add(device)', ''],
  ['page: a host becomes a guest by the link of guests', '(!given.key || given.key !== credential?.guestKey)', 'true'],
  ['page: who leaves leaves the secret', '/^(whiteboard|boardrelay|status)', '/^(whiteboard|status)'],
  ['page: who leaves leaves what the tab knows', "[open('localStorage'), open('sessionStorage')]) {", "[open('localStorage')]) {"],
  ['page: whoever was here before a code keeps the secret', 'if (before.user && before.user !== user) local', 'if (false) local'],
  ['page: with another relay the page forgets before one is asked', "  await ask('other-relay'", "  forgetAll()\n  await ask('other-relay'"],
  ['page: a tab that was replaced comes back as the same device', 'if (isReplaced) device = await claimDevice(user, device)', 'if (isReplaced) user'],
  ['readers: only one gets an event', 'for (const cursor of [...this.cursors]) {\n      if (cursor.end)', 'for (const cursor of [...this.cursors].slice(0, 1)) {\n      if (cursor.end)'],
  ['readers: one lags without a bound', 'if (this.lags(cursor)) this.relieve(cursor, mayWait)', ''],
  ['readers: all together have no bound', 'while (this.bytes > Limits.readersBytesMax)', 'while (false)'],
  ['readers: what several wait for counts for each', 'if (entry.refs++ === 0) this.bytes += cost', 'entry.refs++, this.bytes += cost'],
  ['readers: packets are lost without a word', 'kept.splice(at, 0, {shared, value: told})', ''],
  ['readers: a board that is read ends who is full', 'if (mayWait) cursor.isFull = true', 'if (false) cursor.isFull = true'],
  ['readers: one holds the relay back for ever', 'if (cursor.isFull && now >= cursor.takenAt', 'if (false && now >= cursor.takenAt'],
  ['readers: a link that is held back grows without a bound', 'if (this.heldBytes > heldBytesMax)', 'if (false)'],
  ['readers: those of a client that is closed wait', 'for (const cursor of [...client.readers.cursors]) client.readers.finish(cursor)', ''],
  ['readers: a picture names what was named before', 'reader.changed = new Set()', ''],
  ['calls: one that is cancelled already is sent', 'if (signal?.aborted && !handsOver) throw', 'if (false) throw'],
  ['calls: what must be handed over is not', 'if (signal?.aborted && !handsOver) throw', 'if (signal?.aborted) throw'],
  ['calls: one that is cancelled is sent all the same', 'if (this.machine.queue.withdraw(isMeant)) return', 'if (this.machine.queue.items.some(isMeant)) return'],
  ['calls: what may have happened is told as nothing', "return 'unknown'", "return 'nothingHappened'"],
  ['calls: a question that nobody waits for is asked again', 'mayBeRepeated(asked) && !asked.isWithdrawn', 'mayBeRepeated(asked)'],
  ['calls: there is no timeout', 'const timer = timeout + more < 2 ** 31 ?', 'const timer = false ?'],
  ['calls: without a link one waits that should fail', "if (offline === 'fail' &&", 'if (false &&'],
  ['calls: an option that there is not is passed over', 'if (names.includes(name)) continue', 'continue'],
  ['calls: a failed attempt ends the client', "if (!comesBack) return this.finish(reason)", "if (!comesBack || this.session.logins === 0) return this.finish(reason)"],
  ['locks: a cancelled acquire stays in line', 'if (waitAtRelay.has(asked.request.type)) this.ask', 'if (false) this.ask'],
  ['locks: one that comes late is kept', 'use.isOrphaned = true', ''],
  ['locks: one that comes late is taken from who waits for it', 'if (!use.isOrphaned || use.waiting + use.holds.size > 0) return', 'if (!use.isOrphaned) return'],
  ['locks: two are let in', 'await ended(last, call.signal, call.timeout + wait)', ''],
  ['locks: that one was lost is not told', 'if (isLost) throw problem', 'if (false) throw problem'],
  ['problems: what somebody has asked is one', 'if (stored || (accepted && !wasAccepted)) return', ''],
  ['problems: those of before are forgotten', 'kept.push(event)', ''],
  ['boards: own records do not come back', 'if (change.isOwn) this.client.append(echoOf(state.name, change), cost)', ''],
  ['boards: what was read comes again as own', 'record.offset > this.readThrough && this.put(record)', 'this.put(record)'],
  ['boards: an own record that is refused stays', 'const rest = (this.own.get(record.key) ?? []).filter(other => other !== record)', 'const rest = this.own.get(record.key) ?? []'],
  ['JSON: a number that is none of ours is passed over among others', 'if (numbers && numbers.every(Number.isSafeInteger))', 'if (numbers)'],
  ['JSON: integers alone may stand deeper', 'this.depth < Limits.jsonDepthMax && this.token', 'this.token'],
  ['places: what reaches over from the next cell is missed', ' - (at < 2 ? 1 : 0)', ''],
  ['places: what has gone is still found', 'cells.get(key)?.delete(element)', ''],
  ['places: all there is is looked at', 'if ((right - left + 1) * (bottom - top + 1) > cells.size)', 'if (true)'],
  ['layers: one that comes is compared with all', 'const middle = (from + to) >> 1', 'const middle = from'],
  ['layers: what lies above what comes is lost', 'list.copyWithin(from + at + 1, from, end)', ''],
  ['records: what is stored comes anew', 'if (before && element && before.sources.join() === element.sources.join()) before.records = element.records', 'if (false) {}'],
  ['tiles: one that a change touches stays as it was', 'tile.isStale = !isAdded || (tile.top && order(tile.top, element) > 0)', ''],
  ['tiles: what lies below is drawn above', ' || (tile.top && order(tile.top, element) > 0)', ''],
  ['tiles: each is drawn in every frame', 'for (const tile of seen) if (rest > 0 && isToDraw(tile)) rest', 'for (const tile of seen) if ((tile.isStale = true)) rest'],
  ['tiles: a change draws all of them anew', 'if (tile.isStale || !overlap(span, tile.box)) continue', 'if (tile.isStale) continue'],
  ['tiles: a frame draws without a bound', 'if (rest > 0 && isToDraw(tile))', 'if (isToDraw(tile))'],
  ['tiles: nothing is seen while a zoom is drawn', 'for (const tile of [...this.#old.values(), ', 'for (const tile of ['],
  ['tiles: those of the old zoom stay', 'if (this.isWhole) this.#old = free(this.#old)', ''],
  ['tiles: all that were ever seen are kept', 'if (this.#tiles.size + this.#old.size <= tilesMax || seen', 'if (true || seen'],
  ['tiles: the one that was seen last goes first', 'this.#tiles.delete(key)\n    this.#tiles.set(key, tile)', 'if (!this.#tiles.has(key)) this.#tiles = new Map([[key, tile], ...this.#tiles])'],
  ['tiles: what is hidden is drawn', '.filter(({id}) => !this.hidden.has(id)).sort(order)', '.sort(order)'],
  ['tiles: the order is that of places', '.filter(({id}) => !this.hidden.has(id)).sort(order)', '.filter(({id}) => !this.hidden.has(id))'],
  ['tiles: they lie between pixels', 'left: Math.round(x * zoom)', 'left: x * zoom'],
  ['kinds: what cannot be read yet is never drawn', 'if (!isToCome(type)) this.flush()', ''],
  ['kinds: errors of rounding add up', 'places.push([x(sum[0]), y(sum[1])])', 'places.push([0, 1].map(axis => (places.at(-1)?.[axis] ?? 0) + [x, y][axis](points[at + axis]) - (at ? [x, y][axis](0) : 0)))'],
  ['kinds: what a record says besides is lost', 'payload: written(object)}', 'payload: written({...object, by: undefined})}'],
  ['words: of a number there is one text', 'found[new Intl.PluralRules(language).select(values.count)] ?? found.other', 'found.other'],
  ['texts: a word begins no line of its own', 'if (from > start) {', 'if (false) {'],
  ['texts: an accent stands alone', '|(?<=\\u200d).', ''],
  ['texts: all of a text is measured for each line', 'while (high <= count && fits(high)) [low, high] = [high, 2 * high]', 'high = count + 1'],
  ['texts: a text is as wide as guessed',
    'return context ? text => Math.ceil(context.measureText(text).width * 100) : estimated(element)', 'return estimated(element)'],
  ['texts: a picture of a board is as wide as on the screen', 'kindOf(element.type).documentBoxOf?.(element) ?? element.box', 'element.box'],
  ['texts: one that is too long is written', "if (this.isTooLong) return this.tell(", 'if (false) return this.tell('],
  ['texts: others’ fields are lost', 'record ? written({...parse(record.payload), text: words})', 'record ? writeText({...now, text: words})'],
  ['pictures: all that were ever seen are kept', 'if (this.#bytes > this.most && other !== data) this.#drop(other)', ''],
  ['pictures: the one that was drawn last goes first', 'this.#kept.delete(data)\n      this.#kept.set(data, found)', ''],
  ['pictures: two that do not fit are decoded for ever', '!isEnough && !this.#decoded.has(data)', '!isEnough'],
  ['pictures: each is decoded whole', 'while (width >= 2 * Math.max(32, shown))', 'while (false)'],
  ['pictures: a broken one stops the others', ', () => ({isBroken: true, width, bytes: data.length}))', ')'],
  ['pictures: a small file opens as a huge one', '|| size[0] !== pixelWidth', ''],
  ['pictures: more pixels are decoded than a browser can', 'if (width * height > filePixelsMax)', 'if (false)'],
  ['pictures: one is what its name says', 'if (!type) throw new NoPicture', 'if (false) throw new NoPicture'],
  ['pictures: what a browser cannot encode is taken for it', 'if (!made || made.type !== kind) continue', 'if (!made) continue'],
  ['pictures: one that is too large is taken', 'if (made.size > imageBytesMax) continue', ''],
  ['canvas: what lies far apart cannot be seen at once', 'Math.max(1e-5, scale)', 'Math.max(handScaleMin, scale)'],
  ['canvas: a newcomer sees the empty middle', 'this.show(nearest,', 'this.show([...median, ...median],'],
  ['who came by a join code comes back by it', 'this.machine.credential = {key}\n', ''],
  ['a join code is shown after the invitation has closed', 'if (this.code) this.moderation().withdrawJoinCode()', 'if (false) this.moderation().withdrawJoinCode()'],
  ['a join code that comes late is not withdrawn', 'if (this.#closing.signal.aborted)', 'if (false)'],
  ['a join code that ended is shown on', "if (type === 'joinCodeEnded') this.#end(reason)", ''],
  ['another join code is shown unasked', " && !this.#hasEnded) this.#offer()", ') this.#offer()'],
  ['who asked what a join code stands for stays', "    await client.close()\n  }\n}\n\nfunction explainCode", "  }\n}\n\nfunction explainCode"],
  ['a join code with spaces is a key', "text.replace(/[\\s-]/g, '')", 'text'],
  ['tiles: a pixel of the screen is one of the page', 'const zoom = scale * this.ratio', 'const zoom = scale'],
  ['remembered: steps back of another person', 'if (kept?.user !== user) return', 'if (!kept) return'],
  ['remembered: steps that do not fit', 'return found.length > 0', 'return true'],
  ['remembered: steps without a bound', 'steps.findLastIndex(step => (left -= JSON.stringify(step).length) < 0)', '-1'],
  ['edit: what is protected is erased', '!element.isLocked && !concealed', '!concealed'],
  ['edit: what is protected is removed with what is chosen', 'return !element.isLocked && this.session.mayChange(element)', 'return this.session.mayChange(element)'],
  ['edit: a protected thing’s copy is protected', '{id, z}).locked)', '{id, z}).lock)'],
  ['edit: a pasted thing keeps its id', 'const id = newID()\n    const made', 'const id = elements[at].id\n    const made'],
  ['edit: each press of an arrow key is a step back', 'if (goesOn) step.forEach', 'if (false) step.forEach'],
  ['edit: what was brought to the front loses its order', 'Math.min(Number.MAX_SAFE_INTEGER, first + at)]', 'first]'],
  ['edit: a handle turns things over', 'Math.max(Math.min(length, sideMin), length + ', '(length + '],
]

const only = process.argv[2]
/** How many times a text stands in all of them. */
const times = text => files.reduce((sum, file) => sum + file.text.split(text).length - 1, 0)
const folder = mkdtempSync(join(tmpdir(), 'relay-sabotage-'))
const failures = []
try {
  for (const part of ['Sources/RelayPage', 'Tests/Page', 'docs/vectors']) cpSync(join(root, part), join(folder, part), {recursive: true})
  const tests = {
    [client]: ['vectors', 'machine-link', 'machine-messages', 'machine-session', 'machine-moderation', 'machine-devices',
      'machine-withdrawal', 'outbox', 'hostile', 'readers', 'calls', 'board', 'machine-join-code'],
    [page]: ['gestures', 'tools', 'host', 'many', 'page-parts', 'page-session', 'page-identity', 'endings', 'tiles', 'kinds',
      'texts', 'images', 'words', 'page-join-code', 'editing', 'remembered', 'page-format', 'shapes'],
  }
  // A test that hangs is red.
  const isGreen = of => spawnSync(
    process.execPath, ['--test', '--test-timeout=30000', ...tests[of].map(name => `Tests/Page/${name}.test.mjs`)],
    {cwd: folder, timeout: 600_000, stdio: 'ignore'}).status === 0
  for (const part of [client, page]) if (!isGreen(part)) failures.push(`the tests of ${part} are red without a sabotage`)
  for (const [name, right, wrong] of sabotages) {
    if (only && !name.includes(only)) continue
    if (times(right) !== 1) {
      failures.push(`${name}: what it breaks stands there ${times(right)} times`)
      continue
    }
    const {folder: of, path, text} = files.find(file => file.text.includes(right))
    writeFileSync(join(folder, path), text.replace(right, () => wrong))
    const isSeen = !isGreen(of)
    writeFileSync(join(folder, path), text)
    console.log(`${isSeen ? 'seen    ' : 'NOT SEEN'}  ${name}`)
    if (!isSeen) failures.push(`${name}: no test is red`)
  }
} finally {
  rmSync(folder, {recursive: true, force: true})
}
for (const failure of failures) console.error(failure)
process.exitCode = failures.length === 0 ? 0 : 1
