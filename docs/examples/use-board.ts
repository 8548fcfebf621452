// A hook for React. docs/javascript.md links to this file.
import {useEffect, useState} from 'react'
import type {BoardRecord, RelayClient} from './relay-client.js'

export type BoardState = {records: ReadonlyMap<string, BoardRecord>, progress: number, error?: unknown}
const nothing: BoardState = {records: new Map(), progress: 0}

/** The board of a channel, which is open while the component is there. Of each channel only one component: leaving it ends it for all. */
export function useBoard(client: RelayClient, name: string) {
  const channel = client.channel(name)
  const [state, setState] = useState(nothing)
  useEffect(() => {
    const reading = new AbortController()
    const show = (next: (before: BoardState) => BoardState) => {
      if (!reading.signal.aborted) setState(next)
    }
    const read = async () => {
      for await (const {records, progress = 0, isComplete} of channel.board.pictures({signal: reading.signal})) {
        // The client goes on changing its map: a state is a copy.
        show(before => ({...before, records: new Map(records), progress: isComplete ? 1 : progress}))
      }
    }
    read()
    channel.open().catch(error => show(before => ({...before, error})))
    return () => {
      reading.abort()
      channel.leave().catch(() => {})
      setState(nothing)
    }
  }, [channel])
  return {...state, board: channel.board}
}
