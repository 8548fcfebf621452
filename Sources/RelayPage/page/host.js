// What a host decides on the page: how everybody may draw on this board, and what one person may.
import {$, ask, toast} from './ui.js'
import {explain, hostTexts} from './words.js'

/** So long a person is kept out. */
const banMs = 24 * 3_600_000

export class Host {
  /** @param {object} session */
  constructor(session) {
    this.session = session
    $('pause').onclick = () => this.decide(moderation => moderation[session.isFrozen ? 'unfreeze' : 'freeze'](session.board))
    $('free').onclick = () => this.decide(moderation => moderation[session.isOpen ? 'closeEditing' : 'openEditing'](session.board))
  }

  /** The bar as things are; guests are told when they change. */
  show() {
    const {isFrozen, isOpen, mayModerate, records} = this.session
    $('host').hidden = !mayModerate
    $('pause').ariaPressed = isFrozen
    $('free').ariaPressed = isOpen
    const isNews = !records.isReading && this.wasOpen !== undefined && this.wasOpen !== isOpen
    if (isNews && !mayModerate) toast(isOpen ? hostTexts.open : hostTexts.closed)
    this.wasOpen = isOpen
  }

  /** @returns {Promise<boolean>} whether the relay has done it; else the host is told why not */
  async decide(what, done) {
    try {
      await what(this.session.client.moderation)
      if (done) toast(done)
      return true
    } catch (error) {
      toast(error.name === 'notPermitted' ? hostTexts.otherHost : explain(error))
      return false
    }
  }

  /** Asks what is to become of a person. */
  async manage(user, name) {
    const {session} = this
    const role = (role, done) => () => this.decide(moderation => moderation.setRole(role, {of: user}), done)
    const choices = {
      'person-draw': role('editor', hostTexts.draws(name)),
      'person-view': role('reader', hostTexts.views(name)),
      'person-edit': role('coeditor', hostTexts.edits(name)),
      'person-take-back': () => this.takeBack(user, name),
      'person-remove': () => this.decide(moderation => moderation.endSession({of: user}), hostTexts.removed(name)),
      'person-ban': () => this.ban(user, name),
    }
    const answer = await ask('person-dialog', name, hostTexts.person, [...Object.entries(hostTexts.choices), ['person-close', 'Close']])
    if (session.mayModerate) await choices[answer]?.()
  }

  async takeBack(user, name) {
    const {title, text, yes} = hostTexts.takeBack(name)
    if (await ask('remove-dialog', title, text, [['remove-no', 'Keep it'], ['remove-yes', yes]]) !== 'remove-yes') return
    await this.decide(async () => {
      const count = await this.session.removeDrawings(user)
      toast(count ? hostTexts.tookBack(name) : hostTexts.nothing(name))
    })
  }

  async ban(user, name) {
    const {title, text, yes} = hostTexts.ban(name)
    if (await ask('ban-dialog', title, text, [['ban-no', 'Let them stay'], ['ban-yes', yes]]) !== 'ban-yes') return
    if (!await this.decide(moderation => moderation.ban(user, {for: banMs}))) return
    toast(hostTexts.banned(name), 'Undo', () => this.decide(moderation => moderation.unban(user), hostTexts.unbanned(name)))
  }
}
