// What a host decides on the page: how everybody may draw on this board, and what one person may.
import {Moderation} from '../client/moderation.js'
import {explain} from './explain.js'
import {$, ask, toast} from './ui.js'
import {say} from './words/index.js'

/** So long a person is kept out. */
const banMs = 24 * 3_600_000

export class Host {
  /** @param {object} session @param {() => Moderation} [moderation] of the client that the session has now */
  constructor(session, moderation = () => new Moderation(session.client)) {
    Object.assign(this, {session, moderation})
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
    if (isNews && !mayModerate) toast(say(isOpen ? 'host.open' : 'host.closed'))
    this.wasOpen = isOpen
  }

  /** @returns {Promise<boolean>} whether the relay has done it; else the host is told why not */
  async decide(what, done) {
    try {
      await what(this.moderation())
      if (done) toast(done)
      return true
    } catch (error) {
      toast(error.name === 'notPermitted' ? say('host.otherHost') : explain(error))
      return false
    }
  }

  /** Asks the host what to do about a person. */
  async manage(user, name) {
    const {session} = this
    const role = (role, done) => () => this.decide(moderation => moderation.setRole(role, {of: user}), done)
    const choices = {
      'person-draw': role('editor', say('person.draws', {name})),
      'person-view': role('reader', say('person.views', {name})),
      'person-edit': role('coeditor', say('person.edits', {name})),
      'person-take-back': () => this.takeBack(user, name),
      'person-remove': () => this.decide(moderation => moderation.endSession({of: user}), say('person.removed', {name})),
      'person-ban': () => this.ban(user, name),
    }
    const labels = {
      'person-draw': 'person.draw', 'person-view': 'person.view', 'person-edit': 'person.edit', 'person-take-back': 'person.takeBack',
      'person-remove': 'person.remove', 'person-ban': 'person.ban', 'person-close': 'close',
    }
    const answer = await ask('person-dialog', name, say('person.text'), Object.entries(labels).map(([id, word]) => [id, say(word)]))
    if (session.mayModerate) await choices[answer]?.()
  }

  async takeBack(user, name) {
    const answer = await ask('remove-dialog', say('takeBack.title', {name}), say('takeBack.text', {name}),
        [['remove-no', say('keep')], ['remove-yes', say('takeBack.yes')]])
    if (answer !== 'remove-yes') return
    await this.decide(async moderation => {
      const count = await moderation.removeRecords({of: user, from: this.session.board})
      toast(say(count ? 'takeBack.done' : 'takeBack.nothing', {name}))
    })
  }

  async ban(user, name) {
    const answer = await ask('ban-dialog', say('ban.title', {name}), say('ban.text', {name}),
        [['ban-no', say('ban.no')], ['ban-yes', say('ban.yes')]])
    if (answer !== 'ban-yes') return
    if (!await this.decide(moderation => moderation.ban(user, {for: banMs}))) return
    toast(say('ban.done', {name}), say('undo'), () => this.decide(moderation => moderation.unban(user), say('ban.undone', {name})))
  }
}
